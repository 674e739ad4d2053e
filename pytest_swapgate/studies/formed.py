"""What a test is handed: formed teams whose methods are arms, and the placebo baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pytest_swapgate.runner import ArmError
from pytest_swapgate.studies.arms import TeamArm
from pytest_swapgate.studies.formation import Cohort
from pytest_swapgate.teams import BiteError, Condition, Team


@dataclass(frozen=True)
class FormedTeams:
    """A cohort; each method is an arm that `paired_runner` can compare.

    A ``seat`` of None takes the seat of the marker, or else the one that each swap pair drew.

    Attributes
    ----------
    cohort
        The formed teams and their episodes.
    replacements
        Seat -> model, from ``--swapgate-replace``.
    """

    cohort: Cohort
    replacements: Mapping[str, str] = field(default_factory=dict)

    @property
    def teams(self) -> tuple[Team, ...]:
        """The teams after formation."""
        return self.cohort.teams

    def intact(self) -> TeamArm:
        """Return the teams as formed, without an announcement."""
        return TeamArm(self.cohort, Condition.INTACT)

    def placebo(self, seat: str | None = None) -> TeamArm:
        """Return the teams with their own agent removed and reinstated."""
        return TeamArm(self.cohort, Condition.PLACEBO, seat)

    def swap(self, seat: str | None = None) -> TeamArm:
        """Return the teams with the role-matched agent of their paired team, notebook and all."""
        return TeamArm(self.cohort, Condition.SWAP, seat)

    def swap_cleared(self, seat: str | None = None) -> TeamArm:
        """Return as `swap`, the newcomer's partner notes deleted."""
        return TeamArm(self.cohort, Condition.SWAP_CLEARED, seat)

    def amnesia(self, seat: str | None = None) -> TeamArm:
        """Return the teams with their own agent's partner notes deleted."""
        return TeamArm(self.cohort, Condition.AMNESIA, seat)

    def naive(self, seat: str | None = None) -> TeamArm:
        """Return the teams with a fresh agent of the same model and an empty notebook."""
        return TeamArm(self.cohort, Condition.NAIVE, seat)

    def replace(self, seat: str | None = None, *, model: str | None = None) -> TeamArm:
        """Return the teams with another model in the seat, the incumbent's notebook in its hands.

        Parameters
        ----------
        model
            Name of the model; None takes the one that ``--swapgate-replace SEAT=MODEL`` names.

        Raises
        ------
        BiteError
            If neither names a model: nothing would change.
        ArmError
            If the option names several seats and no seat is given here.
        """
        if model is None:
            if seat is None and len(self.replacements) > 1:
                raise ArmError(
                    f"--swapgate-replace names {', '.join(self.replacements)}: say replace(seat) which"
                )
            seat = seat if seat is not None else next(iter(self.replacements), None)
            model = self.replacements.get(seat or "")
        if model is None:
            what = f"the {seat} seat" if seat else "any seat"
            raise BiteError(
                f"the change did not bite: no model was named for {what}; "
                "run with --swapgate-replace SEAT=MODEL or write replace(seat, model=...)"
            )
        if seat is None:
            raise ArmError(f"replace(model={model!r}) needs a seat: one of {', '.join(self.cohort.seats)}")
        return TeamArm(self.cohort, Condition.REPLACE, seat, model)


@dataclass(frozen=True)
class PlaceboBaseline(TeamArm):
    """The placebo arm, which is measured against itself as well: its noise floor comes with every comparison."""

    def beside(self, other: TeamArm) -> PlaceboBaseline:
        """Return this arm with the seat of the arm it is compared with."""
        return self if self.seat is not None else replace(self, seat=other.seat)
