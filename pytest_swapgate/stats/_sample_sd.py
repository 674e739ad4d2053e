"""Integrals over the distribution of a sample standard deviation (true value 1), by Gauss and Legendre."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from pytest_swapgate.stats import _special as special

from ._check import FloatArray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(80)
_TAIL = 1e-15


def sample_sd_nodes(df: int, *, kink: float | None = None) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights that add up to 1; split at a point where the integrand has a kink."""
    low, high = np.sqrt([special.chdtri(df, 1 - _TAIL) / df, special.chdtri(df, _TAIL) / df])
    ends = [low, high] if kink is None else [low, min(max(kink, low), high), high]
    nodes, weights = [], []
    constant = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    for left, right in pairwise(ends):
        s = (left + right) / 2 + (right - left) / 2 * _NODES
        density = np.exp(constant + (df - 1) * np.log(s) - df * s * s / 2)
        nodes.append(s)
        weights.append((right - left) / 2 * _WEIGHTS * density)
    return np.concatenate(nodes), np.concatenate(weights)
