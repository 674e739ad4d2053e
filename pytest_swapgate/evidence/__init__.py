"""The store of episodes (SQLite): append, resume, combine, export, and the ledger of gates.

Plain synchronous calls, safe from any thread and from many processes at once.
Everything read from a file is checked before it is believed.
"""

from __future__ import annotations

from pytest_swapgate.evidence.combine import CombinedShard, CombineReport, SkippedShard, combine
from pytest_swapgate.evidence.episodes import EvidenceCount, StoredEpisode
from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.export import export, export_gate
from pytest_swapgate.evidence.keys import content_key
from pytest_swapgate.evidence.ledger import VerdictRecord
from pytest_swapgate.evidence.outcome import Outcome
from pytest_swapgate.evidence.spending import Spending
from pytest_swapgate.evidence.store import EvidenceStore

__all__ = [
    "CombineReport",
    "CombinedShard",
    "EvidenceCount",
    "EvidenceError",
    "EvidenceStore",
    "Outcome",
    "SkippedShard",
    "Spending",
    "StoredEpisode",
    "VerdictRecord",
    "combine",
    "content_key",
    "export",
    "export_gate",
]
