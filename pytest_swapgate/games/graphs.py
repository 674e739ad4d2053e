"""Connected coalitions of a communication graph, given as one neighbour bitmask a player."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pytest_swapgate.games._check import IntArray

_SPARSE = 1 << 15  # more connected coalitions than this, and a scan of all 2**n is faster


def neighbours_of(masks: IntArray, neighbours: tuple[int, ...]) -> IntArray:
    """Return for each coalition the players outside it with a link into it, as bitmasks."""
    near = np.zeros_like(masks)
    for player, mask in enumerate(neighbours):
        near |= np.where(masks >> player & 1, mask, 0)
    return near & ~masks


@lru_cache(maxsize=4)
def connected_coalitions(neighbours: tuple[int, ...]) -> IntArray:
    """Return the non-empty coalitions whose players are connected among themselves, ascending."""
    n = len(neighbours)
    if is_complete(neighbours):
        masks = np.arange(1, 1 << n)
    else:
        grown = _grow(neighbours)
        masks = _scan(neighbours) if grown is None else grown
    masks.flags.writeable = False
    return masks


def is_complete(neighbours: tuple[int, ...]) -> bool:
    """Say whether every two players are linked."""
    everyone = (1 << len(neighbours)) - 1
    return all(mask | 1 << player == everyone for player, mask in enumerate(neighbours))


def _grow(neighbours: tuple[int, ...]) -> IntArray | None:
    """Add one neighbour at a time, size by size; None once there are too many for this to pay."""
    n = len(neighbours)
    layer = np.int64(1) << np.arange(n)
    layers = [layer]
    total = n
    while layer.size:
        near = neighbours_of(layer, neighbours)
        larger = [layer[(near >> player & 1).astype(bool)] | 1 << player for player in range(n)]
        layer = np.unique(np.concatenate(larger))
        layers.append(layer)
        total += layer.size
        if total > _SPARSE:
            return None
    return np.sort(np.concatenate(layers))


def _scan(neighbours: tuple[int, ...]) -> IntArray:
    """Test all coalitions: spread from the lowest player along links until nothing is added."""
    n = len(neighbours)
    near = np.zeros(1, dtype=np.int32)
    for mask in neighbours:
        near = np.concatenate([near, near | np.int32(mask)])
    coalitions = np.arange(1, 1 << n, dtype=np.int32)
    reached = coalitions & -coalitions
    found = []
    while coalitions.size:
        grown = reached | near.take(reached) & coalitions
        done = grown == coalitions
        found.append(coalitions[done])
        more = (grown != reached) & ~done
        coalitions, reached = coalitions[more], grown[more]
    return np.sort(np.concatenate(found)).astype(np.int64)
