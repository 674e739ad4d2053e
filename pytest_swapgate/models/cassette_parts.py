"""What is recorded while a run goes on: a part a writer beside the cassette, moved into it at the end.

A part is JSON lines, each written before its answer is handed on: a run that is killed loses the calls in flight
only. Every pytest-xdist worker has a part of its own (``cassette.json.gw0.part``; without workers
``cassette.json.main.part``), so that workers need not wait for each other. Reading a cassette means its file and
then its parts in the order of their names, each part in the order of repetitions: the same files always give the
same recordings, whoever wrote first. Parts that are still being written belong to a run that goes on, and are
not read.

Each line has a checksum of what it says and of where it stands, so that none can be edited, doubled or moved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pydantic import Field

from pytest_swapgate.models.cassette_claim import Claim, is_claimed
from pytest_swapgate.models.cassette_file import (
    MARK,
    VERSION,
    Answer,
    CassetteError,
    Recording,
    check_mark,
    decode,
    edited,
    read,
    read_bytes,
    validated,
    write,
)
from pytest_swapgate.models.cassette_request import Request
from pytest_swapgate.models.cassette_seal import FIELD, seal, taken_apart, why_broken
from pytest_swapgate.teams.frozen import Frozen

_PATIENCE = 2.0
_FOLD_PATIENCE = 60.0
WRITER = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Taken(Frozen):
    """One line of a part: an answer was recorded as the n-th of its request.

    Attributes
    ----------
    recording
        The request with this one answer.
    n
        Which repetition it answered, from 0.
    anew
        Whether everything that was recorded of this request before is replaced.
    """

    recording: Recording
    n: int = Field(ge=0)
    anew: bool = False


class Withdrawn(Frozen):
    """One line of a part: the n-th answer of a request does not stand."""

    withdrawn: str
    n: int = Field(ge=0)


_Session = list[Taken | Withdrawn]


class Part:
    """A part that is being written; opened on the first line, so that a run that only replays writes nothing.

    Parameters
    ----------
    cassette
        The cassette file.
    writer
        Who writes; names the part.
    """

    def __init__(self, cassette: Path, writer: str) -> None:
        self.path = part_path(cassette, writer)
        self._claim: Claim | None = None
        self._anew: set[str] = set()

    @property
    def is_open(self) -> bool:
        """Whether anything may have been written."""
        return self._claim is not None

    @property
    def size(self) -> int:
        """Bytes written."""
        return self._claim.size if self._claim is not None else 0

    def open(self) -> None:
        """Hold the part, or say who cannot.

        Raises
        ------
        CassetteError
            If another run is recording there, or the folder cannot be written.
        """
        if self._claim is not None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            claim = Claim.take(self.path, create=True, wait=_PATIENCE)
            if claim is None:
                raise CassetteError(
                    f"{self.path}: another run is recording there; let it end, or name another cassette"
                )
            try:
                # What a run that was killed left: whole lines stay, half a line goes.
                _, sound = _read_part(self.path)
                claim.truncate(sound)
                claim.append(_line({MARK: VERSION}))
            except BaseException:
                claim.release()
                raise
        except OSError as error:
            raise CassetteError(
                f"{self.path}: cannot be written ({error.strerror or error}); "
                "record into a writable folder, or replay with mode none"
            ) from None
        self._claim = claim

    def take(self, request: Request, n: int, answer: Answer, *, replace: bool) -> None:
        """Write an answer; with ``replace`` the first one of a request replaces what was recorded before."""
        anew = replace and request.key not in self._anew
        recording = {
            "key": request.key,
            "model": request.model,
            "parameters": request.parameters,
            "messages": request.messages,
            "answers": [answer.model_dump(mode="json")],
        }
        self._write({"recording": recording, "n": n, "anew": anew})
        self._anew.add(request.key)

    def withdraw(self, key: str, n: int) -> None:
        """Write that an answer does not stand."""
        self._write({"withdrawn": key, "n": n})

    def close(self) -> None:
        """Let the part go; it stays for whoever reads or folds."""
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def _write(self, value: dict[str, Any]) -> None:
        self.open()
        assert self._claim is not None
        try:
            self._claim.append(_line({**value, FIELD: seal(self._claim.size, *_said(value))}))
        except OSError as error:
            raise CassetteError(
                f"{self.path}: cannot be written ({error.strerror or error}); what was recorded before is kept"
            ) from None


def part_path(cassette: Path, writer: str) -> Path:
    """Return the part of a writer."""
    return cassette.with_name(f"{cassette.name}.{writer}.part")


def parts_of(cassette: Path) -> list[Path]:
    """Return the parts beside a cassette, gw2 before gw10."""
    names = re.compile(rf"{re.escape(cassette.name)}\.({WRITER.pattern})\.part")
    try:
        found = [path for path in cassette.parent.iterdir() if names.fullmatch(path.name)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CassetteError(f"{cassette}: cannot be read ({error.strerror or error})") from None
    return sorted(
        found, key=lambda path: [int(s) if s.isdigit() else s for s in re.split(r"(\d+)", path.name)]
    )


def load(cassette: Path) -> list[Recording]:
    """Return the recordings of a cassette and of its finished parts, sorted by key.

    Raises
    ------
    CassetteError
        If one of the files cannot be used.
    """
    parts = [_read_part(path)[0] for path in parts_of(cassette) if not is_claimed(path)]
    return _merged(read(cassette), parts)


def fold(cassette: Path) -> int:
    """Move the finished parts into the cassette file; return how many there were.

    Called by the one process that outlives the writers. Nothing changes when there are no parts.

    Raises
    ------
    CassetteError
        If a file cannot be used, or the folder cannot be written; the parts then stay.
    """
    if not parts_of(cassette):
        return 0
    try:
        with ExitStack() as held:
            turn = Claim.take(cassette.with_name(f"{cassette.name}.fold"), create=True, wait=_FOLD_PATIENCE)
            if turn is None:
                raise CassetteError(f"{cassette}: another run is still writing it; let it end and run again")
            held.callback(turn.remove)
            ours = []
            for path in parts_of(cassette):
                claim = Claim.take(path, create=False, wait=_PATIENCE)
                if claim is not None:
                    held.callback(claim.release)
                    ours.append(claim)
            write(cassette, _merged(read(cassette), [_read_part(claim.path)[0] for claim in ours]))
            for claim in ours:
                claim.remove()
            return len(ours)
    except OSError as error:
        raise CassetteError(
            f"{cassette}: cannot be written ({error.strerror or error}); what was recorded is kept beside it"
        ) from None


def _read_part(path: Path) -> tuple[list[_Session], int]:
    """Return what each run wrote into a part, and how many of its bytes are whole lines."""
    data = read_bytes(path)
    whole = data[: data.rfind(b"\n") + 1]
    sessions: list[_Session] = []
    at = 0
    for number, line in enumerate(whole.split(b"\n")[:-1], start=1):
        _, value = decode(line, path, line=number)
        if not sessions or (isinstance(value, dict) and MARK in value):
            check_mark(value, path)
            sessions.append([])
        else:
            sessions[-1].append(_checked(value, at, path, number))
        at += len(line) + 1
    return sessions, len(whole)


def _checked(value: Any, at: int, path: Path, number: int) -> Taken | Withdrawn:
    """Return what a line says, if it is what was written there."""
    value, checksum = taken_apart(value)
    found: Taken | Withdrawn
    if isinstance(value, dict) and "withdrawn" in value:
        found = validated(Withdrawn, value, path, number)
        what = f"the withdrawal of a recording, digest {found.withdrawn[:12]},"
    else:
        found = validated(Taken, value, path, number)
        what = f"the recording for {found.recording}, repetition {found.n + 1},"
    if why := why_broken(checksum, at, *_said(value)):
        raise edited(path, number, what, why)
    return found


def _said(value: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the checksum of a line is taken of; the key stands for the request."""
    if "withdrawn" in value:
        return value["withdrawn"], value["n"]
    recording = value["recording"]
    return recording["key"], recording["answers"], value["n"], value.get("anew")


def _merged(main: Iterable[Recording], parts: Iterable[list[_Session]]) -> list[Recording]:
    requests: dict[str, Recording] = {}
    old: dict[str, list[Answer]] = {}
    new: dict[str, list[Answer]] = {}
    for recording in main:
        requests[recording.key] = recording
        old.setdefault(recording.key, []).extend(recording.answers)
    for part in parts:
        of_part: dict[str, list[Answer]] = {}
        for session in part:
            by_number: dict[str, dict[int, Answer]] = {}
            for line in session:
                if isinstance(line, Withdrawn):
                    by_number.get(line.withdrawn, {}).pop(line.n, None)
                    continue
                key = line.recording.key
                requests[key] = line.recording
                if line.anew:
                    old.pop(key, None)
                    of_part.pop(key, None)
                by_number.setdefault(key, {})[line.n] = line.recording.answers[0]
            for key, numbered in by_number.items():
                of_part.setdefault(key, []).extend(numbered[n] for n in sorted(numbered))
        for key, answers in of_part.items():
            new.setdefault(key, []).extend(answers)
    merged = {key: old.get(key, []) + new.get(key, []) for key in sorted(requests)}
    return [
        requests[key].model_copy(update={"answers": tuple(answers)})
        for key, answers in merged.items()
        if answers
    ]


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False).encode("utf-8") + b"\n"
