"""``--swapgate-plan``: what each gate would need, before anything is spent."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_swapgate import gates, markers
from pytest_swapgate.gate.planning import plan_teams, planned_pairs
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty, Tolerance
from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.models.registry import is_simulated
from pytest_swapgate.settings import Settings


def print_plans(session: pytest.Session) -> None:
    """Print one block a gate and the total; no fixture, no test and no model is run."""
    terminal: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    settings = session.config.stash[gates.SESSION].settings
    gate_items = [item for item in session.items if markers.is_gate(item)]
    terminal.section("swapgate plan: nothing is run, nothing is spent")
    if not gate_items:
        terminal.write_line("no gate was collected: mark a test with swap_penalty or active_pass_k")
    forms = False
    total = 0
    for item in gate_items:
        for tolerance in markers.tolerances_of(item):
            terminal.write_line(f"{tolerance.marker}  {item.nodeid}")
            fixtures = set(getattr(item, "fixturenames", ()))
            if fixtures & {"formed_teams", "placebo_baseline"}:
                forms = True
                lines, episodes = _team_lines(tolerance, settings, with_floor="placebo_baseline" in fixtures)
            else:
                lines, episodes = _task_lines(tolerance)
            total += episodes
            for line in lines:
                terminal.write_line(f"  {line}")
    if forms:
        formation = settings.teams * settings.formation
        total += formation
        terminal.write_line(
            f"formation, once: {settings.teams} teams x {settings.formation} episodes = {formation:,} episodes"
        )
    if gate_items:
        overridden = {name for item in gate_items for name in _overridden(item)}
        for line in _price_lines(total, settings, overridden):
            terminal.write_line(line)


def _team_lines(tolerance: Tolerance, settings: Settings, *, with_floor: bool) -> tuple[list[str], int]:
    arms = 3 if with_floor else 2
    episodes = arms * settings.teams * settings.trials
    shape = f"{settings.teams} teams ({settings.teams // 2} swap pairs), {settings.trials} episodes a team and arm"
    what = "baseline, candidate, baseline again for the noise floor" if with_floor else "baseline, candidate"
    lines = [f"{shape}; {arms} arms ({what}) = {episodes:,} episodes, fewer where evidence is there"]
    if isinstance(tolerance, SwapPenalty):
        for swaps, name in ((True, "if occupants are swapped"), (False, "if an occupant is replaced")):
            try:
                plan = plan_teams(tolerance, teams=settings.teams, swaps=swaps)
            except GateError as error:
                lines.append(f"{name}: REFUSED, {error}")
                continue
            able = [
                *([f"{100 * plan.score:.1f} pp of score"] if plan.score is not None else []),
                *([f"{100 * plan.cost:.0f} % of cost"] if plan.cost is not None else []),
            ]
            lines.append(
                f"{name}: {plan.units} {plan.unit_word}s detect {' and '.join(able)} at power {tolerance.power:g} "
                "(planning guesses of the spread; declare score_sd, cost_sd to replace them)"
            )
    return lines, episodes


def _task_lines(tolerance: Tolerance) -> tuple[list[str], int]:
    if not isinstance(tolerance, SwapPenalty | ActivePassK):
        return [], 0
    try:
        pairs = planned_pairs(tolerance)
    except GateError as error:
        return [f"REFUSED: {error}"], 0
    effect = tolerance.effect if isinstance(tolerance, ActivePassK) else tolerance.score_effect or 0.0
    return [
        f"two functions: {pairs:,} pairs detect {100 * effect:g} pp at power {tolerance.power:g}, if each task is run "
        f"once and {100 * tolerance.discordance:g} % of pairs are discordant = {2 * pairs:,} episodes",
        "with fewer tasks each is run several times; the exact number is printed when the tasks are known",
    ], 2 * pairs


def _overridden(item: pytest.Item) -> set[str]:
    """Return which of our two replaceable fixtures a project has replaced, without running them."""
    info = getattr(item, "_fixtureinfo", None)
    definitions = getattr(info, "name2fixturedefs", {})
    names = ("swapgate_environment", "swapgate_model")
    return {
        name
        for name in names
        if definitions.get(name) and not definitions[name][-1].func.__module__.startswith("pytest_swapgate")
    }


def _price_lines(episodes: int, settings: Settings, overridden: set[str]) -> list[str]:
    lines = [f"total: at most {episodes:,} episodes"]
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
