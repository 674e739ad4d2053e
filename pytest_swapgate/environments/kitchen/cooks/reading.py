"""Taking a prompt apart: everything a simulated cook knows comes from here."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from pytest_swapgate.environments.kitchen.cooks.language import (
    NOTHING_NEW,
    Agreements,
    hear,
    read_agreements,
    read_facts,
)
from pytest_swapgate.teams.notebook import Notebook

CHEF_UTENSILS = ("pot0", "oven0")

_RECIPE_LINE = re.compile(r"^\d+\. (\w+) ([\w +]+) in (\w+) \(\d+ steps\) -> (\w+)$", re.MULTILINE)
_LAST_LINE = re.compile(r"^\d+\. (fill a dish with|take) (\w+) from (\w+)", re.MULTILINE)
_CLOCK = re.compile(r"^Step (\d+) of (\d+)\.")
_SPOKEN = re.compile(r"^\[(\d+)\] (\w+): (.*)$")


class Need(NamedTuple):
    """One thing the chef needs on the counter: the item, what to ask for, and about which food."""

    item: str
    meaning: str
    target: str


@dataclass(frozen=True, slots=True)
class Making:
    """One step of a recipe."""

    verb: str
    inputs: tuple[str, ...]
    utensil: str
    product: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe as the chef reads it."""

    makings: tuple[Making, ...]
    product: str
    on_dish: bool

    @property
    def own(self) -> tuple[Making, ...]:
        """The steps that the chef does."""
        return tuple(m for m in self.makings if m.utensil in CHEF_UTENSILS)

    def making_of(self, product: str) -> Making | None:
        """Return the step that makes a product."""
        return next((m for m in self.makings if m.product == product), None)


@dataclass(frozen=True, slots=True)
class Mind:
    """What the system prompt says: who one is, what one has learned, what is to be cooked."""

    seat: str
    agreements: Agreements
    facts: frozenset[str]
    recipe: Recipe | None
    needs: tuple[Need, ...]
    exports: tuple[str, ...]


class Spoken(NamedTuple):
    """One line of the transcript."""

    step: int
    seat: str
    text: str


@dataclass(frozen=True, slots=True)
class Utensil:
    """A utensil as the prompt describes it."""

    contents: tuple[str, ...]
    product: str
    ready: bool


@dataclass(frozen=True, slots=True)
class Situation:
    """What the user prompt says: the kitchen now, one's queue, what was done and said."""

    step: int
    limit: int
    hand: str
    counter: tuple[str, ...]
    own_counter: tuple[str, ...]
    utensils: dict[str, Utensil]
    queue: str
    done: tuple[str, ...]
    notice: bool
    feedback: str
    transcript: tuple[Spoken, ...]
    replying: bool


@lru_cache(maxsize=4096)
def read_mind(system: str) -> Mind:
    """Read a system prompt."""
    seat = "chef" if "You are the chef." in system else "assistant"
    _, _, after = system.partition("Your notebook:\n")
    notes, _, recipe_text = after.partition("\n\nRecipe:\n")
    notebook = Notebook.parse(notes, budget=10_000)
    recipe = _read_recipe(recipe_text) if recipe_text else None
    needs, exports = _needs(recipe) if recipe else ((), ())
    return Mind(
        seat=seat,
        agreements=read_agreements(notebook.partner_notes),
        facts=read_facts(notebook.task_notes),
        recipe=recipe,
        needs=needs,
        exports=exports,
    )


def _read_recipe(text: str) -> Recipe:
    makings = tuple(
        Making(verb, tuple(inputs.split(" + ")), utensil, product)
        for verb, inputs, utensil, product in _RECIPE_LINE.findall(text)
    )
    last = _LAST_LINE.search(text)
    if last is None:
        return Recipe(makings, makings[-1].product if makings else "", on_dish=False)
    return Recipe(makings, last.group(2), on_dish=last.group(1) != "take")


def _needs(recipe: Recipe) -> tuple[tuple[Need, ...], tuple[str, ...]]:
    """Work out what has to come over the counter to the chef, and what the chef has to hand over for it."""
    needs: list[Need] = []
    exports: list[str] = []
    own = {m.product for m in recipe.own}
    for making in recipe.own:
        for item in making.inputs:
            if item in own:
                continue
            source = recipe.making_of(item)
            if source is None:
                needs.append(Need(item, "fetch", item))
            elif source.verb == "cut":
                needs.append(Need(item, "cut", source.inputs[0]))
            else:
                needs.append(Need(item, "mash", source.inputs[0]))
                exports.extend(x for x in source.inputs if x in own)
    if recipe.on_dish:
        needs.append(Need("dish", "dish", "dish"))
    return tuple(needs), tuple(exports)


@lru_cache(maxsize=65536)
def _spoken(line: str) -> Spoken | None:
    found = _SPOKEN.match(line)
    return Spoken(int(found.group(1)), found.group(2), found.group(3)) if found else None


@lru_cache(maxsize=16384)
def _utensils(text: str) -> dict[str, Utensil]:
    seen: dict[str, Utensil] = {}
    for part in text.split("; "):
        name, _, rest = part.partition(" ")
        if rest.startswith("holds "):
            seen[name] = Utensil(tuple(rest[6:].split(" + ")), "", ready=False)
        elif rest.startswith("makes "):
            seen[name] = Utensil((), rest[6:], ready=False)
        elif rest.startswith("has ready "):
            seen[name] = Utensil((), rest[10:], ready=True)
        else:
            seen[name] = Utensil((), "", ready=False)
    return seen


@lru_cache(maxsize=65536)
def _items(text: str, separator: str) -> tuple[str, ...]:
    return () if text in ("empty", "nothing", "nothing yet") else tuple(text.split(separator))


def read_situation(text: str) -> Situation:
    """Read a user prompt."""
    head, _, spoken = text.partition("\nTranscript:\n")
    lines = head.split("\n")
    clock = _CLOCK.match(lines[0])
    fields = dict(line.partition(": ")[::2] for line in lines[1:])
    said = spoken.split("\n")
    return Situation(
        step=int(clock.group(1)) if clock else 0,
        limit=int(clock.group(2)) if clock else 0,
        hand="" if fields.get("You hold") == "nothing" else fields.get("You hold", ""),
        counter=_items(fields.get("Counter", "empty"), ", "),
        own_counter=_items(fields.get("Your own counters", "empty"), ", "),
        utensils=_utensils(fields.get("Utensils", "")),
        queue="" if fields.get("Your queue") == "empty" else fields.get("Your queue", ""),
        done=_items(fields.get("You did", "nothing yet"), "; "),
        notice="Notice" in fields,
        feedback=fields.get("Feedback", ""),
        transcript=tuple(line for line in map(_spoken, said[:-1]) if line is not None),
        replying=said[-1].startswith("Your partner waits"),
    )


def informed(mind: Mind, now: Situation) -> Mind:
    """Return the mind with what was proposed or explained earlier in this episode."""
    known = mind.agreements
    for line in now.transcript:
        proposal = hear(line.text).proposal
        if proposal is not NOTHING_NEW:
            known = known.updated(proposal)
    return mind if known is mind.agreements else replace(mind, agreements=known)
