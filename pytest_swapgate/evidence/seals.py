"""Checksums of rows: what is read for a verdict is what was written.

They protect from accidents and from hand edits: a bit that flipped, a cell changed with ``sqlite3``, a row pasted
together. They do not protect from somebody who computes them anew after an edit, for there is no secret in them; nor
from rows that were deleted, which are played again, or, of the ledger, missing from the report; counts of attempts and
the order of runs have none. Rows of an older schema got theirs when the file was migrated: of what was changed before
that, only an outcome that does not fit its text is found, by ``swapgate evidence check``. Whoever must trust a file
keeps it where others cannot write.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from pytest_swapgate.evidence.errors import EvidenceError


def seal(*parts: Any) -> str:
    """Return the checksum of a row's values, as SQLite returns them: str, bytes, int, float, None."""
    # ascii(), unlike repr(), writes the same text under every version of Unicode.
    return hashlib.blake2b(ascii(parts).encode("ascii"), digest_size=16).hexdigest()


def text_digest(text: str) -> str:
    """Return the checksum of one long text: by SHA-256, the quickest one for these where processors know it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def changed(path: Path, what: str) -> EvidenceError:
    """Return the error of a row that is not what was written."""
    return EvidenceError(
        f"{path}: {what} was changed after it was written (its checksum does not match); restore the file from a copy, "
        "or play anew into another one (--swapgate-evidence PATH)"
    )
