"""``scipy.special``, loaded with the first function that is asked for: whoever only reads reports needs none of it."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special

    value = globals()[name] = getattr(special, name)
    return value
