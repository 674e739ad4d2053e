"""What lies in folders, as one line a file; bounded, and fast when little has changed since the last look."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_swapgate.identity.artifacts import Artifacts
from pytest_swapgate.identity.places import Place, why_absurd

LARGE = 4_000_000
"""Bytes of a file above which its size, its time of change and its two ends stand for its content."""
MOST_BYTES = 256_000_000
"""Bytes that are read in one look; the files after them are treated as large."""
MOST_FILES = 20_000
"""Files and folders that are looked at."""
_END = 65_536
_QUIET_NS = 2_000_000_000


class UnknownError(Exception):
    """Nobody can say whether a system is unchanged, and why."""


class _Content(NamedTuple):
    """What stands for a file, its numbers when it was read, and whether a change since then would show in them."""

    seen: tuple[int, ...]
    line: str | None
    settled: bool


class Files:
    """Looks at folders; remembers the content of files whose numbers have not changed.

    Parameters
    ----------
    artifacts
        What does not count.
    """

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts
        self._known: dict[str, _Content] = {}

    def look(self, places: Iterable[Place]) -> dict[str, str]:
        """Return one line for each file of some places: its name below them -> what is in it.

        Links to folders are followed, each folder once. Only names below the places are told, so that the same project
        in another folder gives the same.

        Raises
        ------
        UnknownError
            If a place is absurd, or there are too many files.
        """
        look = _Look(self._artifacts, self._known)
        for place in places:
            look.at(place)
        return look.lines


class _Look:
    """One look: what it has met, and what it may still read."""

    def __init__(self, artifacts: Artifacts, known: dict[str, _Content]) -> None:
        self.lines: dict[str, str] = {}
        self._artifacts = artifacts
        self._known = known
        self._met: dict[str, str] = {}  # real path of a folder -> its name
        self._looked_at = 0
        self._bytes = 0

    def at(self, place: Place) -> None:
        """Look at a place; links last, so that a folder goes by its own name wherever it has one."""
        if place.path.is_file():
            self._take(str(place.path), place.name)
            return
        links: deque[tuple[str, str]] = deque()
        self._folder(place, str(place.path), place.name, links)
        while links:
            path, name = links.popleft()
            real = os.path.realpath(path)
            if real in self._met:
                self.lines[name] = f"link to {self._met[real]}"
            else:
                self._folder(place, path, name, links)

    def _folder(self, place: Place, path: str, name: str, links: deque[tuple[str, str]]) -> None:
        real = os.path.realpath(path)
        if absurd := why_absurd(Path(real)):
            if path == str(place.path):
                raise UnknownError(f"{place.what} ({path}) {absurd}")
            raise UnknownError(f"{place.what} has a link ({path}) to {real}, which {absurd}")
        stack = [(path, real, name)]
        while stack:
            path, real, name = stack.pop()
            if real in self._met:
                continue
            self._met[real] = name
            try:
                with os.scandir(path) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError:
                self.lines[name] = "unreadable"
                continue
            self._looked_at += len(entries)
            if self._looked_at > MOST_FILES:
                raise UnknownError(
                    f"{place.what} ({place.path}) holds more than {MOST_FILES:,} files and folders"
                )
            names = {entry.name for entry in entries}
            if name == place.name or not any(self._artifacts.is_folder(own, names) for own in {path, real}):
                stack.extend(self._entries(entries, real, name, links))

    def _entries(
        self, entries: list[os.DirEntry[str]], real: str, name: str, links: deque[tuple[str, str]]
    ) -> Iterator[tuple[str, str, str]]:
        """Take the files of a folder, keep its links to folders for later, and return its own folders."""
        for entry in entries:
            own = f"{name}/{entry.name}"
            if not _is_folder(entry):
                if not self._artifacts.is_file(entry.path):
                    self._take(entry.path, own)
            elif entry.is_symlink():
                links.append((entry.path, own))
            else:
                yield entry.path, os.path.join(real, entry.name), own

    def _take(self, path: str, name: str) -> None:
        try:
            at = os.stat(path)
            if not stat.S_ISREG(at.st_mode):
                self.lines[name] = "no file"
                return
            whole = at.st_size <= LARGE and self._bytes + at.st_size <= MOST_BYTES
            self._bytes += at.st_size if whole else 2 * _END
            seen = (whole, at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino, at.st_mode)
            known = self._known.get(path)
            if known is None or known.seen != seen or not known.settled:
                self._known[path] = known = self._read(path, at, seen, whole=whole)
        except OSError:
            self.lines[name] = "unreadable"
            return
        if known.line is not None:
            self.lines[name] = known.line

    def _read(self, path: str, at: os.stat_result, seen: tuple[int, ...], *, whole: bool) -> _Content:
        now = time.time_ns()
        with open(path, "rb") as file:
            data = file.read() if whole else file.read(_END)
            if not whole:
                file.seek(max(0, at.st_size - _END))
                data += file.read(_END)
        runs = "x" if at.st_mode & stat.S_IXUSR else "-"
        line = f"{runs} {hashlib.sha256(data).hexdigest()}" + (
            "" if whole else f" {at.st_size} {at.st_mtime_ns}"
        )
        return _Content(
            seen=seen,
            line=None if self._artifacts.is_evidence(path, data) else line,
            # As in git: a file that has just changed may change again without another time.
            settled=max(at.st_mtime_ns, at.st_ctime_ns) < now - _QUIET_NS,
        )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
