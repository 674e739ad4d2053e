"""Gates that were skipped before any comparison was asked for: a word of their own in the ledger, and the reason."""

from __future__ import annotations

import json

from pytest_swapgate.evidence.keys import content_key
from pytest_swapgate.evidence.ledger import VerdictRecord
from pytest_swapgate.evidence.store import EvidenceStore

SKIPPED = "skipped"
"""Stands where a verdict would; it is none."""
_REASON_LENGTH = 2_000


def record_skip(store: EvidenceStore, run: str, gate: str, reason: str) -> VerdictRecord:
    """Keep that a gate was skipped in a run, and why.

    Raises
    ------
    EvidenceError
        If the file cannot take it.
    """
    text = reason[:_REASON_LENGTH]
    return store.record_verdict(
        run, gate, SKIPPED, content_key(skipped=gate, reason=text), json.dumps({"reason": text})
    )


def skip_reason(record: VerdictRecord) -> str:
    """Return why a gate was skipped.

    Raises
    ------
    ValueError
        If the record is of something else, or damaged.
    """
    kept = json.loads(record.summary)
    if record.verdict != SKIPPED or not isinstance(kept, dict) or not isinstance(kept.get("reason"), str):
        raise ValueError(f"the record of {record.gate} is not that of a skip")
    return str(kept["reason"])
