"""Arms made of formed teams: a condition applied to every team, proved to bite, and played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_swapgate.models import ModelError
from pytest_swapgate.runner import ArmError, Chain, play_chains
from pytest_swapgate.runner.halt import Halt
from pytest_swapgate.runner.locking import locked
from pytest_swapgate.studies.formation import Cohort
from pytest_swapgate.teams import BiteError, Condition, Episode, RosterChange, prove_bite, roster


@dataclass(frozen=True)
class TeamArm:
    """A condition of a cohort; what `formed_teams` hands out.

    Attributes
    ----------
    cohort
        The formed teams.
    condition
        What is done to them.
    seat
        Where; None takes the seat that each swap pair drew.
    model
        The other model, for ``replace``.
    replicate
        0 for the arm itself; another number plays the same configuration again with other seeds (A/A).
    """

    cohort: Cohort
    condition: Condition
    seat: str | None = None
    model: str | None = None
    replicate: int = 0

    def __post_init__(self) -> None:
        self.cohort.check_seat(self.seat)

    @property
    def label(self) -> str:
        """Name in reports and evidence."""
        what = f"{self.condition.value}({self.seat or 'drawn seat'}"
        what += f", model={self.model})" if self.model else ")"
        return what + (f" replicate {self.replicate}" if self.replicate else "")

    def beside(self, other: TeamArm) -> TeamArm:
        """Return this arm with the seat of the arm it is compared with, so that both share the announcement."""
        return self if self.seat is not None else replace(self, seat=other.seat)

    def repeated(self) -> TeamArm:
        """Return the same configuration with other seeds: an A/A partner."""
        return replace(self, replicate=self.replicate + 1)

    def changes(self) -> tuple[RosterChange, ...]:
        """Apply the condition to every team and prove that it bit.

        Raises
        ------
        BiteError
            If a change did not do what its condition says.
        ArmError
            If the cohort cannot be paired, or the replacing model is unknown.
        """
        cohort = self.cohort
        seats = cohort.seats_of_teams(self.seat)
        donors = {}
        if self.condition.needs_donor:
            for first, second, _ in cohort.pairs(self.seat):
                donors[first], donors[second] = second, first
        made = []
        for index in range(len(cohort.teams)):
            donor = cohort.teams[donors[index]] if index in donors else None
            change = self._change(team_index=index, seat=seats[index], donor_index=donors.get(index))
            prove_bite(change)
            made.append(change.model_copy(update={"donor": donor}))
        return tuple(made)

    def _change(self, *, team_index: int, seat: str, donor_index: int | None) -> RosterChange:
        team = self.cohort.teams[team_index]
        if self.condition is Condition.REPLACE:
            if not self.model:
                raise ArmError("replace needs model=..., the name of the model that takes the seat")
            if getattr(self.cohort.stage.environment, "asks_models", True):
                try:
                    self.cohort.stage.models(self.model)
                except ModelError as error:
                    raise ArmError(str(error), failure=error.failure) from error
            return roster.replace(team, seat, model=self.model)
        if donor_index is not None:
            donor = self.cohort.teams[donor_index]
            function = roster.swap if self.condition is Condition.SWAP else roster.swap_cleared
            return function(team, seat, donor)
        if self.condition is Condition.NAIVE:
            fresh_team = getattr(self.cohort.stage.environment, "fresh_team", None)
            unformed = fresh_team(team_index)[seat] if callable(fresh_team) else None
            return roster.naive(team, seat, unformed=unformed)
        simple = {
            Condition.INTACT: roster.intact,
            Condition.PLACEBO: roster.placebo,
            Condition.AMNESIA: roster.amnesia,
        }
        return simple[self.condition](team, seat)

    @property
    def study(self) -> str:
        """Label of its study in the evidence file."""
        return "floor" if self.replicate else "swap"


@dataclass(frozen=True)
class PlayedArm:
    """An arm after it was played.

    Attributes
    ----------
    arm
        What was played.
    seats
        The changed seat of each team.
    episodes
        Episodes of each team, in order of trials; the first ones only, where a cap was reached.
    """

    arm: TeamArm
    seats: tuple[str, ...]
    episodes: tuple[tuple[Episode, ...], ...]


async def play_arms(arms: Sequence[TeamArm], *, halt: Halt | None = None) -> list[PlayedArm]:
    """Play arms of one cohort, interleaved trial by trial inside each team.

    Parameters
    ----------
    halt
        Remembers a cap that is reached; what was finished is then returned. None raises the cap instead.

    Raises
    ------
    ArmError, BiteError
        Before anything is played, if an arm is not what it claims to be.
    BudgetReachedError
        When a cap is reached and there is no ``halt``.
    """
    cohort = arms[0].cohort
    if any(arm.cohort is not cohort for arm in arms):
        raise ArmError("arms that are compared must come from the same formed_teams")
    if len({arm.label for arm in arms}) != len(arms):
        raise BiteError(
            f"the change did not bite: both arms are {arms[0].label}; "
            "compare placebo_baseline with another condition"
        )
    changes = [arm.changes() for arm in arms]
    order = _partners_together(arms)
    groups = [
        [
            Chain(
                team=changes[a][index].after,
                trials=cohort.evaluation(index, replicate=arm.replicate),
                study=arm.study,
                arm=_played_as(changes[a][index], arm.model),
            )
            for a, arm in enumerate(arms)
        ]
        for index in order
    ]
    async with locked(cohort.stage, [f"{cohort.name}/{arm.condition.value}" for arm in arms]):
        played = dict(zip(order, await play_chains(cohort.stage, groups, halt=halt), strict=True))
    return [
        PlayedArm(
            arm=arm,
            seats=tuple(change.seat for change in changes[a]),
            episodes=tuple(tuple(played[index][a][0]) for index in range(len(cohort.teams))),
        )
        for a, arm in enumerate(arms)
    ]


def _partners_together(arms: Sequence[TeamArm]) -> list[int]:
    """Return the teams in an order that leaves few swap pairs half played, should a cap be reached."""
    cohort = arms[0].cohort
    for arm in arms:
        if arm.condition.needs_donor:
            return [team for first, second, _ in cohort.pairs(arm.seat) for team in (first, second)]
    return list(range(len(cohort.teams)))


def _played_as(change: RosterChange, model: str | None) -> str:
    """Name what one team plays: a drawn seat and the same seat asked for share their evidence."""
    return f"{change.condition.value}({change.seat}{f', model={model}' if model else ''})"
