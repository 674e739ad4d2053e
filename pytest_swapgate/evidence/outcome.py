"""What came of an episode, in columns of its own beside its text: figures over many episodes need no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pytest_swapgate.teams import Episode, FailureClass

COLUMNS = "score, success, messages, subtasks, active, calls, tokens, usd, failure"


class Outcome(NamedTuple):
    """What came of an episode, without what was said: some hundred times quicker to read.

    Attributes
    ----------
    score, success, subtasks, active, failure
        As in `Episode`.
    messages
        How many there were.
    calls, tokens, usd
        Of the episode's usage; ``usd`` is None where the price is unknown.
    """

    score: float
    success: bool
    messages: int
    subtasks: float
    active: bool | None
    calls: int
    tokens: int
    usd: float | None
    failure: FailureClass | None

    @property
    def counts(self) -> bool:
        """Whether this is an honest outcome (the agent's own failures are)."""
        return self.failure is None or self.failure is FailureClass.AGENT

    @classmethod
    def of(cls, episode: Episode) -> Outcome:
        """Return the outcome of an episode."""
        return cls(
            episode.score,
            episode.success,
            len(episode.messages),
            episode.subtasks,
            episode.active,
            episode.usage.calls,
            episode.usage.tokens,
            episode.usage.usd,
            episode.failure,
        )

    @classmethod
    def of_cells(cls, cells: Sequence[Any]) -> Outcome:
        """Return the outcome that `cells` wrote.

        Raises
        ------
        TypeError, ValueError
            If it is none.
        """
        score, success, messages, subtasks, active, calls, tokens, usd, failure = cells
        if not 0 <= score <= 1 or messages < 0 or subtasks < 0:
            raise ValueError("out of range")
        active = None if active is None else bool(active)
        failure = None if failure is None else FailureClass(failure)
        return cls(score, bool(success), messages, subtasks, active, calls, tokens, usd, failure)

    def cells(self) -> tuple[Any, ...]:
        """Return the values as SQLite gives them back, for the columns of `COLUMNS`."""
        return (
            float(self.score) + 0.0,  # SQLite has no -0.0
            int(self.success),
            self.messages,
            float(self.subtasks) + 0.0,
            None if self.active is None else int(self.active),
            self.calls,
            self.tokens,
            None if self.usd is None else float(self.usd) + 0.0,
            None if self.failure is None else self.failure.value,
        )
