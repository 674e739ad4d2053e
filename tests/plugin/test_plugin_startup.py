"""A run without gates pays next to nothing: what the plugin may import is listed here."""

from __future__ import annotations

import pytest

OWN = {
    "pytest_swapgate",
    "pytest_swapgate.fixtures",
    "pytest_swapgate.gates",
    "pytest_swapgate.gates.gate_test",
    "pytest_swapgate.gates.guard",
    "pytest_swapgate.gates.ledger",
    "pytest_swapgate.gates.state",
    "pytest_swapgate.markers",
    "pytest_swapgate.plugin",
    "pytest_swapgate.settings",
    "pytest_swapgate.shortening",
}
UNDER_XDIST = OWN | {"pytest_swapgate.workers"}
DUMP = """
import sys

def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        print("LOADED", *sorted(sys.modules))
"""


def loaded(example, *args, plugins="pytest_swapgate.plugin"):
    """Return the modules that were loaded at the end of a run in a process of its own."""
    result = example.with_files({"conftest.py": DUMP}).run_pytest("-q", "-s", *args, plugins=plugins)
    assert result.exit_code == 0, result.text
    (line,) = (line for line in result.lines if "LOADED " in line)
    return set(line.partition("LOADED ")[2].split())


@pytest.mark.parametrize(("plugins", "own"), [("", OWN), ("xdist.plugin", UNDER_XDIST)])
def test_an_unused_run_imports_a_short_known_list(written, plugins, own):
    example = written("@pytest.mark.parametrize('n', [1, 2])\ndef test_a(n, tmp_path): pass")
    with_us = loaded(example, plugins=f"pytest_swapgate.plugin {plugins}")
    assert {name for name in with_us if name.partition(".")[0] == "pytest_swapgate"} == own
    without_us = loaded(example, plugins=plugins)
    added = {name for name in with_us - without_us if name.partition(".")[0] != "pytest_swapgate"}
    assert added <= set(), f"imported at startup: {sorted(added)}"


def test_a_controller_that_could_show_workers_imports_next_to_nothing_for_it(written):
    example = written("def test_a(): pass").with_files({"conftest.py": DUMP})
    found = []
    for ours in ("pytest_swapgate.plugin", ""):
        result = example.run_pytest("-n1", "-s", plugins=f"{ours} xdist.plugin")
        assert result.exit_code == 0, result.text
        (line,) = (line for line in result.lines if "LOADED " in line)
        found.append(set(line.partition("LOADED ")[2].split()))
    shown = {"pytest_swapgate.gates.showing", "pytest_swapgate.gates.stopping"}
    assert found[0] - found[1] == UNDER_XDIST | shown


def test_collecting_gates_needs_no_more_than_their_tolerances(written):
    gate = "@pytest.mark.swap_penalty(score=0.1)\ndef test_a(paired_runner): pass"
    added = loaded(written(gate), "--collect-only")
    own = {name for name in added if name.startswith("pytest_swapgate.")}
    assert own <= OWN | {
        "pytest_swapgate.gate",
        "pytest_swapgate.gate.tolerances",
        "pytest_swapgate.gates.judging",
    }
    assert not {"numpy", "scipy", "pydantic", "anyio", "asyncio", "litellm", "hypothesis", "sqlite3"} & added
