"""What can stop a run, in one line for its reader."""

from __future__ import annotations

import traceback
from pathlib import Path

from pytest_swapgate.teams.episode import FailureClass


class ArmError(Exception):
    """An arm that could not be played; the message says whose fault it is and what to do."""

    def __init__(self, message: str, *, failure: FailureClass = FailureClass.ENVIRONMENT) -> None:
        super().__init__(message)
        self.failure = failure


class BudgetReachedError(Exception):
    """The cap on money or episodes is reached; nothing further is started."""


def where_raised(error: BaseException) -> str:
    """Return ``Type: message (file:line)`` of an exception, pointing at the innermost frame that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    text = str(error).strip().split("\n")[0][:300]
    return f"{type(error).__name__}: {text}{place}" if text else f"{type(error).__name__}{place}"
