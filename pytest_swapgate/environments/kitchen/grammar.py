"""What a cook says: the message grammar, read and written.

Source: Collab-Overcooked's message format. A turn has three labelled parts, ``analysis``, ``plan`` and ``say``;
``[NOTHING]`` says nothing and ``[END]`` closes a conversation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pytest_swapgate.environments.kitchen.actions import Action, ActionError, parse_action, parse_request

NOTHING = "[NOTHING]"
END = "[END]"
MAX_ACTIONS = 12
"""Longest plan taken from one turn."""
MAX_SAY = 400
"""Longest utterance, characters; model output is untrusted."""

# Models put labels in bold, and actions in code marks.
_PLAN = re.compile(r"^[^\n:]{0,20}\bplan[ \t*_`]*:(.*)$", re.IGNORECASE | re.MULTILINE)
_SAY = re.compile(r"^[^\n:]{0,20}\bsay[ \t*_`]*:(.*)$", re.IGNORECASE | re.MULTILINE)
_MARKS = " \t\r*_`"
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a cook, read from its text.

    Attributes
    ----------
    plan
        Actions to queue, in order; empty keeps the queue as it is.
    requests
        Actions it wants the partner to do.
    say
        What it says; empty for nothing.
    ends
        Whether it closes the conversation.
    error
        One sentence about the first thing that could not be read, else empty.
    """

    plan: tuple[Action, ...]
    requests: tuple[Action, ...]
    say: str
    ends: bool
    error: str = ""


@lru_cache(maxsize=4096)
def parse_turn(text: str) -> Turn:
    """Read a turn; nothing in it is ever an exception, what cannot be read becomes ``error``."""
    plan_line, say_line = _PLAN.search(text), _SAY.search(text)
    plan: list[Action] = []
    requests: list[Action] = []
    error = "" if plan_line else "The turn has no line 'plan: ...'."
    for piece in _pieces(plan_line.group(1)) if plan_line else ():
        try:
            if piece.lower().startswith("request"):
                requests.append(parse_request(piece))
            elif len(plan) < MAX_ACTIONS:
                plan.append(parse_action(piece))
        except ActionError as problem:
            error = f"{piece[:60]}: {problem}"
            break
    said = say_line.group(1).strip(_MARKS) if say_line else ""
    ends = END in said
    said = said.replace(END, "").replace(NOTHING, "").strip()[:MAX_SAY]
    return Turn(tuple(plan), tuple(requests), said, ends, error)


def _pieces(plan: str) -> list[str]:
    text = plan.replace(NOTHING, "").replace(END, "")
    return [piece.strip(_MARKS) for piece in text.split(";") if piece.strip(_MARKS + ".")]


def format_turn(role: str, plan: str, say: str, analysis: str = "") -> str:
    """Write a turn as a cook of that role would."""
    name = role.capitalize()
    return f"{name} analysis: {analysis or NOTHING}\n{name} plan: {plan}\n{name} say: {say or NOTHING}"


def near_duplicate(one: str, other: str) -> bool:
    """Whether two utterances say the same in (almost) the same words: nine tenths of their words are shared."""
    first, second = set(_WORDS.findall(one.lower())), set(_WORDS.findall(other.lower()))
    if not first or not second:
        return one.strip() == other.strip()
    return len(first & second) >= 0.9 * len(first | second)


KINDS = ("request", "request again", "clarification", "status", "correction", "acknowledgement", "other")
"""What a message does; the four in the middle are those of the swap-test paper, Table 3."""

_KIND_RULES = tuple(
    (kind, re.compile(rule, re.IGNORECASE))
    for kind, rule in (
        ("correction", r"^correction\b|\bnot what i (asked|meant)|\bwrong\b|\binstead\b|does not work"),
        ("request again", r"^again\b|\bstill (need|waiting)|\bas i (said|asked)\b|\bonce more\b"),
        ("clarification", r"\?|\bmeans\b|\bi mean\b|\bto clarify\b"),
        ("acknowledgement", r"^(understood|ok|okay|got it|will do|yes|sure|thanks|thank you)\b"),
        ("status", r"\bis (now )?(on|ready|done|in)\b|\bare (now )?(on|ready|done|in)\b|^report\b|\|"),
        ("request", r"\bplease\b|\bbring\b|\bput\b|\bcut\b|\bfetch\b|\bneed\b|\bstir\b"),
    )
)


@lru_cache(maxsize=4096)
def message_kind(text: str) -> str:
    """Say what a message does, by rule: the first of the rules whose words it contains, else ``other``."""
    for kind, rule in _KIND_RULES:
        if rule.search(text):
            return kind
    return "other"
