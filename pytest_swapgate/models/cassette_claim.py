"""An exclusive hold on a file: between processes, freed by the system when its holder dies."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

_BINARY = getattr(os, "O_BINARY", 0)


class Claim:
    """A file that this process alone appends to, moves or empties.

    Parameters
    ----------
    path, handle
        The file and the handle that holds it; see `take`.
    """

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle = handle

    @classmethod
    def take(cls, path: Path, *, create: bool, wait: float = 0.0) -> Claim | None:
        """Hold a file, or return None if another holds it for ``wait`` seconds, or there is none.

        Raises
        ------
        OSError
            If the folder cannot be written.
        """
        deadline = time.monotonic() + wait
        while True:
            try:
                handle = os.open(
                    path, os.O_RDWR | os.O_APPEND | _BINARY | (os.O_CREAT if create else 0), 0o666
                )
            except FileNotFoundError:
                if create:
                    raise
                return None
            try:
                if _try_lock(handle):
                    # The last holder may have removed the file that we have just opened.
                    if _is_at(handle, path):
                        claim, handle = cls(path, handle), -1
                        return claim
                    continue
                if time.monotonic() >= deadline:
                    return None
            finally:
                if handle >= 0:
                    os.close(handle)
            time.sleep(0.01)

    def append(self, data: bytes) -> None:
        """Add bytes, all or none of them."""
        size = self.size
        try:
            while data:
                data = data[os.write(self._handle, data) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._handle, size)
            raise

    def truncate(self, size: int) -> None:
        """Cut the file."""
        os.ftruncate(self._handle, size)

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return os.fstat(self._handle).st_size

    def release(self) -> None:
        """Let the file go; it stays. Again is harmless."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def remove(self) -> None:
        """Let the file go, and delete it."""
        if sys.platform != "win32":
            # While it is held: who waits for it then sees that it is gone.
            with suppress(OSError):
                self.path.unlink()
            self.release()
        else:
            self.truncate(0)
            self.release()
            with suppress(OSError):  # refused if another has it open, and then it is empty
                self.path.unlink()


def is_claimed(path: Path) -> bool:
    """Whether another process, or another handle of this one, holds a file."""
    try:
        handle = os.open(path, os.O_RDONLY | _BINARY)
    except OSError:
        return False
    try:
        return not _try_lock(handle, shared=True)
    except OSError:
        return False  # a folder that cannot lock has no holders
    finally:
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int, *, shared: bool = False) -> bool:  # noqa: ARG001
        # Far beyond the end: what is locked here cannot be read by others.
        os.lseek(handle, 1 << 40, os.SEEK_SET)
        for _ in range(20):
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            except PermissionError:
                time.sleep(0.01)  # others only look, briefly
            else:
                return True
        return False

else:
    import fcntl

    def _try_lock(handle: int, *, shared: bool = False) -> bool:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
