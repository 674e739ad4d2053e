"""Validation of arguments, one place: every message names the argument, the value and what is accepted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_TINY = 1e-12
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def fail(name: str, value: object, accepted: str) -> ValueError:
    """Make the error to raise for a bad argument."""
    shown = repr(value)
    if len(shown) > 120:
        shown = shown[:117] + "..."
    return ValueError(f"{name} must be {accepted}, got {shown}")


def count(name: str, value: object, *, minimum: int = 0) -> int:
    """Return a whole number of at least `minimum`; bools and floats are refused."""
    accepted = "a whole number >= " + str(minimum)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise fail(name, value, accepted)
    number = int(value)
    if number < minimum:
        raise fail(name, value, accepted)
    return number


def counts(name: str, values: ArrayLike, *, minimum: int = 0, ndim: int | None = None) -> IntArray:
    """Return an array of whole numbers of at least `minimum`."""
    array = _as_array(name, values)
    accepted = f"whole numbers >= {minimum}"
    if array.dtype.kind not in "iu":
        raise fail(name, values, accepted)
    if ndim is not None and array.ndim != ndim:
        raise fail(name, values, f"a {ndim}-dimensional array of {accepted}")
    if array.size and int(array.min()) < minimum:
        raise fail(name, values, accepted)
    return array.astype(np.int64)


def real(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> float:
    """Return a finite real number inside the given limits; bools are refused."""
    limits = [
        f"{word} {limit:g}"
        for word, limit in ((">", above), (">=", at_least), ("<", below), ("<=", at_most))
        if limit is not None
    ]
    accepted = (
        " and ".join(["a finite number", *limits]) if not limits else "a number " + " and ".join(limits)
    )
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise fail(name, value, accepted)
    number = float(value)
    inside = (
        math.isfinite(number)
        and (above is None or number > above)
        and (at_least is None or number >= at_least)
        and (below is None or number < below)
        and (at_most is None or number <= at_most)
    )
    if not inside:
        raise fail(name, value, accepted)
    return number


def fraction(name: str, value: object) -> float:
    """Return a number strictly between 0 and 1 (levels, powers, confidences)."""
    number = real(name, value, above=0.0, below=1.0)
    if not _TINY <= number <= 1 - _TINY:  # quantiles lose their digits there, and then are infinite
        raise fail(name, value, f"at least {_TINY:g} away from 0 and from 1")
    return number


def level_and_power(alpha: object, power: object) -> tuple[float, float]:
    """Return a one-sided level in (0, 0.5) and a power above it."""
    level = real("alpha", fraction("alpha", alpha), above=0.0, below=0.5)
    return level, real("power", power, above=level, below=1.0)


def both_levels(alpha: object, fail_alpha: object | None) -> tuple[float, float]:
    """Return the one-sided levels of PASS, in (0, 0.5), and of FAIL, at most that; the same if only one is given."""
    level = real("alpha", fraction("alpha", alpha), above=0.0, below=0.5)
    return level, level if fail_alpha is None else real("fail_alpha", fail_alpha, above=0.0, at_most=level)


def probability(name: str, value: object) -> float:
    """Return a number in [0, 1]."""
    return real(name, value, at_least=0.0, at_most=1.0)


def reals(
    name: str, values: ArrayLike, *, minimum_size: int = 1, ndim: int | None = 1, what: str = "finite numbers"
) -> FloatArray:
    """Return an array of finite real numbers with at least `minimum_size` entries."""
    array = _as_array(name, values)
    if array.dtype.kind not in "iuf":
        raise fail(name, values, what)
    if ndim is not None and array.ndim != ndim:
        raise fail(name, values, f"a {ndim}-dimensional array of {what}")
    array = array.astype(np.float64)
    if not bool(np.isfinite(array).all()):
        raise fail(name, values, f"{what} (no NaN, no infinity)")
    if array.size < minimum_size:
        raise fail(name, values, f"at least {minimum_size} {what}")
    return array


def same_length(**arrays: NDArray[Any]) -> None:
    """Refuse arrays of different lengths."""
    sizes = {name: array.shape for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(
            " and ".join(sizes)
            + " must have the same shape, got "
            + ", ".join(str(s) for s in sizes.values())
        )


def choice(name: str, value: object, accepted: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in accepted:
        raise fail(name, value, "one of " + ", ".join(repr(word) for word in accepted))
    return value


def generator(name: str, value: object) -> np.random.Generator:
    """Return the numpy Generator: randomness is always handed in."""
    if not isinstance(value, np.random.Generator):
        raise fail(name, value, "a numpy.random.Generator")
    return value


def discordant(b: object, c: object, n: object) -> tuple[int, int, int]:
    """Harm-discordant and benefit-discordant counts out of n pairs."""
    b_, c_, n_ = count("b", b), count("c", c), count("n", n, minimum=1)
    if b_ + c_ > n_:
        raise ValueError(f"b + c must be at most n, got b={b_}, c={c_}, n={n_}")
    return b_, c_, n_


def discordant_arrays(b: ArrayLike, c: ArrayLike, n: ArrayLike) -> tuple[IntArray, IntArray, IntArray]:
    """`discordant` for arrays, broadcast against each other."""
    given = counts("b", b), counts("c", c), counts("n", n, minimum=1)
    try:
        b_, c_, n_ = np.broadcast_arrays(*given)
    except ValueError as error:
        shapes = ", ".join(str(each.shape) for each in given)
        raise ValueError(
            f"b, c, n must have shapes that broadcast against each other, got {shapes}"
        ) from error
    wrong = np.flatnonzero(b_ + c_ > n_)
    if wrong.size:
        first = [each.flat[wrong[0]] for each in (b_, c_, n_)]
        raise ValueError(f"b + c must be at most n, got b={first[0]}, c={first[1]}, n={first[2]}")
    return b_, c_, n_


def _as_array(name: str, values: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise fail(name, values, "an array of numbers, not ragged") from error
    if array.size == 0 and array.dtype.kind == "f":
        return array.astype(np.int64)  # [] says nothing about its type
    return array
