"""Texts of a user in our messages, short enough for one line of a terminal or a log."""

from __future__ import annotations

from typing import Any

MOST = 200
"""Characters of a user's text in one message."""
_TAIL = 40


def shortened(text: str, most: int = MOST) -> str:
    """Return a text as it is, or its beginning and end and how long it was."""
    if len(text) <= most:
        return text
    return f"{text[: most - _TAIL]} ... {text[-_TAIL:]} ({len(text):,} characters)"


def written(value: Any) -> str:
    """Return a value as its ``repr``, shortened; never an error, whatever the value."""
    try:
        return shortened(repr(value))
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"
