"""The one exception of the models floor."""

from __future__ import annotations

from pytest_swapgate.teams.episode import FailureClass, Usage


class ModelError(Exception):
    """A model call without an answer.

    Attributes
    ----------
    failure
        Whose fault it is; decides whether the trial counts, is retried, or stops the run.
    retry_after
        Seconds that the provider asked to wait, if it did.
    usage
        What the attempts consumed all the same.
    refused
        Whether the provider asked for fewer calls at once (429).
    """

    def __init__(
        self,
        message: str,
        *,
        failure: FailureClass,
        retry_after: float | None = None,
        usage: Usage | None = None,
        refused: bool = False,
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.retry_after = retry_after
        self.usage = Usage() if usage is None else usage
        self.refused = refused


_USAGE = "swapgate_usage"


def spent_before(error: BaseException, usage: Usage) -> None:
    """Note on an exception that ends a call, such as a cancellation, what the call had consumed by then."""
    setattr(error, _USAGE, usage)


def usage_of(error: BaseException) -> Usage:
    """Return what a call that ended with an exception had consumed."""
    found = error.usage if isinstance(error, ModelError) else getattr(error, _USAGE, None)
    return found if isinstance(found, Usage) else Usage()
