"""Gates between pytest's hooks.

`state` is kept of a session and `gate_test` of a test, `ledger` crosses between processes, `guard` has the last word on
reports and exit status, and `judging`, which a run without gates never imports, starts a gate and takes its verdict.
"""

from __future__ import annotations

from pytest_swapgate.gates.gate_test import TEST, GateTest
from pytest_swapgate.gates.guard import Guard
from pytest_swapgate.gates.ledger import (
    PROPERTY,
    STUDY_PROPERTY,
    announced,
    check_replacements,
    collect,
    entries_from,
    own_entries,
)
from pytest_swapgate.gates.state import (
    RUN,
    SESSION,
    SHARED,
    SIGN,
    GateSession,
    SwapgateWarning,
    is_ours,
    new_session,
    stop,
)

__all__ = [
    "PROPERTY",
    "RUN",
    "SESSION",
    "SHARED",
    "SIGN",
    "STUDY_PROPERTY",
    "TEST",
    "GateSession",
    "GateTest",
    "Guard",
    "SwapgateWarning",
    "announced",
    "check_replacements",
    "collect",
    "entries_from",
    "is_ours",
    "new_session",
    "own_entries",
    "stop",
]
