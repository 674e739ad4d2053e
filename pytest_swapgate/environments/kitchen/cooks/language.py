"""The few sentences that simulated cooks write and understand."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

MEANINGS = ("cut", "mash", "fetch", "dish")
"""What a chef can ask for."""
CODE_WORDS = (
    *("prep", "work", "turn", "run", "break", "finish"),
    *("send", "set", "start", "drop", "pull", "line"),
)
"""Words that a team may come to use for any of the meanings."""
SIGNALS = ("hands", "service", "yours", "up")
"""Words that a team may come to use for 'it is on the counter'."""
PLACES = ("the pass", "the ledge", "the hatch")
"""Names that a team may come to use for the counter."""
FIELDS = ("item", "place", "step")
ORDERS = ((0, 1, 2), (1, 0, 2), (2, 0, 1))
"""Field orders of reports; the first is what everybody begins with."""

NO_REPORT = "No report needed."
NO_CONFIRM = "No need to confirm."
DISH_UNASKED = "The dish comes unasked."

FACTS = {
    "cut": "The board cuts; the slices must be taken off it and put on the counter.",
    "mash": "The blender mashes; the mash must be taken out and put on the counter.",
    "fetch": "Raw food comes from the ingredient_dispenser only.",
    "dish": "Dishes come from the dish_dispenser only.",
    "cook": "The pot is started with cook once everything is inside.",
    "bake": "The oven is started with bake once everything is inside.",
    "ahead": "Ask for the next thing while your own work goes on.",
    "serve": "Soup, stew and patty leave on a dish.",
}
"""Skill -> the task note that spares a cook its mistake."""

_CODE = re.compile(r'"(\w+)" means (\w+)\b')
_SIGNAL = re.compile(r'"(\w+)" means it is there\.')
_PLACE = re.compile(r'"(the \w+)" means the counter\.')
_FIELDS = re.compile(r"Reports go (\w+), (\w+), (\w+)\.")


@dataclass(frozen=True, slots=True)
class Agreements:
    """The conventions found in a text: partner notes, or something just said.

    Attributes
    ----------
    codes
        Word -> meaning, latest last.
    signal, place
        The word for 'it is there', the name of the counter; empty for none.
    order
        Field order of reports, None for none.
    silent, unconfirmed, dish_unasked
        No report needed; no need to confirm; the dish comes unasked.
    """

    codes: tuple[tuple[str, str], ...] = ()
    signal: str = ""
    place: str = ""
    order: tuple[int, ...] | None = None
    silent: bool = False
    unconfirmed: bool = False
    dish_unasked: bool = False

    def word_for(self, meaning: str) -> str:
        """Return the latest word for a meaning, empty for none."""
        found = ""
        for word, means in self.codes:
            if means == meaning:
                found = word
        return found

    def meaning_of(self, word: str) -> str:
        """Return what a word means, empty if it is unknown."""
        return dict(self.codes).get(word, "")

    def sentences(self) -> list[str]:
        """Write the agreements down, one sentence each."""
        lines = [define_code(word, meaning) for word, meaning in self.codes]
        if self.signal:
            lines.append(define_signal(self.signal))
        if self.silent:
            lines.append(NO_REPORT)
        if self.unconfirmed:
            lines.append(NO_CONFIRM)
        if self.dish_unasked:
            lines.append(DISH_UNASKED)
        if self.place:
            lines.append(define_place(self.place))
        if self.order is not None:
            lines.append(define_order(self.order))
        return lines

    def updated(self, new: Agreements) -> Agreements:
        """Return these agreements after hearing of others; the newer wins where they contradict."""
        codes = {word: meaning for word, meaning in self.codes if (word, meaning) not in new.codes}
        codes = {w: m for w, m in codes.items() if w not in dict(new.codes)}
        kept = [*codes.items(), *new.codes][-_MOST_CODES:]
        signal, silent = self.signal, self.silent
        if new.signal:
            signal, silent = new.signal, False
        elif new.silent:
            signal, silent = "", True
        return replace(
            self,
            codes=tuple(kept),
            signal=signal,
            silent=silent,
            place=new.place or self.place,
            order=new.order or self.order,
            unconfirmed=self.unconfirmed or new.unconfirmed,
            dish_unasked=self.dish_unasked or new.dish_unasked,
        )


NOTHING_NEW = Agreements()
"""No agreement at all; returned as this very object."""
_MOST_CODES = 7
_AGREEMENT_SIGNS = ('" means ', "Reports go ", NO_REPORT, NO_CONFIRM, DISH_UNASKED)


def define_code(word: str, meaning: str) -> str:
    """Write what a word means."""
    return f'"{word}" means {meaning}.'


def define_signal(word: str) -> str:
    """Write which word says that an item is on the counter."""
    return f'"{word}" means it is there.'


def define_place(name: str) -> str:
    """Write what the counter is called."""
    return f'"{name}" means the counter.'


def define_order(order: tuple[int, ...]) -> str:
    """Write the field order of reports."""
    return f"Reports go {', '.join(FIELDS[i] for i in order)}."


@lru_cache(maxsize=8192)
def read_agreements(text: str) -> Agreements:
    """Find the agreements in a text."""
    if not any(sign in text for sign in _AGREEMENT_SIGNS):
        return NOTHING_NEW
    codes = tuple((w, m) for w, m in _CODE.findall(text) if m in MEANINGS)
    signal = _SIGNAL.findall(text)
    place = _PLACE.findall(text)
    fields = _FIELDS.findall(text)
    order = None
    if fields and sorted(fields[-1]) == sorted(FIELDS):
        order = tuple(FIELDS.index(name) for name in fields[-1])
    return Agreements(
        codes=codes,
        signal=signal[-1] if signal else "",
        place=place[-1] if place else "",
        order=order,
        silent=NO_REPORT in text,
        unconfirmed=NO_CONFIRM in text,
        dish_unasked=DISH_UNASKED in text,
    )


@lru_cache(maxsize=8192)
def read_facts(text: str) -> frozenset[str]:
    """Return the skills whose task note stands in a text."""
    return frozenset(skill for skill, fact in FACTS.items() if fact in text)


@dataclass(frozen=True, slots=True)
class Heard:
    """What one utterance is, before anybody's notes are applied to it.

    Attributes
    ----------
    act
        ``request`` (plain words), ``code`` (a coined word), ``question``, ``report``, ``signal``, ``there``,
        ``stuck``, ``confirm`` or ``other``.
    meaning, target
        Of a plain request.
    word
        The coined word.
    place
        A name for the counter that was used.
    order
        Field order of a report.
    prefix
        ``again`` or ``correction``, else empty.
    proposal
        Agreements that it proposes or explains.
    """

    act: str
    meaning: str = ""
    target: str = ""
    word: str = ""
    place: str = ""
    order: tuple[int, ...] = ()
    prefix: str = ""
    proposal: Agreements = field(default_factory=Agreements)


_PREFIX = re.compile(r"^(Again|Correction): ")
_REQUESTS = (
    ("cut", re.compile(r"\bcut the (\w+) and put the slices on (the \w+)")),
    ("mash", re.compile(r"\bmash the (\w+) and put it on (the \w+)")),
    ("fetch", re.compile(r"\bfetch the (\w+) and put it on (the \w+)")),
    ("dish", re.compile(r"\bput a (dish) on (the \w+)")),
)
_CODED = re.compile(rf"^({'|'.join(CODE_WORDS)}) (\w+)\.", re.IGNORECASE)
_QUESTION = re.compile(r'What does "([\w ]+)" mean\?|Which of these is the item\?')
_REPORT = re.compile(r"^Report: ([\w ]+) \| ([\w ]+) \| ([\w ]+)\.")
_SIGNALLED = re.compile(rf"^({'|'.join(SIGNALS)}) (\w+)\.", re.IGNORECASE)
_THERE = re.compile(r"^The (\w+) is on the counter\.")


@lru_cache(maxsize=16384)
def hear(text: str) -> Heard:
    """Take one utterance apart."""
    found = _PREFIX.match(text)
    prefix = found.group(1).lower() if found else ""
    body = text[found.end() :] if found else text
    proposal = read_agreements(text)
    if question := _QUESTION.search(body):
        return Heard("question", word=question.group(1) or "", proposal=proposal)
    for meaning, rule in _REQUESTS:
        if match := rule.search(body):
            return Heard(
                "request", meaning, match.group(1), place=match.group(2), prefix=prefix, proposal=proposal
            )
    if match := _CODED.match(body):
        return Heard(
            "code", target=match.group(2), word=match.group(1).lower(), prefix=prefix, proposal=proposal
        )
    if match := _REPORT.match(body):
        cells = match.groups()
        step = next((i for i, cell in enumerate(cells) if cell.isdigit()), 2)
        place = next((i for i, cell in enumerate(cells) if cell.startswith("the ") or cell == "counter"), 1)
        item = 3 - step - place if step != place else 0
        order = tuple(sorted(range(3), key=lambda f: (item, place, step)[f]))
        return Heard("report", target=cells[item], order=order, place=cells[place], proposal=proposal)
    if match := _SIGNALLED.match(body):
        return Heard("signal", target=match.group(2), word=match.group(1).lower(), proposal=proposal)
    if match := _THERE.match(body):
        return Heard("there", target=match.group(1), proposal=proposal)
    if body.startswith("That does not work"):
        return Heard("stuck", proposal=proposal)
    if body.startswith("Understood"):
        return Heard("confirm", proposal=proposal)
    return Heard("other", prefix=prefix, proposal=proposal)


def plain_request(meaning: str, target: str, place: str) -> str:
    """Ask in plain words; ``place`` is what the counter is called."""
    return {
        "cut": f"Please cut the {target} and put the slices on {place}.",
        "mash": f"Please mash the {target} and put it on {place}.",
        "fetch": f"Please fetch the {target} and put it on {place}.",
        "dish": f"Please put a dish on {place}.",
    }[meaning]


def plain_report(item: str, place: str, step: int, order: tuple[int, ...]) -> str:
    """Report that an item is on the counter, fields in the given order."""
    cells = (item, place, str(step))
    return f"Report: {' | '.join(cells[i] for i in order)}."
