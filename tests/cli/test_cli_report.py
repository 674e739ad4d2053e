"""`swapgate report`: the recorded blocks, which run they are of, and an exit code that cannot launder a bad one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli_samples import call, decide, evidence, refused, report

from pytest_swapgate.evidence import EvidenceStore, combine
from pytest_swapgate.report.terminal import render


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return evidence(tmp_path / "evidence.db")


def write(path: Path, *verdicts: tuple[str, str, str]) -> None:
    with EvidenceStore.open(path) as store:
        for run, gate, verdict in verdicts:
            if verdict:
                decide(store, run, gate, verdict)
            else:
                store.open_attempt(run, gate)


def test_the_blocks_are_those_that_were_recorded_red_ones_last(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, ("r1", "a", "fail"), ("r1", "b", "pass"))
    code, out, error = call(capsys, "report", file)
    assert (code, error) == (1, "")
    assert out == f"run r1, 2 gates\n\n{render(report('pass', 'b'))}\n\n{render(report('fail', 'a'))}\n"


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (["pass"], 0),
        (["pass", "fail", "pass"], 1),
        (["inconclusive", "pass"], 2),
        (["inconclusive", "fail"], 1),
        (["fail", "error", "inconclusive"], 3),
        (["fail", ""], 3),
    ],
)
def test_the_exit_code_is_the_worst_verdicts(
    file: Path, capsys: pytest.CaptureFixture[str], verdicts: list[str], code: int
) -> None:
    write(file, *(("r1", f"gate{i}", verdict) for i, verdict in enumerate(verdicts)))
    assert call(capsys, "report", file)[0] == code


def test_a_gate_that_was_started_and_never_decided_is_broken(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, ("r1", "a", "pass"), ("r1", "b", ""))
    code, out, _ = call(capsys, "report", file)
    assert code == 3
    assert "swapgate  b" in out
    assert "ERROR" in out
    assert "no verdict was recorded" in out


def test_the_newest_run_is_printed_and_another_by_name(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, ("old-1", "a", "fail"), ("new-2", "a", "pass"), ("new-2", "b", "pass"))
    code, out, _ = call(capsys, "report", file)
    assert code == 0
    assert out.startswith("run new-2, 2 gates (of 2 runs in this file: --run RUN, or --all")
    code, out, _ = call(capsys, "report", file, "--run", "old")
    assert code == 1
    assert out.startswith("run old-1, 1 gate (")
    assert "no run begins with 'x'; there are old-1, new-2" in refused(capsys, "report", file, "--run", "x")


def test_a_run_name_must_fit_one_run_and_a_whole_name_does(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, ("r1", "a", "fail"), ("r12", "a", "pass"), ("r13", "a", "pass"))
    assert call(capsys, "report", file, "--run", "r1")[0] == 1
    assert "3 runs begin with 'r'" in refused(capsys, "report", file, "--run", "r")


def test_a_newest_run_that_decided_nothing_does_not_hide_behind_an_older_pass(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, ("r1", "a", "pass"), ("r2", "a", ""))
    for which in ([], ["--all"]):
        code, out, _ = call(capsys, "report", file, *which)
        assert code == 3
        assert "run r2" in out
    write(file, ("r3", "a", "pass"))
    assert call(capsys, "report", file)[0] == call(capsys, "report", file, "--all")[0] == 0


def test_combined_shards_are_reported_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shards = [evidence(tmp_path / f"{name}.db") for name in "ab"]
    write(shards[0], ("r1", "a", "fail"), ("r1", "b", "pass"), ("r2", "a", "pass"))
    write(shards[1], ("r3", "c", "inconclusive"))
    target = combine(tmp_path / "all.db", shards).target
    code, out, _ = call(capsys, "report", target, "--all")
    assert code == 2
    assert out.startswith("3 runs, 3 gates\n")
    assert [line.split()[-1] for line in out.splitlines() if line.startswith("swap_penalty")] == [
        "pass",
        "pass",
        "INCONCLUSIVE",
    ]


def test_every_marker_of_a_test_is_printed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EvidenceStore.open(file) as store:
        decide(store, "r1", "a", "pass")
        other = report("fail", "a", gate="active_pass_k", simulated=True)
        store.record_verdict("r1", "a", "fail", "d", other.model_dump_json())
    code, out, _ = call(capsys, "report", file)
    assert code == 1
    assert "swap_penalty  a" in out
    assert "active_pass_k  a" in out
    assert out.endswith("Verdicts marked simulated rest on a stand-in, not on a language model.\n")


@pytest.mark.parametrize(
    "summary",
    ["{}", "[]", '"pass"', report("pass", "b").model_dump_json(), report("fail", "a").model_dump_json()],
    ids=["empty", "list", "text", "another gate's", "another verdict"],
)
def test_a_record_that_cannot_be_used_is_broken_not_passed(
    file: Path, capsys: pytest.CaptureFixture[str], summary: str
) -> None:
    with EvidenceStore.open(file) as store:
        store.record_verdict("r1", "a", "pass", "d", summary)
    code, out, _ = call(capsys, "report", file)
    assert code == 3
    assert "the record of its verdict cannot be used" in out


def test_a_file_without_gates_and_a_damaged_ledger_end_with_3(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no gate was started" in refused(capsys, "report", file)
    assert "no such evidence file" in refused(capsys, "report", file.with_name("missing.db"))
    write(file, ("r1", "a", "pass"))
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE attempts SET count = 'x'")
    assert "damaged" in refused(capsys, "report", file)
