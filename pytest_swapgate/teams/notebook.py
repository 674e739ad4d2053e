"""The notebook an agent keeps: task notes, partner notes, a token budget."""

from __future__ import annotations

import re
from typing import Self

from pydantic import Field

from pytest_swapgate.teams.frozen import Frozen

BUDGET = 200
TASK_HEADING = "## Task notes"
PARTNER_HEADING = "## Partner notes"

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\s*\n+\s*")
# Models decorate headings: numbers, bullets, quotes, bold, tags, closing marks, a remark in brackets.
_HEADING = re.compile(
    r"^[ \t#*_>`\[<(\-\d.]*(task|partner)[ \t_-]*notes[ \t*_#`\])>]*(?:\([^()\n]*\)[ \t*_#`]*)?(?::|$)[ \t*_`]*",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)


def count_tokens(text: str) -> int:
    """Count the tokens of a text by the rule of the notebook budget.

    A token is a run of letters, digits and underscores, or a single other
    character that is not white space. The rule needs no tokenizer, so that the
    budget means the same for every model.
    """
    return len(_TOKEN.findall(text))


def split_sentences(text: str) -> list[str]:
    """Split at sentence ends (``.``, ``!``, ``?`` before white space) and at line breaks."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


class Notebook(Frozen):
    """What an occupant carries from episode to episode, and into another team.

    Attributes
    ----------
    task_notes
        Facts that hold with any partner: recipes, affordances, failure modes.
    partner_notes
        Facts about this teammate: habits, what must be said, agreed phrases.
    cut
        Tokens that the last write lost to the budget (0: nothing was cut).

    Notes
    -----
    Source: the swap-test paper, section 3.1 (two headed sections, 200 tokens).
    """

    task_notes: str = ""
    partner_notes: str = ""
    cut: int = Field(default=0, ge=0)

    @classmethod
    def write(cls, task_notes: str, partner_notes: str, *, budget: int = BUDGET) -> Self:
        """Return a notebook within its budget.

        Whole sentences are dropped from the end of the longer section until both
        fit together; a section that is one single sentence is cut at a word, and keeps at
        least half of the budget where the other one fills the rest.

        Parameters
        ----------
        budget
            Tokens (see `count_tokens`) that both sections may hold together, >= 1.

        Raises
        ------
        ValueError
            If ``budget`` is below 1.
        """
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise ValueError(f"budget must be an int >= 1, got {budget!r}")
        sections = [split_sentences(task_notes), split_sentences(partner_notes)]
        sizes = [[count_tokens(sentence) for sentence in section] for section in sections]
        before = sum(map(sum, sizes))
        total = before
        while total > budget:
            longer = 0 if sum(sizes[0]) >= sum(sizes[1]) else 1
            if len(sections[longer]) == 1:
                room = max(budget - sum(sizes[1 - longer]), budget // 2)
                kept = _cut_at_word(sections[longer][0], room)
                total -= sizes[longer][0] - count_tokens(kept)
                sections[longer] = [kept] if kept else []
                sizes[longer] = [count_tokens(kept)] if kept else []
                continue
            sections[longer].pop()
            total -= sizes[longer].pop()
        return cls(task_notes=_join(sections[0]), partner_notes=_join(sections[1]), cut=before - total)

    @classmethod
    def parse(cls, text: str, *, budget: int = BUDGET) -> Self:
        """Read a notebook that a model wrote.

        The two headings are found in any case and markup; fences of code are dropped. Text that stands before the first
        heading, or without any, is filed under task notes: where an agent files a note is its own affair.
        """
        text = _FENCE.sub("", text)
        parts: dict[str, list[str]] = {"task": [], "partner": []}
        section, start = "task", 0
        for match in _HEADING.finditer(text):
            parts[section].append(text[start : match.start()])
            section, start = match.group(1).lower(), match.end()
        parts[section].append(text[start:])
        return cls.write("\n".join(parts["task"]), "\n".join(parts["partner"]), budget=budget)

    def render(self) -> str:
        """Return the text that is put before the agent's context, with both headings."""
        return f"{TASK_HEADING}\n{self.task_notes}\n{PARTNER_HEADING}\n{self.partner_notes}".rstrip() + "\n"

    def without_partner_notes(self) -> Self:
        """Return a copy that keeps the task notes only."""
        return type(self)(task_notes=self.task_notes)

    @property
    def tokens(self) -> int:
        """Tokens of both sections (headings do not count)."""
        return count_tokens(self.task_notes) + count_tokens(self.partner_notes)

    @property
    def empty(self) -> bool:
        """Whether neither section says anything."""
        return not self.task_notes and not self.partner_notes


def _join(sentences: list[str]) -> str:
    """Join sentences so that they can be split again: lines that end without a mark stay lines."""
    text = ""
    for sentence in sentences:
        text += (" " if text.endswith((".", "!", "?")) else "\n") * bool(text) + sentence
    return text


def _cut_at_word(sentence: str, budget: int) -> str:
    end = 0
    for used, match in enumerate(_TOKEN.finditer(sentence), start=1):
        if used > budget:
            break
        end = match.end()
    return sentence[:end]
