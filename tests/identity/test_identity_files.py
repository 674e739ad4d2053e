"""Looking at folders: bounded, fast the second time, and never fooled by a change that keeps the size."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.identity import files as looking
from pytest_swapgate.identity.artifacts import artifacts_of
from pytest_swapgate.identity.files import Files, UnknownError
from pytest_swapgate.identity.places import Place


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def files(root):
    return Files(
        artifacts_of(evidence=root / "kept.db", cassette=root / "tape.json", written=[root / "out.xml"])
    )


def look(files, root):
    return files.look([Place("the root", root, ".")])


def test_a_change_that_keeps_size_and_follows_at_once_is_seen(files, root):
    seen = []
    for text in ("0.9", "0.3", "0.5"):
        (root / "a.txt").write_text(text)
        seen.append(look(files, root)["./a.txt"])
    assert len(set(seen)) == 3


def test_what_has_not_changed_is_not_read_again(files, root, monkeypatch):
    for number in range(5):
        (root / f"{number}.txt").write_text("1")
        os.utime(root / f"{number}.txt", (1_000, 1_000))
    later = looking.time.time_ns() + 10**10
    monkeypatch.setattr(looking.time, "time_ns", lambda: later)
    read = []
    real = looking._Look._read
    monkeypatch.setattr(
        looking._Look, "_read", lambda *args, **more: read.append(args[1]) or real(*args, **more)
    )
    first = look(files, root)
    assert len(read) == 5
    (root / "3.txt").write_text("2")
    second = look(files, root)
    assert read[5:] == [str(root / "3.txt")]
    assert {name for name in first if first[name] != second[name]} == {"./3.txt"}


@pytest.mark.parametrize("limit", ["LARGE", "MOST_BYTES"])
def test_more_than_can_be_read_counts_by_size_time_and_ends(files, root, monkeypatch, limit):
    monkeypatch.setattr(looking, limit, 1_000)
    monkeypatch.setattr(looking, "_END", 100)
    path = root / "a.bin"
    seen = []
    for data, at in (
        (b"a" * 2_000, 1),
        (b"a" * 2_001, 1),
        (b"b" + b"a" * 2_000, 1),
        (b"a" * 2_000 + b"b", 1),
        (b"a" * 2_000, 2),
    ):
        path.write_bytes(data)
        os.utime(path, (at, at))
        seen.append(look(files, root)["./a.bin"])
    assert len(set(seen)) == len(seen)
    path.write_bytes(b"a" * 900 + b"?" + b"a" * 1_099)
    os.utime(path, (1, 1))
    assert look(files, root)["./a.bin"] == seen[0], "it would have been read whole"


def test_folders_and_files_are_counted_before_anything_below_is_read(files, root, monkeypatch):
    monkeypatch.setattr(looking, "MOST_FILES", 10)
    for number in range(9):
        (root / f"{number}.txt").touch()
    (root / "folder").mkdir()
    assert len(look(files, root)) == 9
    (root / "folder" / "one.txt").touch()
    with pytest.raises(UnknownError, match=r"^the root \(.*root\) holds more than 10 files and folders$"):
        look(files, root)


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes and links for everybody there")
def test_pipes_broken_links_and_loops_do_not_stop_a_look(files, root):
    os.mkfifo(root / "pipe")
    (root / "gone").symlink_to("nowhere")
    (root / "a").mkdir()
    (root / "a" / "again").symlink_to(root)
    (root / "a" / "self").symlink_to("self")
    assert look(files, root) == {
        "./a/again": "link to .", "./a/self": "unreadable", "./gone": "unreadable", "./pipe": "no file"
    }  # fmt: skip


def test_a_folder_goes_by_its_own_name_whatever_links_lead_to_it(files, root):
    (root / "z").mkdir()
    (root / "z" / "f").write_text("1")
    (root / "a").symlink_to("z")
    seen = look(files, root)
    assert sorted(seen) == ["./a", "./z/f"]
    assert seen["./a"] == "link to ./z"


def test_evidence_cassettes_and_reports_of_this_run_do_not_count_and_others_do(files, root):
    for name in (
        "kept.db-wal",
        "kept.db-0123456789abcdef.lock",
        "tape.json",
        "tape.json.gw0.part",
        "out.xml",
        "a.xml",
    ):
        (root / name).write_text("1")
    EvidenceStore.open(root / "shard-1.db").close()
    (root / "shard-1.db-wal").write_text("1")
    (root / "own.db").write_bytes(b"SQLite format 3\0" + b"." * 100)
    (root / "own.db-wal").write_text("1")
    assert sorted(look(files, root)) == ["./a.xml", "./own.db", "./own.db-wal"]


def test_a_folder_that_says_it_is_a_cache_does_not_count_and_one_that_only_looks_so_does(files, root):
    for name, text in (("true", "Signature: 8a477f597d28d172789f06886806bc55\n"), ("false", "mine\n")):
        (root / name).mkdir()
        (root / name / "CACHEDIR.TAG").write_text(text)
        (root / name / "a.txt").touch()
    assert sorted(look(files, root)) == ["./false/CACHEDIR.TAG", "./false/a.txt"]


@pytest.mark.parametrize("place", [Path("/"), Path.home(), Path("/usr/lib/site-packages")])
def test_an_absurd_folder_is_refused(files, place):
    with pytest.raises(
        UnknownError, match=r"is the root|is the home|holds the home|holds installed packages"
    ):
        look(files, place)
