"""The game: one worth a coalition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_swapgate.games import _check
from pytest_swapgate.games._bits import members
from pytest_swapgate.games._check import ExactArray, FloatArray, IntArray, Player, fail, whole
from pytest_swapgate.games._stores import CacheStore, Store, TableStore, table_of

Coalition: TypeAlias = int | Iterable[Player]


class Game:
    """A cooperative game of n players: the worth of every coalition, by bitmask.

    Bit i of a mask is player i: ``values[0b101]`` is the worth of players 0 and 2,
    ``values[0]`` that of the empty coalition. The worth of the empty coalition need
    not be zero: it is kept, and subtracted where a value is defined for games in
    which it is.

    What joining a coalition means is the caller's convention, and every value reads
    the same way, "what i adds by joining":

    - *present*: S are the agents that take part (classical games, the tax);
    - *intervened*: S are the agents that have been intervened on (the attribution
      study); the empty coalition is the untouched team. `complement` turns one
      convention into the other.

    Parameters
    ----------
    values
        2**n numbers, or an array (tasks, 2**n) of noisy utilities, one row a task.
        Whole numbers and Fractions are kept as they are for exact results.
    names
        n distinct names of the players; then unions, edges and coalitions may use them.

    Raises
    ------
    ValueError
        Wrong length, NaN, infinity, more than 22 players, names that do not fit.
    """

    __slots__ = ("_store", "n", "names")

    n: int
    names: tuple[str, ...] | None
    _store: Store

    def __init__(self, values: ArrayLike | Sequence[Any], *, names: Sequence[str] | None = None) -> None:
        floats, rational = table_of(values)
        n = int(floats.shape[-1]).bit_length() - 1
        self._start(n, names)
        self._store = TableStore(floats, rational)

    @classmethod
    def _of_table(cls, values: ArrayLike) -> Self:
        floats, rational = table_of(values, copy=False)
        game = cls._new(int(floats.shape[-1]).bit_length() - 1, None)
        game._store = TableStore(floats, rational)
        return game

    @classmethod
    def _new(cls, n: int | None, names: Sequence[str] | None) -> Self:
        game = cls.__new__(cls)
        game._start(_check.player_count(n, names), names)
        return game

    def _start(self, n: int, names: Sequence[str] | None) -> None:
        self.n = n
        self.names = _check.names(names, n)

    @classmethod
    def from_dict(
        cls, worths: Mapping[Any, Any], *, n: int | None = None, names: Sequence[str] | None = None
    ) -> Self:
        """Make a game from coalition -> worth.

        Parameters
        ----------
        worths
            Keys are bitmasks or collections of players (indices or names); worths are
            numbers, or sequences with one number a task. Coalitions may be missing: a
            method that needs one of them says which.
        n, names
            Number of players, or their names; one of the two is needed.
        """
        if not isinstance(worths, Mapping) or not worths:
            raise fail("worths", worths, "a mapping with at least one coalition")
        game = cls._new(n, names)
        by_mask: dict[int, Any] = {}
        for coalition, worth in worths.items():
            mask = game.mask(coalition)
            if mask in by_mask:
                raise fail("worths", coalition, "a mapping that gives each coalition once")
            by_mask[mask] = worth
        first = next(iter(by_mask.values()))
        tasks = len(first) if np.ndim(first) else None
        if tasks == 0:
            raise fail("worths", worths, "a mapping to numbers, or to at least one number a task")
        game._store = CacheStore(by_mask, tasks, None, game.players_in)
        return game

    @classmethod
    def from_callable(
        cls,
        function: Callable[[tuple[Player, ...]], Any],
        n: int | None = None,
        *,
        names: Sequence[str] | None = None,
        tasks: int | None = None,
        empty: Any = None,
    ) -> Self:
        """Make a game whose worths are asked for when a method needs them, each at most once.

        Parameters
        ----------
        function
            Called with a coalition, a tuple of indices (of names, if there are names);
            returns its worth, a number, or ``tasks`` numbers.
        n, names
            Number of players, or their names; one of the two is needed.
        tasks
            None: worths are single numbers; otherwise the length of each worth, >= 1.
        empty
            Worth of the empty coalition where it is known without asking (0 when no agent
            can do nothing; the untouched team's score); None: the function is asked for it.
        """
        if not callable(function):
            raise fail("function", function, "callable with a tuple of players")
        game = cls._new(n, names)
        if tasks is not None:
            tasks = whole("tasks", tasks, 1)
        known = {} if empty is None else {0: empty}
        if tasks is not None and empty is not None and not np.ndim(empty):
            known = {0: (empty,) * tasks}
        game._store = CacheStore(known, tasks, lambda mask: function(game.players_in(mask)), game.players_in)
        return game

    @property
    def tasks(self) -> int | None:
        """Number of tasks of a noisy game, None for a game of single numbers."""
        return self._store.tasks

    @property
    def evaluated(self) -> int:
        """Number of coalitions whose worth is known by now."""
        return self._store.evaluated()

    def known(self, masks: IntArray) -> NDArray[np.bool_]:
        """Say for each bitmask whether its worth is known already (shape of ``masks``)."""
        return self._store.known(masks)

    def worths(self, masks: IntArray) -> FloatArray:
        """Return the worths of an array of bitmasks, shape (*masks.shape) or (tasks, *masks.shape)."""
        return self._store.read(masks)

    def rational_worths(self, masks: IntArray) -> ExactArray:
        """Return the same as whole numbers or Fractions.

        Raises
        ------
        ValueError
            If the game has worths that are neither.
        """
        return self._store.read_rational(masks)

    def __getitem__(self, coalition: Coalition) -> Any:
        """Return the worth of one coalition (bitmask or players): a float, or an array over tasks."""
        worth = self._store.read(np.array(self.mask(coalition)))
        return float(worth) if worth.ndim == 0 else worth

    def table(self) -> FloatArray:
        """Return all worths, shape (2**n,) or (tasks, 2**n); read-only for a game made from a table."""
        if isinstance(self._store, TableStore):
            return self._store.floats
        return self._store.read(np.arange(1 << self.n))

    def mask(self, coalition: Coalition) -> int:
        """Return the bitmask of a coalition given as players, or check a bitmask."""
        return _check.coalition(coalition, self.n, self.names)

    def players_in(self, mask: int) -> tuple[Player, ...]:
        """Return the players of a bitmask, ascending; names if the game has names."""
        if self.names is None:
            return members(mask)
        return tuple(self.names[i] for i in members(mask))

    def to_dict(self) -> dict[tuple[Player, ...], Any]:
        """Return coalition (tuple of players) -> worth, in bitmask order; whole numbers stay whole."""
        masks = np.arange(1 << self.n)
        try:
            worths = self.rational_worths(masks)
        except ValueError:
            worths = self.worths(masks).astype(object)
        return {self.players_in(mask): _plain(worths[..., mask]) for mask in masks.tolist()}

    def mean(self) -> Game:
        """Return the game of mean worths over the tasks (itself without tasks)."""
        if self.tasks is None:
            return self
        return Game(self.table().mean(axis=0), names=self.names)

    def complement(self) -> Game:
        """Return u(S) = v(N minus S): from agents present to agents intervened on, and back."""
        everyone = (1 << self.n) - 1
        if isinstance(self._store, TableStore):
            kept = self._store.floats if self._store.rational is None else self._store.rational
            return Game(kept[..., ::-1], names=self.names)
        store = self._store
        assert isinstance(store, CacheStore)
        mirrored = {everyone ^ mask: worth for mask, worth in store.worths.items()}
        game = Game._new(self.n, self.names)

        def ask(mask: int) -> Any:
            store.read(np.array(everyone ^ mask))
            return store.worths[everyone ^ mask]

        game._store = CacheStore(mirrored, store.tasks, ask if store.ask else None, game.players_in)
        return game

    def __repr__(self) -> str:
        """Show the table of a small game, as code that makes it again."""
        names = "" if self.names is None else f", names={list(self.names)!r}"
        if isinstance(self._store, TableStore) and self._store.tasks is None and self.n <= 6:
            kept = self._store.floats if self._store.rational is None else self._store.rational
            return f"Game([{', '.join(map(repr, kept.tolist()))}]{names})"
        return f"<Game of {self.n} players, {self.evaluated} worths known{names}>"


def as_game(game: Game | ArrayLike) -> Game:
    """Accept a game or its table."""
    return game if isinstance(game, Game) else Game._of_table(game)


def _plain(worth: Any) -> Any:
    return worth.tolist() if isinstance(worth, np.ndarray) else worth
