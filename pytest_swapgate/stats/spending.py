"""Group-sequential bounds by error spending, by recursive numerical integration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from pytest_swapgate.stats import _special as special

from ._check import FloatArray, choice, count, fail, real, reals
from ._quantiles import normal_quantile, root

_REACH = 9.0  # standard deviations below which the density is nothing
_FAR = 37.0  # the same above: bounds of early looks lie far out, and doubles hold the density up to here

_LEAST_ERROR = 1e-290  # smaller probabilities are handled by their logarithm

MIN_SPENDING_ALPHA = 1e-12
"""Smallest level for which bounds are computed."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)

Spending = Literal["obrien-fleming", "pocock"]


def spent_alpha(fraction: float, *, alpha: float = 0.05, spending: Spending = "obrien-fleming") -> float:
    """One-sided error that may be spent up to an information fraction in (0, 1].

    O'Brien-Fleming: ``2 - 2 Phi(z_{1-alpha/2} / sqrt(t))``; Pocock: ``alpha log(1 + (e - 1) t)``.

    Parameters
    ----------
    fraction : float
        Information fraction t, in (0, 1].
    alpha : float
        One-sided level in (0, 0.5).
    spending : {'obrien-fleming', 'pocock'}
        How fast the level is spent.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Lan and DeMets (1983), Biometrika 70, 659-663.
    """
    choice("spending", spending, ("obrien-fleming", "pocock"))
    t = real("fraction", fraction, above=0.0, at_most=1.0)
    alpha = real("alpha", alpha, above=0.0, below=0.5)
    if spending == "pocock":
        return alpha * math.log1p((math.e - 1) * t)
    return 2 * float(special.ndtr(normal_quantile(alpha / 2) / math.sqrt(t)))


def _log_spent(t: float, alpha: float, spending: Spending) -> float:
    """Logarithm of `spent_alpha`, which is finite where that is too small for a double."""
    if spending == "pocock":
        return math.log(alpha) + math.log(math.log1p((math.e - 1) * t))
    return math.log(2) + float(special.log_ndtr(normal_quantile(alpha / 2) / math.sqrt(t)))


def spending_bounds(
    looks: int | Sequence[float] | FloatArray, *, alpha: float = 0.05, spending: Spending = "obrien-fleming"
) -> FloatArray:
    """Critical values c_k of the looks at a growing sample.

    Parameters
    ----------
    looks : int or sequence of float
        Number K >= 1 of equally spaced looks, or their increasing information fractions; the last is 1.
    alpha : float
        One-sided level, in [1e-12, 0.5), spent over all looks together.
    spending : {'obrien-fleming', 'pocock'}
        How fast it is spent.

    Returns
    -------
    ndarray, shape (K,)
        One-sided bounds on the standardised statistic: at alpha .05 and K = 5 O'Brien-Fleming spending gives 4.229,
        2.888, 2.298, 1.962, 1.740. Stopping for the other reason is not counted on, so each side keeps its level.

    Raises
    ------
    ValueError
        For an alpha outside [1e-12, 0.5), and fractions that do not rise to 1 or lie too close for any error to be
        spent between them.

    References
    ----------
    Armitage, McPherson and Rowe (1969), Journal of the Royal Statistical Society A 132, 235-244; Jennison and
    Turnbull (2000), Group Sequential Methods, chapters 7 and 19.
    """
    fractions = [float(t) for t in look_fractions(looks)]
    choice("spending", spending, ("obrien-fleming", "pocock"))
    alpha = _bounded_alpha(alpha)
    spent = [spent_alpha(t, alpha=alpha, spending=spending) for t in fractions]
    logs = [_log_spent(t, alpha, spending) for t in fractions]
    walk = _Walk(0.0)
    bounds = []
    for i, t in enumerate(fractions):
        step, log_step = spent[i], logs[i]
        if i:
            if logs[i] <= logs[i - 1]:
                raise fail("looks", looks, "fractions so far apart that each look has some error to spend")
            step -= spent[i - 1]
            log_step += math.log(-math.expm1(logs[i - 1] - logs[i]))
        bounds.append(walk.bound(t, step, log_step))
    return np.array(bounds)


def _bounded_alpha(alpha: float) -> float:
    return real("alpha", alpha, at_least=MIN_SPENDING_ALPHA, below=0.5)


def crossing_probabilities(
    bounds: Sequence[float] | FloatArray, looks: int | Sequence[float] | FloatArray, *, drift: float = 0.0
) -> FloatArray:
    """Probability of crossing the upper bounds for the first time at each look.

    Parameters
    ----------
    bounds : sequence of float
        Critical values of the looks.
    looks : int or sequence of float
        As in `spending_bounds`.
    drift : float
        Expectation of the standardised statistic at the last look; 0 under the hypothesis.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Armitage, McPherson and Rowe (1969), Journal of the Royal Statistical Society A 132, 235-244; Jennison and
    Turnbull (2000), Group Sequential Methods, chapter 19.
    """
    fractions = look_fractions(looks)
    values = reals("bounds", bounds, minimum_size=1)
    if values.size != fractions.size:
        raise fail("bounds", list(values), f"one per look ({fractions.size} looks)")
    walk = _Walk(real("drift", drift))
    return np.array([walk.cross(float(t), float(c)) for t, c in zip(fractions, values, strict=True)])


def sequential_inflation(
    looks: int | Sequence[float] | FloatArray,
    *,
    alpha: float = 0.05,
    power: float = 0.9,
    spending: Spending = "obrien-fleming",
) -> float:
    """Largest sample of a sequential plan over that of the fixed plan with the same level and power.

    Parameters
    ----------
    looks : int or sequence of float
        As in `spending_bounds`.
    alpha : float
        One-sided level, in [1e-12, 0.5).
    power : float
        In (alpha, 1).
    spending : {'obrien-fleming', 'pocock'}
        How fast the level is spent.

    Raises
    ------
    ValueError
        Naming the argument, its value and what is accepted.

    References
    ----------
    Jennison and Turnbull (2000), Group Sequential Methods, chapters 7 and 19.
    """
    power = real("power", power, above=_bounded_alpha(alpha), below=1.0)
    bounds = spending_bounds(looks, alpha=alpha, spending=spending)
    fixed = normal_quantile(power) - normal_quantile(alpha)
    drift = root(
        lambda x: float(crossing_probabilities(bounds, looks, drift=x).sum()) - power, 0.5 * fixed, 2 * fixed
    )
    return (drift / fixed) ** 2


def look_fractions(looks: int | Sequence[float] | FloatArray) -> FloatArray:
    """Information fractions of the looks (checked)."""
    if isinstance(looks, (list, tuple, np.ndarray)):
        fractions = reals("looks", looks, what="information fractions")
        rising = fractions[0] > 0 and bool((np.diff(fractions) > 0).all())
        if not rising or abs(fractions[-1] - 1) > 1e-12:
            raise fail("looks", looks, "a number of looks, or increasing fractions > 0 that end at 1")
        return fractions
    number = count("looks", looks, minimum=1)
    return np.arange(1, number + 1) / number


class _Walk:
    """Density of the not yet stopped score process, on Gauss-Legendre nodes, moved from look to look."""

    def __init__(self, drift: float) -> None:
        self.drift = drift
        self.time = 0.0
        self.nodes = np.zeros(1)
        self.mass = np.ones(1)  # weight x density

    def _beyond(self, t: float, score: float) -> float:
        """Probability that the score lies above a value at time t."""
        step = t - self.time
        z = (score - self.nodes - self.drift * step) / math.sqrt(step)
        return float(self.mass @ special.ndtr(-z))

    def _advance(self, t: float, score: float) -> None:
        """Move to time t and drop what lies above the score."""
        step = t - self.time
        low = self.drift * t - _REACH * math.sqrt(t)
        high = min(score, self.drift * t + _FAR * math.sqrt(t))
        # panels of two standard deviations of a step, twelve nodes each: exact to about 1e-13
        panels = max(1, math.ceil((high - low) / (2 * math.sqrt(step))))
        half = max(high - low, 0.0) / (2 * panels)
        centres = low + half * (2 * np.arange(panels) + 1)
        nodes = (centres[:, None] + half * _NODES).ravel()
        gap = (nodes[:, None] - self.nodes[None, :] - self.drift * step) / math.sqrt(step)
        density = np.exp(-0.5 * gap * gap) @ self.mass / math.sqrt(2 * math.pi * step)
        self.nodes, self.mass, self.time = nodes, half * np.tile(_WEIGHTS, panels) * density, t

    def cross(self, t: float, bound: float) -> float:
        """Probability of first crossing at this look; moves on."""
        score = bound * math.sqrt(t)
        crossed = self._beyond(t, score)
        self._advance(t, score)
        return crossed

    def bound(self, t: float, error: float, log_error: float) -> float:
        """Critical value that is crossed here for the first time with probability `error`; moves on."""
        # the bound if no earlier look had stopped anything; so far out that doubles hold no density, none has
        found = -float(special.ndtri_exp(log_error))
        if error >= _LEAST_ERROR:
            # what was stopped can only lower it; by logarithms, since the tail is then nearly a parabola
            def excess(c: float) -> float:
                # looks that lie close together leave nothing at all above
                return math.log(max(self._beyond(t, c * math.sqrt(t)), 5e-324)) - math.log(error)

            found = root(excess, -_REACH, found + 1e-6)
        self._advance(t, found * math.sqrt(t))
        return found
