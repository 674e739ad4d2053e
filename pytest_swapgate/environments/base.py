"""The protocol of an environment, and what is read from one if it says more."""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from collections.abc import Awaitable, Sequence
from typing import Any, Protocol, runtime_checkable

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
    ``writes_notebooks: bool = True``
        Whether agents rewrite their notebooks after an episode (False: they never learn).
    ``digest: str``
        Identity of its rules for the evidence file; by default the source of its module
        and the plain values of its attributes.
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

        Agents are asked with ``await team.ask(seat, messages, seed=...)``, which counts tokens and money.
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
    if isinstance(own, str) and own:
        return own
    cls = type(environment)
    try:
        source = inspect.getsource(sys.modules[cls.__module__])
    except (OSError, TypeError, KeyError):
        source = ""
    plain = {name: value for name, value in sorted(_attributes(environment).items()) if _is_plain(value)}
    parts = [cls.__module__, cls.__qualname__, source, json.dumps(plain, sort_keys=True, default=list)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _attributes(environment: Environment) -> dict[str, Any]:
    return dict(getattr(environment, "__dict__", {}))


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | bool)
