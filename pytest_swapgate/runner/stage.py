"""What playing needs, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from pytest_swapgate.environments.base import Environment, environment_digest
from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner.purse import Purse
from pytest_swapgate.teams.notebook import BUDGET


@dataclass(frozen=True)
class Stage:
    """An environment with models behind it, an evidence file and a purse.

    Attributes
    ----------
    environment, models
        What is played, and who thinks.
    store
        Where finished episodes go; None keeps nothing.
    run
        Name of this run, a label in the evidence file.
    purse
        Caps and counts.
    temperature
        Sampling temperature of every call; None leaves it to the provider.
    notebook_budget
        Tokens a notebook may hold.
    concurrency
        Chains, or pairs of callables, in flight at once.
    fresh
        Play everything again, read nothing.
    episode_timeout
        Seconds that an async episode may take before it is lost to the infrastructure; None for no limit. A plain
        function cannot be interrupted.
    """

    environment: Environment
    models: ModelRegistry
    store: EvidenceStore | None = None
    run: str = "run"
    purse: Purse = field(default_factory=Purse)
    temperature: float | None = None
    notebook_budget: int = BUDGET
    concurrency: int = 16
    fresh: bool = False
    episode_timeout: float | None = 1800.0

    @cached_property
    def digest(self) -> str:
        """Identity of the environment's rules, taken once: an environment may count what it plays."""
        return environment_digest(self.environment)
