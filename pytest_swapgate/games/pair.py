"""The collaboration tax and the two-player game behind it."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from pytest_swapgate.games._check import fail


def tax(v1: Any, v2: Any, v12: Any) -> Any:
    """Return max(v1, v2) - v12: what the better member alone has over the pair.

    Parameters
    ----------
    v1, v2
        Expected score of each agent alone on the whole instance.
    v12
        Expected score of the pair on the split instance.

    Returns
    -------
    number
        Positive exactly when the game is not max-superadditive. Fractions stay exact.

    Raises
    ------
    ValueError
        If a score is not a finite number.

    Notes
    -----
    Source: collaboration-tax paper, proposition 2. Take the maximum of the *mean* scores;
    the mean of the tasks' maxima is larger under noise.
    """
    _finite(v1=v1, v2=v2, v12=v12)
    return max(v1, v2) - v12


def two_player_shares(v1: Any, v2: Any, v12: Any, *, empty: Any = 0) -> tuple[Any, Any]:
    """Return the Shapley shares of a pair, (v1 + v12 - v2 - empty)/2 and the same with 1 and 2 exchanged.

    Parameters
    ----------
    v1, v2, v12
        As in `tax`.
    empty
        Worth of the empty coalition.

    Returns
    -------
    tuple of two numbers
        They sum to v12 - empty. If v12 < v1 + v2 - empty, both are less than what the agent is worth
        alone, by the same amount (proposition 4). Fractions stay exact.

    Notes
    -----
    Source: collaboration-tax paper, propositions 3 and 4.
    """
    _finite(v1=v1, v2=v2, v12=v12, empty=empty)
    return (v1 + v12 - v2 - empty) / 2, (v2 + v12 - v1 - empty) / 2


def _finite(**scores: Any) -> None:
    for name, score in scores.items():
        if isinstance(score, bool) or not isinstance(score, Real) or not math.isfinite(score):
            raise fail(name, score, "a finite number")
