"""`swapgate combine`: a line a shard, what cannot be read is named and left alone, and the exit codes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli_samples import call, decide, evidence, refused

from pytest_swapgate.cli import main
from pytest_swapgate.evidence import EvidenceStore


def test_shards_are_combined_with_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, target = (
        evidence(tmp_path / "a.db", 1, 2),
        evidence(tmp_path / "b.db", 2, 3),
        tmp_path / "out" / "all.db",
    )
    assert call(capsys, "combine", target, a, b) == (
        0,
        f"{a}: 2 episodes added, 0 were there\n"
        f"{b}: 1 episodes added, 1 were there\n"
        f"{target}: 3 episodes added from 2 of 2 files\n",
        "",
    )
    code, out, _ = call(capsys, "combine", target, a)
    assert code == 0
    assert f"{a}: 0 episodes added, 2 were there" in out


def test_what_cannot_be_read_is_named_left_alone_and_does_not_stop_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, text = evidence(tmp_path / "a.db", 1), tmp_path / "notes.txt"
    text.write_text("precious\n" * 100)
    missing, target = tmp_path / "missing.db", tmp_path / "all.db"
    code, out, error = call(capsys, "combine", target, text, good, missing)
    assert code == 3
    assert out.splitlines()[-1] == f"{target}: 1 episodes added from 1 of 3 files"
    first, second, last = error.splitlines()
    assert first.startswith(f"left out: {text}: not an SQLite file")
    assert second.startswith(f"left out: {missing}: no such evidence file")
    assert last == (
        "swapgate combine: 2 of 3 files left out; what they decided is unknown: bring them and combine again"
    )
    assert text.read_text() == "precious\n" * 100
    # What could be read is there.
    assert call(capsys, "evidence", "check", target)[1].startswith(f"{target}: intact; 1 episodes, ")


def test_a_shard_that_was_edited_is_left_out_and_stops_the_pipeline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, edited, target = evidence(tmp_path / "a.db", 1), evidence(tmp_path / "b.db", 2), tmp_path / "all.db"
    with closing(sqlite3.connect(edited)) as connection, connection:
        connection.execute(
            "UPDATE episodes SET score = 1, episode = replace(episode, '\"score\":0.5', '\"score\":1.0')"
        )
    code, out, error = call(capsys, "combine", target, good, edited)
    assert code == 3
    assert out.splitlines()[-1] == f"{target}: 1 episodes added from 1 of 2 files"
    assert error.startswith(f"left out: {edited}: episode '02abcdef'")
    assert "was changed after it was written" in error


def test_nothing_combined_ends_with_3_and_creates_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refused(capsys, "combine", tmp_path / "all.db", tmp_path / "missing.db")
    assert error.startswith(f"swapgate combine: {tmp_path / 'all.db'}: nothing was combined")
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_is_not_ours_ends_with_3_and_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "notes.txt"
    target.write_text("precious")
    assert "not an SQLite file" in refused(capsys, "combine", target, evidence(tmp_path / "a.db", 1))
    assert target.read_text() == "precious"


def test_a_breach_of_determinism_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = evidence(tmp_path / "a.db", 1), evidence(tmp_path / "b.db", 1, score=0.25)
    code, out, _ = call(capsys, "combine", tmp_path / "all.db", a, b)
    assert code == 0
    assert "1 of these with other content (the first is kept: determinism is broken)" in out


def test_the_ledger_comes_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = evidence(tmp_path / "a.db", 1)
    with EvidenceStore.open(a) as store:
        decide(store, "r1", "test_x.py::test_gate", "fail")
    assert call(capsys, "combine", tmp_path / "all.db", a)[0] == 0
    assert call(capsys, "report", tmp_path / "all.db")[0] == 1


def test_a_target_alone_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["combine", str(tmp_path / "all.db")])
    assert ended.value.code == 3
    assert "SHARD" in capsys.readouterr().err
