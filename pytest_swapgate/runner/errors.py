"""What can stop a run, in one line for its reader."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.shortening import shortened
from pytest_swapgate.teams.episode import FailureClass
from pytest_swapgate.teams.fingerprint import BiteError


class ArmError(Exception):
    """An arm that could not be played; the message says whose fault it is and what to do."""

    def __init__(self, message: str, *, failure: FailureClass = FailureClass.ENVIRONMENT) -> None:
        super().__init__(message)
        self.failure = failure


class BudgetReachedError(Exception):
    """The cap on money or episodes is reached; nothing further is started."""


def leading(error: BaseException) -> BaseException:
    """Return the exception that matters most in a group of them (an exception that is no group: itself).

    What must stop the run goes before what a model could not help.
    """
    leaves = list(_leaves(error))
    for leaf in leaves:
        if isinstance(leaf, BudgetReachedError | ArmError | BiteError):
            return leaf
    for leaf in leaves:
        if not isinstance(leaf, ModelError) or leaf.failure is FailureClass.CONFIGURATION:
            return leaf
    return leaves[0]


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def where_raised(error: BaseException) -> str:
    """Return ``Type: message (file:line)`` of an exception.

    The place is the innermost one in the user's own code; only where there is none, the one that raised.
    """
    error = leading(error)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not _is_installed(frame.filename)] or frames
    place = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    text = _fault(error) if isinstance(error, ValidationError) else str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {shortened(text)}{place}" if text else f"{type(error).__name__}{place}"


def _fault(error: ValidationError) -> str:
    """Return the first fault of a refused noun, such as ``Episode.score: Input should be ...``."""
    fault = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, (error.title, *fault['loc'])))}: {fault['msg']}"


_OURS = Path(__file__).resolve().parent.parent
_STDLIB = Path(sysconfig.get_paths()["stdlib"]).resolve()


def _is_installed(filename: str) -> bool:
    """Whether a file is Python's, an installed package's or ours."""
    if filename.startswith("<"):
        return True
    path = Path(filename).resolve()
    if {"site-packages", "dist-packages"} & set(path.parts):
        return True
    return path.is_relative_to(_OURS) or path.is_relative_to(_STDLIB)
