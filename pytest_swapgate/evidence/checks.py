"""What may enter a store: texts that are Unicode, JSON that is JSON, sizes within limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

from pytest_swapgate.evidence.errors import EvidenceError


def check_text(name: str, value: str) -> str:
    """Return a non-empty text that can be stored, or raise a ValueError that names it."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be a non-empty str, got {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} must be Unicode text, got {value!r}") from None
    return value


def check_json(name: str, value: str) -> str:
    """Return a JSON text, or raise a ValueError that names it."""
    if not is_json(value):
        shown = repr(value)
        raise ValueError(f"{name} must be JSON text, got {shown if len(shown) <= 80 else f'{shown[:77]}...'}")
    return value


def check_size(path: Path, what: str, text: str, limit: int) -> None:
    """Refuse a text of more than ``limit`` bytes."""
    # A character takes at most four bytes; most texts need no encoding to be let through.
    if 4 * len(text) > limit and (size := len(text.encode())) > limit:
        raise EvidenceError(f"{path}: {what} takes {size:,} bytes; at most {limit:,} are accepted")


def is_json(text: object) -> bool:
    """Return whether this is strict JSON text (no NaN, no infinities)."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    try:
        if not isinstance(text, str):
            return False
        text.encode()
        json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True
