"""Content keys: the same parts give the same key, on every machine and in every process."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any


def content_key(**parts: Any) -> str:
    """Return the SHA-256 of the canonical JSON of named parts.

    Canonical JSON here: names sorted, no white space, ASCII escapes, lists and tuples alike,
    floats in their shortest exact form. ``1``, ``1.0``, ``True`` and ``"1"`` are different parts.

    Parameters
    ----------
    **parts
        What the stored thing depends on (environment digest, team fingerprint, condition, task,
        seed, ...): plain JSON values, nested as needed.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    ValueError
        If there are no parts, or one is not a plain JSON value (also NaN, infinities and
        mappings with names that are not str).
    """
    if not parts:
        raise ValueError("content_key needs at least one named part")
    for name, value in parts.items():
        _check_plain(name, value)
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _check_plain(name: str, value: Any) -> None:
    if value is None or isinstance(value, str | int):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{name} must be finite, got {value!r}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_plain(f"{name}[{index}]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                # JSON would turn 1 and "1" into the same name.
                raise ValueError(f"{name} must have str names only, got {key!r}")
            _check_plain(f"{name}[{key!r}]", item)
    else:
        raise ValueError(
            f"{name} must be a plain JSON value (None, bool, int, float, str, list, dict), got {value!r}"
        )
