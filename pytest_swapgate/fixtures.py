"""The fixtures: thin, sync, and made to be overridden where they name what teams play and who thinks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from pytest_swapgate import gates

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pytest_swapgate.environments import Environment
    from pytest_swapgate.gate.paired_runner import PairedRunner
    from pytest_swapgate.models import ChatModel
    from pytest_swapgate.models.own import OwnModel
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
def swapgate_models() -> Mapping[str, OwnModel]:
    """Models of your own: a name to a ChatModel, or to a function that makes it when it is first asked for.

    Override it in conftest.py; the names go wherever a model is named: ``--swapgate-model``, ``--swapgate-replace``,
    ``swapgate_model``, ``formed_teams.replace(seat, model=...)``.
    """
    return {}


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
    request: pytest.FixtureRequest,
    swapgate_environment: Environment,
    swapgate_models: Mapping[str, OwnModel],
    swapgate_executor: Executor | None,
) -> Iterator[Stage]:
    """Environment, models, evidence file and caps of the session, in one object."""
    from pytest_swapgate.preparing import checked_environment
    from pytest_swapgate.runner import Stage

    session = request.config.stash[gates.SESSION]
    models = session.models(getattr(swapgate_environment, "simulated", None))
    models.take(swapgate_models)
    yield Stage(
        environment=checked_environment(swapgate_environment),
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
    from pytest_swapgate.preparing import form_teams

    return form_teams(request, swapgate_stage, swapgate_model)


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
    from pytest_swapgate.preparing import new_paired_runner

    return new_paired_runner(request)


@pytest.fixture
def swap_study(request: pytest.FixtureRequest, formed_teams: FormedTeams) -> Any:
    """``swap_study(seat=None)``: play all six conditions and return V, Pi, rho, W, Sigma on score and cost."""
    from pytest_swapgate.preparing import new_swap_study

    return new_swap_study(request, formed_teams)
