"""The folders that a project's functions may reach: where it lies, what it imports from, where it was started."""

from __future__ import annotations

import json
import os
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

INSTALLED = frozenset({"site-packages", "dist-packages"})
_OURS = Path(__file__).resolve().parents[1]


class Place(NamedTuple):
    """A folder or archive that is looked at: what it is to the reader, where it is, and what its files go by."""

    what: str
    path: Path
    name: str


def places(root: Path, editable: Iterable[Path], current: Path) -> list[Place]:
    """Return where a project's functions may reach, the project first, as of now.

    Names do not tell where a project lies, and what lies below the project keeps its name there.
    """
    wanted = [
        ("the root folder of the tests", [root]),
        ("a folder of the import path", sorted(_import_path())),
        ("a folder of an editable installation", sorted(editable)),
        ("the current folder", [current]),
    ]
    found: dict[Path, Place] = {}
    names: set[str] = set()
    for what, paths in wanted:
        for path in paths:
            if path in found:
                continue
            if path.is_relative_to(root):
                name = f"./{path.relative_to(root).as_posix()}" if path != root else "."
            else:
                name = path.name
                while name in names:
                    name += "+"
            names.add(name)
            found[path] = Place(what, path, name)
    return list(found.values())


def why_absurd(folder: Path) -> str:
    """Return what is wrong with hashing a folder; empty if nothing is."""
    if folder == Path(folder.anchor):
        return "is the root of the file system"
    with suppress(RuntimeError):  # nobody has a home here
        home = Path.home().resolve()
        if home.is_relative_to(folder):
            return "is the home folder" if home == folder else "holds the home folder"
    if INSTALLED.intersection(folder.parts):
        return "holds installed packages"
    if folder == Path(tempfile.gettempdir()).resolve():
        return "is the folder of temporary files"
    return ""


def _import_path() -> set[Path]:
    """Return the folders and archives of ``sys.path`` that hold neither the standard library nor installed packages."""
    installed = {
        Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")
    }
    if sys.prefix != sys.base_prefix:
        installed.add(Path(sys.prefix).resolve())
    found = {Path(entry).resolve() for entry in sys.path if entry and os.path.exists(entry)}
    return {
        place
        for place in found
        if not INSTALLED.intersection(place.parts)
        and place != _OURS.parent  # a checkout of this package
        and not any(place.is_relative_to(other) for other in installed)
    }


class Installed:
    """The installed distributions, read once: names and versions, and what only a version does not tell."""

    def __init__(self) -> None:
        self.parts = [sys.version, f"optimize={sys.flags.optimize}"]
        self.editable: set[Path] = set()
        for folder in sorted(_site_folders()):
            for info in sorted(_infos(folder)):
                self.parts.append(info.name)
                self._read_origin(info)
        self.parts.sort()

    def _read_origin(self, info: Path) -> None:
        """Look at what was installed from elsewhere than an index: there, one version may be many."""
        try:
            text = (info / "direct_url.json").read_text(encoding="utf-8")
            origin = json.loads(text)
            if origin.get("dir_info", {}).get("editable"):
                place = Path(url2pathname(unquote(urlsplit(origin["url"]).path))).resolve()
                if place not in (_OURS.parent, _OURS) and place.is_dir():
                    self.editable.add(place)
                return
            record = (info / "RECORD").read_text(encoding="utf-8")
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            return
        # Scripts name the folder of their interpreter, and the rest of dist-info where it came from.
        lines = [
            line for line in record.splitlines() if not line.startswith(("..", info.name)) and "sha" in line
        ]
        self.parts += sorted(f"{info.name}: {line}" for line in lines)


def _site_folders() -> set[Path]:
    named = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    on_path = [entry for entry in sys.path if INSTALLED.intersection(Path(entry).parts)]
    return {Path(entry).resolve() for entry in (*named, *on_path)}


def _infos(folder: Path) -> Iterator[Path]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    yield from (folder / name for name in names if name.endswith((".dist-info", ".egg-info")))
