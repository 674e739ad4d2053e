"""What the fixtures hand out, made when a test asks for it: a run without gates never loads this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytest_swapgate import gates, markers
from pytest_swapgate.environments import Environment
from pytest_swapgate.gate.paired_runner import PairedRunner
from pytest_swapgate.gate.planning import refusal
from pytest_swapgate.gate.verdicts import GateError
from pytest_swapgate.gates.arms import reach
from pytest_swapgate.identity import identity_of
from pytest_swapgate.models import ChatModel
from pytest_swapgate.models.own import A_MODEL, is_model
from pytest_swapgate.models.registry import ModelRegistry, is_simulated
from pytest_swapgate.report.study import render_study
from pytest_swapgate.runner import ArmError, Stage, run_blocking
from pytest_swapgate.runner.episodes import plays_in_threads
from pytest_swapgate.studies import SwapStudy, form_cohort, run_swap_study
from pytest_swapgate.studies.formation import check_seats
from pytest_swapgate.studies.formed import FormedTeams


def form_teams(
    request: pytest.FixtureRequest, swapgate_stage: Stage, swapgate_model: str | ChatModel
) -> FormedTeams:
    """Form the cohort of a session, or read it."""
    settings = request.config.stash[gates.SESSION].settings
    environment, registry = swapgate_stage.environment, swapgate_stage.models
    _refuse_if_none_can_decide(request.session.items, settings.teams, environment.seats)
    model = (
        swapgate_model if isinstance(swapgate_model, str) else registry.add(_checked_model(swapgate_model))
    )
    if _names_a_player(model, environment):
        registry(model)
    for replacement in settings.replacements.values():
        registry(replacement)
    cohort = run_blocking(
        lambda: form_cohort(
            swapgate_stage,
            model=model,
            teams=settings.teams,
            episodes=settings.formation,
            trials=settings.trials,
            seed=settings.seed,
        ),
        leaving_threads=plays_in_threads(swapgate_stage),
    )
    return FormedTeams(cohort, settings.replacements)


def _refuse_if_none_can_decide(items: Sequence[pytest.Item], teams: int, seats: Sequence[str]) -> None:
    """Refuse to form teams, which costs episodes, when no test that uses them can come to a verdict.

    A gate that is refused beside others that are not says so itself, later; so does one of which it is not known
    whether it compares teams.
    """
    reasons: dict[str, str] = {}
    for item in items:
        reached = reach(item)
        if not any(name in reached for name in markers.FORMING):
            continue
        refused = [r for t in markers.tolerances_of(item) if (r := refusal(t, teams=teams, seats=seats))]
        if not refused or reached.arms != "teams":
            return
        reasons[item.nodeid] = refused[0]
    if len(reasons) == 1:
        raise GateError(next(iter(reasons.values())))
    if reasons:
        raise GateError("; ".join(f"{nodeid}: {reason}" for nodeid, reason in reasons.items()))


def _checked_model(model: Any) -> ChatModel:
    """Return what a project's ``swapgate_model`` gave, if it can be asked."""
    if not is_model(model):
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise ArmError(f"swapgate_model gave {what}: accepted is the name of a model, or {A_MODEL}")
    return model


def checked_environment(environment: Any) -> Environment:
    """Return what a project's ``swapgate_environment`` gave, if teams can play it."""
    missing = [member for member in ("seats", "tasks", "play") if not hasattr(environment, member)]
    if missing or not isinstance(environment, Environment):
        raise ArmError(
            f"swapgate_environment gave {type(environment).__name__} without {', '.join(missing)}: an environment has "
            "seats, tasks(split) and play(team, task, seed)"
        )
    check_seats(environment)
    return environment


def _names_a_player(model: str, environment: Environment) -> bool:
    """Whether a model can be checked before anybody asks it: an environment may play without asking any."""
    if hasattr(environment, "fresh_team"):
        return False
    return not is_simulated(model) or hasattr(environment, "simulated")


def new_paired_runner(request: pytest.FixtureRequest) -> PairedRunner:
    """Make the paired runner of one gate test."""
    item = request.node
    test: gates.GateTest | None = item.stash.get(gates.TEST, None)
    if test is None:
        names = " or ".join(f"@pytest.mark.{name}" for name in markers.GATE_MARKERS)
        gates.stop(f"{item.nodeid}: paired_runner needs a marker that decides: {names}")
    from pytest_swapgate.gates.judging import ask

    session = request.config.stash[gates.SESSION]
    runner = PairedRunner(
        tolerances=test.tolerances,
        stage=Stage(
            environment=_NoEnvironment(),
            models=ModelRegistry(),
            store=session.store,
            run=session.run,
            purse=session.purse,
            concurrency=session.settings.concurrency,
            fresh=session.settings.fresh,
            progress=session.progress,
        ),
        seed=session.settings.seed,
        gate=item.nodeid,
        asking=lambda: ask(item),
        identify=lambda role, function, nth, fingerprint: identity_of(
            role, function, gate=item.nodeid, nth=nth, surroundings=fingerprint or session.surroundings()
        ),
    )
    test.runner = runner
    return runner


class _NoEnvironment:
    """Stands where two plain functions need no environment."""

    seats: tuple[str, ...] = ()

    def tasks(self, split: Any) -> tuple[Any, ...]:  # noqa: ARG002
        return ()

    def play(self, team: Any, task: Any, seed: int) -> Any:  # noqa: ARG002
        raise AssertionError("functions are called, not played")


def new_swap_study(request: pytest.FixtureRequest, formed_teams: FormedTeams) -> Callable[..., SwapStudy]:
    """Make what runs a swap study for a test and puts its table into the summary."""

    def study(seat: str | None = None, *, confidence: float = 0.9) -> SwapStudy:
        try:
            result = run_blocking(
                lambda: run_swap_study(formed_teams.cohort.anew(), seat=seat, confidence=confidence),
                leaving_threads=plays_in_threads(formed_teams.cohort.stage),
            )
        except Exception as error:
            if not (gates.is_ours(error) or isinstance(error, ValueError)):
                raise
            gates.stop(f"swap_study: {error}")
        request.node.user_properties.append((gates.STUDY_PROPERTY, render_study(result)))
        return result

    return study
