"""``--swapgate-plan``: what each gate would need, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from pytest_swapgate import gates, markers
from pytest_swapgate.gate.planning import plan_teams
from pytest_swapgate.gate.task_planning import plan_unseen_tasks
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty, Tolerance
from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.gates.arms import Reach, reach
from pytest_swapgate.models.registry import is_simulated
from pytest_swapgate.settings import Settings
from pytest_swapgate.studies.swap import CONDITIONS


def print_plans(session: pytest.Session) -> None:
    """Print one block a gate and the total; no fixture, no test and no model is run."""
    terminal: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None:
        return
    settings = session.config.stash[gates.SESSION].settings
    terminal.section("swapgate plan: nothing is run, nothing is spent")
    total = _Total()
    overridden: set[str] = set()
    for item in session.items:
        reached = reach(item)
        if not markers.is_gate(item) and not any(name in reached for name in markers.FORMING):
            continue
        overridden |= _overridden(item)
        for line in _item_lines(item, reached, settings, total):
            terminal.write_line(line)
    for line in total.lines(settings, overridden):
        terminal.write_line(line)


@dataclass
class _Total:
    """What all gates need together: of formed teams, at most, and of the project's own functions.

    Attributes
    ----------
    teams, functions, perhaps
        Episodes of formed teams; of functions; and of functions if gates whose arms are not known compare those.
    gates
        How many gates and studies there are.
    forms, may_form
        Whether teams are formed for certain, and whether they may be.
    """

    teams: int = 0
    functions: int = 0
    perhaps: int = 0
    gates: int = 0
    forms: bool = False
    may_form: bool = False

    def lines(self, settings: Settings, overridden: set[str]) -> list[str]:
        found = []
        if not self.gates:
            found.append("no gate was collected: mark a test with swap_penalty or active_pass_k")
        if self.forms or self.may_form:
            formation = settings.teams * settings.formation
            when = "once" if self.forms else "once, if any test asks for teams"
            found.append(
                f"formation, {when}: {settings.teams} teams x {settings.formation} episodes = {formation:,} episodes"
            )
            found.append(f"total of formed teams: at most {formation + self.teams:,} episodes")
            found.extend(_price_lines(formation + self.teams, settings, overridden))
        if self.functions or self.perhaps:
            most = f", up to {self.functions + self.perhaps:,} with those not known" if self.perhaps else ""
            found.append(
                f"total of functions: about {self.functions:,} episodes{most}, at the price of the project's own calls"
            )
        return found


def _item_lines(item: pytest.Item, reached: Reach, settings: Settings, total: _Total) -> list[str]:
    if _is_skipped(item):
        total.gates += 1
        return [f"skipped by its mark  {item.nodeid}"]
    lines = []
    refused = []
    if "swap_study" in reached:
        total.gates += 1
        lines.append(f"swap_study  {item.nodeid}")
        lines.append(f"  {_study_line(reached, settings, total)}")
    for tolerance in markers.tolerances_of(item):
        total.gates += 1
        lines.append(f"{tolerance.marker}  {item.nodeid}")
        found, possible = _gate_lines(tolerance, reached, settings, total)
        refused.append(not possible)
        lines.extend(f"  {line}" for line in found)
    # Teams that only gates want that are refused are not formed.
    total.forms |= any(name in reached for name in markers.FORMING) and not (refused and all(refused))
    return lines


def _is_skipped(item: pytest.Item) -> bool:
    """Whether a mark skips a test for certain; a condition in words is only read when it runs."""
    conditions = [
        condition
        for mark in item.iter_markers("skipif")
        for condition in (*mark.args, mark.kwargs.get("condition"))
    ]
    return any(condition is True for condition in conditions) or item.get_closest_marker("skip") is not None


def _study_line(reached: Reach, settings: Settings, total: _Total) -> str:
    episodes = len(CONDITIONS) * settings.teams * settings.trials
    total.teams += episodes
    shape = f"{len(CONDITIONS)} conditions x {settings.teams} teams x {settings.trials} episodes"
    who = reached.through.get("swap_study")
    known = f"{who} asks for it, not the test itself; if it is called: " if who else ""
    return f"{known}{shape} = {episodes:,} episodes, fewer where evidence is there"


def _gate_lines(
    tolerance: Tolerance, reached: Reach, settings: Settings, total: _Total
) -> tuple[list[str], bool]:
    """Return what a gate needs, and whether it may come to a verdict at all."""
    arms = reached.arms
    teams, of_teams = _team_lines(tolerance, settings, with_floor="placebo_baseline" in reached)
    functions, of_functions = _task_lines(tolerance)
    if arms == "teams":
        total.teams += of_teams
        return teams, of_teams > 0
    if arms == "functions":
        total.functions += of_functions
        return functions, True
    total.teams += of_teams
    total.perhaps += of_functions
    total.may_form = True
    return [
        f"what it compares is not known before it runs: {reached.why_unknown}",
        "if it compares formed teams:",
        *(f"  {line}" for line in teams),
        "if it compares functions:",
        *(f"  {line}" for line in functions),
    ], True


def _team_lines(tolerance: Tolerance, settings: Settings, *, with_floor: bool) -> tuple[list[str], int]:
    arms = 3 if with_floor else 2
    episodes = arms * settings.teams * settings.trials
    shape = f"{settings.teams} teams ({settings.teams // 2} swap pairs), {settings.trials} episodes a team and arm"
    what = "baseline, candidate, baseline again for the noise floor" if with_floor else "baseline, candidate"
    lines = [f"{shape}; {arms} arms ({what}) = {episodes:,} episodes, fewer where evidence is there"]
    if not isinstance(tolerance, SwapPenalty):
        return lines, episodes
    refused = 0
    for swaps, name in ((True, "if occupants are swapped"), (False, "if an occupant is replaced")):
        try:
            plan = plan_teams(tolerance, teams=settings.teams, swaps=swaps)
        except GateError as error:
            refused += 1
            lines.append(f"{name}: REFUSED: {error}")
            continue
        able = [
            *([f"{100 * plan.score:.1f} pp of score"] if plan.score is not None else []),
            *([f"{100 * plan.cost:.0f} % of cost"] if plan.cost is not None else []),
        ]
        lines.append(
            f"{name}: {plan.units} {plan.unit_word}s detect {' and '.join(able)} at power {tolerance.power:g} "
            "(planning guesses of the spread; declare score_sd, cost_sd to replace them)"
        )
    return lines, 0 if refused == 2 else episodes


def _task_lines(tolerance: Tolerance) -> tuple[list[str], int]:
    if not isinstance(tolerance, SwapPenalty | ActivePassK):
        return [], 0
    try:
        plan = plan_unseen_tasks(tolerance)
    except GateError as error:
        return [f"REFUSED: {error}"], 0
    episodes = 2 * plan.tasks * plan.trials
    often = "once" if plan.trials == 1 else f"{plan.trials} times"
    if plan.effect is None:
        return [
            f"two functions: each task is run {often} an arm, {2 * plan.trials} episodes a task"
        ], episodes
    able = f"detect {100 * plan.effect:g} pp at power {tolerance.power:g}"
    share = f"if {100 * tolerance.discordance:g} % of pairs are discordant"
    if plan.looks:
        stops = ", ".join(f"{size:,}" for size in plan.looks)
        return [
            f"two functions: {plan.tasks:,} tasks, run once an arm, {able}, {share} = at most {episodes:,} episodes",
            f"it stops at {stops} pairs, as soon as it is decided",
        ], episodes
    return [
        f"two functions: {plan.tasks:,} tasks, run {often} an arm, {able}, {share} = {episodes:,} episodes",
        "fewer tasks are run several times each; every task that is given is run",
    ], episodes


def _overridden(item: pytest.Item) -> set[str]:
    """Return which of our replaceable fixtures a project has replaced, without running them."""
    info = getattr(item, "_fixtureinfo", None)
    definitions = getattr(info, "name2fixturedefs", {})
    names = ("swapgate_environment", "swapgate_model", "swapgate_models")
    return {
        name
        for name in names
        if definitions.get(name) and not definitions[name][-1].func.__module__.startswith("pytest_swapgate")
    }


def _price_lines(episodes: int, settings: Settings, overridden: set[str]) -> list[str]:
    lines: list[str] = []
    known = "swapgate_environment" not in overridden
    models = sorted({settings.model, *settings.replacements.values()})
    if "swapgate_model" in overridden:
        lines.append(
            "model: from the project's swapgate_model fixture; calls and price unknown before a first run"
        )
        return lines
    if known:
        from pytest_swapgate.environments.kitchen import environment

        usage = environment.EXPECTED_USAGE
        calls = episodes * usage.calls
        prompt, answer = episodes * usage.prompt_tokens, episodes * usage.completion_tokens
        lines.append(
            f"expected: {calls:,} model calls, {prompt / 1e6:.1f} M prompt and {answer / 1e6:.1f} M answer tokens"
        )
        lines.extend(f"model {model}: {_price(model, prompt, answer)}" for model in models)
    else:
        lines.append(
            f"model {', '.join(models)}: calls of the project's environment are unknown before a first run"
        )
    return lines


def _price(model: str, prompt: int, answer: int) -> str:
    if is_simulated(model):
        return "simulated, free"
    from pytest_swapgate.models.litellm_model import load_litellm

    try:
        costs = load_litellm().cost_per_token(model=model, prompt_tokens=prompt, completion_tokens=answer)
    except Exception:
        return "price unknown to litellm; cap it with --swapgate-max-episodes"
    return f"about USD {sum(costs):,.2f} if it plays every seat"
