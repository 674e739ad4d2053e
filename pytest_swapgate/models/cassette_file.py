"""The cassette file: JSON for people and diffs, checked before it is believed, replaced whole or not at all."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NoReturn, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from pytest_swapgate.models.cassette_request import Request, request_key
from pytest_swapgate.models.cassette_seal import FIELD, seal, taken_apart, why_broken
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.teams.episode import FailureClass, Usage
from pytest_swapgate.teams.frozen import Frozen

VERSION = 2
MARK = "swapgate_cassette"
"""Field that says what the file is, and of which schema: 2 has checksums."""
FILE_BYTES = 512_000_000
_HALF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_Noun = TypeVar("_Noun", bound=Frozen)
_LEFT = "; restore the file or delete it (it was left as it is)"
_ANEW = "delete it and record it again with --swapgate-cassette new_episodes"


class CassetteError(ModelError):
    """A cassette that cannot be used, or a recording that is missing: one line; stops the run."""

    def __init__(self, message: str, *, usage: Usage | None = None) -> None:
        super().__init__(message, failure=FailureClass.CONFIGURATION, usage=usage)


class Answer(Frozen):
    """One recorded answer: what a `Completion` holds, or the agent's own failure.

    Attributes
    ----------
    text, model, finish_reason, usage
        As in `Completion`.
    failure, error
        Set when the agent failed; no other failure is ever recorded.
    """

    text: str = ""
    model: str = ""
    finish_reason: str = "stop"
    usage: Usage = Usage()
    failure: Literal["agent"] | None = None
    error: str = ""


class Recording(Frozen):
    """A request with its answers: the n-th is for the n-th time that a run makes this request."""

    key: str
    model: str
    parameters: dict[str, Any]
    messages: list[Any]
    answers: tuple[Answer, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _key_fits(self) -> Self:
        if self.key != request_key(self.model, self.parameters, self.messages):
            raise ValueError(
                "the request was edited after it was recorded (its key does not fit model, parameters and messages)"
            )
        return self

    def __str__(self) -> str:
        """Name the request for a reader."""
        return str(Request(self.model, self.parameters, self.messages, self.key))


def read_bytes(path: Path) -> bytes:
    """Return what a file holds, nothing if there is none; refuse what is no file, or too large."""
    try:
        if not path.exists():
            return b""
        if not path.is_file():
            raise CassetteError(f"{path}: not a file; name a file, such as cassette.json")
        if path.stat().st_size > FILE_BYTES:
            raise CassetteError(f"{path}: over {FILE_BYTES:,} bytes, the most that is accepted")
        return path.read_bytes()
    except OSError as error:
        raise CassetteError(f"{path}: cannot be read ({error.strerror or error})") from None


def read(path: Path) -> list[Recording]:
    """Return what a cassette file holds; nothing if it is missing or empty.

    Raises
    ------
    CassetteError
        If it is not JSON, not a cassette, damaged, edited, or of another schema; it is left as it is.
    """
    data = read_bytes(path)
    if not data:
        return []
    text, document = decode(data, path)
    check_mark(document, path)
    items = document.get("recordings")
    if not isinstance(items, list) or len(document) != 2:
        raise CassetteError(f"{path}: must hold '{MARK}' and a list 'recordings', and nothing else{_LEFT}")
    found: dict[str, Recording] = {}
    for index, item in enumerate(items):
        value, checksum = taken_apart(item)
        try:
            recording = Recording.model_validate(value)
        except ValueError as error:
            raise CassetteError(f"{path}, line {_line(text, index)}: {_why(error)}{_LEFT}") from None
        if why := why_broken(checksum, recording.key, value["answers"]):
            raise edited(path, _line(text, index), f"the recording for {recording}", why)
        if recording.key in found:
            first = _line(text, list(found).index(recording.key))
            raise CassetteError(
                f"{path}, line {_line(text, index)}: the recording for {recording} stands twice, on line {first} too; "
                "leave one of the two, or restore the file (it was left as it is)"
            )
        found[recording.key] = recording
    return list(found.values())


def write(path: Path, recordings: Sequence[Recording]) -> None:
    """Write a cassette aside and move it into place; the same recordings give the same bytes.

    Raises
    ------
    CassetteError
        If the folder cannot take it; the file is then as it was.
    """
    new = path.with_name(f"{path.name}-{uuid.uuid4().hex[:12]}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new.open("xb") as file:
            for line in _lines(recordings):
                file.write(line.encode("utf-8"))
            file.flush()
            if file.tell() > FILE_BYTES:
                raise CassetteError(
                    f"{path}: would be over {FILE_BYTES:,} bytes, the most that is accepted; "
                    "what was recorded is kept beside it, record fewer gates into one cassette"
                )
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise CassetteError(
            f"{path}: cannot be written ({error.strerror or error}); it is as it was"
        ) from None
    finally:
        with suppress(OSError):
            new.unlink()


def decode(data: bytes, path: Path, *, line: int = 1) -> tuple[str, Any]:
    """Return text and JSON value, strictly (no NaN), or an error that names file and line."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    try:
        text = data.decode("utf-8")
        value = json.loads(text, parse_constant=refuse)
        if _HALF_A_PAIR.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        return text, value
    except UnicodeDecodeError as error:
        at, why = line + data[: error.start].count(b"\n"), "not UTF-8"
    except UnicodeEncodeError:
        at, why = line, "half of a surrogate pair, which no text holds"
    except json.JSONDecodeError as error:
        at, why = line + error.lineno - 1, f"not JSON ({error.msg}, column {error.colno})"
    except (ValueError, RecursionError) as error:
        at, why = line, f"not JSON ({error})"
    raise CassetteError(f"{path}, line {at}: {why}{_LEFT}")


def check_mark(document: Any, path: Path) -> None:
    """Refuse what is no cassette, and what another version wrote."""
    version = document.get(MARK) if isinstance(document, dict) else None
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise CassetteError(f"{path}: not a cassette of swapgate; name another path{_LEFT}")
    if version > VERSION:
        raise CassetteError(
            f"{path}: written by a newer pytest-swapgate (schema {version}, this one reads up to {VERSION}); "
            "upgrade pytest-swapgate or name another path"
        )
    if version < VERSION:
        raise CassetteError(
            f"{path}: written by an older pytest-swapgate (schema {version}, without checksums; this one reads "
            f"{VERSION}); {_ANEW} (it was left as it is)"
        )


def validated(kind: type[_Noun], value: Any, path: Path, line: int) -> _Noun:
    """Return a value as a noun of this module, or an error that names file and line."""
    try:
        return kind.model_validate(value)
    except ValueError as error:
        raise CassetteError(f"{path}, line {line}: {_why(error)}{_LEFT}") from None


def edited(path: Path, line: int, what: str, why: str) -> CassetteError:
    """Return the error of something that is not what was recorded."""
    return CassetteError(
        f"{path}, line {line}: {what} was edited after it was recorded ({why}); restore the file, or {_ANEW} "
        "(it was left as it is)"
    )


def _why(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))
    words = first["msg"].removeprefix("Value error, ")
    return f"{place}: {words}" if place else words


def _line(text: str, index: int) -> int:
    """Return the line on which a recording begins."""
    head = re.search(r'"recordings"\s*:\s*\[', text)
    position = head.end() if head else 0
    between = re.compile(r"[\s,]*")
    decoder = json.JSONDecoder()
    for skipped in range(index + 1):
        gap = between.match(text, position)
        position = gap.end() if gap else position
        if skipped < index:
            _, position = decoder.raw_decode(text, position)
    return text.count("\n", 0, position) + 1


def _lines(recordings: Sequence[Recording]) -> Iterator[str]:
    """Lay out: one line a message and an answer, so that a diff shows what changed."""
    yield f'{{\n "{MARK}": {VERSION},\n "recordings": ['
    for number, recording in enumerate(recordings):
        yield ",\n  {" if number else "\n  {"
        yield f'\n   "key": {_json(recording.key)},\n   "model": {_json(recording.model)},'
        yield f'\n   "parameters": {_json(recording.parameters)},\n   "messages": ['
        yield ",".join(f"\n    {_json(message)}" for message in recording.messages)
        yield '\n   ],\n   "answers": ['
        answers = [answer.model_dump(mode="json") for answer in recording.answers]
        yield ",".join(f"\n    {_json(answer)}" for answer in answers)
        yield f'\n   ],\n   "{FIELD}": {_json(seal(recording.key, answers))}\n  }}'
    yield "\n ]\n}\n" if recordings else "]\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
