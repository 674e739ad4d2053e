"""The protocol of an environment, and what is read from one if it says more."""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections.abc import Awaitable, Sequence
from typing import Protocol, runtime_checkable

from pytest_swapgate.environments.plain import attributes, plain_value
from pytest_swapgate.models.playing import PlayingTeam
from pytest_swapgate.teams.episode import Episode, Split, Task


@runtime_checkable
class Environment(Protocol):
    """Seats, tasks, and a way to play them. Three members are enough.

    Notes
    -----
    An environment may say more; each is optional:

    ``role(seat) -> str``
        The role prompt of a seat.
    ``simulated(name) -> ChatModel``
        Its simulated player.
    ``asks_models: bool = True``
        Whether its agents' models are asked through the team (False: their names are its own affair).
    ``writes_notebooks: bool = True``
        Whether agents rewrite their notebooks after an episode (False: they never learn).
    ``digest: str``
        Identity of its rules for the evidence file; by default the source of the modules that its
        class and base classes are written in, the values of its attributes, and the project's files, environment
        variables and options. What is behind a network does not enter. An environment that has a ``digest``
        answers for all of it: change it whenever the system behind it changes, or old episodes are read for it.
    ``units: tuple[str, float]``
        Name and size of one full score in the benchmark's own unit, such as ``("PC", 100)``.
    ``close()``
        Called once, at the end of the session.
    """

    @property
    def seats(self) -> tuple[str, ...]:
        """Names of the seats, at least two, in order."""
        ...

    def tasks(self, split: Split) -> Sequence[Task]:
        """Return the tasks of a split (``formation`` or ``held_out``)."""
        ...

    def play(self, team: PlayingTeam, task: Task, seed: int) -> Episode | Awaitable[Episode]:
        """Let a team play one task and return the episode; may be ``async``.

        Agents are asked with ``await team.ask(seat, messages, seed=...)``, which counts tokens and money. A plain
        method runs in a worker thread and asks with ``anyio.from_thread.run(team.ask, seat, messages)``.
        Several teams may be playing at once: what belongs to one episode does not go into ``self``.
        """
        ...


def role_prompt(environment: Environment, seat: str) -> str:
    """Return the role prompt of a seat, empty when the environment has none."""
    role = getattr(environment, "role", None)
    return str(role(seat)) if callable(role) else ""


def score_unit(environment: Environment) -> tuple[str, float]:
    """Return the name and the size of a full score in the benchmark's own unit; ("pp", 100) by default."""
    name, scale = getattr(environment, "units", ("pp", 100.0))
    return str(name), float(scale)


def writes_notebooks(environment: Environment) -> bool:
    """Whether agents rewrite their notebooks after each episode."""
    return bool(getattr(environment, "writes_notebooks", True))


def environment_digest(environment: Environment) -> str:
    """Return the identity of an environment's rules: its own ``digest``, or one made from its source."""
    own = getattr(environment, "digest", None)
    return own if isinstance(own, str) and own else source_digest(environment)


def source_digest(environment: Environment) -> str:
    """Return the SHA-256 of the source of an environment's modules and of the values of its attributes."""
    cls = type(environment)
    sources = [_source(base) for base in cls.__mro__]
    values = {name: plain_value(value) for name, value in sorted(attributes(environment).items())}
    parts = [cls.__module__, cls.__qualname__, *sources, json.dumps(values, sort_keys=True)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _source(cls: type) -> str:
    module = sys.modules.get(cls.__module__)
    if module is None or cls.__module__ in ("builtins", "abc", "typing"):
        return ""
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):
        return ""
