"""Files: all of a project count, except the artifacts that are listed here.

The list is short on purpose. A file that is wrongly left out lets old outcomes be read for a changed system; a file
that is wrongly hashed only plays again. So build outputs such as ``dist/`` and ``build/`` count: they change when
somebody builds, and a system may read them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from fnmatch import translate
from pathlib import Path

FOLDERS = {
    "version control": ".git .hg .svn .bzr .jj",
    "byte code": "__pycache__",
    "caches of tools": ".pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks .tox .nox .ipynb_checkpoints",
    "evidence": ".swapgate",
    "installed packages of JavaScript; their lock file counts": "node_modules",
    "what setuptools leaves": "*.egg-info .eggs",
    "coverage reports": "htmlcov",
    "state of an editor": ".idea",
}
"""Reason -> names of folders."""
FILES = {
    "logs": "*.log",
    "coverage data": ".coverage .coverage.* coverage.xml coverage.json coverage.lcov",
    "version control, in a submodule or worktree": ".git",
    "what an editor or a desktop leaves": "*.swp *~ .#* .DS_Store Thumbs.db desktop.ini",
    "credentials that a job is handed anew": "gha-creds-*.json",
}
"""Reason -> names of files."""

_ENVIRONMENT = frozenset({"pyvenv.cfg", "conda-meta"})
_CACHE = "CACHEDIR.TAG"
_CACHE_SAYS = b"Signature: 8a477f597d28d172789f06886806bc55"
_SQLITE = b"SQLite format 3\0"
_MARK_AT = slice(68, 72)
_MARK = b"SWGP"
_BESIDE = re.compile(r"-(wal|shm|journal|[0-9a-f]{16}\.lock)$")


def _matcher(groups: dict[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(translate(name) for names in groups.values() for name in names.split()))


@dataclass(frozen=True)
class Artifacts:
    """Tells artifacts from what counts.

    Attributes
    ----------
    own
        The evidence file and the cassette of this run; what lies beside them and begins with their names is theirs.
    written
        Files and folders that this run was told to write, and the folder of this package.
    """

    own: frozenset[str]
    written: frozenset[str]
    _folders: re.Pattern[str] = field(default_factory=lambda: _matcher(FOLDERS))
    _files: re.Pattern[str] = field(default_factory=lambda: _matcher(FILES))

    def is_folder(self, path: str, names: Collection[str]) -> bool:
        """Whether a folder is one: by its name, its path, or a mark among the names in it."""
        if self._folders.match(os.path.basename(path)) or path in self.written:
            return True
        if not _ENVIRONMENT.isdisjoint(names):
            return True
        return _CACHE in names and head_of(os.path.join(path, _CACHE)).startswith(_CACHE_SAYS)

    def is_file(self, path: str) -> bool:
        """Whether a file is one, by its name or its path."""
        if self._files.match(os.path.basename(path)) or path in self.written or path in self.own:
            return True
        return any(path.startswith((f"{own}-", f"{own}.")) for own in self.own)

    def is_evidence(self, path: str, head: bytes) -> bool:
        """Whether a file that begins so is evidence of another run, or what SQLite and our locks put beside one."""
        base = _BESIDE.sub("", path)
        begins = head if base == path else head_of(base)
        return begins.startswith(_SQLITE) and begins[_MARK_AT] == _MARK


def artifacts_of(*, evidence: Path, cassette: Path, written: Collection[Path]) -> Artifacts:
    """Return what tells the artifacts of a run."""
    ours = Path(__file__).resolve().parents[1]
    return Artifacts(
        own=frozenset(os.path.abspath(path) for path in (evidence, cassette)),
        written=frozenset(os.path.abspath(path) for path in (*written, ours)),
    )


def head_of(path: str) -> bytes:
    """Return the first bytes of a file; none if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(max(_MARK_AT.stop, len(_CACHE_SAYS)))
    except OSError:
        return b""
