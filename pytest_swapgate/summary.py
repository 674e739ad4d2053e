"""The section at the end of a terminal run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_swapgate.gates import GateSession, announced

if TYPE_CHECKING:
    from pytest_swapgate.gate.verdicts import GateReport


_ORDER = ("pass", "inconclusive", "error", "fail")


def write_summary(terminal: Any, session: GateSession) -> None:
    """Write one block a gate, red ones last; with ``-q`` one line a gate; with ``--no-summary`` only problems."""
    kept = _kept(session) if session.stopped else ""
    said = session.reports or session.studies or session.skipped or session.remarks
    if not (session.problems or kept) and (terminal.config.getoption("no_summary", False) or not said):
        return
    terminal.section("swapgate", sep="=")
    undecided = session.skipped - set(session.reports)
    if undecided:
        gates = "1 gate was" if len(undecided) == 1 else f"{len(undecided)} gates were"
        terminal.write_line(f"{gates} skipped and decided nothing (-rsx says why)", yellow=True)
    if terminal.verbosity >= 0:
        for nodeid, table in session.studies.items():
            terminal.write_line(f"swap study  {nodeid}")
            for line in table.split("\n"):
                terminal.write_line(f"  {line}" if line else "")
    if session.reports:
        _write_reports(terminal, session)
    for nodeid in announced(session):
        terminal.write_line(
            f"{nodeid} is red, and does not fail the run: an xfail had announced it", yellow=True
        )
    if kept:
        terminal.write_line(kept, yellow=True)
    for remark in session.remarks:
        terminal.write_line(f"swapgate remark: {remark}", yellow=True)
    for problem in session.problems:
        terminal.write_line(f"swapgate problem: {problem}", red=True, bold=True)
    session.said = len(session.problems)


def _kept(session: GateSession) -> str:
    """Say what is left of a run that was stopped; nothing if it has played nothing."""
    from pytest_swapgate.evidence import EvidenceError, EvidenceStore

    path = session.root / session.settings.evidence
    if not path.exists():
        return ""
    try:
        with EvidenceStore.read(path) as store:
            played = store.played(session.run)
    except EvidenceError:
        return ""
    if not played:
        return ""
    many, are = ("1 episode", "is") if played == 1 else (f"{played:,} episodes", "are")
    fresh = session.settings.fresh
    then = (
        "--swapgate-fresh plays all again" if fresh else "the next run reads what it can and plays the rest"
    )
    return f"swapgate: stopped; {many} that this run had finished {are} kept in {session.settings.evidence}: {then}"


def _write_reports(terminal: Any, session: GateSession) -> None:
    from pytest_swapgate.gate.verdicts import GateReport
    from pytest_swapgate.report.family import family_lines
    from pytest_swapgate.report.terminal import headline, render

    texts = [text for node in session.reports.values() for text in node]
    reports = [GateReport.model_validate_json(text) for text in texts]
    reports.sort(key=lambda report: _ORDER.index(report.verdict))
    for report in reports:
        markup = {_colour(report, session): True}
        if terminal.verbosity < 0:
            terminal.write_line(f"{report.nodeid}  {headline(report)}", **markup)
            continue
        first, *rest = render(report).split("\n")
        terminal.write_line(first, **markup)
        for line in rest:
            terminal.write_line(line)
    if terminal.verbosity >= 0:
        for line in family_lines(reports):
            terminal.write_line(line)
    if any(report.simulated for report in reports):
        terminal.write_line("Verdicts marked simulated rest on a stand-in, not on a language model.")


def _colour(report: GateReport, session: GateSession) -> str:
    if report.verdict == "pass":
        return "green"
    return "yellow" if report.verdict == "inconclusive" and session.settings.inconclusive == "warn" else "red"
