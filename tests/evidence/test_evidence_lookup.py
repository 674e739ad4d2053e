"""What a person looks up: episodes by the beginning of their key, gates as they were started, why one was skipped."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from evidence_samples import LABELS, episode, put

import pytest_swapgate
from pytest_swapgate.evidence import EvidenceError, EvidenceStore, StoredEpisode, combine, lookup
from pytest_swapgate.evidence.skips import SKIPPED, record_skip, skip_reason

PACKAGE = Path(pytest_swapgate.__file__).parent


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EvidenceStore]:
    with EvidenceStore.open(tmp_path / "evidence.db") as opened:
        yield opened


def test_keys_are_found_by_their_beginning_the_shortest_first(store: EvidenceStore) -> None:
    for key in ("abc", "ab", "abd", "xab", "a%", "a_"):
        put(store, key, episode())
    assert lookup.keys_beginning(store, "ab", most=9) == ["ab", "abc", "abd"]
    assert lookup.keys_beginning(store, "ab", most=2) == ["ab", "abc"]
    # No wildcards.
    assert lookup.keys_beginning(store, "a%", most=9) == ["a%"]
    assert lookup.keys_beginning(store, "A", most=9) == []
    with pytest.raises(ValueError, match="beginning must be a non-empty str"):
        lookup.keys_beginning(store, "", most=9)


def test_an_episode_comes_with_its_labels(store: EvidenceStore) -> None:
    put(store, "k", episode(3), arm="swap")
    found = lookup.stored_episode(store, "k")
    assert found == StoredEpisode(key="k", episode=episode(3), **{**LABELS, "arm": "swap"})
    assert lookup.stored_episode(store, "other") is None
    store.database.change("UPDATE episodes SET episode = '{}'")
    with pytest.raises(EvidenceError, match="episode 'k' does not parse"):
        lookup.stored_episode(store, "k")


def test_gates_come_in_the_order_they_were_started_also_out_of_combined_files(tmp_path: Path) -> None:
    order = [("r2", "b"), ("r2", "a"), ("r1", "a")]
    with EvidenceStore.open(tmp_path / "shard.db") as store:
        for run, gate in [*order, order[0]]:
            store.open_attempt(run, gate)
        assert lookup.started_gates(store) == order
    combine(tmp_path / "all.db", [tmp_path / "shard.db"])
    with EvidenceStore.read(tmp_path / "all.db") as store:
        assert lookup.started_gates(store) == order


def test_a_skip_is_kept_with_its_reason_and_is_sound(store: EvidenceStore) -> None:
    store.open_attempt("r", "g")
    kept = record_skip(store, "r", "g", "no key \udcff")
    assert (kept.verdict, kept.attempt) == (SKIPPED, 1)
    assert store.verdicts() == (kept,)
    assert skip_reason(kept) == "no key \udcff"
    assert len(skip_reason(record_skip(store, "r", "h", "x" * 9_999))) == 2_000
    assert store.check() == ()


@pytest.mark.parametrize("summary", ["{}", "[]", '"x"', '{"reason": 1}'])
def test_a_record_that_is_not_a_skip_gives_no_reason(store: EvidenceStore, summary: str) -> None:
    with pytest.raises(ValueError, match="not that of a skip"):
        skip_reason(store.record_verdict("r", "g", SKIPPED, "d", summary))
    with pytest.raises(ValueError, match="not that of a skip"):
        skip_reason(store.record_verdict("r", "g", "pass", "d", '{"reason": "x"}'))


def test_nothing_outside_this_package_speaks_sql() -> None:
    found = []
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name == "evidence":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            sql = text.lstrip().startswith(("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "PRAGMA "))
            if sql or (isinstance(node, ast.Attribute) and node.attr == "database"):
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert found == []
