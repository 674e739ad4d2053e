"""Search of the smallest number that is enough."""

from __future__ import annotations

from collections.abc import Callable


def smallest(enough: Callable[[int], bool], *, start: int, most: int) -> int | None:
    """Return the smallest number from `start` on that is enough, by doubling and halving; None if `most` is not.

    Parameters
    ----------
    enough
        False for small numbers and true for large ones.
    """
    if enough(start):
        return start
    low, high = start, min(2 * start, most)
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
