"""A sequential gate: looks at planned numbers of pairs, each a pure function of the counts so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ._check import FloatArray, IntArray, count, discordant, fail, real
from .exact_power import NEGLIGIBLE, tables, trinomial
from .few_pairs import EXCESS
from .harm import drifted_limits, drifted_tango
from .interval import Interval
from .planning import required_pairs
from .spending import Spending, sequential_inflation, spending_bounds
from .verdict import Verdict, decide, rule

_GUARDED = 200
"""With more pairs in all the bounds are taken as they are: up to 1.09 alpha (375 pairs, alpha .0125, M .1)."""
_SHARES = 13
"""Discordances at which the exact error is looked at."""


@dataclass(frozen=True, slots=True)
class LookPlan:
    """When to look, and how far the evidence must reach at each look.

    Attributes
    ----------
    sizes : tuple of int
        Pairs n_k at look k, increasing.
    bounds : tuple of float
        Critical values c_k.
    tolerance : float
        Declared tolerance M.
    alpha : float
        One-sided level of each side, over all looks together.
    """

    sizes: tuple[int, ...]
    bounds: tuple[float, ...]
    tolerance: float
    alpha: float


class Look(NamedTuple):
    """What one look says."""

    verdict: Verdict | None
    """None: go on to the next look."""

    interval: Interval
    """Interval of the harm at this look's critical value; such intervals hold at all looks together."""


def plan_looks(
    tolerance: float,
    *,
    discordance: float,
    alpha: float = 0.05,
    power: float = 0.9,
    looks: int = 5,
    spending: Spending = "obrien-fleming",
    effect: float | None = None,
) -> LookPlan:
    """Plan a two-sided sequential gate for a binary outcome.

    Parameters
    ----------
    tolerance, discordance, alpha, power
        As in `required_pairs`; the power below 1 - alpha, for the rule passes a harm of the tolerance with alpha.
    looks : int
        Number K of equally spaced looks, >= 1.
    spending : {'obrien-fleming', 'pocock'}
        How the error is spent.
    effect : float, optional
        Harm to be found with the power, at most the discordance; the tolerance if left out.

    Returns
    -------
    LookPlan
        The largest size is the fixed one times `sequential_inflation` (1.03 for five O'Brien-Fleming looks). With up
        to 200 pairs in all the bounds are raised, and the sizes with their square, until the exact errors (FAIL at
        harm 0, PASS at a harm of the tolerance) are at most 1.1 alpha at 13 discordances over the whole range.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Lan and DeMets (1983), Biometrika 70, 659-663; Jennison and Turnbull (2000), Group Sequential Methods, chapter
    7. The guard of few pairs is the gate's own rule; docs/statistics.md, "Saving money".
    """
    margin = real("tolerance", tolerance, above=0.0, at_most=1.0)
    goal = margin if effect is None else real("effect", effect, above=0.0)
    fixed = required_pairs(goal, discordance=discordance, alpha=alpha, power=power)
    if power >= 1 - alpha and effect is None:
        raise fail(
            "power", power, f"< 1 - alpha = {1 - alpha:g}: the rule passes a harm of the tolerance with alpha"
        )
    looks = count("looks", looks, minimum=1)
    bounds = spending_bounds(looks, alpha=alpha, spending=spending)
    inflation = sequential_inflation(looks, alpha=alpha, power=power, spending=spending) if looks > 1 else 1.0
    return _guarded(fixed * inflation, tuple(float(c) for c in bounds), margin, float(alpha))


@lru_cache(maxsize=64)
def _guarded(pairs: float, bounds: tuple[float, ...], tolerance: float, alpha: float) -> LookPlan:
    """Raise bounds, and sizes with them, until few pairs keep the level at each discordance looked at."""
    factor = 1.0
    while True:
        plan = _plan(pairs, bounds, tolerance, alpha, factor)
        if plan.sizes[-1] > _GUARDED or _worst_error(plan) <= EXCESS * alpha:
            return plan
        factor *= 1.02


def _plan(pairs: float, bounds: tuple[float, ...], tolerance: float, alpha: float, factor: float) -> LookPlan:
    looks = len(bounds)
    largest = max(looks, math.ceil(pairs * factor**2 - 1e-9))
    sizes = tuple(math.ceil(k * largest / looks) for k in range(1, looks + 1))
    return LookPlan(sizes, tuple(factor * c for c in bounds), tolerance, alpha)


def _worst_error(plan: LookPlan) -> float:
    """Largest exact chance of a false FAIL or a false PASS, over the discordance."""
    margin = plan.tolerance
    alarms = (sequential_rates(plan, harm=0.0, discordance=d).failed for d in np.linspace(0.1, 1.0, _SHARES))
    passes = (
        sequential_rates(plan, harm=margin, discordance=d).passed for d in np.linspace(margin, 1.0, _SHARES)
    )
    return max(*alarms, *passes)


def take_look(plan: LookPlan, number: int, b: int, c: int, *, tau2: float = 0.0, sessions: int = 1) -> Look:
    """Take one look: PASS, FAIL, or go on (INCONCLUSIVE at the last look).

    Parameters
    ----------
    plan : LookPlan
        From `plan_looks`.
    number : int
        1 for the first look, up to the number of looks. Between looks nothing is decided.
    b, c : int
        Harm- and benefit-discordant pairs among the first ``plan.sizes[number - 1]`` pairs (b + c at most
        that many), tasks in random order.
    tau2, sessions : float, int
        Session drift, as in `binary_harm`.

    Returns
    -------
    Look
        FAIL if ``z_Tango(0) > c_k``, PASS if ``z_Tango(M) < -c_k``: `decide` on the interval at c_k.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Jennison and Turnbull (2000), Group Sequential Methods, chapter 7; Tango (1998), Statistics in Medicine 17,
    891-908 (the statistic).
    """
    number = count("number", number, minimum=1)
    if number > len(plan.sizes):
        raise fail("number", number, f"at most {len(plan.sizes)}, the looks of the plan")
    b, c, n = discordant(b, c, plan.sizes[number - 1])
    drift = real("tau2", tau2, at_least=0.0) / count("sessions", sessions, minimum=1)
    interval = drifted_tango(b, c, n, plan.bounds[number - 1], drift)
    verdict = decide(interval, plan.tolerance)
    if verdict is Verdict.INCONCLUSIVE and number < len(plan.sizes):
        return Look(None, interval)
    return Look(verdict, interval)


class SequentialRates(NamedTuple):
    """Exact behaviour of a sequential plan at one true harm."""

    passed: float
    failed: float
    inconclusive: float
    expected_pairs: float


def sequential_rates(plan: LookPlan, *, harm: float, discordance: float) -> SequentialRates:
    """Exact verdict probabilities and expected number of pairs of a sequential plan.

    Parameters
    ----------
    plan : LookPlan
        From `plan_looks`.
    harm, discordance : float
        Truth, as in `verdict_rates`.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    Notes
    -----
    The joint distribution of (b, c) among the runs not yet stopped is carried from look to look by convolution with
    the trinomial distribution of the pairs in between.

    References
    ----------
    Armitage, McPherson and Rowe (1969), Journal of the Royal Statistical Society A 132, 235-244 (the recursion,
    here over counts).
    """
    probabilities = trinomial(harm, discordance)
    b = c = np.zeros(1, dtype=np.int64)
    weight = np.ones(1)
    passed = failed = expected = 0.0
    before = 0
    for number, n in enumerate(plan.sizes, start=1):
        expected += float(weight.sum()) * (n - before)
        b, c, weight = _convolve((b, c, weight), tables(n - before, probabilities))
        before = n
        yes, no = rule(*drifted_limits(b, c, n, plan.bounds[number - 1], 0.0), plan.tolerance)
        passed += float(weight[yes].sum())
        failed += float(weight[no].sum())
        going = ~(yes | no)
        b, c, weight = b[going], c[going], weight[going]
        if not weight.size:
            break
    return SequentialRates(passed, failed, max(0.0, 1 - passed - failed), expected)


_Tables = tuple[IntArray, IntArray, FloatArray]


def _convolve(first: _Tables, second: _Tables) -> _Tables:
    """Distribution of the sums of two independent (b, c), from the likely tables of each."""
    grids, corner = [], np.zeros(2, dtype=np.int64)
    for b, c, weight in (first, second):
        low = np.array([b.min(), c.min()])
        grid = np.zeros((int(b.max()) - low[0] + 1, int(c.max()) - low[1] + 1))
        grid[b - low[0], c - low[1]] = weight
        grids.append(grid)
        corner += low
    shape = [x + y - 1 for x, y in zip(grids[0].shape, grids[1].shape, strict=True)]
    product = np.fft.rfft2(grids[0], shape) * np.fft.rfft2(grids[1], shape)
    total = np.fft.irfft2(product, shape)
    b, c = np.nonzero(total > NEGLIGIBLE)  # and what the transform rounds to about zero
    return b + corner[0], c + corner[1], total[b, c]
