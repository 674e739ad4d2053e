from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from evidence_samples import LABELS, episode, put

from pytest_swapgate.evidence import EvidenceError, EvidenceStore, episodes
from pytest_swapgate.teams import Episode, FailureClass, Message, Usage


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EvidenceStore]:
    with EvidenceStore.open(tmp_path / "evidence.db") as opened:
        yield opened


def raw(path: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql, values)


def test_an_episode_comes_back_exactly_also_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "folder" / "evidence.db"
    played = episode(
        score=1 / 3,
        messages=(Message(sender="chef", text="'; DROP TABLE episodes; -- \x00 \u2028 🍲", kind="request"),),
        active=True,
        failure=FailureClass.AGENT,
        states={"chef": '{"memory": [1]}'},
        usage=Usage(calls=3, prompt_tokens=1, completion_tokens=2, usd=None),
    )
    with EvidenceStore.open(path) as store:
        assert put(store, "k", played)
        assert store.get("k") == played
    with EvidenceStore.open(path) as store:
        assert store.get("k") == played
        assert store.get("other") is None


def test_the_first_episode_of_a_key_stays_and_other_content_is_counted_once(store: EvidenceStore) -> None:
    assert put(store, "k", episode(1))
    assert not put(store, "k", episode(1), arm="swap")
    assert store.conflicts == 0
    for _ in range(2):
        assert not put(store, "k", episode(2))
    assert store.conflicts == 1
    assert not put(store, "k", episode(3))
    assert store.conflicts == 2
    assert store.get("k") == episode(1)
    assert [stored.arm for stored in store.episodes()] == ["placebo"]


def test_many_keys_are_found_in_the_order_asked_over_all_batches(store: EvidenceStore) -> None:
    keys = [f"k{i:04}" for i in range(1_203)]
    for i, key in enumerate(keys):
        if i % 3:
            put(store, key, episode(i))
    asked = keys[::-1]
    there = [key for key in asked if int(key[1:]) % 3]
    assert store.known(iter(asked)) == set(there)
    assert list(store.get_many(iter(asked)).items()) == [(key, episode(int(key[1:]))) for key in there]
    assert list(store.outcomes(asked)) == there
    assert store.get_many([]) == {}


def test_outcomes_say_what_the_episodes_say(store: EvidenceStore) -> None:
    played = {
        "a": episode(),
        "b": episode(score=1.0, success=True, messages=(), subtasks=0.5, active=False),
        "c": episode(active=True, usage=Usage(usd=None), failure=FailureClass.INFRASTRUCTURE),
        "d": episode(failure=FailureClass.AGENT),
    }
    for key, each in played.items():
        put(store, key, each)
    found = store.outcomes(played)
    for key, each in played.items():
        outcome = found[key]
        assert outcome == episodes.Outcome.of(each)
        assert outcome.counts is each.counts
        assert (outcome.score, outcome.success, outcome.active) == (each.score, each.success, each.active)
        assert (outcome.messages, outcome.subtasks) == (len(each.messages), each.subtasks)
        assert (outcome.calls, outcome.tokens) == (each.usage.calls, each.usage.tokens)
        assert (outcome.usd, outcome.failure) == (each.usage.usd, each.failure)


def test_episodes_come_sorted_by_label_and_filtered(store: EvidenceStore) -> None:
    for i in range(250):
        arm = "swap" if i % 2 else "placebo"
        put(store, f"k{i * 7 % 250:03}", episode(i), arm=arm, unit=f"team-{i % 3}")
    put(store, "f", episode(), study="formation")
    order = [(e.study, e.arm, e.unit, e.key) for e in store.episodes()]
    assert len(order) == 251
    assert order == sorted(order)
    assert {e.arm for e in store.episodes(study="swap", arm="swap")} == {"swap"}
    assert len(list(store.episodes(arm="swap"))) == 125
    assert [e.key for e in store.episodes(study="formation")] == ["f"]
    assert list(store.episodes(study="' OR 1=1 --")) == []


def test_what_is_put_during_an_iteration_does_not_disturb_it(store: EvidenceStore) -> None:
    for i in range(150):
        put(store, f"k{i:03}", episode(i))
    seen = []
    for stored in store.episodes():
        put(store, f"a-{stored.key}", stored.episode)
        seen.append(stored.key)
    assert seen == [f"k{i:03}" for i in range(150)]


def test_the_summary_counts_and_never_calls_an_unknown_price_free(store: EvidenceStore) -> None:
    put(store, "a", episode(), unit="team-1")
    put(store, "b", episode(1), unit="team-2", run="r2")
    put(store, "c", episode(2, failure=FailureClass.INFRASTRUCTURE), unit="team-2")
    put(store, "d", episode(3, failure=FailureClass.AGENT), unit="team-2")
    put(store, "e", episode(usage=Usage(calls=1, usd=None)), study="formation", arm="intact")
    formation, swap = store.summary()
    assert (formation.study, formation.arm, formation.episodes, formation.usd) == (
        "formation",
        "intact",
        1,
        None,
    )
    assert (swap.study, swap.arm, swap.episodes, swap.units, swap.runs) == ("swap", "placebo", 4, 2, 2)
    assert (swap.failures, swap.calls, swap.tokens) == (1, 8, 480)
    assert swap.usd == pytest.approx(0.04)


@pytest.mark.parametrize("name", ["key", "study", "unit", "arm", "run"])
@pytest.mark.parametrize("value", ["", None, 3, "\ud800"])
def test_a_bad_label_is_refused_by_name_and_nothing_is_written(
    store: EvidenceStore, name: str, value: object
) -> None:
    labels = {"key": "k", **LABELS, name: value}
    with pytest.raises(ValueError, match=f"^{name} must be"):
        store.put(labels.pop("key"), episode(), **labels)  # type: ignore[arg-type]
    assert store.summary() == ()


def test_what_is_no_episode_is_refused(store: EvidenceStore) -> None:
    with pytest.raises(ValueError, match="must be an Episode"):
        put(store, "k", {"score": 1})  # type: ignore[arg-type]


@pytest.mark.parametrize("call", ["get_many", "known", "outcomes"])
def test_one_key_is_not_taken_for_a_collection_of_letters(store: EvidenceStore, call: str) -> None:
    with pytest.raises(ValueError, match="collection of str"):
        getattr(store, call)("abc")


def test_an_episode_over_the_limit_is_refused_and_the_largest_allowed_is_kept(store: EvidenceStore) -> None:
    empty = len(episode(error="").model_dump_json())
    room = episodes.EPISODE_BYTES - empty
    with pytest.raises(EvidenceError, match=r"episode k takes 4,000,001 bytes; at most 4,000,000"):
        put(store, "k", episode(error="x" * (room + 1)))
    with pytest.raises(EvidenceError, match="at most 4,000,000"):
        put(store, "k", episode(error="é" * (room // 2 + 1)))
    assert put(store, "k", episode(error="x" * room))
    assert store.get("k") == episode(error="x" * room)


def test_text_that_is_not_unicode_and_counts_that_do_not_fit_are_refused(store: EvidenceStore) -> None:
    with pytest.raises(EvidenceError, match="Unicode"):
        put(store, "k", Episode.model_construct(score=0.5, error="\ud800"))
    with pytest.raises(EvidenceError, match=r"below 2\*\*63"):
        put(store, "k", episode(usage=Usage(calls=2**63)))
    assert store.summary() == ()


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"score": 2}', '{"score": 0.5, "surprise": 1}', "", b"\xff\x00"]
)
def test_a_row_that_does_not_parse_names_key_and_file(store: EvidenceStore, text: str | bytes) -> None:
    put(store, "good", episode())
    put(store, "bad", episode(1))
    raw(store.path, "UPDATE episodes SET episode = ? WHERE key = 'bad'", text)
    for read in (
        lambda: store.get("bad"),
        lambda: store.get_many(["good", "bad"]),
        lambda: list(store.episodes()),
    ):
        with pytest.raises(EvidenceError, match="episode 'bad' does not parse") as caught:
            read()
        assert str(store.path) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert store.get("good") == episode()
    assert [problem for problem in store.check() if "'bad' does not parse" in problem]


def test_a_row_that_was_blown_up_from_outside_is_refused(store: EvidenceStore) -> None:
    put(store, "k", episode())
    raw(store.path, "UPDATE episodes SET episode = printf('%.*c', 4000001, 'x')")
    with pytest.raises(EvidenceError, match="over 4,000,000 bytes"):
        store.get("k")
    raw(store.path, "UPDATE episodes SET episode = printf('%.*c', 70000000, 'x')")
    with pytest.raises(EvidenceError, match="row of more than 65,000,000 bytes"):
        store.get("k")
    assert len(store.check()) == 1


def test_check_finds_what_was_changed_behind_the_back(store: EvidenceStore) -> None:
    put(store, "a", episode())
    put(store, "b", episode(1))
    store.put_json("cohort", "c", "{}")
    store.open_attempt("r", "g")
    store.record_verdict("r", "g", "pass", "d", "{}")
    put(store, "a", episode(9))
    assert store.check() == ()
    raw(store.path, "UPDATE episodes SET score = 1 WHERE key = 'a'")
    raw(store.path, "UPDATE episodes SET score = 7 WHERE key = 'b'")
    raw(
        store.path,
        "INSERT INTO episodes SELECT 3, 'c', x'00', unit, arm, run, score, success, messages, subtasks, "
        "active, calls, tokens, usd, failure, digest, seal, episode FROM episodes WHERE key = 'a'",
    )
    raw(store.path, "UPDATE documents SET text = 'no'")
    raw(store.path, "INSERT INTO documents VALUES (x'01', 'k', '{}', '')")
    raw(store.path, "INSERT INTO conflicts VALUES ('episode', 'k', x'01')")
    raw(store.path, "UPDATE attempts SET count = 0")
    raw(store.path, "UPDATE verdicts SET summary = 'NaN'")
    found = "\n".join(store.check())
    assert "'a' has an outcome that does not fit" in found
    assert "'b' has a damaged outcome" in found
    assert "'c' has damaged labels" in found
    assert "cohort c is not JSON" in found
    assert "damaged name" in found
    assert "conflict of 'episode' 'k' is damaged" in found
    assert "attempts of gate 'g' in run 'r' are damaged" in found
    assert "is damaged" in found.splitlines()[-2]
    assert "the verdict of 'g' in run 'r' was changed" in found.splitlines()[-1]
    with pytest.raises(EvidenceError, match="damaged outcome"):
        store.outcomes(["b"])
    raw(store.path, "UPDATE episodes SET failure = 'gremlins' WHERE key = 'a'")
    with pytest.raises(EvidenceError, match="damaged outcome"):
        store.outcomes(["a"])


def test_check_goes_on_after_a_table_that_cannot_be_read(store: EvidenceStore) -> None:
    store.put_json("cohort", "c", "{}")
    raw(store.path, "INSERT INTO conflicts VALUES ('episode', 'k', CAST(x'ff' AS TEXT))")
    raw(store.path, "UPDATE verdicts SET summary = 'no'")
    (problem,) = store.check()
    assert problem.startswith(str(store.path))


def test_a_document_comes_back_and_the_first_stays(store: EvidenceStore) -> None:
    text = json.dumps({"teams": ["é", 1.5, None]})
    assert store.get_json("cohort", "k") is None
    assert store.put_json("cohort", "k", text)
    assert not store.put_json("cohort", "k", text)
    assert store.put_json("plan", "k", "1")
    assert store.conflicts == 0
    assert not store.put_json("cohort", "k", "[]")
    assert store.conflicts == 1
    assert store.get_json("cohort", "k") == text
    assert store.get_json("plan", "k") == "1"


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", '"\ud800"', b"{}", None, "[" * 100_000])
def test_a_document_that_is_not_json_is_refused(store: EvidenceStore, text: object) -> None:
    with pytest.raises(ValueError, match="text must be JSON text, got"):
        store.put_json("cohort", "k", text)  # type: ignore[arg-type]
    assert store.get_json("cohort", "k") is None


def test_a_stored_document_that_is_not_json_names_itself(store: EvidenceStore) -> None:
    store.put_json("cohort", "k", "{}")
    raw(store.path, "UPDATE documents SET text = '{'")
    with pytest.raises(EvidenceError, match="cohort k is not JSON"):
        store.get_json("cohort", "k")


def test_threads_share_one_store_and_lose_nothing(store: EvidenceStore) -> None:
    failures: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for i in range(60):
                put(store, f"{thread}-{i}", episode(i), unit=f"team-{thread}")
                store.open_attempt("r", "g")
                assert store.get(f"{thread}-{i}") == episode(i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.open_attempt("r", "g") == 301
    assert store.summary()[0].episodes == 300


def test_a_closed_store_says_so(store: EvidenceStore) -> None:
    store.close()
    store.close()
    with pytest.raises(EvidenceError, match="this store is closed"):
        put(store, "k", episode())


def test_a_full_disk_is_one_clear_line_and_what_was_finished_stays(store: EvidenceStore) -> None:
    ((pages,),) = store.database.rows("PRAGMA page_count")
    store.database.rows(f"PRAGMA max_page_count = {pages + 20}")
    kept: list[str] = []

    def fill() -> None:
        while True:
            put(store, f"k{len(kept)}", episode(len(kept)))
            kept.append(f"k{len(kept)}")

    with pytest.raises(EvidenceError, match="disk is full; what was finished is kept"):
        fill()
    assert len(kept) > 10
    path = store.path
    store.close()
    with EvidenceStore.open(path) as again:
        assert sorted(stored.key for stored in again.episodes()) == sorted(kept)
        assert again.check() == ()
        assert put(again, "one more", episode())
