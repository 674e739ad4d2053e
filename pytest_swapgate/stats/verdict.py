"""The one decision rule of every gate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._check import fail, real
from .interval import Interval


class Verdict(StrEnum):
    """What a gate says: `pass`, `fail` or `inconclusive`."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


def decide(interval: Interval | tuple[float, float], margin: float) -> Verdict:
    """Decide from the interval of the harm and the declared tolerance.

    PASS if the interval lies below the margin; else FAIL if it lies above zero; else INCONCLUSIVE. An
    interval that lies between zero and the margin is a PASS: there is harm, and it is smaller than what was
    declared tolerable.

    Parameters
    ----------
    interval : Interval or (float, float)
        Two-sided 1 - 2 alpha interval of the harm (baseline minus candidate; larger is worse).
    margin : float
        The declared tolerance, > 0, on the scale of the interval (cost: ``log(1 + tolerance)``).

    Raises
    ------
    ValueError
        If the interval is not a pair of real numbers, a limit is NaN, low > high, or the margin is not a finite
        number > 0.

    References
    ----------
    The gate's own rule; docs/statistics.md.
    """
    accepted = "a pair (low, high) of numbers with low <= high"
    limits: object = interval  # whatever was handed in
    pair = isinstance(limits, Sequence) or (isinstance(limits, np.ndarray) and limits.ndim == 1)
    if not pair or len(interval) != 2 or not all(_real(limit) for limit in interval):
        raise fail("interval", interval, accepted)
    try:
        low, high = (float(limit) for limit in interval)
    except OverflowError as error:
        raise fail("interval", interval, accepted) from error
    if math.isnan(low) or math.isnan(high) or low > high:
        raise fail("interval", interval, accepted)
    passed, failed = rule(low, high, real("margin", margin, above=0.0))
    if passed:
        return Verdict.PASS
    return Verdict.FAIL if failed else Verdict.INCONCLUSIVE


def _real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def rule(low: ArrayLike, high: ArrayLike, margin: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Apply the rule to any number of intervals (unchecked): where it passes, and where it fails."""
    passed = np.less(high, margin)
    return passed, np.greater(low, 0.0) & ~passed
