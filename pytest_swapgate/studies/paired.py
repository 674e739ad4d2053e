"""What two arms measured against each other: cells, independent units, harms.

A *cell* is what both arms share (one team, or one task) with the episodes of each arm, paired by trial. A *unit* is
what is independent: the swap pair, the team, or the task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pytest_swapgate.shortening import shortened
from pytest_swapgate.stats import Interval, log_cost_ratio
from pytest_swapgate.studies.arms import PlayedArm
from pytest_swapgate.studies.who_pays import WhoPays, who_pays
from pytest_swapgate.teams import Episode, FailureClass, Team, Usage

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """One team or one task under both arms.

    Attributes
    ----------
    name
        Team or task.
    baseline, candidate
        Episodes, paired by position.
    seat
        The changed seat; empty for callables.
    active
        Whether the coordination store was non-empty in the state that both arms shared before they
        forked; None when nobody says.
    """

    name: str
    baseline: tuple[Episode, ...]
    candidate: tuple[Episode, ...]
    seat: str = ""
    active: bool | None = None

    @cached_property
    def valid(self) -> tuple[tuple[Episode, Episode], ...]:
        """The pairs of episodes that count in both arms."""
        pairs = zip(self.baseline, self.candidate, strict=True)
        return tuple((b, c) for b, c in pairs if b.counts and c.counts)

    @property
    def score_harm(self) -> float:
        """Mean score of the baseline minus that of the candidate, over valid pairs.

        Raises
        ------
        ValueError
            If no pair counts.
        """
        if not self.valid:
            raise ValueError(f"{shortened(self.name)} has no pair of episodes that counts")
        return float(np.mean([b.score - c.score for b, c in self.valid]))

    def totals(self) -> tuple[int, float, int, float]:
        """Messages and sub-tasks of the candidate, then of the baseline, over valid pairs."""
        return (
            sum(len(c.messages) for _, c in self.valid),
            sum(c.subtasks for _, c in self.valid),
            sum(len(b.messages) for b, _ in self.valid),
            sum(b.subtasks for b, _ in self.valid),
        )


@dataclass(frozen=True)
class Unit:
    """What is independent: one or more cells."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class PairedResult:
    """Two arms, measured.

    Attributes
    ----------
    baseline, candidate
        Names of the arms.
    units
        The independent units.
    unit_word
        What a unit is: ``swap pair``, ``team`` or ``task``.
    models
        Names of the models that played; empty for callables.
    played, read
        Episodes that this comparison played, and read from the evidence file.
    planned
        Pairs of episodes that were planned.
    floor
        The same comparison of the baseline with itself (A/A), if it was measured.
    seconds
        Wall-clock time; None where a report must read the same every time, as with a cassette.
    stopped
        Why it ended before its plan, if it did; no verdict is taken then.
    left_out
        Units that give no figure: lost to the infrastructure, or, where it was stopped, begun, such as a swap pair of
        which only one team has a finished pair of episodes.
    look, looks
        Sequential gates: number of the last look, and planned numbers of pairs.
    look_interval
        Interval of the harm at that look's critical value.
    """

    baseline: str
    candidate: str
    units: tuple[Unit, ...]
    unit_word: Literal["swap pair", "team", "task"]
    planned: int
    models: tuple[str, ...] = ()
    played: int = 0
    read: int = 0
    usage: Usage = field(default_factory=Usage)
    floor: PairedResult | None = None
    seconds: float | None = None
    stopped: str = ""
    left_out: tuple[Unit, ...] = ()
    look: int = 0
    looks: tuple[int, ...] = ()
    look_interval: Interval | None = None

    def complete(self) -> PairedResult:
        """Leave out units of which a cell lost all its pairs; their losses stay on record."""
        whole = tuple(unit for unit in self.units if all(cell.valid for cell in unit.cells))
        if len(whole) == len(self.units):
            return self if self.floor is None else replace(self, floor=self.floor.complete())
        lost = tuple(unit for unit in self.units if unit not in whole)
        floor = None if self.floor is None else self.floor.complete()
        return replace(self, units=whole, left_out=(*self.left_out, *lost), floor=floor)

    @property
    def cells(self) -> list[Cell]:
        """All cells of all units."""
        return [cell for unit in self.units for cell in unit.cells]

    @property
    def valid(self) -> int:
        """Pairs of episodes that count in both arms."""
        return sum(len(cell.valid) for cell in self.cells)

    @property
    def finished(self) -> int:
        """Pairs of episodes that both arms have finished, whether they count or not."""
        return sum(len(cell.baseline) for cell in self._begun)

    @property
    def _begun(self) -> list[Cell]:
        return [*self.cells, *(cell for unit in self.left_out for cell in unit.cells)]

    @property
    def trials(self) -> int:
        """Most trials of a cell."""
        return max((len(cell.baseline) for cell in self.cells), default=1)

    def attempts(self, arm: Literal["baseline", "candidate"]) -> tuple[int, int]:
        """Return how often episodes of an arm were played, and how many of these times they were lost."""
        episodes = [episode for cell in self._begun for episode in getattr(cell, arm)]
        again = sum(episode.lost_attempts for episode in episodes)
        return len(episodes) + again, again + sum(not episode.counts for episode in episodes)

    @property
    def losses(self) -> dict[FailureClass, int]:
        """Failure class -> episodes that do not count."""
        episodes = (e for cell in self._begun for e in (*cell.baseline, *cell.candidate))
        return dict(Counter(e.failure for e in episodes if e.failure is not None and not e.counts))

    @property
    def score_harms(self) -> FloatArray:
        """Harm on the score of each unit, in [-1, 1]; cells are averaged inside a unit."""
        return np.array([np.mean([cell.score_harm for cell in unit.cells]) for unit in self.units])

    @property
    def measures_cost(self) -> bool:
        """Whether the arms exchange messages at all."""
        return any(e.messages for cell in self.cells for e in (*cell.baseline, *cell.candidate))

    @property
    def cost_harms(self) -> FloatArray:
        """Log ratio of messages per completed sub-task, candidate to baseline, of each unit: totals over its cells.

        Raises
        ------
        ValueError
            If a unit has no messages or no completed sub-task in an arm.
        """
        if not self.units:  # stopped before there was any
            return np.array([])
        totals = np.array([np.sum([cell.totals() for cell in unit.cells], axis=0) for unit in self.units])
        for unit, (sent, done, sent0, done0) in zip(self.units, totals, strict=True):
            for arm, messages, subtasks in (("candidate", sent, done), ("baseline", sent0, done0)):
                if messages == 0 or subtasks == 0:
                    what = "messages" if messages == 0 else "completed sub-tasks"
                    raise ValueError(
                        f"cost cannot be formed: the {arm} of {shortened(unit.name)} has no {what}"
                    )
        return log_cost_ratio(*totals.T)

    @property
    def paired_binary(self) -> tuple[int, int, int] | None:
        """Harm-discordant, benefit-discordant and all pairs, if each unit is one pair of successes; else None."""
        pairs = [cell.valid for cell in self.cells]
        single = self.unit_word == "task" and all(len(cell.baseline) == 1 for cell in self.cells)
        if not single or any(e.score not in (0.0, 1.0) for valid in pairs for pair in valid for e in pair):
            return None
        flat = [(b.score, c.score) for valid in pairs for b, c in valid]
        return flat.count((1.0, 0.0)), flat.count((0.0, 1.0)), len(flat)

    def mean_score(self, arm: Literal["baseline", "candidate"]) -> float:
        """Mean score of an arm over valid pairs, cells weighing alike."""
        index = 0 if arm == "baseline" else 1
        cells = [cell for cell in self.cells if cell.valid]
        if not cells:
            raise ValueError("no pair of episodes counts: there is no mean score")
        return float(np.mean([np.mean([pair[index].score for pair in cell.valid]) for cell in cells]))

    def mean_cost(self, arm: Literal["baseline", "candidate"]) -> float:
        """Messages per completed sub-task of an arm, totals over all cells; NaN-free: 0 sub-tasks is an error."""
        totals = np.array([cell.totals() for cell in self.cells], dtype=float).sum(axis=0)
        messages, subtasks = totals[2:] if arm == "baseline" else totals[:2]
        if subtasks == 0:
            raise ValueError(f"cost cannot be formed: the {arm} completed no sub-task")
        return float(messages / subtasks)

    @property
    def who_pays(self) -> WhoPays | None:
        """Who sends the candidate's extra messages and what they do; None if there are none."""
        return who_pays(self.cells)


def pair_teams(
    baseline: PlayedArm, candidate: PlayedArm
) -> tuple[tuple[Unit, ...], Literal["swap pair", "team"]]:
    """Turn two played arms of a cohort into units.

    Teams whose occupants were traded share one swap event, so the pair is the unit; every other change leaves
    teams independent. Source: the swap-test paper, section 4.
    """
    cohort = candidate.arm.cohort
    cells = [
        Cell(
            name=team.id,
            baseline=baseline.episodes[index],
            candidate=candidate.episodes[index],
            seat=candidate.seats[index],
            active=_shared_store(team, (*baseline.episodes[index], *candidate.episodes[index])),
        )
        for index, team in enumerate(cohort.teams)
    ]
    if not candidate.arm.condition.needs_donor:
        return tuple(Unit(cell.name, (cell,)) for cell in cells), "team"
    pairs = cohort.pairs(candidate.arm.seat)
    units = tuple(Unit(f"{cells[i].name}+{cells[j].name}", (cells[i], cells[j])) for i, j, _ in pairs)
    return units, "swap pair"


def _shared_store(team: Team, episodes: Sequence[Episode]) -> bool | None:
    """Whether the team's coordination store was non-empty before the arms forked; None where its episodes say it."""
    if any(episode.active is not None for episode in episodes):
        return None
    return any(agent.notebook.partner_notes for agent in team.agents)


def models_of(cells: Sequence[PlayedArm]) -> tuple[str, ...]:
    """Return the models that played, in order of appearance."""
    names: dict[str, None] = {}
    for played in cells:
        for change in played.arm.changes():
            names.update(dict.fromkeys(agent.model for agent in change.after.agents))
    return tuple(names)
