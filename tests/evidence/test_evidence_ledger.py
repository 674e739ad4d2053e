from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pytest_swapgate.evidence import EvidenceStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EvidenceStore]:
    with EvidenceStore.open(tmp_path / "evidence.db") as opened:
        yield opened


def test_attempts_are_counted_for_each_gate_of_each_run(store: EvidenceStore) -> None:
    assert [store.open_attempt("r1", "g") for _ in range(3)] == [1, 2, 3]
    assert store.open_attempt("r1", "other") == 1
    assert store.open_attempt("r2", "g") == 1
    path = store.path
    store.close()
    with EvidenceStore.open(path) as again:
        assert again.open_attempt("r1", "g") == 4


def test_verdicts_are_appended_and_a_rerun_cannot_replace_one(store: EvidenceStore) -> None:
    store.open_attempt("r1", "g")
    first = store.record_verdict("r1", "g", "fail", "d1", '{"harm": 0.5}')
    store.open_attempt("r1", "g")
    second = store.record_verdict("r1", "g", "pass", "d1", "{}")
    other = store.record_verdict("r2", "h", "inconclusive", "d2", "null")
    assert (first.attempt, second.attempt, other.attempt) == (1, 2, 0)
    assert store.verdicts() == (first, second, other)
    assert store.verdicts("r1") == (first, second)
    assert store.verdicts("nothing") == ()
    assert (first.verdict, first.summary) == ("fail", '{"harm": 0.5}')
    assert datetime.fromisoformat(first.at).utcoffset() == timedelta(0)


def test_the_last_verdict_is_that_of_the_same_gate_on_the_same_evidence(store: EvidenceStore) -> None:
    store.record_verdict("r1", "g", "fail", "d1", "{}")
    last = store.record_verdict("r2", "g", "pass", "d1", "{}")
    store.record_verdict("r2", "g", "fail", "d2", "{}")
    store.record_verdict("r2", "h", "fail", "d1", "{}")
    assert store.last_verdict("g", "d1") == last
    assert store.last_verdict("g", "d3") is None


@pytest.mark.parametrize("name", ["run", "gate", "verdict", "digest", "summary_json"])
@pytest.mark.parametrize("value", ["", None])
def test_a_bad_text_is_refused_by_name(store: EvidenceStore, name: str, value: object) -> None:
    texts = {"run": "r", "gate": "g", "verdict": "pass", "digest": "d", "summary_json": "{}", name: value}
    with pytest.raises(ValueError, match=f"^{name} must be"):
        store.record_verdict(**texts)  # type: ignore[arg-type]
    assert store.verdicts() == ()


@pytest.mark.parametrize(("run", "gate"), [("", "g"), ("r", "")])
def test_an_attempt_needs_names(store: EvidenceStore, run: str, gate: str) -> None:
    with pytest.raises(ValueError, match="must be a non-empty str"):
        store.open_attempt(run, gate)
