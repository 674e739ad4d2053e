"""The protocol of an environment, and what is read from one if it says more."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import sys
from collections.abc import Awaitable, Mapping, Sequence, Set
from datetime import date
from enum import Enum
from pathlib import PurePath
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

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
        class and base classes are written in, and the values of its attributes. Code and data that it
        reaches elsewhere do not enter: an environment that has such says what it depends on.
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
    values = {name: _value(value) for name, value in sorted(_attributes(environment).items())}
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


def _attributes(environment: Environment) -> dict[str, Any]:
    slots = (name for cls in type(environment).__mro__ for name in _names(getattr(cls, "__slots__", ())))
    held = {name: getattr(environment, name) for name in slots if hasattr(environment, name)}
    return {**held, **getattr(environment, "__dict__", {})}


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _value(value: Any) -> Any:
    """Return an attribute as JSON that means the same in another process; what has no such form is left out."""
    if value is None or isinstance(value, str | int | float):
        return repr(value) if isinstance(value, float) else value
    if isinstance(value, BaseModel):
        return [type(value).__qualname__, _value(value.model_dump())]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__qualname__,
            _value({f.name: getattr(value, f.name) for f in dataclasses.fields(value)}),
        ]
    if isinstance(value, Mapping):
        return sorted(([_value(key), _value(item)] for key, item in value.items()), key=json.dumps)
    if isinstance(value, Set):
        return sorted((_value(item) for item in value), key=json.dumps)
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    if isinstance(value, Enum | PurePath | bytes | date):
        return repr(value)
    return None
