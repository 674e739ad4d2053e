"""What each comparison of a gate rests on, episode by episode: its figures can be computed again from nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pytest_swapgate.evidence.errors import EvidenceError
from pytest_swapgate.evidence.keys import content_key
from pytest_swapgate.evidence.seals import text_digest
from pytest_swapgate.evidence.store import EvidenceStore
from pytest_swapgate.teams import Episode

_CONTENT, _LINK = "comparison", "compared"


class ComparedEpisode(NamedTuple):
    """One episode of a comparison.

    Attributes
    ----------
    role
        ``baseline``, ``candidate``, or ``floor``: the baseline played once more.
    unit, team
        The independent unit (swap pair, team or task), and the team in it; ``team`` is empty for functions.
    seat, active
        The changed seat, and whether the coordination store was non-empty; None when nobody says.
    trial
        Number of the trial in its team or task; the same number pairs the episodes of the roles.
    counts
        Whether its pair enters the figures: it and its partner have an honest outcome.
    task_id, seed, score, success, messages, subtasks, failure
        As in `Episode`; ``messages`` is their number.
    digest
        Of the whole episode, which finds it in the file.
    """

    role: str
    unit: str
    team: str
    seat: str
    active: bool | None
    trial: int
    counts: bool
    task_id: str
    seed: int
    score: float
    success: bool
    messages: int
    subtasks: float
    failure: str | None
    digest: str

    @classmethod
    def of(cls, episode: Episode, *, counts: bool, **place: Any) -> ComparedEpisode:
        """Return an episode in its place of a comparison."""
        return cls(
            **place,
            counts=counts,
            task_id=episode.task_id,
            seed=episode.seed,
            score=float(episode.score),
            success=episode.success,
            messages=len(episode.messages),
            subtasks=float(episode.subtasks),  # a default that nobody set is an int
            failure=None if episode.failure is None else episode.failure.value,
            digest=text_digest(episode.model_dump_json()),
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a gate compared.

    Attributes
    ----------
    gate, number
        Which gate, and which of its comparisons, from 1.
    arms
        Role -> name of its arm in the report.
    unit_word
        What a unit is: ``swap pair``, ``team`` or ``task``.
    episodes
        All of them.
    """

    gate: str
    number: int
    arms: dict[str, str]
    unit_word: str
    episodes: tuple[ComparedEpisode, ...]


def keep(store: EvidenceStore, run: str, comparison: Comparison) -> None:
    """Keep what a run compared; the same content takes its room once, however many runs read it.

    Raises
    ------
    EvidenceError
        If the file cannot take it.
    """
    content = {
        "gate": comparison.gate,
        "number": comparison.number,
        "arms": comparison.arms,
        "unit_word": comparison.unit_word,
        "episodes": [list(episode) for episode in comparison.episodes],
    }
    key = content_key(comparison=content)
    store.put_json(_CONTENT, key, json.dumps(content, separators=(",", ":")))
    link = {"run": run, "gate": comparison.gate, "number": comparison.number, "content": key}
    store.put_json(_LINK, content_key(link=link), json.dumps(link))


def compared(store: EvidenceStore, gate: str, run: str) -> list[Comparison]:
    """Return what a gate compared in a run, by number; the last one kept, where several workers did the same.

    Raises
    ------
    EvidenceError
        If what is stored is not what was written.
    """
    keys = {
        link["number"]: link["content"]
        for link in _links(store)
        if (link["gate"], link["run"]) == (gate, run)
    }
    return [_read(store, keys[number]) for number in sorted(keys)]


def compared_gates(store: EvidenceStore) -> list[tuple[str, str]]:
    """Return run and gate of every comparison that was kept, once each, the oldest first."""
    return list(dict.fromkeys((link["run"], link["gate"]) for link in _links(store)))


def _links(store: EvidenceStore) -> Iterator[dict[str, Any]]:
    for (key,) in store.database.rows("SELECT key FROM documents WHERE kind = ? ORDER BY rowid", (_LINK,)):
        text = store.get_json(_LINK, key)
        link = None if text is None else json.loads(text)
        if not isinstance(link, dict) or {"run", "gate", "number", "content"} - set(link):
            raise _unreadable(store, key)
        yield link


def _read(store: EvidenceStore, key: str) -> Comparison:
    text = store.get_json(_CONTENT, key)
    try:
        content = json.loads(text or "null")
        return Comparison(
            gate=content["gate"],
            number=content["number"],
            arms=content["arms"],
            unit_word=content["unit_word"],
            episodes=tuple(ComparedEpisode(*episode) for episode in content["episodes"]),
        )
    except (TypeError, KeyError):
        raise _unreadable(store, key) from None


def _unreadable(store: EvidenceStore, key: str) -> EvidenceError:
    return EvidenceError(
        f"{store.path}: comparison {key!r} cannot be read; export it with the pytest-swapgate that wrote it"
    )
