"""How concentrated an attribution is, and how far two attributions agree on the order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_swapgate.games._check import FloatArray, IntArray, fail, numbers

_TIED = 1e-12  # relative difference of two values that is only rounding


def normalised_entropy(values: ArrayLike) -> float:
    """Return the Shannon entropy of |values| as shares, divided by that of equal shares.

    Parameters
    ----------
    values
        One value a player, shape (n,), n >= 2, not all zero.

    Returns
    -------
    float
        0 (one player has everything) to 1 (all have the same size).

    Raises
    ------
    ValueError
        If all values are zero: there are no shares then.

    Notes
    -----
    Source: attribution study, section 5.1; under .6 it calls influence concentrated.
    """
    sizes = np.abs(numbers("values", values))
    if sizes.size < 2 or not sizes.any():
        raise fail("values", values, "at least 2 values, not all zero")
    shares = sizes / sizes.max()
    shares = shares[shares > 0] / shares.sum()
    entropy = -float(np.sum(shares * np.log(shares))) / float(np.log(sizes.size))
    return min(max(entropy, 0.0), 1.0)


def rank_agreement(first: ArrayLike, second: ArrayLike) -> float:
    """Return Spearman's rank correlation of two attributions of the same players.

    Ties share their mean rank; values that differ by rounding only are ties (so that
    interchangeable agents stay tied).

    Parameters
    ----------
    first, second
        One value a player, shape (n,), n >= 2, not all tied.

    Returns
    -------
    float
        -1 to 1.

    Raises
    ------
    ValueError
        If one of the two ranks nobody above anybody: the correlation is undefined.

    Notes
    -----
    Source: attribution study, section 5.2.
    """
    a, b = numbers("first", first), numbers("second", second)
    if a.shape != b.shape or a.size < 2:
        raise fail("second", second, f"as long as first ({a.size}), at least 2 values")
    ranks_a, ranks_b = (_mean_ranks(values) - (a.size + 1) / 2 for values in (a, b))
    for name, given, ranks in (("first", first, ranks_a), ("second", second, ranks_b)):
        if not ranks.any():
            raise fail(name, given, "an attribution with at least two different values")
    agreement = float(ranks_a @ ranks_b / np.sqrt((ranks_a @ ranks_a) * (ranks_b @ ranks_b)))
    return min(max(agreement, -1.0), 1.0)


def ranking(values: ArrayLike) -> IntArray:
    """Return the players from the highest value to the lowest, ties (up to rounding) by index."""
    given = numbers("values", values)
    return np.argsort(-_group(given), kind="stable")


def _group(values: FloatArray) -> IntArray:
    """Give numbers to the distinct values from the lowest up; rounding does not make two values distinct."""
    order = np.argsort(values, kind="stable")
    gaps = np.diff(values[order]) > _TIED * np.abs(values).max()
    groups = np.empty(values.size, dtype=np.int64)
    groups[order] = np.append(0, np.cumsum(gaps))
    return groups


def _mean_ranks(values: FloatArray) -> FloatArray:
    groups = _group(values)
    counts = np.bincount(groups)
    last = np.cumsum(counts)
    mean_rank: FloatArray = (last - (counts - 1) / 2)[groups]
    return mean_rank
