"""From what a user's code returns to an episode."""

from __future__ import annotations

import inspect
import math
from numbers import Real
from typing import Any

import numpy as np

from pytest_swapgate.teams.episode import Episode


class OutcomeError(ValueError):
    """Something that was returned as an outcome and is none."""


def as_episode(outcome: Any, who: str) -> Episode:
    """Take what a user's code returned for an episode.

    Parameters
    ----------
    outcome
        An Episode, a success (``bool``), or a score in [0, 1]; numpy's scalars are fine.
    who
        Who returned it; begins the error message.

    Raises
    ------
    OutcomeError
        If it is none of them; NaN is none.
    """
    if isinstance(outcome, Episode):
        return _checked(outcome, who)
    if inspect.iscoroutine(outcome):
        outcome.close()
        raise OutcomeError(f"{who} returned a coroutine that was not awaited: write 'return await ...'")
    accepted = "accepted are an Episode, a score in [0, 1] or True/False"
    if isinstance(outcome, bool | np.bool_):
        return Episode(score=float(outcome), success=bool(outcome))
    if isinstance(outcome, Real):
        score = float(outcome)
        if math.isfinite(score) and 0 <= score <= 1:
            return Episode(score=score, success=score == 1)
        raise OutcomeError(f"{who} returned {score!r}: {accepted}")
    hint = " (no return statement?)" if outcome is None else ""
    raise OutcomeError(f"{who} returned {type(outcome).__name__}{hint}: {accepted}")


def _checked(episode: Episode, who: str) -> Episode:
    """Refuse an episode whose fields were changed past their validation, as by ``model_copy(update=...)``."""
    score: Any = episode.score
    if (
        isinstance(score, bool | np.bool_)
        or not isinstance(score, Real)
        or not (math.isfinite(float(score)) and 0 <= float(score) <= 1)
    ):
        raise OutcomeError(f"{who} returned an Episode with score={score!r}: accepted is a number in [0, 1]")
    subtasks: Any = episode.subtasks
    if not isinstance(subtasks, Real) or not (math.isfinite(float(subtasks)) and float(subtasks) >= 0):
        raise OutcomeError(f"{who} returned an Episode with subtasks={subtasks!r}: accepted is a number >= 0")
    return episode
