"""Gates between pytest's hooks.

`state` is kept of a session and a test, `ledger` crosses between processes, and `judging`, which a run without gates
never imports, starts a gate and takes its verdict.
"""

from __future__ import annotations

from pytest_swapgate.gates.ledger import PROPERTY, STUDY_PROPERTY, check_ledger, check_replacements, collect
from pytest_swapgate.gates.state import (
    SESSION,
    SHARED,
    TEST,
    GateSession,
    GateTest,
    SwapgateWarning,
    is_ours,
    new_session,
    stop,
)

__all__ = [
    "PROPERTY",
    "SESSION",
    "SHARED",
    "STUDY_PROPERTY",
    "TEST",
    "GateSession",
    "GateTest",
    "SwapgateWarning",
    "check_ledger",
    "check_replacements",
    "collect",
    "is_ours",
    "new_session",
    "stop",
]
