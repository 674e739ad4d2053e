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
    """

    def __init__(
        self,
        message: str,
        *,
        failure: FailureClass,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.retry_after = retry_after
        self.usage = Usage() if usage is None else usage
