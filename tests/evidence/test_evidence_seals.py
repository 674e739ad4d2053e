"""Rows that were edited by hand are refused when they are read, with the file, the row, and what to do; never used."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from evidence_samples import episode, put

from pytest_swapgate.evidence import EvidenceError, EvidenceStore, Outcome, export, lookup, seals
from pytest_swapgate.teams import FailureClass, Usage

TOLD = r"was changed after it was written \(its checksum does not match\); restore the file from a copy, or play anew"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EvidenceStore]:
    with EvidenceStore.open(tmp_path / "evidence.db") as opened:
        put(opened, "good", episode(1))
        put(opened, "bad", episode(2))
        yield opened


def edit(store: EvidenceStore, statement: str) -> None:
    with closing(sqlite3.connect(store.path)) as connection, connection:
        assert connection.execute(statement).rowcount == 1


BETTER = "episode = replace(episode, '\"score\":0.5', '\"score\":1.0')"
READS: dict[str, Callable[[EvidenceStore], object]] = {
    "get": lambda store: store.get("bad"),
    "get_many": lambda store: store.get_many(["good", "bad"]),
    "episodes": lambda store: list(store.episodes()),
    "show": lambda store: lookup.stored_episode(store, "bad"),
    "export": lambda store: export(store, store.path.with_name("out.csv"), "csv"),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(
    "what",
    [
        BETTER,
        f"score = 1, {BETTER}",
        "score = 1",
        "failure = 'infrastructure'",
        "unit = 'team-02'",
        "run = 'r2'",
        "digest = ''",
        "seal = ''",
        "seal = (SELECT seal FROM episodes WHERE key = 'good')",
    ],
)
def test_an_edited_episode_is_refused_and_the_others_are_read(
    store: EvidenceStore, read: str, what: str
) -> None:
    edit(store, f"UPDATE episodes SET {what} WHERE key = 'bad'")
    with pytest.raises(EvidenceError, match=TOLD) as caught:
        READS[read](store)
    said = str(caught.value)
    assert said.startswith(f"{store.path}: episode 'bad' (study 'swap', arm 'placebo', 'team-0")
    assert "--swapgate-evidence" in said
    assert "\n" not in said
    assert store.get("good") == episode(1)
    assert len(store.check()) == 1
    # It is there: nobody plays it again and looks away.
    assert store.known(["bad"]) == {"bad"}


@pytest.mark.parametrize(
    "what", ["score = 0.75", "tokens = 1", "failure = 'agent'", "arm = 'swap'", "digest = 'x'"]
)
def test_an_edited_outcome_is_refused_without_its_text(store: EvidenceStore, what: str) -> None:
    edit(store, f"UPDATE episodes SET {what} WHERE key = 'bad'")
    with pytest.raises(EvidenceError, match=rf"episode 'bad'.*{TOLD}"):
        store.outcomes(["good", "bad"])
    assert store.outcomes(["good"])["good"] == Outcome.of(episode(1))


def test_a_row_that_took_the_content_of_another_key_is_refused(store: EvidenceStore) -> None:
    edit(store, "DELETE FROM episodes WHERE key = 'bad'")
    edit(store, "UPDATE episodes SET key = 'bad' WHERE key = 'good'")
    with pytest.raises(EvidenceError, match=TOLD):
        store.get("bad")


def test_a_row_that_was_edited_is_not_healed_by_playing_again(store: EvidenceStore) -> None:
    edit(store, f"UPDATE episodes SET {BETTER} WHERE key = 'bad'")
    assert not put(store, "bad", episode(2))
    with pytest.raises(EvidenceError, match=TOLD):
        store.get("bad")


@pytest.mark.parametrize("what", ["text = '[1]'", "key = 'other'", "kind = 'plan'", "seal = ''"])
def test_an_edited_document_is_refused(store: EvidenceStore, what: str) -> None:
    store.put_json("cohort", "c", "[0]")
    assert store.get_json("cohort", "c") == "[0]"
    edit(store, f"UPDATE documents SET {what}")
    ((kind, key),) = store.database.rows("SELECT kind, key FROM documents")
    with pytest.raises(EvidenceError, match=rf"{kind} '{key}' {TOLD}"):
        store.get_json(kind, key)
    assert len(store.check()) == 1


@pytest.mark.parametrize("what", ["verdict = 'pass'", "summary = '[]'", "attempt = 2", "digest = 'e'"])
def test_an_edited_verdict_is_refused(store: EvidenceStore, what: str) -> None:
    store.record_verdict("r", "g", "fail", "d", "{}")
    assert len(store.verdicts()) == 1
    edit(store, f"UPDATE verdicts SET {what}")
    for read in (store.verdicts, lambda: store.last_verdict("g", "e" if "digest" in what else "d")):
        with pytest.raises(EvidenceError, match=rf"the verdict of 'g' in run 'r' {TOLD}"):
            read()
    assert len(store.check()) == 1


def test_what_is_stored_is_what_its_checksum_is_of_for_every_kind_of_value(store: EvidenceStore) -> None:
    for number, changes in enumerate(
        (
            {"score": 0, "subtasks": 0},
            {"score": -0.0, "subtasks": -0.0, "usage": Usage(usd=-0.0)},
            {"score": 1 / 3, "subtasks": 1e300, "usage": Usage(usd=1e-300)},
            {"score": 1, "success": True, "active": False, "usage": Usage(usd=None)},
            {"failure": FailureClass.AGENT, "active": True},
            {"usage": Usage(calls=2**62, prompt_tokens=2**61)},
        )
    ):
        played = episode(number, **changes)
        put(store, f"k-{number}", played, unit="é \U0001fae8 \u2028 \x00")
        assert store.outcomes([f"k-{number}"])[f"k-{number}"] == Outcome.of(played)
        assert store.get(f"k-{number}") == played
    assert store.check() == ()


def test_a_checksum_is_the_same_on_every_machine_and_version() -> None:
    # A new letter: unlike repr(), nothing here depends on which Unicode a Python knows.
    assert sys.version_info >= (3, 11)
    parts = ("k", 0.5, 1, None, "é\U0001fae8")
    text = r"('k', 0.5, 1, None, '\xe9\U0001fae8')"
    assert seals.seal(*parts) == hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    assert seals.seal("a", "b") != seals.seal("ab")
