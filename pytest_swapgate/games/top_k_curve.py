"""The top-k intervention curve: act on the k highest-ranked players, k = 0..n."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pytest_swapgate.games._check import FloatArray, fail, numbers
from pytest_swapgate.games.game import Game, as_game
from pytest_swapgate.games.intervals import Comparison, compare_tasks, mean_interval
from pytest_swapgate.games.ranks import ranking

if TYPE_CHECKING:
    from pytest_swapgate.stats import Interval


class TopK(NamedTuple):
    """A top-k curve and the area under it.

    Attributes
    ----------
    curve
        Mean utility after acting on the k highest-ranked players, shape (n + 1,).
    auc
        Area under the curve over k/n (trapezoids), so in the unit of the utilities.
    interval
        t-interval of the area over tasks; None for a game without tasks.
    auc_per_task
        Shape (tasks,), or (1,) for a game without tasks.
    """

    curve: FloatArray
    auc: float
    interval: Interval | None
    auc_per_task: FloatArray


def top_k(game: Game | ArrayLike, values: ArrayLike, *, level: float = 0.95) -> TopK:
    """Follow an attribution: utility of the k highest-valued players' coalition, k = 0..n.

    Parameters
    ----------
    game
        Utilities with S = players acted on (see `Game`): preferably of tasks that the
        attribution did not see. Shape (2**n,) or (tasks, 2**n); only n + 1 coalitions are read.
    values
        The attribution, shape (n,). Ties (up to rounding) go by index.
    level
        Confidence of the interval.

    Notes
    -----
    Source: attribution study, section 5.2 and appendix E.4.
    """
    curves, areas = _curves(as_game(game), values)
    if curves.shape[0] == 1 and as_game(game).tasks is None:
        return TopK(curves[0], float(areas[0]), None, areas)
    auc, bounds = mean_interval(areas, level=level)
    return TopK(curves.mean(axis=0), auc, bounds, areas)


def compare_top_k(
    game: Game | ArrayLike, first: ArrayLike, second: ArrayLike, *, level: float = 0.95
) -> Comparison:
    """Compare two attributions by the area under their top-k curves, paired by task: first minus second.

    Parameters
    ----------
    game
        As in `top_k`, with at least 2 tasks.
    first, second
        The attributions, shape (n,).
    level
        Confidence, > 0 and < 1.
    """
    game = as_game(game)
    if game.tasks is None:
        raise fail("game", game, "a game with tasks, shape (tasks, 2**n)")
    return compare_tasks(_curves(game, first)[1], _curves(game, second)[1], level=level)


def _curves(game: Game, values: ArrayLike) -> tuple[FloatArray, FloatArray]:
    given = numbers("values", values)
    if given.size != game.n:
        raise fail("values", values, f"one value for each of {game.n} players")
    masks = np.append(0, np.cumsum(1 << ranking(given)))
    curves = np.atleast_2d(game.worths(masks))
    areas: FloatArray = ((curves[:, 1:] + curves[:, :-1]) / 2).mean(axis=1)
    return curves, areas
