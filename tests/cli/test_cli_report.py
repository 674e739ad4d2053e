"""`swapgate report`: the recorded blocks, which run they are of, and an exit code that cannot launder a bad one."""

from __future__ import annotations

import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from cli_samples import call, decide, evidence, refused, report

from pytest_swapgate.evidence import EvidenceStore, combine
from pytest_swapgate.evidence.skips import SKIPPED, record_skip
from pytest_swapgate.report.terminal import render


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return evidence(tmp_path / "evidence.db")


def write(path: Path, *verdicts: tuple[str, str, str]) -> None:
    """Keep verdicts; an empty one is a gate that was started and never decided."""
    with EvidenceStore.open(path) as store:
        for run, gate, verdict in verdicts:
            if verdict == SKIPPED:
                store.open_attempt(run, gate)
                record_skip(store, run, gate, "no key")
            elif verdict:
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
        ([SKIPPED, "pass"], 0),
        ([SKIPPED, "inconclusive"], 2),
        (["fail", SKIPPED], 1),
        ([SKIPPED, ""], 3),
        ([SKIPPED], 2),
        ([SKIPPED, SKIPPED], 2),
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


def test_a_gate_that_was_skipped_is_called_so_with_its_reason(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, ("r1", "a", SKIPPED), ("r1", "b", "pass"), ("r1", "c", "fail"))
    _, out, _ = call(capsys, "report", file)
    blocks = [block.split("\n") for block in out.rstrip("\n").split("\n\n")[1:]]
    assert [block[0].split()[1:] for block in blocks] == [["b", "pass"], ["a", "SKIPPED"], ["c", "FAIL"]]
    assert blocks[1] == [
        f"swapgate  a{'SKIPPED':>89}",
        "  skipped before any comparison was asked for: no key",
    ]
    assert "Nothing was decided" not in out
    assert "SKIPPED" in call(capsys, "evidence", "show", file, "a")[1]
    assert "1 fail, 1 pass, 1 skipped" in call(capsys, "evidence", "list", file)[1]


def test_a_run_that_skipped_every_gate_says_so_and_does_not_hide_behind_an_older_pass(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, ("r1", "a", "pass"), ("r2", "a", SKIPPED))
    code, out, _ = call(capsys, "report", file)
    assert code == 2
    assert out.startswith("run r2, 1 gate (")
    assert out.endswith("\n\nNothing was decided: every gate was skipped.\n")


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        (["fail", "pass"], 0),
        (["pass", "fail"], 1),
        (["fail", "inconclusive"], 2),
        (["pass", SKIPPED], 2),
        (["fail", SKIPPED], 1),
        ([SKIPPED, "fail", SKIPPED], 1),
        (["inconclusive", SKIPPED, SKIPPED], 2),
        (["fail", SKIPPED, "pass"], 0),
        (["pass", "", SKIPPED], 3),
        ([SKIPPED, SKIPPED], 2),
        (["pass", SKIPPED, ""], 3),
        (["pass", ""], 3),
        (["fail", "", "pass"], 0),
    ],
)
def test_of_one_gate_the_newest_run_stands_and_a_skip_takes_back_nothing_red(
    file: Path, capsys: pytest.CaptureFixture[str], runs: list[str], code: int
) -> None:
    write(file, *((f"r{number}", "a", verdict) for number, verdict in enumerate(runs)))
    assert call(capsys, "report", file)[0] == code


@pytest.mark.parametrize(
    ("shards", "code"),
    [
        (["pass", SKIPPED], 0),
        ([SKIPPED, "pass"], 0),
        (["fail", SKIPPED], 1),
        (["fail", "pass"], 1),
        (["pass", "inconclusive"], 2),
        (["pass", ""], 3),
        ([SKIPPED, SKIPPED], 2),
    ],
)
def test_a_shard_replaces_nothing_of_another_shard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shards: list[str], code: int
) -> None:
    files = [evidence(tmp_path / f"{number}.db") for number in range(len(shards))]
    for number, verdict in enumerate(shards):
        write(files[number], (f"r{number}", "a", verdict))
    for name, order in (("all", files), ("back", files[::-1])):
        target = combine(tmp_path / f"{name}.db", order).target
        assert call(capsys, "report", target)[0] == code
        # Once more, and in another order, changes nothing.
        combine(target, files)
        assert call(capsys, "report", target)[0] == code


def test_the_red_gate_of_an_earlier_run_stands_beside_the_pass_of_another_gate(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, ("r1", "bad", "fail"), ("r2", "good", "pass"))
    code, out, _ = call(capsys, "report", file)
    assert code == 1
    assert out.startswith("2 runs, 2 gates\n")
    assert [line.split()[1:] for line in out.splitlines() if line.startswith("swap_penalty")] == [
        ["good", "pass"],
        ["bad", "FAIL"],
    ]
    assert re.search(r"^  run r1, 20\d\d-", out, re.MULTILINE)
    assert "A red verdict stands until a later run of the same gate" in out
    write(file, ("r3", "bad", "pass"))
    code, out, _ = call(capsys, "report", file)
    assert code == 0
    assert "A red verdict stands" not in out


def test_shards_that_began_with_the_same_old_file_replace_what_it_said_and_not_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = evidence(tmp_path / "old.db")
    write(old, ("r0", "a", "fail"), ("r0", "b", "fail"), ("r0", "c", "fail"))
    shards = [tmp_path / "1.db", tmp_path / "2.db"]
    for shard in shards:
        shutil.copy(old, shard)
    write(shards[0], ("r1", "a", "pass"), ("r1", "c", "fail"))
    write(shards[1], ("r2", "b", "pass"), ("r2", "c", "pass"))
    target = combine(tmp_path / "all.db", shards).target
    code, out, _ = call(capsys, "report", target)
    assert code == 1
    # Of c both shards have a say; nothing of the old run is left.
    assert out.startswith("2 runs, 3 gates (of 3 runs in this file)\n")
    assert [line.split()[1:] for line in out.splitlines() if line.startswith("swap_penalty")] == [
        ["a", "pass"],
        ["b", "pass"],
        ["c", "pass"],
        ["c", "FAIL"],
    ]
    # A later run on the combined file has seen both.
    write(target, ("r3", "c", "pass"))
    assert call(capsys, "report", target)[0] == 0


def test_of_two_runs_side_by_side_the_red_one_that_was_decided_last_stands(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with EvidenceStore.open(file) as store:
        store.open_attempt("r1", "a")
        decide(store, "r2", "a", "pass")
        time.sleep(0.002)  # the ledger's clock has milliseconds
        store.record_verdict("r1", "a", "fail", "digest", report("fail", "a").model_dump_json())
    assert call(capsys, "report", file)[0] == 1


def test_a_gate_that_was_skipped_in_one_worker_and_decided_in_another_is_decided(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, ("r1", "a", "pass"), ("r1", "a", SKIPPED))
    code, out, _ = call(capsys, "report", file)
    assert code == 0
    assert "SKIPPED" not in out


def test_a_damaged_skip_is_broken_not_skipped(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EvidenceStore.open(file) as store:
        store.record_verdict("r1", "a", SKIPPED, "d", "{}")
    code, out, _ = call(capsys, "report", file)
    assert code == 3
    assert "the record of its verdict cannot be used" in out


def test_of_a_combined_shard_the_run_started_last_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard = evidence(tmp_path / "a.db")
    write(shard, ("z", "a", ""), ("m", "a", "pass"), ("b", "a", ""))
    target = combine(tmp_path / "all.db", [shard]).target
    code, out, _ = call(capsys, "report", target)
    assert code == 3
    assert out.startswith("run b, ")
    assert call(capsys, "report", target, "--last")[1].startswith("run b, ")


def test_one_run_alone_is_printed_by_name_or_as_the_last(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(file, ("old-1", "a", "fail"), ("old-1", "gone", "fail"), ("new-2", "a", "pass"))
    assert call(capsys, "report", file)[0] == 1
    code, out, _ = call(capsys, "report", file, "--last")
    assert code == 0
    assert out.startswith("run new-2, 1 gate (of 2 runs in this file)")
    code, out, _ = call(capsys, "report", file, "--run", "old")
    assert code == 1
    assert out.startswith("run old-1, 2 gates (")
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
    for which in ([], ["--last"]):
        code, out, _ = call(capsys, "report", file, *which)
        assert code == 3
        assert "run r2" in out
    write(file, ("r3", "a", "pass"))
    assert call(capsys, "report", file)[0] == call(capsys, "report", file, "--last")[0] == 0


def test_combined_shards_are_reported_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shards = [evidence(tmp_path / f"{name}.db") for name in "ab"]
    write(shards[0], ("r1", "a", "fail"), ("r1", "b", "pass"), ("r2", "a", "pass"))
    write(shards[1], ("r3", "c", "inconclusive"))
    target = combine(tmp_path / "all.db", shards).target
    code, out, _ = call(capsys, "report", target)
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


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE verdicts SET verdict = 'pass', summary = replace(summary, '\"fail\"', '\"pass\"')",
        "UPDATE verdicts SET gate = 'other'",
        "UPDATE verdicts SET run = 'r0'",
        "UPDATE verdicts SET at = '1999-01-01T00:00:00.000+00:00'",
        "INSERT INTO verdicts SELECT 9, 'x', run, gate, attempt, 'pass', digest, summary, '2999', seal FROM verdicts",
    ],
    ids=["fail turned into pass", "gate", "run", "time", "another one added"],
)
def test_a_verdict_that_was_edited_is_refused_with_what_to_do(
    file: Path, capsys: pytest.CaptureFixture[str], edit: str
) -> None:
    write(file, ("r1", "a", "fail"))
    assert call(capsys, "report", file)[0] == 1
    with closing(sqlite3.connect(file)) as connection, connection:
        assert connection.execute(edit).rowcount == 1
    error = refused(capsys, "report", file)
    assert f"{file}: the verdict of '" in error
    assert (
        "was changed after it was written (its checksum does not match); restore the file from a copy"
        in error
    )
    assert "was changed" in refused(capsys, "evidence", "list", file)
    assert call(capsys, "combine", file.with_name("all.db"), file)[0] == 3
