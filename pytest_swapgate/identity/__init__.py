"""What a user's function is, so that stored outcomes are read for it only while nothing around it has changed.

`artifacts` and `variables` list what says nothing about a system, with reasons; everything else counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from pytest_swapgate.environments.plain import function_parts
from pytest_swapgate.identity.surroundings import Surroundings

__all__ = ["Surroundings", "identity_of"]


def identity_of(role: str, function: Callable[..., Any], *, gate: str, nth: int, surroundings: str) -> str:
    """Return the SHA-256 of everything local that could change a function's outcomes.

    It covers the gate, which of its comparisons this is, the role, the function with its bound plain values, and its
    `surroundings` (or what a user names instead of them). Whatever is behind a network is not covered.
    """
    parts = [gate, nth, role, function_parts(function), surroundings]
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()
