"""What playing needs, in one place."""

from __future__ import annotations

import hashlib
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property

from pytest_swapgate.environments.base import Environment, environment_digest
from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner.progress import Progress
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
        function cannot be interrupted; it is left to itself then, and its models are not asked any more.
    executor
        Where episodes of teams are played, anything with the interface of ``concurrent.futures``; None for here.
        Evidence and money stay here.
    progress
        Is told what is planned, done and lost.
    surroundings
        Identity of the code, prompts and settings around an environment that names no digest of its own; empty for
        none. With it, a change of a module that the environment calls is played again.
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
    executor: Executor | None = None
    progress: Progress = field(default_factory=Progress)
    surroundings: str = ""

    @cached_property
    def digest(self) -> str:
        """Identity of the environment's rules, taken once: an environment may count what it plays."""
        rules = environment_digest(self.environment)
        if not self.surroundings or getattr(self.environment, "digest", None):
            return rules
        return hashlib.sha256(f"{rules}\0{self.surroundings}".encode()).hexdigest()
