"""Small evidence files for the tests of the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_swapgate.cli import main
from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.gate.verdicts import GateReport, Row
from pytest_swapgate.stats import Verdict
from pytest_swapgate.teams import Episode, Message, Notebook, Usage


def episode(seed: int = 0, **changes: Any) -> Episode:
    parts: dict[str, Any] = {
        "score": 0.5,
        "messages": (Message(sender="chef", text="cut the onion", kind="request", step=1),),
        "subtasks": 2,
        "task_id": "onion_soup",
        "seed": seed,
        "usage": Usage(calls=2, prompt_tokens=1000, completion_tokens=200, usd=0.01),
        "notebooks": {"chef": Notebook(task_notes="Onions first.")},
        "events": ("the soup burnt",),
        "metrics": {"tes": 0.25},
    }
    return Episode(**{**parts, **changes})


def evidence(
    path: Path, *seeds: int, study: str = "swap", arm: str = "placebo", run: str = "r1", **changes: Any
) -> Path:
    with EvidenceStore.open(path) as store:
        for seed in seeds:
            store.put(
                f"{seed:02d}abcdef", episode(seed, **changes), study=study, unit="team-01", arm=arm, run=run
            )
    return path


def report(verdict: str, nodeid: str, **changes: Any) -> GateReport:
    row = Row(
        metric="score",
        harm=0.123,
        low=0.1,
        high=0.2,
        tolerance=0.05,
        floor=0.02,
        verdict=Verdict.FAIL,
        note="",
    )
    parts: dict[str, Any] = {
        "gate": "swap_penalty",
        "nodeid": nodeid,
        "verdict": verdict,
        "reason": f"because {verdict}",
        "rows": (row,),
        "baseline": "placebo(chef)",
        "candidate": "swap(chef)",
        "lines": ("12 teams",),
    }
    return GateReport(**{**parts, **changes})


def decide(store: EvidenceStore, run: str, nodeid: str, verdict: str, **changes: Any) -> None:
    store.open_attempt(run, nodeid)
    store.record_verdict(run, nodeid, verdict, "digest", report(verdict, nodeid, **changes).model_dump_json())


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr."""
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Return the one line with which a command ends with 3."""
    code, out, error = call(capsys, *arguments)
    assert (code, out) == (3, "")
    assert error.count("\n") == 1
    return error
