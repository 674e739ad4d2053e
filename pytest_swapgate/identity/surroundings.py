"""What every function of a project is surrounded by, looked at whenever it is asked for."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_swapgate.identity import options, variables
from pytest_swapgate.identity.artifacts import artifacts_of
from pytest_swapgate.identity.files import Files, UnknownError
from pytest_swapgate.identity.places import Installed, Place, places

_SHOWN = 3
_NAME_IT = (
    "or name the system yourself: paired_runner(..., fingerprint='commit and model version'), or digest='...' of an "
    "environment"
)


class Surroundings:
    """The project's files, installed distributions, environment variables and options, as one hash.

    What happens to be imported does not matter, so one test alone reads what the whole suite has stored.

    Parameters
    ----------
    root
        The project's root folder.
    options
        pytest's parsed options, those of ours that matter resolved.
    run
        Name of the run: where the system is unknown, only the run itself reads what it has played.
    evidence, cassette
        Files of this run that do not count.
    """

    def __init__(
        self, root: Path, options: Mapping[str, Any], *, run: str, evidence: Path, cassette: Path
    ) -> None:
        self._root = root.resolve()
        self._options = options
        self._run = run
        self._own = [path.parent.resolve() / path.name for path in (evidence, cassette)]
        self._first: tuple[list[Place], dict[str, str]] | None = None
        self._why_unknown = ""

    def now(self) -> str:
        """Return the SHA-256 of what surrounds the project's functions at this moment.

        Where that cannot be told, it is a text that no other run has, so that everything is played anew.
        """
        try:
            current = _current()
            wanted = places(self._root, self._installed.editable, current)
            files = self._files.look(wanted)
        except UnknownError as unknown:
            self._why_unknown = str(unknown)
            return f"unknown in {self._run}"
        if self._first is None:
            self._first = (wanted, files)
        parts = [
            sorted(files.items()),
            _position(current, self._root),
            self._installed.parts,
            variables.hashed(os.environ, str(self._root)),
            options.told(self._options),
        ]
        return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()

    def remarks(self) -> list[str]:
        """Return what a reader must know at the end of a run: why its evidence will not be read."""
        if self._why_unknown:
            return [
                "everything is played anew in every run, because nobody can say whether the system is unchanged: "
                f"{self._why_unknown}. Run pytest in the folder of your project, {_NAME_IT}"
            ]
        changed = self._changed()
        if not changed:
            return []
        more = f" and {len(changed) - _SHOWN:,} more" if len(changed) > _SHOWN else ""
        return [
            f"the project's files changed while its tests ran ({', '.join(changed[:_SHOWN])}{more}): that is taken for "
            "another system, and what was played before the change is played anew. Let it write outside of the "
            f"project, {_NAME_IT}"
        ]

    def _changed(self) -> list[str]:
        if self._first is None:
            return []
        wanted, first = self._first
        try:
            last = self._files.look(wanted)
        except UnknownError:
            return []
        names = first.keys() | last.keys()
        return sorted(name.removeprefix("./") for name in names if first.get(name) != last.get(name))

    @cached_property
    def _installed(self) -> Installed:
        return Installed()

    @cached_property
    def _files(self) -> Files:
        evidence, cassette = self._own
        written = options.written_by(self._options, {self._root, _current()})
        return Files(artifacts_of(evidence=evidence, cassette=cassette, written=written))


def _current() -> Path:
    try:
        return Path.cwd().resolve()
    except OSError as error:
        raise UnknownError("the current folder is gone") from error


def _position(current: Path, root: Path) -> str:
    """Return where relative paths lead to, in words that do not tell where the project lies."""
    return (
        current.relative_to(root).as_posix() if current.is_relative_to(root) else f"outside: {current.name}"
    )
