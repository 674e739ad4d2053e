from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from evidence_samples import digest, episode, put

from pytest_swapgate.evidence import EvidenceError, EvidenceStore, combine


def shard(path: Path, *seeds: int, arm: str = "placebo") -> Path:
    with EvidenceStore.open(path) as store:
        for seed in seeds:
            put(store, f"k{seed}", episode(seed), arm=arm)
    return path


def test_shards_become_one_file_and_stay_as_they_are(tmp_path: Path) -> None:
    a, b = shard(tmp_path / "a.db", 1, 2, 3), shard(tmp_path / "b.db", 3, 4, arm="swap")
    before = [digest(a), digest(b)]
    report = combine(tmp_path / "out" / "all.db", [a, str(b)])
    assert (report.added, report.duplicates, report.conflicts, report.skipped) == (4, 1, 0, ())
    assert [(each.path, each.added, each.duplicates) for each in report.combined] == [(a, 3, 0), (b, 1, 1)]
    with EvidenceStore.read(report.target) as store:
        assert store.get_many(f"k{i}" for i in range(1, 5)) == {f"k{i}": episode(i) for i in range(1, 5)}
        assert [(stored.key, stored.arm) for stored in store.episodes(arm="swap")] == [("k4", "swap")]
        assert store.check() == ()
    assert [digest(a), digest(b)] == before


def test_combining_again_adds_nothing(tmp_path: Path) -> None:
    a, target = shard(tmp_path / "a.db", 1, 2), tmp_path / "all.db"
    with EvidenceStore.open(a) as store:
        store.open_attempt("r", "g")
        store.record_verdict("r", "g", "fail", "d", "{}")
        put(store, "k1", episode(9))
    combine(target, [a])
    with EvidenceStore.read(target) as store:
        before = (store.verdicts(), store.conflicts)
    report = combine(target, [a, a])
    assert (report.added, report.duplicates, report.conflicts) == (0, 4, 0)
    with EvidenceStore.open(target) as store:
        assert (store.verdicts(), store.conflicts) == before
        assert len(before[0]) == before[1] == 1
        assert store.open_attempt("r", "g") == 2


def test_a_breach_of_determinism_between_shards_is_counted_and_the_first_stays(tmp_path: Path) -> None:
    a, b = shard(tmp_path / "a.db", 1), tmp_path / "b.db"
    with EvidenceStore.open(b) as store:
        put(store, "k1", episode(99))
        store.put_json("cohort", "c", "[1]")
    with EvidenceStore.open(a) as store:
        store.put_json("cohort", "c", "[2]")
    report = combine(tmp_path / "all.db", [a, b])
    assert (report.added, report.duplicates, report.conflicts) == (1, 1, 1)
    with EvidenceStore.read(tmp_path / "all.db") as store:
        assert store.get("k1") == episode(1)
        assert store.get_json("cohort", "c") == "[2]"
        assert store.conflicts == 2


def test_the_ledger_is_merged_in_order_of_time(tmp_path: Path) -> None:
    paths = [shard(tmp_path / f"{name}.db", 1) for name in "ab"]
    recorded = []
    for turn in range(4):
        with EvidenceStore.open(paths[turn % 2]) as store:
            for _ in range(turn):
                store.open_attempt("r", "g")
            recorded.append(store.record_verdict("r", "g", "fail", "d", "{}"))
    with EvidenceStore.open(tmp_path / "all.db") as store:
        store.open_attempt("r", "g")
    combine(tmp_path / "all.db", paths)
    with EvidenceStore.open(tmp_path / "all.db") as store:
        assert {each.id for each in store.verdicts()} == {each.id for each in recorded}
        assert [each.at for each in store.verdicts()] == sorted(each.at for each in recorded)
        assert store.open_attempt("r", "g") == 5


def test_what_cannot_be_read_is_named_and_left_alone(tmp_path: Path) -> None:
    good = shard(tmp_path / "good.db", 1)
    foreign = tmp_path / "foreign.db"
    with closing(sqlite3.connect(foreign)) as connection, connection:
        connection.execute("CREATE TABLE x (y)")
    text = tmp_path / "text.db"
    text.write_text("not a database at all\n" * 50)
    unsound = shard(tmp_path / "unsound.db", 5, 6)
    with closing(sqlite3.connect(unsound)) as connection, connection:
        connection.execute("UPDATE episodes SET episode = '{}' WHERE key = 'k6'")
    target = shard(tmp_path / "all.db", 0)
    bad = [foreign, text, unsound]
    before = [digest(path) for path in bad]
    report = combine(target, [*bad, tmp_path / "missing.db", tmp_path, target, good])
    assert [each.path for each in report.combined] == [good]
    reasons = {each.path: each.reason for each in report.skipped}
    assert list(reasons) == [*bad, tmp_path / "missing.db", tmp_path, target]
    assert "another program" in reasons[foreign]
    assert "not an SQLite file" in reasons[text]
    assert "'k6' does not parse" in reasons[unsound]
    assert "no such evidence file" in reasons[tmp_path / "missing.db"]
    assert "a directory" in reasons[tmp_path]
    assert "the target itself" in reasons[target]
    assert [digest(path) for path in bad] == before
    with EvidenceStore.read(target) as store:
        assert store.known(["k0", "k1", "k5", "k6"]) == {"k0", "k1"}


def test_nothing_combined_is_an_error_and_creates_no_file(tmp_path: Path) -> None:
    target = tmp_path / "all.db"
    with pytest.raises(EvidenceError, match=r"nothing was combined \(.*missing\.db: no such evidence file"):
        combine(target, [tmp_path / "missing.db"])
    with pytest.raises(EvidenceError, match=r"nothing was combined \(no file was named"):
        combine(target, [])
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "notes.txt"
    target.write_text("precious")
    with pytest.raises(EvidenceError, match="not an SQLite file"):
        combine(target, [shard(tmp_path / "a.db", 1)])
    assert target.read_text() == "precious"


def test_one_path_is_not_taken_for_many(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="collection of paths"):
        combine(tmp_path / "all.db", str(tmp_path / "a.db"))


def test_a_shard_of_a_killed_job_is_read_with_its_log(tmp_path: Path) -> None:
    source = tmp_path / "live.db"
    with EvidenceStore.open(source) as store:
        put(store, "k", episode())
        job = tmp_path / "job"
        job.mkdir()
        for file in ("live.db", "live.db-wal"):
            shutil.copy(tmp_path / file, job / file)
    before = digest(job / "live.db")
    assert combine(tmp_path / "all.db", [job / "live.db"]).added == 1
    assert digest(job / "live.db") == before
