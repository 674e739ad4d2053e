"""Where a gate's arms come from, as far as its fixtures tell before its body runs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any, Literal

import pytest

TEAM_ARMS = ("formed_teams", "placebo_baseline")
"""Fixtures that hand out arms of formed teams."""


@dataclass
class Reach:
    """What of this package's fixtures a test reaches.

    Attributes
    ----------
    direct
        Names of those that are its own parameters.
    through
        Name of one that it reaches otherwise -> who of the project asks for it.
    replaced
        A fixture of team arms of which the project has one of its own; empty for none.
    by_name
        Who asks for fixtures by name while it runs, so that nobody knows for which; empty for nobody.
    """

    direct: set[str] = field(default_factory=set)
    through: dict[str, str] = field(default_factory=dict)
    replaced: str = ""
    by_name: str = ""

    def __contains__(self, name: str) -> bool:
        """Whether a fixture is set up for the test, as a parameter or otherwise."""
        return name in self.direct or name in self.through

    @property
    def arms(self) -> Literal["teams", "functions", "unknown"]:
        """What a comparison of this test is about."""
        if self.direct.intersection(TEAM_ARMS):
            return "teams"
        return "unknown" if self.why_unknown else "functions"

    @property
    def why_unknown(self) -> str:
        """What keeps anybody from saying whether the arms are of teams or two functions; empty for nothing."""
        for name in TEAM_ARMS:
            if name in self.through:
                return f"{self.through[name]} asks for {name}, not the test itself"
        if self.replaced and self.replaced not in self:
            return f"the project has a fixture {self.replaced} of its own"
        return f"{self.by_name} asks for fixtures by name while it runs" if self.by_name else ""


def reach(item: pytest.Item) -> Reach:
    """Follow a test's fixtures, through those of the project, to those of this package; none is run."""
    found = Reach()
    info: Any = getattr(item, "_fixtureinfo", None)
    if info is None:
        return found
    if _asks_by_name(getattr(item, "function", None)):
        found.by_name = "the test"
    for root in info.initialnames:
        for definition, via in _follow(info.name2fixturedefs, root, "", 1, set()):
            name = definition.argname
            if _is_ours(definition):
                # An override that passes on what it overrides stands for it.
                if root in info.argnames and via in ("", name):
                    found.direct.add(name)
                else:
                    found.through.setdefault(name, f"the fixture {via}" if via else "a mark")
            elif _of_project(item, definition.func):
                if name in TEAM_ARMS:
                    found.replaced = name
                if _asks_by_name(definition.func):
                    found.by_name = found.by_name or f"the fixture {name}"
    return found


def _follow(
    known: Mapping[str, Sequence[Any]], name: str, via: str, outer: int, seen: set[tuple[str, int]]
) -> Iterator[tuple[Any, str]]:
    """Iterate over the definitions that a fixture leads to, with the name of the project's fixture that came first.

    One that asks for its own name gets the definition next further out.
    """
    definitions = known.get(name) or ()
    if len(definitions) < outer or (name, outer) in seen:
        return
    seen.add((name, outer))
    definition = definitions[-outer]
    yield definition, via
    if not _is_ours(definition):
        for argument in definition.argnames:
            yield from _follow(known, argument, via or name, outer + 1 if argument == name else 1, seen)


def _is_ours(definition: Any) -> bool:
    return str(definition.func.__module__).partition(".")[0] == "pytest_swapgate"


def _of_project(item: pytest.Item, function: Any) -> bool:
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return False
    file = Path(code.co_filename)
    return file.is_relative_to(item.config.rootpath) and "site-packages" not in file.parts


def _asks_by_name(function: Any) -> bool:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return isinstance(code, CodeType) and any("getfixturevalue" in each.co_names for each in _codes(code))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
