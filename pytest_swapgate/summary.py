"""The section at the end of a terminal run."""

from __future__ import annotations

from typing import Any

from pytest_swapgate.gates import GateSession


def write_summary(terminal: Any, session: GateSession, problems: list[str]) -> None:
    """Write one block a gate, red ones last; with ``-q`` one line a gate; with ``--no-summary`` nothing."""
    from pytest_swapgate.gate.verdicts import GateReport
    from pytest_swapgate.report.terminal import headline, render
    from pytest_swapgate.stats import Verdict

    if terminal.config.getoption("no_summary", False) and not problems:
        return
    texts = [text for node in session.reports.values() for text in node]
    reports = [GateReport.model_validate_json(text) for text in texts]
    reports.sort(key=lambda report: report.verdict is not Verdict.PASS)
    terminal.section("swapgate", sep="=")
    for report in reports:
        markup = {"green": True} if report.verdict is Verdict.PASS else {"red": True}
        if terminal.verbosity < 0:
            terminal.write_line(f"{report.nodeid}  {headline(report)}", **markup)
            continue
        first, *rest = render(report).split("\n")
        terminal.write_line(first, **markup)
        for line in rest:
            terminal.write_line(line)
    if any(report.simulated for report in reports):
        terminal.write_line("Verdicts marked simulated rest on a stand-in, not on a language model.")
    for problem in problems:
        terminal.write_line(f"swapgate problem: {problem}", red=True, bold=True)
