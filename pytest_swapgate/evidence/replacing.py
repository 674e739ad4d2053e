"""Write a file aside and move it into place: it appears whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give an empty new file beside ``path``; move it there if all goes well, delete it if not."""
    new = path.with_name(f"{path.name}-{uuid.uuid4().hex[:12]}.new")
    # Unlike tempfile's, this file gets the permissions that the user's umask allows.
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield new
        new.replace(path)
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                new.with_name(new.name + suffix).unlink()
