"""What playing needs, in one place."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
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
        Identity of the code, prompts and settings around an environment, or a project's own model, that names no
        digest of its own, or a function that returns it as of now; empty for none. With it, a change of a module that
        they call is played again.
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
    surroundings: str | Callable[[], str] = ""

    def anew(self) -> Stage:
        """Return this stage with its surroundings looked at again."""
        again = replace(self)
        vars(again)["_rules"] = self._rules  # taken once: an environment may count what it plays
        return again

    @cached_property
    def _rules(self) -> str:
        return environment_digest(self.environment)

    @cached_property
    def _around(self) -> str:
        return self.surroundings() if callable(self.surroundings) else self.surroundings

    def model_identity(self, name: str) -> str:
        """Return what evidence must know of a model besides its name; of one that does not say, the project's code."""
        known = self.models.identity(name)
        return self._around if known is None else known

    @cached_property
    def digest(self) -> str:
        """Identity of the environment's rules, taken once: an environment may count what it plays."""
        if getattr(self.environment, "digest", None) or not self._around:
            return self._rules
        return hashlib.sha256(f"{self._rules}\0{self._around}".encode()).hexdigest()
