from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from evidence_samples import episode, put

from pytest_swapgate.evidence import EvidenceError, EvidenceStore, combine, export, export_gate
from pytest_swapgate.evidence.comparisons import ComparedEpisode, Comparison, compared, compared_gates, keep
from pytest_swapgate.teams import Episode, FailureClass, Usage


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EvidenceStore]:
    with EvidenceStore.open(tmp_path / "evidence.db") as opened:
        put(
            opened,
            "b",
            episode(-2, active=True, failure=FailureClass.AGENT, usage=Usage(usd=None)),
            arm="swap",
        )
        put(opened, "a", episode(1, error='a "quoted", error\nin two lines'))
        yield opened


def test_csv_has_one_row_an_episode_in_stable_order(store: EvidenceStore, tmp_path: Path) -> None:
    path = tmp_path / "out" / "episodes.csv"
    assert export(store, path, "csv") == 2
    with path.open(newline="", encoding="utf-8") as file:
        first, second = csv.DictReader(file)
    assert first == {
        "study": "swap",
        "unit": "team-01",
        "arm": "placebo",
        "condition": "",
        "seat": "",
        "run": "r1",
        "task_id": "onion_soup",
        "seed": "1",
        "counts": "true",
        "score": "0.5",
        "success": "false",
        "messages": "2",
        "subtasks": "2.0",
        "active": "",
        "calls": "2",
        "prompt_tokens": "100",
        "completion_tokens": "20",
        "usd": "0.01",
        "failure": "",
        "error": 'a "quoted", error\nin two lines',
        "metrics": '{"tes": 0.25}',
        "key": "a",
    }
    assert (second["arm"], second["active"], second["failure"], second["usd"]) == (
        "swap",
        "true",
        "agent",
        "",
    )
    assert second["seed"] == "-2"


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_no_text_becomes_a_formula_in_a_spreadsheet(store: EvidenceStore, tmp_path: Path, text: str) -> None:
    put(store, text, episode(task_id=text, error=text), study=text, unit=text, arm=text, run=text)
    path = tmp_path / "episodes.csv"
    export(store, path, "csv", study=text)
    with path.open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    for column in ("study", "unit", "arm", "run", "task_id", "error", "key"):
        assert row[column] == f"'{text}"


def test_json_lines_carry_whole_episodes(store: EvidenceStore, tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    put(store, "c", episode(error="line\u2028separator\nand é"), arm="zz")
    assert export(store, path, "jsonl") == 3
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["key"] for line in lines] == ["a", "b", "c"]
    for line in lines:
        assert Episode.model_validate(line.pop("episode")) == store.get(line["key"])
        assert set(line) == {"key", "study", "unit", "arm", "condition", "seat", "run", "counts"}


def test_only_the_study_and_arm_asked_for_are_written(store: EvidenceStore, tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    assert export(store, path, "jsonl", study="swap", arm="swap") == 1
    assert json.loads(path.read_text())["key"] == "b"
    assert export(store, path, "jsonl", study="nothing") == 0
    assert path.read_text() == ""


def test_an_unknown_format_names_the_known_ones(store: EvidenceStore, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="format must be one of csv, jsonl, parquet, got 'xlsx'"):
        export(store, tmp_path / "x", "xlsx")


def test_the_evidence_itself_is_never_overwritten(store: EvidenceStore) -> None:
    with pytest.raises(EvidenceError, match="the evidence file itself"):
        export(store, store.path, "csv")
    assert store.known(["a"]) == {"a"}


def test_an_export_that_fails_leaves_the_older_one_and_no_rest(store: EvidenceStore, tmp_path: Path) -> None:
    path = tmp_path / "out" / "episodes.csv"
    export(store, path, "csv")
    before = path.read_bytes()
    store.database.change("UPDATE episodes SET episode = '{' WHERE key = 'b'")
    for format_ in ("csv", "jsonl"):
        with pytest.raises(EvidenceError, match="'b' does not parse"):
            export(store, path, format_)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["episodes.csv"]


def test_a_place_that_cannot_be_written_is_one_clear_line(store: EvidenceStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(EvidenceError, match=r"out\.csv: cannot be written"):
        export(store, tmp_path / "file" / "out.csv", "csv")
    with pytest.raises(EvidenceError, match="a directory"):
        export(store, tmp_path, "csv")


def test_parquet_without_its_extra_says_what_to_install(
    store: EvidenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(EvidenceError, match=r'pip install "pytest-swapgate\[parquet\]"'):
        export(store, tmp_path / "episodes.parquet", "parquet")
    assert not list(tmp_path.glob("*.parquet*"))


def test_parquet_has_the_columns_with_types_and_the_whole_episode(
    store: EvidenceStore, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet (pyarrow)")
    path = tmp_path / "episodes.parquet"
    assert export(store, path, "parquet") == 2
    table = parquet.read_table(path)
    assert [str(table.schema.field(name).type) for name in ("seed", "score", "success", "usd", "active")] == [
        "int64",
        "double",
        "bool",
        "double",
        "bool",
    ]
    first, second = table.to_pylist()
    assert (first["key"], first["active"], first["usd"]) == ("a", None, 0.01)
    assert (second["key"], second["active"], second["usd"], second["seed"]) == ("b", True, None, -2)
    assert Episode.model_validate_json(first["episode"]) == store.get("a")


def test_a_seed_that_parquet_cannot_hold_is_refused_clearly(store: EvidenceStore, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet (pyarrow)")
    put(store, "c", episode(2**70))
    with pytest.raises(EvidenceError, match="does not fit into Parquet"):
        export(store, tmp_path / "episodes.parquet", "parquet")
    assert export(store, tmp_path / "episodes.jsonl", "jsonl") == 3


@pytest.mark.parametrize(
    ("arm", "condition", "seat"),
    [
        ("placebo(chef)", "placebo", "chef"),
        ("swap_cleared(sous chef)", "swap_cleared", "sous chef"),
        ("replace(chef, model=openai/x (new))", "replace", "chef"),
        ("placebo(chef) replicate 1", "placebo", "chef"),
        ("formation", "", ""),
        ("candidate", "", ""),
        ("swap", "", ""),
        ("nonsense(chef)", "", ""),
    ],
)
def test_condition_and_seat_of_an_arm_have_columns_of_their_own(
    store: EvidenceStore, tmp_path: Path, arm: str, condition: str, seat: str
) -> None:
    put(store, "c", episode(7, failure=FailureClass.JUDGE), study="s", arm=arm)
    export(store, tmp_path / "e.csv", "csv", study="s")
    with (tmp_path / "e.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["condition"], row["seat"], row["counts"]) == (condition, seat, "false")
    export(store, tmp_path / "e.jsonl", "jsonl", study="s")
    line = json.loads((tmp_path / "e.jsonl").read_text())
    assert (line["condition"], line["seat"], line["counts"]) == (condition, seat, False)


def comparison(number: int = 1, seed: int = 0) -> Comparison:
    place = {"unit": "team-01+team-02", "team": "team-01", "seat": "chef", "active": None, "trial": 0}
    return Comparison(
        gate="g",
        number=number,
        arms={"baseline": "placebo(chef)", "candidate": "swap(drawn seat)"},
        unit_word="swap pair",
        episodes=tuple(
            ComparedEpisode.of(episode(seed), role=role, counts=role == "baseline", **place)
            for role in ("baseline", "candidate")
        ),
    )


@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_the_export_of_a_gate_says_what_each_episode_is_to_it(
    store: EvidenceStore, tmp_path: Path, format_: str
) -> None:
    put(store, "k", episode(0), arm="placebo(chef)")
    for number in (2, 1):
        keep(store, "r", comparison(number))
    path = tmp_path / "gate"
    assert export_gate(store, path, format_, gate="g", run="r") == 4
    if format_ == "csv":
        with path.open(newline="", encoding="utf-8") as file:
            rows = [{name: value or None for name, value in row.items()} for row in csv.DictReader(file)]
    else:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [str(row["comparison"]) for row in rows] == ["1", "1", "2", "2"]
    first, second = rows[:2]
    assert (first["role"], first["arm"], first["condition"]) == ("baseline", "placebo(chef)", "placebo")
    assert (second["role"], second["arm"], second["condition"]) == ("candidate", "swap(drawn seat)", "swap")
    assert {(row["unit"], row["team"], row["seat"]) for row in rows} == {
        ("team-01+team-02", "team-01", "chef")
    }
    assert (str(first["counts"]).lower(), str(second["counts"]).lower()) == ("true", "false")
    # The candidate's episode has the same content, and is not in the file.
    assert (first["key"], second["key"]) == ("k", None)


def test_what_a_gate_compared_comes_along_when_files_are_combined_and_is_refused_once_edited(
    store: EvidenceStore, tmp_path: Path
) -> None:
    keep(store, "r", comparison())
    keep(store, "r2", comparison(seed=1))
    keep(store, "r2", comparison(seed=1))
    target = combine(tmp_path / "all.db", [store.path]).target
    with EvidenceStore.open(target) as whole:
        assert compared_gates(whole) == [("r", "g"), ("r2", "g")]
        assert compared(whole, "g", "r2") == [comparison(seed=1)]
        assert compared(whole, "other", "r") == []
        assert whole.conflicts == 0
        whole.database.change(
            "UPDATE documents SET text = replace(text, '0.5', '1.0') WHERE kind = 'comparison'"
        )
        with pytest.raises(EvidenceError, match="was changed after it was written"):
            compared(whole, "g", "r2")
