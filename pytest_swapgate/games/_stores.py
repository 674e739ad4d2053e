"""Where a game's worths lie: in a full table, or in a cache that a function fills."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pytest_swapgate.games._bits import members
from pytest_swapgate.games._check import MAX_PLAYERS, ExactArray, FloatArray, IntArray, fail

NOT_RATIONAL = "whole numbers or Fractions for an exact result"


_TABLE = (
    f"2**n finite numbers, n from 1 to {MAX_PLAYERS}, or an array (tasks, 2**n) of them "
    "(no NaN, no infinity, no bools)"
)


class Store(Protocol):
    """Worths by bitmask."""

    tasks: int | None

    def read(self, masks: IntArray) -> FloatArray:
        """Return the worths as floats, shape (*tasks, *masks.shape)."""

    def read_rational(self, masks: IntArray) -> ExactArray:
        """Return the worths as whole numbers or Fractions, same shape."""

    def known(self, masks: IntArray) -> NDArray[np.bool_]:
        """Say which worths can be read without an evaluation."""

    def evaluated(self) -> int:
        """Count the coalitions whose worth is known."""


class TableStore:
    """Every worth in one array, shape (2**n,) or (tasks, 2**n)."""

    def __init__(self, floats: FloatArray, rational: NDArray[Any] | None) -> None:
        self.floats = floats
        self.rational = rational
        self.tasks = floats.shape[0] if floats.ndim == 2 else None

    def read(self, masks: IntArray) -> FloatArray:
        """Return the worths as floats."""
        return self.floats.take(masks, axis=-1)

    def read_rational(self, masks: IntArray) -> ExactArray:
        """Return the worths as whole numbers or Fractions."""
        if self.rational is None:
            raise fail("values", "floats", NOT_RATIONAL)
        return self.rational.take(masks, axis=-1).astype(object)

    def known(self, masks: IntArray) -> NDArray[np.bool_]:
        """Everything is known."""
        return np.ones(masks.shape, dtype=np.bool_)

    def evaluated(self) -> int:
        """Count all coalitions."""
        return int(self.floats.shape[-1])


class CacheStore:
    """Worths that were given or asked for; no coalition is asked for twice."""

    def __init__(
        self,
        worths: Mapping[int, Any],
        tasks: int | None,
        ask: Callable[[int], Any] | None,
        label: Callable[[int], object] = members,
    ) -> None:
        self.tasks = tasks
        self.ask = ask
        self.label = label
        self.worths: dict[int, Any] = {mask: self._checked(mask, worth) for mask, worth in worths.items()}

    def read(self, masks: IntArray) -> FloatArray:
        """Return the worths as floats; ask for those that are missing."""
        self._fill(masks)
        flat = masks.ravel().tolist()
        if self.tasks is None:
            return np.array([self.worths[m] for m in flat], dtype=np.float64).reshape(masks.shape)
        columns = np.empty((self.tasks, len(flat)))
        for position, mask in enumerate(flat):
            columns[:, position] = self.worths[mask]
        return columns.reshape(self.tasks, *masks.shape)

    def read_rational(self, masks: IntArray) -> ExactArray:
        """Return the worths as whole numbers or Fractions."""
        self._fill(masks)
        flat = masks.ravel().tolist()
        table = np.empty((1 if self.tasks is None else self.tasks, len(flat)), dtype=object)
        for position, mask in enumerate(flat):
            worth = self.worths[mask]
            column = [worth] if self.tasks is None else list(worth)
            if not all(isinstance(value, (Rational, np.integer)) for value in column):
                raise fail(f"the worth of coalition {self.label(mask)!r}", worth, NOT_RATIONAL)
            table[:, position] = column
        shape = masks.shape if self.tasks is None else (self.tasks, *masks.shape)
        return table.reshape(shape)

    def known(self, masks: IntArray) -> NDArray[np.bool_]:
        """Say which worths are in the cache."""
        have = np.fromiter(self.worths, dtype=np.int64, count=len(self.worths))
        return np.isin(masks, have)

    def evaluated(self) -> int:
        """Count the coalitions in the cache."""
        return len(self.worths)

    def _fill(self, masks: IntArray) -> None:
        missing = [mask for mask in np.unique(masks).tolist() if mask not in self.worths]
        if missing and self.ask is None:
            raise ValueError(
                f"the worth of coalition {self.label(missing[0])!r} is not known ({len(missing)} worth(s) missing); "
                "give every coalition that the method reads (see coalitions_read)"
            )
        for mask in missing:
            assert self.ask is not None
            self.worths[mask] = self._checked(mask, self.ask(mask))

    def _checked(self, mask: int, worth: Any) -> Any:
        accepted = "a finite number" if self.tasks is None else f"{self.tasks} finite numbers, one a task"
        name = f"the worth of coalition {self.label(mask)!r}"
        if self.tasks is None:
            return _scalar(name, worth, accepted)
        try:
            column = list(worth)
        except TypeError as error:
            raise fail(name, worth, accepted) from error
        if len(column) != self.tasks:
            raise fail(name, worth, accepted)
        return tuple(_scalar(name, value, accepted) for value in column)


def _scalar(name: str, worth: Any, accepted: str) -> Any:
    if isinstance(worth, np.ndarray) and worth.ndim == 0:
        worth = worth.item()
    if isinstance(worth, (bool, np.bool_)) or not isinstance(worth, Real):
        raise fail(name, worth, accepted)
    try:
        finite = math.isfinite(float(worth))
    except OverflowError:
        finite = False
    if not finite:
        raise fail(name, worth, accepted)
    return worth


def table_of(values: Any, *, copy: bool = True) -> tuple[FloatArray, NDArray[Any] | None]:
    """Check a table; return it as floats, and as it was if it is rational."""
    rows = (
        [row for row in values if isinstance(row, (list, tuple))] if isinstance(values, (list, tuple)) else []
    )
    kinds = {type(v) for row in (rows or [values]) if isinstance(row, (list, tuple)) for v in row}
    if kinds & {bool, np.bool_}:
        raise fail("values", values, _TABLE)
    try:
        array = np.array(values) if copy else np.asarray(values)
        if array.dtype.kind not in "iufO":
            raise fail("values", values, _TABLE)
        floats = array.astype(np.float64, copy=False).view()
    except (TypeError, ValueError, OverflowError) as error:
        raise fail("values", values, _TABLE) from error
    width = array.shape[-1] if array.ndim in (1, 2) else 0
    if width < 2 or width & (width - 1) or width > 1 << MAX_PLAYERS or not array.size:
        raise ValueError(f"values must be {_TABLE}, got an array of shape {array.shape}")
    if not np.isfinite(floats).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(floats))[0])
        raise ValueError(f"values must be {_TABLE}, got {floats[place]} at {place}")
    rational: NDArray[Any] | None = None
    if array.dtype.kind in "iu":
        rational = array
    elif array.dtype.kind == "O":
        kinds = {type(v) for v in array.flat}
        if any(issubclass(kind, bool | np.bool_) for kind in kinds):
            raise fail("values", values, _TABLE)
        if all(issubclass(kind, Rational) for kind in kinds):
            rational = array
    floats.flags.writeable = False
    return floats, rational


def common_denominator(worths: ExactArray) -> tuple[ExactArray, int]:
    """Scale rational worths to Python ints; return them and the denominator."""
    denominator = math.lcm(*(int(w.denominator) for w in worths.ravel().tolist()))
    scaled = np.empty(worths.shape, dtype=object)
    for index in np.ndindex(*worths.shape):
        worth: Any = worths[index]
        scaled[index] = int(worth.numerator) * (denominator // int(worth.denominator))
    return scaled, denominator


def as_fractions(numerators: ExactArray, denominator: int) -> ExactArray:
    """Divide exactly."""
    result = np.empty(numerators.shape, dtype=object)
    for index in np.ndindex(*numerators.shape):
        numerator: Any = numerators[index]
        result[index] = Fraction(numerator, denominator)
    return result
