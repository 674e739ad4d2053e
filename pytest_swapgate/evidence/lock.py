"""A lock that many processes respect and that the system releases when its holder dies."""

from __future__ import annotations

import hashlib
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_swapgate.evidence.errors import EvidenceError

_LONGEST_WAIT = 0.05


def lock_path(beside: Path, name: str) -> Path:
    """Return the lock file of a name: beside the evidence file, the name only as a hash."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return beside.with_name(f"{beside.name}-{digest}.lock")


@contextmanager
def file_lock(beside: Path, name: str, *, timeout: float | None = 60.0) -> Iterator[None]:
    """Hold an exclusive lock, between processes and between threads of one process.

    Not re-entrant. The empty lock file stays: deleting it would let two holders in.

    Parameters
    ----------
    beside
        The evidence file.
    name
        What is locked; any text.
    timeout
        Seconds to wait, >= 0; None waits for as long as the holder lives.

    Raises
    ------
    ValueError
        For a name that is not a non-empty str, or a bad timeout.
    EvidenceError
        If the lock is still held after ``timeout``, or its file cannot be written.
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"name must be a non-empty str, got {name!r}")
    if timeout is not None and (
        isinstance(timeout, bool)
        or not isinstance(timeout, int | float)
        or not math.isfinite(timeout)
        or timeout < 0
    ):
        raise ValueError(f"timeout must be a number of seconds >= 0 or None, got {timeout!r}")
    path = lock_path(beside, name)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise EvidenceError(
            f"{path}: cannot write the lock file ({error.strerror}); use a writable folder"
        ) from None
    try:
        _wait(handle, path, name, timeout)
        try:
            yield
        finally:
            # Explicit, because a forked child may still hold a copy of the handle.
            with suppress(OSError):
                _unlock(handle)
    finally:
        os.close(handle)


def _wait(handle: int, path: Path, name: str, timeout: float | None) -> None:
    deadline = None if timeout is None else time.monotonic() + timeout
    pause = 0.001
    while True:
        try:
            if _try_lock(handle):
                return
        except OSError as error:
            raise EvidenceError(
                f"{path}: this folder cannot lock files ({error.strerror}); use a local one"
            ) from None
        if deadline is not None and time.monotonic() >= deadline:
            raise EvidenceError(
                f"{path}: {name!r} is still held by another process after {timeout:g} s; "
                "wait for it to end, or allow a longer timeout"
            )
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_WAIT)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        os.lseek(handle, 0, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
