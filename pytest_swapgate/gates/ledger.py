"""What crosses from a gate to the controller, and what is red because it did not arrive as it was sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest

from pytest_swapgate.gates.state import SESSION, GateSession
from pytest_swapgate.markers import GATE_MARKERS

PROPERTY = "swapgate"
"""Key of the gate's report in ``user_properties``: one JSON text, nothing else crosses between processes."""
STUDY_PROPERTY = "swapgate_study"
"""Key of a study's table in ``user_properties``, text."""


def publish(item: pytest.Item, texts: list[str], verdicts: list[str]) -> None:
    """Put a gate's reports where the controller finds them, replacing those of an earlier attempt."""
    item.user_properties[:] = [pair for pair in item.user_properties if pair[0] != PROPERTY]
    item.user_properties.append((PROPERTY, json.dumps(texts)))
    item.config.stash[SESSION].judged[item.nodeid] = verdicts


def collect(session: GateSession, report: pytest.TestReport) -> None:
    """Take a gate's reports out of a test report (in the controller, or in a run without workers)."""
    if report.skipped and any(name in report.keywords for name in GATE_MARKERS):
        session.skipped.add(report.nodeid)
    for name, value in report.user_properties:
        if name == PROPERTY and isinstance(value, str):
            session.reports[report.nodeid] = [str(text) for text in json.loads(value)]
            if report.when == "call":
                xfailed = report.skipped and hasattr(report, "wasxfail")
                session.outcomes[report.nodeid] = "xfailed" if xfailed else report.outcome
        elif name == STUDY_PROPERTY and isinstance(value, str):
            session.studies[report.nodeid] = value


_OF_TEAMS = r"(intact|placebo|swap|swap_cleared|amnesia|naive|replace)\(.*\)"


def check_replacements(session: GateSession) -> None:
    """Note a replacement of the command line that no gate has tried: green would say nothing about it."""
    tried = {json.loads(text)["candidate"] for texts in session.reports.values() for text in texts}
    if any(candidate and not re.fullmatch(_OF_TEAMS, candidate) for candidate in tried):
        return  # a project's own functions may have read the option
    for seat, model in session.settings.replacements.items():
        if f"replace({seat}, model={model})" not in tried:
            session.problems.append(
                f"--swapgate-replace {seat}={model}: no gate of this run tried it; compare with "
                "formed_teams.replace() in one"
            )


def check_ledger(session: GateSession, ledger: Mapping[str, list[str]]) -> None:
    """Note every verdict that was taken and did not arrive, or arrived as another outcome."""
    red = {"error", "fail"} | ({"inconclusive"} if session.settings.inconclusive == "fail" else set())
    for nodeid, verdicts in ledger.items():
        words = ", ".join(verdicts)
        if nodeid not in session.reports:
            session.problems.append(f"{nodeid}: its verdict {words} never arrived")
        elif red & set(verdicts) and session.outcomes.get(nodeid) in ("passed", "skipped"):
            session.problems.append(
                f"{nodeid}: its verdict {words} was reported as {session.outcomes[nodeid]}"
            )
