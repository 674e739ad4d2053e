"""One call, tried again while the provider fails: which tries, which waits, and what they consumed together."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import anyio

from pytest_swapgate.models.errors import ModelError, spent_before
from pytest_swapgate.models.pressure import Pressure
from pytest_swapgate.teams.episode import FailureClass, Usage

_BACKOFF_CAP = 30.0


class Tried(NamedTuple):
    """One attempt.

    Attributes
    ----------
    response
        What came back; None if nothing did.
    usage
        What it consumed.
    fault
        What is wrong with it, if anything.
    """

    response: Any
    usage: Usage
    fault: ModelError | None


class Retries:
    """A policy of retries; `until_answered` follows it.

    Parameters
    ----------
    attempts
        Tries of one call when the infrastructure fails, >= 1.
    backoff
        Seconds that the first wait between two tries is at most, >= 0; it doubles up to 30 s. Each wait is drawn anew
        between 0 and that (full jitter), unless the provider says how long to wait.

    Raises
    ------
    ValueError
        For a bad argument.
    """

    def __init__(self, *, attempts: int, backoff: float) -> None:
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise ValueError(f"attempts must be a whole number >= 1, got {attempts!r}")
        if not is_number(backoff) or not backoff >= 0:
            raise ValueError(f"backoff must be a number of seconds >= 0, got {backoff!r}")
        self.attempts = attempts
        self.backoff = backoff
        self._jitter = random.Random()  # waiting times only; no outcome depends on them

    async def until_answered(
        self, attempt: Callable[[], Awaitable[Tried]], pressure: Pressure
    ) -> tuple[Any, Usage]:
        """Try until there is an answer, each time under back-pressure; return it with what all tries consumed.

        Raises
        ------
        ModelError
            What was wrong at last, with what the tries consumed.
        """
        spent = Usage()
        for number in range(1, self.attempts + 1):
            begun = 0
            try:
                async with pressure.call() as started_in:
                    begun = 1
                    response, usage, fault = await attempt()
                    if fault is not None and fault.refused:
                        pressure.refused(started_in)
                    else:
                        pressure.answered()
            except BaseException as error:
                # Cancelled in the middle: made, and perhaps paid for, all the same.
                spent_before(error, spent + Usage(calls=begun))
                raise
            spent = spent + usage
            if fault is None:
                return response, spent
            if fault.failure is not FailureClass.INFRASTRUCTURE or number == self.attempts:
                fault.usage = spent
                raise fault
            try:
                await anyio.sleep(self._wait(number, fault.retry_after))
            except BaseException as error:
                spent_before(error, spent)
                raise
        raise AssertionError("unreachable: the last attempt raises")

    def _wait(self, number: int, asked: float | None) -> float:
        if asked is not None:
            return min(asked, _BACKOFF_CAP)
        return self._jitter.uniform(0, min(_BACKOFF_CAP, self.backoff * 2.0 ** (number - 1)))


def is_number(value: object) -> bool:
    """Whether an argument is a finite number (a truth value is none)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
