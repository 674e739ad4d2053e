"""Coalitions as bitmasks: sizes, members, subsets. Bit i is player i."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pytest_swapgate.games._check import FloatArray, IntArray


def members(mask: int) -> tuple[int, ...]:
    """Return the players of a coalition, ascending."""
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def sizes(masks: IntArray) -> IntArray:
    """Count the members of each coalition (numpy 1.26 has no bitwise_count)."""
    low, high = masks & 0x7FF, masks >> 11
    table = size_table(11)
    counts: IntArray = table[low] + table[high]
    return counts


@lru_cache(maxsize=32)
def size_table(n: int) -> IntArray:
    """Return the size of every coalition of n players, shape (2**n,)."""
    table = np.zeros(1, dtype=np.int64)
    for _ in range(n):
        table = np.concatenate([table, table + 1])
    table.flags.writeable = False
    return table


@lru_cache(maxsize=32)
def membership(n: int) -> FloatArray:
    """Return a 0/1 matrix, shape (n, 2**n): is player i in coalition S? For halves (n <= 11) only."""
    table: FloatArray = (np.arange(1 << n) >> np.arange(n)[:, None] & 1).astype(np.float64)
    table.flags.writeable = False
    return table


@lru_cache(maxsize=32)
def size_classes(n: int) -> FloatArray:
    """Return a 0/1 matrix, shape (2**n, n + 1): has coalition S size k? For halves (n <= 11) only."""
    table: FloatArray = (size_table(n)[:, None] == np.arange(n + 1)).astype(np.float64)
    table.flags.writeable = False
    return table


def spread(masks: IntArray, players: tuple[int, ...]) -> IntArray:
    """Map coalitions of positions (bit p) to coalitions of players (bit players[p])."""
    result = np.zeros_like(masks)
    for position, player in enumerate(players):
        result |= (masks >> position & 1) << player
    return result


def member_rows(masks: IntArray, n: int) -> FloatArray:
    """Return a 0/1 matrix, shape (len(masks), n)."""
    rows: FloatArray = (masks[:, None] >> np.arange(n) & 1).astype(np.float64)
    return rows
