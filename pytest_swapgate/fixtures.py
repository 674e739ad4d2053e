"""The fixtures: thin, sync, and made to be overridden where they name what teams play and who thinks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_swapgate import gates, markers

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pytest_swapgate.environments import Environment
    from pytest_swapgate.gate.paired_runner import PairedRunner
    from pytest_swapgate.models import ChatModel
    from pytest_swapgate.runner import Stage
    from pytest_swapgate.studies.formed import FormedTeams, PlaceboBaseline


@pytest.fixture(scope="session")
def swapgate_environment() -> Environment:
    """What teams play: the kitchen, levels 5 and 6. Override it in conftest.py with your own."""
    from pytest_swapgate.environments.kitchen import KitchenEnvironment

    return KitchenEnvironment()


@pytest.fixture(scope="session")
def swapgate_model(request: pytest.FixtureRequest) -> str | ChatModel:
    """Who thinks: the model of ``--swapgate-model``, simulated by default. Override it with a name or a ChatModel."""
    return request.config.stash[gates.SESSION].settings.model


@pytest.fixture(scope="session")
def swapgate_executor(request: pytest.FixtureRequest) -> Iterator[Executor | None]:
    """Where episodes of teams are played: here, or on the cluster of ``--swapgate-dask``.

    Override it with any `concurrent.futures.Executor`; environment and models must then be picklable.
    """
    address = request.config.stash[gates.SESSION].settings.dask
    if address is None:
        yield None
        return
    from pytest_swapgate.runner.dask_executor import dask_executor

    with dask_executor(address) as executor:
        yield executor


@pytest.fixture(scope="session")
def swapgate_stage(
    request: pytest.FixtureRequest, swapgate_environment: Environment, swapgate_executor: Executor | None
) -> Iterator[Stage]:
    """Environment, models, evidence file and caps of the session, in one object."""
    from pytest_swapgate.runner import Stage

    session = request.config.stash[gates.SESSION]
    models = session.models(getattr(swapgate_environment, "simulated", None))
    yield Stage(
        environment=_checked_environment(swapgate_environment),
        surroundings=session.surroundings,
        models=models,
        store=session.store,
        run=session.run,
        purse=session.purse,
        concurrency=session.settings.concurrency,
        fresh=session.settings.fresh,
        executor=swapgate_executor,
        progress=session.progress,
    )
    close = getattr(swapgate_environment, "close", None)
    if callable(close):
        close()


@pytest.fixture(scope="session")
def formed_teams(
    request: pytest.FixtureRequest, swapgate_stage: Stage, swapgate_model: str | ChatModel
) -> FormedTeams:
    """The cohort, formed once; its methods are arms: ``.placebo() .swap(seat) .replace(seat, model=...)`` and more."""
    from pytest_swapgate.runner import run_blocking
    from pytest_swapgate.studies import form_cohort
    from pytest_swapgate.studies.formed import FormedTeams

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
        )
    )
    return FormedTeams(cohort, settings.replacements)


def _refuse_if_none_can_decide(items: Sequence[pytest.Item], teams: int, seats: Sequence[str]) -> None:
    """Refuse to form teams, which costs episodes, when no test that uses them can come to a verdict.

    A gate that is refused beside others that are not says so itself, later.
    """
    from pytest_swapgate.gate.planning import refusal
    from pytest_swapgate.gate.verdicts import GateError

    reasons: dict[str, str] = {}
    for item in items:
        if not markers.FORMING & set(getattr(item, "fixturenames", ())):
            continue
        refused = [r for t in markers.tolerances_of(item) if (r := refusal(t, teams=teams, seats=seats))]
        if not refused:
            return
        reasons[item.nodeid] = refused[0]
    if len(reasons) == 1:
        raise GateError(next(iter(reasons.values())))
    if reasons:
        raise GateError("; ".join(f"{nodeid}: {reason}" for nodeid, reason in reasons.items()))


def _checked_model(model: Any) -> ChatModel:
    """Return what a project's ``swapgate_model`` gave, if it can be asked."""
    from pytest_swapgate.models import ChatModel
    from pytest_swapgate.runner import ArmError

    if not isinstance(model, ChatModel):
        raise ArmError(
            f"swapgate_model gave {type(model).__name__}: accepted is the name of a model, or a ChatModel "
            "(an object with name and async complete(messages, ...))"
        )
    return model


def _checked_environment(environment: Any) -> Environment:
    """Return what a project's ``swapgate_environment`` gave, if teams can play it."""
    from pytest_swapgate.environments import Environment
    from pytest_swapgate.runner import ArmError
    from pytest_swapgate.studies.formation import check_seats

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
    from pytest_swapgate.models.registry import is_simulated

    if hasattr(environment, "fresh_team"):
        return False
    return not is_simulated(model) or hasattr(environment, "simulated")


@pytest.fixture(scope="session")
def placebo_baseline(formed_teams: FormedTeams) -> PlaceboBaseline:
    """The placebo arm; every comparison with it also measures it against itself, for the noise floor."""
    from pytest_swapgate.studies.formed import PlaceboBaseline
    from pytest_swapgate.teams import Condition

    return PlaceboBaseline(formed_teams.cohort, Condition.PLACEBO)


@pytest.fixture
def paired_runner(request: pytest.FixtureRequest) -> PairedRunner:
    """``paired_runner(baseline, candidate, tasks=None)``: compare two arms, sized by the marker, kept for the verdict.

    In an async test: ``await paired_runner(...)``.
    """
    from pytest_swapgate.gate.paired_runner import PairedRunner
    from pytest_swapgate.identity import identity_of
    from pytest_swapgate.models.registry import ModelRegistry
    from pytest_swapgate.runner import Stage

    item = request.node
    test: gates.GateTest | None = item.stash.get(gates.TEST, None)
    if test is None:
        names = " or ".join(f"@pytest.mark.{name}" for name in markers.GATE_MARKERS)
        gates.stop(f"{item.nodeid}: paired_runner needs a marker that decides: {names}")
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
        identify=lambda role, function, nth, fingerprint: identity_of(
            role, function, gate=item.nodeid, nth=nth, surroundings=fingerprint or session.surroundings
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


@pytest.fixture
def swap_study(request: pytest.FixtureRequest, formed_teams: FormedTeams) -> Any:
    """``swap_study(seat=None)``: play all six conditions and return V, Pi, rho, W, Sigma on score and cost."""
    from pytest_swapgate.report.study import render_study
    from pytest_swapgate.runner import run_blocking
    from pytest_swapgate.studies import SwapStudy, run_swap_study

    def study(seat: str | None = None, *, confidence: float = 0.9) -> SwapStudy:
        try:
            result = run_blocking(
                lambda: run_swap_study(formed_teams.cohort, seat=seat, confidence=confidence)
            )
        except Exception as error:
            if not (gates.is_ours(error) or isinstance(error, ValueError)):
                raise
            gates.stop(f"swap_study: {error}")
        request.node.user_properties.append((gates.STUDY_PROPERTY, render_study(result)))
        return result

    return study
