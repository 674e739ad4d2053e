"""Validation of arguments: every message names the argument, the value and what is accepted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
ExactArray: TypeAlias = NDArray[np.object_]
Player: TypeAlias = int | str

MAX_PLAYERS = 22


def fail(name: str, value: object, accepted: str) -> ValueError:
    """Make the error for a bad argument."""
    shown = repr(value)
    if len(shown) > 120:
        shown = shown[:117] + "..."
    return ValueError(f"{name} must be {accepted}, got {shown}")


def whole(name: str, value: object, low: int, high: int | None = None) -> int:
    """Accept a whole number between two limits; bools are refused."""
    accepted = f"a whole number >= {low}" if high is None else f"a whole number from {low} to {high}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise fail(name, value, accepted)
    number = int(value)
    if number < low or (high is not None and number > high):
        raise fail(name, value, accepted)
    return number


def players(name: str, value: object) -> int:
    """Accept a number of players."""
    return whole(name, value, 1, MAX_PLAYERS)


def real(name: str, value: object, accepted: str = "a finite number") -> float:
    """Accept a finite real number; bools are refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not math.isfinite(value):
        raise fail(name, value, accepted)
    return float(value)


def level(value: object) -> float:
    """Accept a confidence level."""
    number = real("level", value, "a number > 0 and < 1")
    if not 0.0 < number < 1.0:
        raise fail("level", value, "a number > 0 and < 1")
    return number


def generator(value: object) -> np.random.Generator:
    """Accept a numpy Generator: randomness is always handed in."""
    if not isinstance(value, np.random.Generator):
        raise fail("rng", value, "a numpy.random.Generator")
    return value


def numbers(name: str, values: ArrayLike, ndims: tuple[int, ...] = (1,)) -> FloatArray:
    """Accept an array of finite numbers with one of the given numbers of dimensions."""
    accepted = f"an array of finite numbers with {' or '.join(map(str, ndims))} dimension(s)"
    if isinstance(values, (list, tuple)) and any(isinstance(value, (bool, np.bool_)) for value in values):
        raise fail(name, values, accepted)
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise fail(name, values, accepted) from error
    if array.dtype.kind not in "iuf" or array.ndim not in ndims or array.size == 0:
        raise fail(name, values, accepted)
    array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise fail(name, values, accepted + " (no NaN, no infinity)")
    return array


def player(name: str, value: object, n: int, names: Sequence[str] | None = None) -> int:
    """Accept a player by index, or by name where players have names."""
    accepted = f"a player from 0 to {n - 1}"
    if names is not None:
        accepted += " or one of " + ", ".join(repr(n) for n in names)
        if isinstance(value, str) and value in names:
            return names.index(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or not 0 <= int(value) < n:
        raise fail(name, value, accepted)
    return int(value)


def unions(
    value: Iterable[Iterable[Player]] | None, n: int, names: Sequence[str] | None = None
) -> tuple[tuple[int, ...], ...]:
    """Accept a partition of the players."""
    accepted = f"a partition of the players 0 to {n - 1}"
    if value is None or isinstance(value, str) or not isinstance(value, Iterable):
        raise fail("unions", value, accepted)
    parts: list[tuple[int, ...]] = []
    seen = 0
    for part in value:
        if isinstance(part, str) or not isinstance(part, Iterable):
            raise fail("unions", value, f"{accepted}; a union is a collection of players, not {part!r}")
        members = tuple(player("a player in unions", p, n, names) for p in part)
        if not members:
            raise fail("unions", value, f"{accepted}, no union empty")
        for member in members:
            if seen >> member & 1:
                raise fail("unions", value, f"{accepted}; player {member} is there twice")
            seen |= 1 << member
        parts.append(members)
    if seen != (1 << n) - 1:
        missing = [p for p in range(n) if not seen >> p & 1]
        raise fail("unions", value, f"{accepted}; without a union: {missing}")
    return tuple(parts)


def edges(
    value: Iterable[tuple[Player, Player]] | None, n: int, names: Sequence[str] | None = None
) -> tuple[int, ...]:
    """Accept an undirected graph; return the neighbours of each player as a bitmask."""
    accepted = f"a collection of pairs of different players from 0 to {n - 1}"
    if value is None or not isinstance(value, Iterable):
        raise fail("edges", value, accepted)
    neighbours = [0] * n
    for edge in value:
        ends: tuple[object, ...] = tuple(edge) if isinstance(edge, Iterable) else ()
        if len(ends) != 2:
            raise fail("an edge", edge, "a pair of players")
        first, second = (player("a player in edges", end, n, names) for end in ends)
        if first == second:
            raise fail("an edge", ends, "between two different players (no self-loop)")
        neighbours[first] |= 1 << second
        neighbours[second] |= 1 << first
    return tuple(neighbours)


def player_count(n: int | None, names_given: Sequence[str] | None) -> int:
    """Accept a number of players, or take it from their names."""
    if n is None:
        if names_given is None:
            raise fail("n", n, "the number of players, unless names are given")
        n = len(names_given)
    return players("n", n)


def names(value: Sequence[str] | None, n: int) -> tuple[str, ...] | None:
    """Accept names of n players, or none."""
    if value is None:
        return None
    accepted = f"{n} distinct, non-empty strings"
    if isinstance(value, str) or not all(isinstance(name, str) and name for name in value):
        raise fail("names", value, accepted)
    if len(value) != n or len(set(value)) != n:
        raise fail("names", value, accepted)
    return tuple(value)


def coalition(value: object, n: int, names: Sequence[str] | None) -> int:
    """Accept a coalition as a bitmask or as a collection of players; return the bitmask."""
    accepted = f"a bitmask from 0 to {(1 << n) - 1} or a collection of distinct players"
    if isinstance(value, (Integral, np.bool_)):
        return whole("coalition", value, 0, (1 << n) - 1)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise fail("coalition", value, accepted)
    mask = 0
    for who in value:
        bit = 1 << player("a player of the coalition", who, n, names)
        if mask & bit:
            raise fail("coalition", value, accepted)
        mask |= bit
    return mask
