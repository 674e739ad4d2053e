"""Where a project's functions may reach."""

from __future__ import annotations

import json
import sys

import pytest

from pytest_swapgate.identity import Surroundings
from pytest_swapgate.identity.places import Installed


@pytest.fixture
def site(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    return folder


@pytest.fixture
def now(tmp_path, monkeypatch):
    """Return what surrounds an empty project, as a run of its own sees it."""
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.chdir(root)
    return lambda **options: Surroundings(
        root, options, run="r", evidence=root / "kept.db", cassette=root / "tape.json"
    ).now()


def distribution(site, name, origin, record=""):
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "direct_url.json").write_text(json.dumps(origin))
    (info / "RECORD").write_text(record)


def test_an_editable_installation_counts_with_its_files(site, now, tmp_path):
    library = tmp_path / "my library"
    library.mkdir()
    (library / "a.py").write_text("A = 1\n")
    before = now()
    distribution(site, "library", {"url": library.as_uri(), "dir_info": {"editable": True}})
    installed = now()
    (library / "a.py").write_text("A = 2\n")
    assert len({before, installed, now()}) == 3


def test_one_version_from_elsewhere_than_an_index_may_be_many(site, now):
    origin = {"url": "file:///somewhere", "dir_info": {}}
    seen = []
    for record in (
        "a.py,sha256=1,2\n",
        "a.py,sha256=2,2\n",
        "a.py,sha256=2,2\n../bin/a,sha256=3,4\na/__pycache__/b.pyc,,\n",
    ):
        distribution(site, "a", origin, record)
        seen.append(now())
    assert seen[0] != seen[1] == seen[2]


def test_what_cannot_be_read_of_an_installation_is_known_by_its_version(site):
    for name, text in (
        ("a", "["),
        ("b", "[]"),
        ("c", '{"dir_info": {"editable": true}}'),
        ("d", '{"dir_info": 3}'),
    ):
        (site / f"{name}-1.0.dist-info").mkdir()
        (site / f"{name}-1.0.dist-info" / "direct_url.json").write_text(text)
    assert {"a-1.0.dist-info", "d-1.0.dist-info"} <= set(Installed().parts)


def test_an_archive_on_the_import_path_counts(now, tmp_path, monkeypatch):
    archive = tmp_path / "lib.zip"
    archive.write_bytes(b"1")
    before = now()
    monkeypatch.setattr(sys, "path", [*sys.path, str(archive)])
    one = now()
    archive.write_bytes(b"2")
    assert len({before, one, now()}) == 3


def test_folders_below_the_project_on_the_import_path_change_nothing(now, tmp_path, monkeypatch):
    (tmp_path / "root" / "tests").mkdir()
    before = now()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "root" / "tests"), *sys.path])
    assert now() == before


def test_where_relative_paths_lead_counts(now, tmp_path, monkeypatch):
    (tmp_path / "root" / "tests").mkdir()
    before = now()
    monkeypatch.chdir(tmp_path / "root" / "tests")
    assert now() != before


def test_options_count_unless_they_only_choose_or_print(now):
    assert now(verbose=1, keyword="a", maxfail=3, xmlpath="a.xml", swapgate_budget="3") == now(verbose=2)
    assert now(brain="a") != now(brain="b")
    assert now(swapgate_model="a") != now(swapgate_model="b")
    assert now(swapgate_replace={"a": "x"}) != now(swapgate_replace={"a": "y"})
