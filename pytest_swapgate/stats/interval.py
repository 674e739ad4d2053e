"""An interval is a named tuple of two numbers; many intervals at once are a named tuple of two arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Interval(NamedTuple):
    """A closed interval [low, high]."""

    low: float
    high: float


class Intervals(NamedTuple):
    """Many intervals: two arrays of the same shape."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
