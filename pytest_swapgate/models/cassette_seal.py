"""Checksums of recordings: what is replayed is what was recorded.

They protect from accidents and from hand edits: a "no" that became a "yes", a price that was rounded, answers that
changed places, a merge gone wrong. They do not protect from somebody who computes them anew after an edit, for there
is no secret in them; nor from a recording that is gone with its checksum, which is then missing like any other that
was never made. Whoever must trust a cassette keeps it under version control.

They are taken of the JSON as it stands, not of what it is read as: a field that is left out is an edit too, even
where its default would be the same. White space and the order of an object's fields are no part of them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

FIELD = "checksum"


def seal(*parts: Any) -> str:
    """Return the checksum of JSON values."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def taken_apart(value: Any) -> tuple[Any, Any]:
    """Return a JSON object without its checksum, and the checksum, or None if there is none."""
    if not isinstance(value, dict):
        return value, None
    return {name: item for name, item in value.items() if name != FIELD}, value.get(FIELD)


def why_broken(found: Any, *parts: Any) -> str | None:
    """Return why a checksum is not the one of its parts, in a few words; None if it is."""
    if found == seal(*parts):
        return None
    return f"its {FIELD} is missing" if found is None else f"its {FIELD} does not match"
