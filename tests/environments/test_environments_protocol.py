"""A user's own environment: three members are enough, sync or async, and its digest follows what it is."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import pathlib
import sys

import anyio
import anyio.from_thread
import pytest

from pytest_swapgate.environments import AdaptedEnvironment, Environment, environment_digest, role_prompt
from pytest_swapgate.environments.base import score_unit, writes_notebooks
from pytest_swapgate.environments.kitchen import KitchenEnvironment
from pytest_swapgate.models import Completion
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import Stage
from pytest_swapgate.runner.episodes import play_episode
from pytest_swapgate.teams import Agent, Episode, Message, Notebook, Task, Team, Usage


class Echo:
    """Says what it was asked last; writes a fixed notebook."""

    name = "echo"

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None):
        prompt = messages[-1]["content"]
        text = "## Task notes\nSeen." if "Rewrite your notebook" in prompt else prompt.upper()
        return Completion(text, Usage(calls=1, prompt_tokens=len(prompt), completion_tokens=1), self.name)


class HandOff:
    """An environment as small as it gets."""

    seats = ("giver", "taker")

    def tasks(self, split):
        return [Task(id=f"{split}-{i}", split=split) for i in range(2)]

    async def play(self, team, task, seed):
        said = await team.ask("giver", [{"role": "user", "content": task.id}], seed=seed)
        heard = await team.ask("taker", [{"role": "user", "content": said}], seed=seed)
        return Episode(score=float(heard == task.id.upper()), messages=[Message(sender="giver", text=said)])


class PlainHandOff(HandOff):
    """The same without ``async``."""

    def play(self, team, task, seed):
        asked = [{"role": "user", "content": task.id}]
        said = anyio.from_thread.run(team.ask, "giver", asked)
        return Episode(score=1.0, messages=[Message(sender="giver", text=said)])


def play(environment):
    registry = ModelRegistry()
    registry.add(Echo())
    team = Team(id="t", agents=tuple(Agent(seat=seat, model="echo") for seat in environment.seats))
    stage = Stage(environment, registry)
    return anyio.run(play_episode, stage, team, environment.tasks("held_out")[0], 3)


def test_three_members_make_an_environment():
    assert isinstance(HandOff(), Environment)
    assert isinstance(KitchenEnvironment(), Environment)
    assert not isinstance(object(), Environment)


@pytest.mark.parametrize("kind", [HandOff, PlainHandOff])
def test_small_environment_plays_and_its_agents_learn(kind):
    episode = play(kind())
    assert episode.score == 1.0
    assert (episode.task_id, episode.seed) == ("held_out-0", 3)
    assert [m.text for m in episode.messages] == ["HELD_OUT-0"]
    assert episode.notebooks == {seat: Notebook(task_notes="Seen.") for seat in ("giver", "taker")}
    assert episode.usage.calls == (4 if kind is HandOff else 3)
    assert "giver" in episode.payloads


def test_environment_that_says_nothing_more_gets_plain_defaults():
    environment = HandOff()
    assert role_prompt(environment, "giver") == ""
    assert score_unit(environment) == ("pp", 100.0)
    assert writes_notebooks(environment)


def test_what_an_environment_says_is_read():
    kitchen = KitchenEnvironment()
    assert role_prompt(kitchen, "chef").startswith("You are the chef.")
    assert score_unit(kitchen) == ("PC", 100.0)
    assert not writes_notebooks(AdaptedEnvironment)


# The digest, on which reading old evidence hangs.

SOURCE = """
from base_{n} import Base

class Own(Base):
    seats = ("a", "b")
    def tasks(self, split):
        return []
    def play(self, team, task, seed):
        return {play}
"""


def test_digest_changes_with_the_source_of_the_module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    digests = []
    for play in ("None", "None", "1"):
        (tmp_path / "own_env.py").write_text(SOURCE.format(n="env", play=play))
        (tmp_path / "base_env.py").write_text("class Base:\n    pass\n")
        digests.append(_fresh_digest("own_env", "base_env"))
    assert digests[0] == digests[1] != digests[2]


def test_digest_changes_with_the_source_of_a_base_class(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    digests = []
    for base in ("pass", "limit = 3"):
        (tmp_path / "own_env.py").write_text(SOURCE.format(n="env", play="None"))
        (tmp_path / "base_env.py").write_text(f"class Base:\n    {base}\n")
        digests.append(_fresh_digest("own_env", "base_env"))
    assert digests[0] != digests[1]


def _fresh_digest(own, base):
    import linecache

    sys.dont_write_bytecode, kept = True, sys.dont_write_bytecode
    try:
        for name in (own, base):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        linecache.clearcache()
        return environment_digest(importlib.import_module(own).Own())
    finally:
        sys.dont_write_bytecode = kept
        for name in (own, base):
            sys.modules.pop(name, None)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Settings:
    depth: int
    tags: frozenset[str] = frozenset()


class Adjustable(HandOff):
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Slotted(HandOff):
    __slots__ = ("depth",)

    def __init__(self, depth):
        self.depth = depth


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        (1, True),
        (1, 1.0),
        ("1", 1),
        (None, 0),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 2}),
        ({"a": {"b": [1]}}, {"a": {"b": [2]}}),
        ({1}, {2}),
        (Colour.RED, Colour.BLUE),
        (Settings(1), Settings(2)),
        (Settings(1, frozenset("ab")), Settings(1, frozenset("ac"))),
        (pathlib.Path("a"), pathlib.Path("b")),
        (Notebook(task_notes="a"), Notebook(task_notes="b")),
        (b"a", b"b"),
        (float("nan"), 0.0),
    ],
)
def test_digest_changes_with_a_setting(one, other):
    assert environment_digest(Adjustable(x=one)) != environment_digest(Adjustable(x=other))
    assert environment_digest(Adjustable(x=one)) == environment_digest(Adjustable(x=one))


def test_digest_does_not_hang_on_order_or_identity():
    assert environment_digest(Adjustable(a=1, b={"x": 1, "y": 2})) == environment_digest(
        Adjustable(b={"y": 2, "x": 1}, a=1)
    )
    assert environment_digest(Adjustable(client=object())) == environment_digest(Adjustable(client=object()))
    assert environment_digest(Adjustable(s={"b", "a", "c"})) == environment_digest(
        Adjustable(s={"c", "a", "b"})
    )


def test_class_without_a_file_has_a_digest_of_its_settings():
    made = type("Made", (HandOff,), {"__module__": "nowhere"})
    one, other = made(), made()
    other.depth = 2
    assert environment_digest(one) != environment_digest(other)
    written = type("Written", (HandOff,), {"__module__": "itertools"})  # a module without source
    assert environment_digest(written()) == environment_digest(written())


def test_digest_reads_slots():
    assert environment_digest(Slotted(1)) != environment_digest(Slotted(2))


def test_own_digest_goes_before_the_source():
    assert (
        environment_digest(Adjustable(digest="v1", x=1))
        == environment_digest(Adjustable(digest="v1", x=2))
        == "v1"
    )
    assert environment_digest(Adjustable(digest="")) != ""


def test_digest_is_taken_once_a_stage():
    environment = Adjustable(played=0)
    stage = Stage(environment, ModelRegistry())
    before = stage.digest
    environment.played += 1
    assert stage.digest == before


def test_kitchen_digest_follows_its_settings_and_a_subclass():
    class Mine(KitchenEnvironment):
        def role(self, seat):
            return "Be brief."

    digests = [
        environment_digest(environment)
        for environment in (KitchenEnvironment(), KitchenEnvironment(turn_cap=3), Mine(), Mine(turn_cap=3))
    ]
    assert len(set(digests)) == 4
    assert (
        environment_digest(KitchenEnvironment(held_out_level=4)) == digests[0]
    )  # tasks have keys of their own
