"""Cassettes on disk: stable bytes, damage that is named and left alone, crashes, and many writers at once."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cassette_samples import USAGE, Talker, ask, messages, never, only

from pytest_swapgate.models import cassette_file, cassette_parts, cassette_tape
from pytest_swapgate.models.cassette import MODES, CassetteError, Tape, fold, with_cassette
from pytest_swapgate.models.cassette_claim import Claim
from pytest_swapgate.models.cassette_file import Answer
from pytest_swapgate.models.cassette_request import Request

REAL = "openai/gpt-x"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cassette.json"


def record(
    path: Path, *texts: str, mode: str = "once", prefix: str = "answer ", writer: str = ""
) -> list[str]:
    models = with_cassette(only(Talker(prefix)), path, mode, writer=writer)
    said = ask(models(REAL), *texts)
    models.close()
    return said


def replay(path: Path, *texts: str) -> list[str]:
    return ask(with_cassette(never, path, "none")(REAL), *texts)


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def test_the_file_is_json_that_a_person_can_read_and_compare(path: Path) -> None:
    record(path, "hi")
    text = path.read_text(encoding="utf-8")
    document = json.loads(text)
    assert document["swapgate_cassette"] == 2
    (recording,) = document["recordings"]
    assert recording["messages"] == messages("hi")
    assert recording["answers"][0]["text"] == "answer 1"
    assert recording["answers"][0]["usage"] == USAGE.model_dump()
    assert sum('"content"' in line for line in text.split("\n")) == 2
    assert names(path) == ["cassette.json"]


def test_the_same_recordings_are_the_same_bytes_whatever_the_order(path: Path) -> None:
    def write(order: str) -> bytes:
        path.unlink(missing_ok=True)
        tape = Tape(path, "once")
        for text in order:
            asked = Request.of(REAL, messages(text), seed=1, temperature=None, max_tokens=None)
            tape.record(tape.turn(asked), Answer(text=f"to {text}"))
        tape.close()
        return path.read_bytes()

    assert write("abcd") == write("dcab")


def test_recording_again_what_is_there_changes_no_byte(path: Path) -> None:
    record(path, "a", "b", "a")
    before = path.read_bytes()
    record(path, "a", "b", "a", mode="all")
    assert path.read_bytes() == before


def edits() -> dict[str, tuple[object, str]]:
    """Name -> what to do with the file's text, and what the error must say."""
    return {
        "cut": (lambda text: text[: len(text) // 2], r"cassette\.json, line \d+: not JSON"),
        "comma": (lambda text: text.replace('"hi"', '"hi",,', 1), r"line 10: not JSON \(.*column"),
        "nan": (lambda text: text.replace('"calls": 2', '"calls": NaN', 1), "NaN is not JSON"),
        "infinite": (lambda text: text.replace('"usd": 0.3', '"usd": 1e9990', 1), r"line 4: answers\.0\.usage\.usd"),
        "prompt": (lambda text: text.replace('"hi"', '"hello"', 1), r"line 4: the request .*key does not fit"),
        "other prompt": (lambda text: text.replace('"ho"', '"hello"', 1), r"line 17: the request .*key does"),
        "field": (lambda text: text.replace('"finish_reason"', '"finish"', 1), r"line 4: answers\.0\.finish: Extra"),
        "class": (lambda text: text.replace('"failure": null', '"failure": "judge"', 1), "line 4: answers.0.failure"),
        "negative": (lambda text: text.replace('"calls": 2', '"calls": -2', 1), r"answers\.0\.usage\.calls"),
        "no answers": (lambda text: '{"swapgate_cassette": 2, "recordings": [{"answers": []}]}', "line 1: key: Field"),
        "no list": (lambda text: '{"swapgate_cassette": 2, "recordings": {}}', "must hold .* a list"),
        "newer": (lambda text: text.replace('cassette": 2', 'cassette": 3', 1), r"newer pytest-swapgate \(schema 3"),
        "older": (lambda text: text.replace('cassette": 2', 'cassette": 1', 1), r"older .*\(schema 1, .*new_episodes"),
        "foreign": (lambda text: '{"interactions": []}', "not a cassette of swapgate"),
        "list": (lambda text: "[1]", "not a cassette of swapgate"),
        "mark": (lambda text: text.replace('cassette": 2', 'cassette": true', 1), "not a cassette of swapgate"),
        "deep": (lambda text: "[" * 100_000, "not JSON"),
        "half a pair": (lambda text: text.replace('"talker-2026"', '"\\ud83d"', 1), "half of a surrogate pair"),
        "bytes": (lambda text: text.encode().replace(b"answer ", b"\xff\xfe", 1), r"line 13: not UTF-8"),
    }  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("edit", edits())
def test_a_file_that_cannot_be_used_is_named_with_its_line_and_left_alone(
    path: Path, edit: str, mode: str
) -> None:
    record(path, "hi", "ho")
    text = path.read_text(encoding="utf-8")
    change, words = edits()[edit]
    changed = change(text)  # type: ignore[operator]
    path.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    before = path.read_bytes()
    with pytest.raises(CassetteError, match=words) as caught:
        with_cassette(only(Talker()), path, mode)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert names(path) == ["cassette.json"]


@pytest.mark.parametrize("mode", MODES)
def test_a_directory_is_not_a_cassette(tmp_path: Path, mode: str) -> None:
    with pytest.raises(CassetteError, match=r"not a file; name a file, such as cassette\.json"):
        Tape(tmp_path, mode)


def test_a_folder_that_cannot_be_written_is_an_error_before_anything_is_spent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    talker = Talker()
    with pytest.raises(CassetteError, match="cannot be"):
        ask(with_cassette(only(talker), tmp_path / "file" / "cassette.json", "once")(REAL), "hi")
    assert talker.calls == 0


def test_a_file_that_is_too_large_is_refused_and_none_is_made(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(path, "hi")
    for module in (cassette_file, cassette_tape):
        monkeypatch.setattr(module, "FILE_BYTES", 10)
    with pytest.raises(CassetteError, match="over 10 bytes"):
        Tape(path, "none")
    path.unlink()
    talker = Talker()
    with pytest.raises(CassetteError, match="full"):
        ask(with_cassette(only(talker), path, "once")(REAL), "hi")
    assert talker.calls == 0


def test_a_full_disk_loses_one_answer_counts_its_price_and_keeps_the_rest(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = with_cassette(only(Talker()), path, "once")
    ask(models(REAL), "a", "b")
    part = next(path.parent.glob("*.part"))
    before = part.read_bytes()
    really = os.write

    def full(handle: int, data: bytes) -> int:
        if len(data) > 20:
            return really(handle, data[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(CassetteError, match="No space left on device") as caught:
            ask(models(REAL), "c")
    assert caught.value.usage == USAGE
    assert part.read_bytes() == before
    assert ask(models(REAL), "d") == ["answer 4"]
    models.close()
    assert replay(path, "a", "b", "d") == ["answer 1", "answer 2", "answer 4"]


def test_a_fold_that_fails_keeps_everything(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(path, "a")
    before = path.read_bytes()
    models = with_cassette(only(Talker("new ")), path, "new_episodes")
    ask(models(REAL), "b")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CassetteError, match="No space left on device"):
            models.close()
    assert path.read_bytes() == before
    assert names(path) == ["cassette.json", "cassette.json.main.part"]
    assert replay(path, "a", "b") == ["answer 1", "new 1"]
    assert fold(path) == 1
    assert names(path) == ["cassette.json"]
    assert replay(path, "a", "b") == ["answer 1", "new 1"]


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[2])
from cassette_samples import Talker, ask, only
from pytest_swapgate.models.cassette import with_cassette
model = with_cassette(only(Talker("killed ")), sys.argv[1], "once")("openai/gpt-x")
ask(model, "a", "b", "a")
os.kill(os.getpid(), 9)
"""


def test_a_run_that_is_killed_loses_nothing_that_was_answered_and_once_goes_on(path: Path) -> None:
    folder = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), folder], check=False, timeout=60)
    assert done.returncode == -9
    assert names(path) == ["cassette.json.main.part"]
    assert replay(path, "a", "b", "a") == ["killed 1", "killed 2", "killed 3"]
    with (path.parent / "cassette.json.main.part").open("ab") as file:
        file.write(b'{"half a li')
    assert record(path, "a", "b", "c", "a") == ["killed 1", "killed 2", "answer 1", "killed 3"]
    assert names(path) == ["cassette.json"]
    with pytest.raises(CassetteError, match="mode once"):
        record(path, "d")
    assert replay(path, "a", "a", "b", "c") == ["killed 1", "killed 3", "killed 2", "answer 1"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"recording": 1}', r"line 3: recording: Input should be"),
        (b"{", r"line 3: not JSON"),
        (b'{"swapgate_cassette": 9}', "newer"),
        (b'{"withdrawn": "x", "n": -1}', r"line 3: n: "),
        (b"7", "line 3: "),
    ],
)
def test_a_damaged_part_is_named_with_its_line_and_left_alone(path: Path, line: bytes, words: str) -> None:
    record(path, "a", writer="gw0")
    part = path.with_name("cassette.json.gw0.part")
    part.write_bytes(part.read_bytes() + line + b"\n")
    before = part.read_bytes()
    for mode in MODES:
        with pytest.raises(CassetteError, match=words) as caught:
            Tape(path, mode)
        assert str(part) in str(caught.value)
    with pytest.raises(CassetteError, match=words):
        fold(path)
    assert part.read_bytes() == before
    assert names(path) == ["cassette.json.gw0.part"]


@pytest.mark.parametrize("order", [("gw2", "gw10"), ("gw10", "gw2")])
def test_workers_write_parts_of_their_own_that_are_merged_the_same_way_whoever_ends_first(
    path: Path, order: tuple[str, str]
) -> None:
    tapes = {name: with_cassette(only(Talker(f"{name} ")), path, "once", writer=name) for name in order}
    for name in order:
        ask(tapes[name](REAL), "a", name, "a")
    for name in reversed(order):
        tapes[name].close()
    assert names(path) == ["cassette.json.gw10.part", "cassette.json.gw2.part"]
    expected = ["gw2 1", "gw2 3", "gw10 1", "gw10 3", "gw2 2", "gw10 2"]
    asked = ["a", "a", "a", "a", "gw2", "gw10"]
    assert replay(path, *asked) == expected
    assert fold(path) == 2
    assert names(path) == ["cassette.json"]
    assert replay(path, *asked) == expected
    assert fold(path) == 0


def test_many_workers_replay_at_once(path: Path) -> None:
    record(path, "a", writer="gw0")
    tapes = [
        with_cassette(never, path, mode, writer=f"gw{i}")
        for i in range(3)
        for mode in ("none", "new_episodes")
    ]
    assert [ask(tape(REAL), "a") for tape in tapes] == 6 * [["answer 1"]]
    for tape in tapes:
        tape.close()
    assert names(path) == ["cassette.json.gw0.part"]


def test_workers_that_record_all_anew_replace_the_old_and_keep_each_others(path: Path) -> None:
    record(path, "a", "a", "b")
    tapes = [with_cassette(only(Talker(f"gw{i} ")), path, "all", writer=f"gw{i}") for i in range(2)]
    for tape in tapes:
        ask(tape(REAL), "a")
    for tape in tapes:
        tape.close()
    fold(path)
    assert replay(path, "a", "a", "b") == ["gw0 1", "gw1 1", "answer 3"]


def test_a_part_that_is_being_written_is_neither_read_nor_folded(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cassette_parts, "_PATIENCE", 0.05)
    writing = with_cassette(only(Talker("gw0 ")), path, "once", writer="gw0")
    ask(writing(REAL), "a")
    assert record(path, "a", writer="gw1", prefix="gw1 ") == ["gw1 1"]
    assert fold(path) == 1
    assert names(path) == ["cassette.json", "cassette.json.gw0.part"]
    ask(writing(REAL), "b")
    writing.close()
    assert fold(path) == 1
    assert replay(path, "a", "a", "b") == ["gw1 1", "gw0 1", "gw0 2"]


def test_two_runs_that_record_into_one_cassette_are_told_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cassette_parts, "_PATIENCE", 0.05)
    first, second = (with_cassette(only(Talker()), path, "once") for _ in range(2))
    ask(first(REAL), "a")
    with pytest.raises(CassetteError, match="another run is recording there"):
        ask(second(REAL), "a")
    first.close()
    second.close()
    assert replay(path, "a") == ["answer 1"]


def test_a_run_that_never_read_a_part_does_not_overwrite_it(path: Path) -> None:
    early = with_cassette(only(Talker("early ")), path, "new_episodes", writer="gw0")
    record(path, "a", "a", mode="new_episodes", writer="gw0")
    assert ask(early(REAL), "a") == ["early 1"]
    early.close()
    assert replay(path, "a", "a", "a") == ["answer 1", "answer 2", "early 1"]


def test_a_held_file_that_was_removed_is_not_taken_for_the_one_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "held"
    first = Claim.take(path, create=True)
    assert first is not None
    assert Claim.take(path, create=False, wait=0.03) is None
    first.remove()
    assert Claim.take(path, create=False) is None
    second = Claim.take(path, create=True)
    assert second is not None
    second.release()
    second.release()


def test_a_read_only_disk_is_an_error_before_anything_is_spent_and_no_bar_to_replay(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(path, "a")

    def read_only(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Claim, "take", read_only)
    talker = Talker()
    model = with_cassette(only(talker), path, "new_episodes")(REAL)
    assert ask(model, "a") == ["answer 1"]
    with pytest.raises(CassetteError, match=r"Read-only file system\); record into a writable folder"):
        ask(model, "b")
    assert talker.calls == 0


def test_a_fold_that_may_not_write_keeps_the_parts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(path, "a", writer="gw0")

    def read_only(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Claim, "take", read_only)
    with pytest.raises(CassetteError, match="what was recorded is kept beside it"):
        fold(path)
    assert replay(path, "a") == ["answer 1"]
