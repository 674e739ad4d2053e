"""Cassettes that were edited after they were recorded: each is refused in one line, nothing is replayed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cassette_samples import Talker, ask, complete, fault, messages, never, only

from pytest_swapgate.models import ModelError
from pytest_swapgate.models.cassette import MODES, CassetteError, Tape, fold, with_cassette
from pytest_swapgate.models.cassette_file import Answer
from pytest_swapgate.models.cassette_request import Request
from pytest_swapgate.teams import FailureClass

REAL = "openai/gpt-x"
Document = dict[str, Any]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A cassette of two requests, one asked twice, and one that the agent failed."""
    path = tmp_path / "cassette.json"
    talker = Talker()
    models = with_cassette(only(talker), path, "once")
    ask(models(REAL), "hi", "ho", "hi")
    talker.faults = [fault(FailureClass.AGENT)]
    with pytest.raises(ModelError):
        complete(models(REAL), "hm")
    models.close()
    return path


def load(path: Path) -> Document:
    document: Document = json.loads(path.read_text(encoding="utf-8"))
    return document


def said(document: Document, text: str) -> Document:
    """Return the recording of a request."""
    found: Document
    (found,) = [r for r in document["recordings"] if r["messages"][-1]["content"] == text]
    return found


def put(path: Path, document: Document) -> None:
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")


def answer(document: Document, text: str = "hi", n: int = 0) -> Document:
    found: Document = said(document, text)["answers"][n]
    return found


def swap_answers(document: Document) -> None:
    hi, ho = said(document, "hi"), said(document, "ho")
    hi["answers"], ho["answers"] = ho["answers"], hi["answers"]


def swap_answers_and_checksums(document: Document) -> None:
    hi, ho = said(document, "hi"), said(document, "ho")
    swap_answers(document)
    hi["checksum"], ho["checksum"] = ho["checksum"], hi["checksum"]


EDITS: dict[str, Callable[[Document], object]] = {
    "text": lambda d: answer(d).update(text="yes"),
    "model": lambda d: answer(d).update(model="another"),
    "finish reason": lambda d: answer(d).update(finish_reason="length"),
    "tokens": lambda d: answer(d)["usage"].update(completion_tokens=5),
    "price": lambda d: answer(d)["usage"].update(usd=0.3),
    "count that reads the same": lambda d: answer(d)["usage"].update(calls=2.0),
    "unknown price": lambda d: answer(d)["usage"].update(usd=None),
    "a failure": lambda d: answer(d).update(failure="agent"),
    "no failure": lambda d: answer(d, "hm").update(failure=None),
    "words of a failure": lambda d: answer(d, "hm").update(error="another"),
    "field gone": lambda d: answer(d).pop("usage"),
    "field gone whose default is the same": lambda d: answer(d).pop("error"),
    "order of repetitions": lambda d: said(d, "hi")["answers"].reverse(),
    "repetition gone": lambda d: said(d, "hi")["answers"].pop(),
    "repetition doubled": lambda d: said(d, "hi")["answers"].append(answer(d, "hi", 1)),
    "answers swapped": swap_answers,
    "answers swapped with their checksums": swap_answers_and_checksums,
    "checksum": lambda d: said(d, "hi").update(checksum="0" * 32),
    "checksum that is no text": lambda d: said(d, "hi").update(checksum=[1]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_refused_in_one_line_that_names_file_recording_and_what_to_do(
    path: Path, edit: str
) -> None:
    document = load(path)
    EDITS[edit](document)
    put(path, document)
    before = path.read_bytes()
    for mode in MODES:
        with pytest.raises(CassetteError) as caught:
            Tape(path, mode)
        line = str(caught.value)
        assert line.startswith(f"{path}, line ")
        assert ": the recording for model 'openai/gpt-x', last message 'h" in line
        assert (
            " was edited after it was recorded (its checksum does not match); restore the file, or " in line
        )
        assert "delete it and record it again with --swapgate-cassette new_episodes" in line
        assert "\n" not in line
    assert path.read_bytes() == before


def test_the_line_and_the_request_are_those_of_the_recording(path: Path) -> None:
    document = load(path)
    answer(document, "ho")["text"] = "yes"
    put(path, document)
    lines = path.read_text(encoding="utf-8").split("\n")
    with pytest.raises(CassetteError, match="last message 'ho'") as caught:
        Tape(path, "none")
    at = int(str(caught.value).partition("line ")[2].partition(":")[0])
    assert said(document, "ho")["key"] in lines[at]


def test_a_recording_without_a_checksum_is_refused(path: Path) -> None:
    document = load(path)
    said(document, "hi").pop("checksum")
    put(path, document)
    with pytest.raises(CassetteError, match=r"last message 'hi', .*\(its checksum is missing\)"):
        Tape(path, "none")


@pytest.mark.parametrize("same", [True, False])
def test_a_recording_that_stands_twice_is_refused_with_both_lines(path: Path, same: bool) -> None:
    document = load(path)
    again = said(document, "hi")
    if not same:  # sealed as well: two branches that recorded the same request
        other = path.with_name("other.json")
        models = with_cassette(only(Talker("other ")), other, "once")
        ask(models(REAL), "hi")
        models.close()
        again = said(load(other), "hi")
    document["recordings"].append(again)
    put(path, document)
    with pytest.raises(CassetteError) as caught:
        Tape(path, "none")
    words = str(caught.value)
    assert "last message 'hi'" in words
    assert "stands twice" in words
    assert "leave one of the two" in words
    lines = path.read_text(encoding="utf-8").split("\n")
    at = [number for number, line in enumerate(lines) if again["key"] in line]
    assert f"line {at[1]}: " in words
    assert f"on line {at[0]} too" in words


def test_an_untouched_cassette_replays_however_it_is_laid_out_and_sorted(path: Path) -> None:
    document = load(path)
    document["recordings"].reverse()
    document["recordings"] = [dict(reversed(r.items())) for r in document["recordings"]]
    for text in (
        path.read_text(),
        json.dumps(document),
        json.dumps(document, indent=4).replace("\n", "\r\n"),
    ):
        path.write_bytes(text.encode())
        model = with_cassette(never, path, "none")(REAL)
        assert ask(model, "hi", "hi", "ho") == ["answer 1", "answer 3", "answer 2"]
        with pytest.raises(ModelError, match="no answer"):
            complete(model, "hm")


def test_cassettes_of_two_branches_are_joined_recording_by_recording(path: Path) -> None:
    document = load(path)
    other = path.with_name("other.json")
    models = with_cassette(only(Talker("other ")), other, "once")
    ask(models(REAL), "new")
    models.close()
    document["recordings"] += load(other)["recordings"]
    put(path, document)
    assert ask(with_cassette(never, path, "none")(REAL), "hi", "new") == ["answer 1", "other 1"]


def parts_edited() -> dict[str, Callable[[list[bytes]], list[bytes]]]:
    """Name -> what becomes of a part's lines: the schema, two answers, a withdrawal, an answer."""
    return {
        "text": lambda lines: [line.replace(b"answer 2", b"answer 9") for line in lines],
        "place": lambda lines: [line.replace(b'"n": 1', b'"n": 5') for line in lines],
        "anew": lambda lines: [line.replace(b'"anew": false', b'"anew": true') for line in lines],
        "withdrawn": lambda lines: [line.replace(b'"n": 1, "withdrawn"', b'"n": 0, "withdrawn"') for line in lines],
        "doubled": lambda lines: [*lines, lines[-1]],
        "gone": lambda lines: [*lines[:2], *lines[3:]],
        "swapped": lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
    }  # fmt: skip


@pytest.mark.parametrize("edit", parts_edited())
def test_an_edited_part_is_refused_and_not_folded(tmp_path: Path, edit: str) -> None:
    path = tmp_path / "cassette.json"
    tape = Tape(path, "once", writer="gw0")
    request = Request.of(REAL, messages("hi"), seed=None, temperature=None, max_tokens=None)
    for text in ("answer 1", "answer 2"):
        turn = tape.turn(request)
        tape.record(turn, Answer(text=text))
    tape.take_back(turn)
    tape.record(tape.turn(request), Answer(text="answer 3"))
    tape.close()
    part = tmp_path / "cassette.json.gw0.part"
    lines = part.read_bytes().splitlines(keepends=True)
    assert len(lines) == 5
    part.write_bytes(b"".join(parts_edited()[edit](lines)))
    before = part.read_bytes()
    assert before != b"".join(lines)
    for use in (lambda: Tape(path, "none"), lambda: fold(path)):
        with pytest.raises(
            CassetteError, match=r"was edited after .*\(its checksum does not match\)"
        ) as caught:
            use()
        assert str(caught.value).startswith(f"{part}, line ")
        assert "\n" not in str(caught.value)
    assert part.read_bytes() == before
    assert not path.exists()


def test_an_option_whose_names_are_numbers_is_no_edit(tmp_path: Path) -> None:
    path = tmp_path / "cassette.json"
    options = {"logit_bias": {9: 1, 10: 2}}
    models = with_cassette(only(Talker()), path, "once")
    assert ask(models(REAL), "hi", options=options) == ["answer 1"]
    models.close()
    assert ask(with_cassette(never, path, "none")(REAL), "hi", options=options) == ["answer 1"]
