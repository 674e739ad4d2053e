from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from evidence_samples import digest, episode, put

from pytest_swapgate.evidence import EvidenceError, EvidenceStore, opening, schema
from pytest_swapgate.evidence.standing import standing
from pytest_swapgate.teams import FailureClass, Usage

BOTH = pytest.mark.parametrize("open_", [EvidenceStore.open, EvidenceStore.read])


def refused(open_: object, path: Path, match: str) -> None:
    """Opening fails in one line that names the file, and leaves file and folder as they were."""
    before = digest(path)
    beside = sorted(os.listdir(path.parent))
    with pytest.raises(EvidenceError, match=match) as caught:
        open_(path)  # type: ignore[operator]
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert digest(path) == before
    assert sorted(os.listdir(path.parent)) == beside


@BOTH
def test_a_directory_is_refused(tmp_path: Path, open_: object) -> None:
    with pytest.raises(EvidenceError, match="a directory; name a file"):
        open_(tmp_path)  # type: ignore[operator]
    assert os.listdir(tmp_path) == []


@BOTH
@pytest.mark.parametrize(
    "content", [b"hello, this is a text file\n" * 10, b"\x00" * 5_000, b"SQLite format 3\x00 or so"]
)
def test_a_file_that_is_not_sqlite_is_left_alone(tmp_path: Path, open_: object, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    refused(open_, path, "not an SQLite file; name an evidence file|damaged")


@BOTH
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_of_another_program_is_left_alone(tmp_path: Path, open_: object, mode: str) -> None:
    path = tmp_path / "browser.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE episodes (key)")
        connection.commit()
        refused(open_, path, "another program; name an evidence file")
    refused(open_, path, "another program; name an evidence file")


@BOTH
def test_a_newer_schema_is_left_alone(tmp_path: Path, open_: object, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "evidence.db"
    with monkeypatch.context() as later:
        later.setattr(schema, "STEPS", (*schema.STEPS, ("CREATE TABLE later (x)",)))
        EvidenceStore.open(path).close()
    today = len(schema.STEPS)
    refused(open_, path, rf"newer pytest-swapgate \(schema {today + 1}, this one reads up to {today}\)")


def test_a_newer_schema_that_only_the_log_knows_is_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "evidence.db"
    EvidenceStore.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as newer:
        newer.execute("PRAGMA user_version = 9")
        refused(EvidenceStore.open, path, "newer")
        refused(EvidenceStore.read, path, "newer")


OLD = (
    "CREATE TABLE episodes (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, episode TEXT NOT NULL)",
    "INSERT INTO episodes (key, episode) VALUES ('k', '{}')",
)


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of an invented earlier schema; today's is reached from it by moving its rows."""
    path = tmp_path / "evidence.db"
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "STEPS", (OLD,))
        earlier.setattr(schema, "TABLES", ("episodes",))
        EvidenceStore.open(path).close()
    played = episode(5)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE episodes SET episode = ?", (played.model_dump_json(),))
    move = (
        "ALTER TABLE episodes RENAME TO old",
        *schema.STEPS[0],
        "INSERT INTO episodes SELECT id, key, 'swap', 'u', 'a', 'r', json_extract(episode, '$.score'), 0, 2, 2, "
        "NULL, 2, 120, 0.01, NULL, episode FROM old",
        "DROP TABLE old",
    )
    monkeypatch.setattr(schema, "STEPS", (OLD, move, *schema.STEPS[1:]))
    return path


def test_an_older_schema_is_migrated_with_its_rows(older: Path) -> None:
    with EvidenceStore.open(older) as store:
        assert store.get("k") == episode(5)
        assert store.check() == ()
        put(store, "new", episode(6))
    with closing(sqlite3.connect(older)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(schema.STEPS),)
    with EvidenceStore.open(older) as store:
        assert store.known(["k", "new"]) == {"k", "new"}


@pytest.fixture
def unsealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file as the first schema had it: no checksums, no order of runs."""
    path = tmp_path / "evidence.db"
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "STEPS", schema.STEPS[:1])
        earlier.setattr(schema, "TABLES", ("episodes", "verdicts"))
        EvidenceStore.open(path).close()
    played = episode(5, active=True, failure=FailureClass.AGENT, usage=Usage(usd=None))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO episodes VALUES (7, 'k', 'swap', 'u', 'a', 'r', 0.5, 0, 2, 2, 1, 0, 0, NULL, 'agent', ?)",
            (played.model_dump_json(),),
        )
        connection.execute("INSERT INTO documents VALUES ('cohort', 'c', '{}')")
        for number, (run, verdict) in enumerate((("z", "fail"), ("a", "pass")), 1):
            connection.execute("INSERT INTO attempts VALUES (?, 'g', 1)", (run,))
            connection.execute(
                "INSERT INTO verdicts VALUES (?, ?, ?, 'g', 1, ?, 'd', '{}', ?)",
                (number, run, run, verdict, f"2026-01-0{number}T00:00:00.000+00:00"),
            )
    return path


@BOTH
def test_a_file_without_checksums_gets_them_and_its_runs_their_order(unsealed: Path, open_: object) -> None:
    with open_(unsealed) as store:  # type: ignore[operator]
        assert store.check() == ()
        assert store.get("k") == episode(5, active=True, failure=FailureClass.AGENT, usage=Usage(usd=None))
        assert store.outcomes(["k"])["k"].failure is FailureClass.AGENT
        assert store.get_json("cohort", "c") == "{}"
        assert [record.verdict for record in store.verdicts()] == ["fail", "pass"]
        assert standing(store, store.verdicts()) == [("a", "g")]


def test_a_file_with_checksums_is_not_sealed_again_when_it_is_opened(unsealed: Path) -> None:
    EvidenceStore.open(unsealed).close()
    with closing(sqlite3.connect(unsealed)) as connection, connection:
        connection.execute("UPDATE episodes SET unit = 'v'")
    with EvidenceStore.open(unsealed) as store, pytest.raises(EvidenceError, match="was changed"):
        store.get("k")


def test_reading_an_older_schema_migrates_a_copy_only(older: Path) -> None:
    before, beside = digest(older), sorted(os.listdir(older.parent))
    with EvidenceStore.read(older) as store:
        assert store.get("k") == episode(5)
        with pytest.raises(EvidenceError, match="read-only"):
            put(store, "new", episode(6))
    assert digest(older) == before
    assert sorted(os.listdir(older.parent)) == beside


@BOTH
def test_a_migration_that_fails_changes_nothing(
    older: Path, open_: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest(older)
    monkeypatch.setattr(schema, "STEPS", (OLD, ("DROP TABLE episodes", "INSERT INTO nowhere VALUES (1)")))
    with pytest.raises(EvidenceError, match="SQLite says: no such table: nowhere"):
        open_(older)  # type: ignore[operator]
    assert digest(older) == before


@BOTH
def test_a_file_that_lost_a_table_is_refused(tmp_path: Path, open_: object) -> None:
    path = tmp_path / "evidence.db"
    EvidenceStore.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE verdicts")
    refused(open_, path, "damaged, without its table verdicts")


@BOTH
def test_a_truncated_file_is_refused(tmp_path: Path, open_: object) -> None:
    path = tmp_path / "evidence.db"
    with EvidenceStore.open(path) as store:
        for i in range(200):
            put(store, f"k{i}", episode(i))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(open_, path, "damaged")


def test_a_page_overwritten_with_noise_is_found_and_named(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    with EvidenceStore.open(path) as store:
        for i in range(400):
            put(store, f"k{i}", episode(i))
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 8_192] = b"\xa5" * 8_192
    path.write_bytes(content)
    before = digest(path)
    with EvidenceStore.read(path) as store:
        assert store.check()
        with pytest.raises(EvidenceError, match=r"evidence\.db: damaged"):
            list(store.episodes())
    assert digest(path) == before


def test_reading_what_is_missing_or_empty_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="no such evidence file"):
        EvidenceStore.read(tmp_path / "missing" / "evidence.db")
    assert os.listdir(tmp_path) == []
    empty = tmp_path / "empty.db"
    empty.touch()
    refused(EvidenceStore.read, empty, "empty; name an evidence file")


def test_an_empty_file_becomes_an_evidence_file(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    path.touch()
    with EvidenceStore.open(path) as store:
        assert put(store, "k", episode())
    assert not list(tmp_path.glob("*.new"))


def test_the_log_of_a_lost_file_is_not_replayed_into_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    log = tmp_path / "evidence.db-wal"
    log.write_bytes(b"left over")
    with pytest.raises(EvidenceError, match=r"evidence\.db-wal: left over"):
        EvidenceStore.open(path)
    assert log.read_bytes() == b"left over"
    assert not path.exists()


@pytest.mark.parametrize("path", ["", b"evidence.db", None, 3])
def test_what_is_no_path_is_refused(path: object) -> None:
    with pytest.raises(ValueError, match="path must be a non-empty str or path"):
        EvidenceStore.open(path)  # type: ignore[arg-type]


def test_a_path_no_system_accepts_is_refused() -> None:
    with pytest.raises(EvidenceError, match="not a usable path"):
        EvidenceStore.open("a\0b")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(EvidenceError, match="cannot be created"):
        EvidenceStore.open(tmp_path / "file" / "evidence.db")
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(EvidenceError, match="not a regular file"):
        EvidenceStore.open(tmp_path / "pipe")


def test_names_that_mean_something_in_a_uri_are_only_names(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=memory#b %20.db"
    with EvidenceStore.open(path) as store:
        put(store, "k", episode())
    assert path.exists()
    with EvidenceStore.read(path) as store:
        assert store.get("k") == episode()


def test_a_link_and_its_file_are_one_store(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    EvidenceStore.open(path).close()
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with EvidenceStore.open(link) as one, EvidenceStore.open(path) as other:
        assert one.path == other.path
        put(one, "k", episode())
        assert other.get("k") == episode()


def test_reading_leaves_no_byte_and_no_file_changed(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    with EvidenceStore.open(path) as store:
        put(store, "k", episode())
    before, beside = digest(path), sorted(os.listdir(tmp_path))
    with EvidenceStore.read(path) as store:
        assert store.get("k") == episode()
        for write in (
            lambda: put(store, "new", episode(1)),
            lambda: store.put_json("a", "b", "{}"),
            lambda: store.open_attempt("r", "g"),
        ):
            with pytest.raises(EvidenceError, match="read-only"):
                write()
    assert digest(path) == before
    assert sorted(os.listdir(tmp_path)) == beside


def test_a_reader_sees_what_a_writer_appends_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    with EvidenceStore.open(path) as writer, EvidenceStore.read(path) as reader:
        for i in range(5):
            put(writer, f"k{i}", episode(i))
            assert reader.get(f"k{i}") == episode(i)


def unwritable(monkeypatch: pytest.MonkeyPatch) -> None:
    # Permissions do not bind the administrator, who runs many a CI.
    monkeypatch.setattr(opening.os, "access", lambda *_: False)


def test_a_read_only_place_can_be_read_but_not_opened_for_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "evidence.db"
    with EvidenceStore.open(path) as store:
        put(store, "k", episode())
    unwritable(monkeypatch)
    refused(EvidenceStore.open, path, "read-only; make it writable or name another path")
    for log in (None, b""):
        if log is not None:
            (tmp_path / "evidence.db-wal").write_bytes(log)
        beside = sorted(os.listdir(tmp_path))
        with EvidenceStore.read(path) as store:
            assert store.get("k") == episode()
        assert sorted(os.listdir(tmp_path)) == beside


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_folder_without_permission_is_one_clear_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(EvidenceError, match="writable folder"):
            EvidenceStore.open(tmp_path / "evidence.db")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("code", ["SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_READONLY"])
def test_every_failure_of_the_disk_is_one_line_with_the_file(code: str) -> None:
    error = sqlite3.OperationalError("went wrong")
    error.sqlite_errorcode = getattr(sqlite3, code)
    with (
        pytest.raises(EvidenceError, match=r"^.*evidence\.db: \w+"),
        opening.sqlite_errors(Path("evidence.db")),
    ):
        raise error


@BOTH
def test_a_file_whose_checkpoint_was_cut_off_is_whole_with_its_log(tmp_path: Path, open_: object) -> None:
    path = tmp_path / "evidence.db"
    job = tmp_path / "job" / "evidence.db"
    job.parent.mkdir()
    with EvidenceStore.open(path) as store:
        for i in range(100):
            put(store, f"k{i}", episode(i))
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{job}{suffix}")
    # A checkpoint that stops after page 1 leaves a header that counts pages the file does not have.
    with job.open("r+b") as file:
        file.seek(28)
        file.write((10_000).to_bytes(4, "big"))
    with open_(job) as store:  # type: ignore[operator]
        assert store.known(f"k{i}" for i in range(100)) == {f"k{i}" for i in range(100)}
        assert store.check() == ()


def test_such_a_file_without_its_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evidence.db"
    EvidenceStore.open(path).close()
    with path.open("r+b") as file:
        file.seek(28)
        file.write((10_000).to_bytes(4, "big"))
    refused(EvidenceStore.open, path, "damaged")
    refused(EvidenceStore.read, path, "damaged")
