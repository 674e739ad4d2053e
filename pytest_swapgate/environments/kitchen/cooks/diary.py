"""How a simulated cook rewrites its notebook after an episode."""

from __future__ import annotations

import re

from pytest_swapgate.environments.kitchen.cooks.chance import Chance
from pytest_swapgate.environments.kitchen.cooks.language import FACTS, read_agreements, read_facts
from pytest_swapgate.environments.kitchen.cooks.skills import skill_of
from pytest_swapgate.environments.kitchen.cooks.truth import Truth
from pytest_swapgate.teams.notebook import PARTNER_HEADING, TASK_HEADING, Notebook

NOTES_DOWN = 0.7
"""Chance that a proposal or an explanation is written down."""

_MESSAGES = re.compile(r"We have exchanged (\d+) messages\.")
_FIRST = re.compile(r"First dish: (\w+)\.")
_TASK = re.compile(r"Task: (\S+)$", re.MULTILINE)


def rewrite(system: str, debrief: str, truth: Truth, chance: Chance) -> str:
    """Return the new notebook as text.

    Parameters
    ----------
    system, debrief
        The two messages of the request: who one is; notebook, transcript and events of the episode.
    """
    seat = "chef" if "You are the chef." in system else "assistant"
    notes, _, rest = debrief.partition("What was said:\n")
    said, _, happened = rest.partition("\n\nWhat happened:\n")
    notebook = Notebook.parse(notes.partition("Your notebook:\n")[2], budget=10_000)
    lines = said.split("\n") if said else []
    return _render(
        _task_notes(notebook, notes, _own_events(seat, notes, happened), truth.learning, chance),
        _partner_notes(notebook, lines, chance),
    )


def _own_events(seat: str, head: str, happened: str) -> list[str]:
    """Return what went wrong for this cook; a chef also counts an order that was not finished."""
    events = [event for event in happened.split("\n") if f"] {seat}:" in event]
    return [*events, "too slow"] if seat == "chef" and "Score: 1.00" not in head else events


def _task_notes(
    notebook: Notebook, head: str, events: list[str], learning: float, chance: Chance
) -> list[str]:
    facts = set(read_facts(notebook.task_notes))
    for event in events:
        skill = skill_of(event)
        if skill and skill not in facts and chance.happens(learning):
            facts.add(skill)
    first = _FIRST.search(notebook.task_notes)
    task = _TASK.search(head)
    dish = first.group(1) if first else (task.group(1) if task else "unknown")
    return [FACTS[skill] for skill in FACTS if skill in facts] + [f"First dish: {dish}."]


def _partner_notes(notebook: Notebook, lines: list[str], chance: Chance) -> list[str]:
    known = read_agreements(notebook.partner_notes)
    for line in lines:
        proposed = read_agreements(line)
        if proposed.sentences() and chance.happens(NOTES_DOWN):
            known = known.updated(proposed)
    before = _MESSAGES.search(notebook.partner_notes)
    total = len(lines) + (int(before.group(1)) if before else 0)
    return [*known.sentences(), f"We have exchanged {total} messages."]


def _render(task: list[str], partner: list[str]) -> str:
    return f"{TASK_HEADING}\n{' '.join(task)}\n{PARTNER_HEADING}\n{' '.join(partner)}\n"
