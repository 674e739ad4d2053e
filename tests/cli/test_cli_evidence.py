"""`swapgate evidence list | show | export | check`: what they print, and one line and 3 when they cannot."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli_samples import call, decide, evidence, refused

from pytest_swapgate.cli import main
from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.evidence.skips import record_skip
from pytest_swapgate.teams import FailureClass, Message, Usage


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = evidence(tmp_path / "evidence.db", 1, 2)
    return evidence(path, 3, arm="swap", run="r2", usage=Usage(calls=1, usd=None), failure=FailureClass.JUDGE)


def damage(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_list_counts_by_study_and_arm(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, error = call(capsys, "evidence", "list", file)
    assert (code, error) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["study", "arm", "episodes", "units", "runs", "not", "counted", "calls", "tokens", "USD"],
        ["swap", "placebo", "2", "1", "1", "0", "4", "2,400", "0.02"],
        ["swap", "swap", "1", "1", "1", "1", "1", "0", "unknown"],
    ]


def test_list_names_runs_verdicts_and_conflicts(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evidence(file, 1, score=1)
    with EvidenceStore.open(file) as store:
        for run, gate, verdict in (("r1", "a", "pass"), ("r1", "b", "fail"), ("r2", "a", "pass")):
            decide(store, run, gate, verdict)
    _, out, _ = call(capsys, "evidence", "list", file)
    assert "1 times other content came under a known key" in out
    first, second = (line for line in out.splitlines() if line.startswith("run "))
    assert first.startswith("run r1  20")
    assert first.endswith("1 fail, 1 pass")
    assert second.endswith("1 pass")


def test_list_of_an_empty_file_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "evidence", "list", evidence(tmp_path / "e.db"))[:2] == (0, "no episodes\n")


def test_show_prints_an_episode_by_the_beginning_of_its_key(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "evidence", "show", file, "01a")
    assert code == 0
    for line in (
        "episode   01abcdef",
        "played    study swap, unit team-01, arm placebo, run r1",
        "task      onion_soup, seed 1",
        "score     0.5, no success, 2 sub-tasks, 1 messages",
        "usage     2 calls, 1,000 prompt and 200 answer tokens, USD 0.0100",
        "metric    tes 0.25",
        "said\n  [1] chef (request): cut the onion",
        "happened\n  the soup burnt",
        "Onions first.",
    ):
        assert line in out
    assert "failure   judge" in call(capsys, "evidence", "show", file, "03abcdef")[1]


def test_show_wants_a_beginning_that_fits_one(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = refused(capsys, "evidence", "show", file, "0")
    assert "01abcdef, 02abcdef, 03abcdef begin with '0'; name one" in error
    assert "no gate was decided" in refused(capsys, "evidence", "show", file, "zz")


def test_show_takes_a_whole_key_that_another_begins_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = evidence(tmp_path / "e.db", 1)
    with EvidenceStore.open(path) as store:
        store.put("01", store.get("01abcdef"), study="s", unit="u", arm="a", run="r")  # type: ignore[arg-type]
    assert "episode   01\n" in call(capsys, "evidence", "show", path, "01")[1]


def test_show_prints_every_verdict_of_a_gate_and_the_newest_whole(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with EvidenceStore.open(file) as store:
        decide(store, "r1", "test_x.py::test_gate", "fail")
        decide(store, "r2", "test_x.py::test_gate", "pass")
        decide(store, "r2", "test_x.py::test_other", "pass")
    code, out, _ = call(capsys, "evidence", "show", file, "test_gate")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "test_x.py::test_gate"
    assert lines[1].endswith("run r1  fail")
    assert lines[2].endswith("run r2  pass")
    assert lines[4].startswith("swap_penalty  test_x.py::test_gate")
    assert lines[4].endswith("pass")
    assert "part of test_x.py::test_gate, test_x.py::test_other" in refused(
        capsys, "evidence", "show", file, "test_x"
    )
    assert "gates are test_x.py::test_gate, test_x.py::test_other" in refused(
        capsys, "evidence", "show", file, "nothing"
    )


def test_nothing_in_a_file_steers_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;owned\x07 \x9b31m \u202e \r gone"
    path = evidence(
        tmp_path / "e.db",
        1,
        arm=evil,
        messages=(Message(sender=evil, text=evil),),
        events=(evil,),
        task_id=evil,
    )
    with EvidenceStore.open(path) as store:
        decide(store, evil, evil, "fail", lines=(evil,))
    out = "".join(
        call(capsys, *arguments)[1]
        for arguments in (
            ("evidence", "list", path),
            ("evidence", "show", path, "01"),
            ("evidence", "show", path, "owned"),
            ("report", path),
        )
    )
    assert not set(out) & set("\x1b\x07\x9b\u202e\r")
    assert "\\x1b]0;owned\\x07" in out


def test_export_writes_what_was_asked_for(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out" / "e.csv"
    arguments = ("evidence", "export", file, "--format", "csv", "--out", out)
    assert call(capsys, *arguments) == (0, f"3 episodes written to {out}\n", "")
    assert call(capsys, *arguments, "--study", "swap", "--arm", "swap")[1].startswith("1 episodes")
    with out.open(newline="") as written:
        assert [row["key"] for row in csv.DictReader(written)] == ["03abcdef"]
    lines = tmp_path / "e.jsonl"
    assert call(capsys, "evidence", "export", file, "--format", "jsonl", "--out", lines)[0] == 0
    assert [json.loads(line)["arm"] for line in lines.read_text().splitlines()] == [
        "placebo",
        "placebo",
        "swap",
    ]


def test_export_of_a_study_that_is_not_there_writes_nothing(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "e.csv"
    error = refused(capsys, "evidence", "export", file, "--format", "csv", "--out", out, "--arm", "swop")
    assert "there are swap/placebo, swap/swap" in error
    assert not out.exists()


def test_export_does_not_overwrite_the_evidence(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = file.read_bytes()
    error = refused(capsys, "evidence", "export", file, "--format", "csv", "--out", file)
    assert "the evidence file itself" in error
    assert file.read_bytes() == before


def test_check_says_intact_or_what_is_damaged(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "evidence", "check", file) == (
        0,
        f"{file}: intact; 3 episodes, 0 verdicts, 0 skips, 0 conflicts\n",
        "",
    )
    damage(file, "UPDATE episodes SET episode = '{}', unit = x'00' WHERE key = '01abcdef'")
    damage(file, "UPDATE episodes SET score = 0.75 WHERE key = '02abcdef'")
    code, out, error = call(capsys, "evidence", "check", file)
    assert (code, out) == (3, "")
    first, second, last = error.splitlines()
    assert "'01abcdef' has damaged labels" in first
    assert "'02abcdef' has an outcome that does not fit its text" in second
    assert last == f"{file}: 2 problems"


def test_check_prints_the_first_ten_problems_and_how_many_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = evidence(tmp_path / "e.db", *range(12))
    damage(path, "UPDATE episodes SET run = 'r2'")
    code, out, error = call(capsys, "evidence", "check", path)
    assert (code, out) == (3, "")
    *shown, last = error.splitlines()
    assert len(shown) == 10
    assert all("was changed after it was written" in line for line in shown)
    assert last == f"{path}: 12 problems, the first 10 of them above"


def test_check_does_not_count_a_skip_as_a_verdict(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EvidenceStore.open(file) as store:
        decide(store, "r1", "a", "pass")
        decide(store, "r1", "b", "fail")
        record_skip(store, "r1", "c", "no key")
    assert "; 3 episodes, 2 verdicts, 1 skips, 0 conflicts" in call(capsys, "evidence", "check", file)[1]


@pytest.mark.parametrize("action", [["list"], ["show", "x"], ["export"], ["check"]])
def test_a_file_that_cannot_be_read_ends_with_3_and_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], action: list[str]
) -> None:
    more = ["--format", "csv", "--out", str(tmp_path / "out.csv")] if action == ["export"] else action[1:]
    foreign = tmp_path / "foreign.db"
    damage(foreign, "CREATE TABLE x (y)")
    for path, words in (
        (tmp_path / "missing.db", "no such evidence file"),
        (tmp_path, "a directory"),
        (foreign, "another program"),
    ):
        error = refused(capsys, "evidence", action[0], path, *more)
        assert error.startswith("swapgate evidence: ")
        assert words in error
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("action", ["list", "show"])
def test_a_damaged_ledger_is_named(file: Path, capsys: pytest.CaptureFixture[str], action: str) -> None:
    with EvidenceStore.open(file) as store:
        decide(store, "r1", "gate", "pass")
    damage(file, "UPDATE verdicts SET verdict = x'00'")
    assert "is damaged" in refused(capsys, "evidence", action, file, *(["gate"] if action == "show" else []))


@pytest.mark.parametrize(
    "arguments",
    [[], ["list"], ["show", "e.db"], ["export", "e.db", "--out", "x"], ["export", "e.db", "--format", "xml"]],
)
def test_missing_and_wrong_arguments_end_with_3(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["evidence", *arguments])
    assert ended.value.code == 3
    assert "usage: swapgate evidence" in capsys.readouterr().err
