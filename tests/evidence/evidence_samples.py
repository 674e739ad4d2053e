"""Small episodes and helper processes for the tests of the evidence store."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.teams import Episode, Message, Notebook, Usage

LABELS = {"study": "swap", "unit": "team-01", "arm": "placebo", "run": "r1"}


def episode(seed: int = 0, **changes: Any) -> Episode:
    parts: dict[str, Any] = {
        "score": 0.5,
        "messages": (
            Message(sender="chef", text="cut the onion", step=1),
            Message(sender="assistant", text="ok", step=2),
        ),
        "subtasks": 2,
        "task_id": "onion_soup",
        "seed": seed,
        "usage": Usage(calls=2, prompt_tokens=100, completion_tokens=20, usd=0.01),
        "notebooks": {"chef": Notebook(task_notes="Onions first.")},
        "metrics": {"tes": 0.25},
    }
    return Episode(**{**parts, **changes})


def put(store: EvidenceStore, key: str, played: Episode, **labels: str) -> bool:
    return store.put(key, played, **{**LABELS, **labels})


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Start another Python process whose module path holds this folder."""
    prelude = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    return subprocess.Popen(
        [sys.executable, "-c", prelude + program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out
