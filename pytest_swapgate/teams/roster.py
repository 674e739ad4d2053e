"""Roster changes: pure functions from a formed team to the team that is measured.

Source: the swap-test paper, section 3.2. Every condition but ``intact`` carries the
same announcement, so that the disturbance of a personnel change is held constant.
"""

from __future__ import annotations

from enum import StrEnum

from pytest_swapgate.teams.frozen import Frozen
from pytest_swapgate.teams.notebook import Notebook
from pytest_swapgate.teams.team import Agent, Team


class Condition(StrEnum):
    """The six conditions of the swap test, and the replacement of a model."""

    INTACT = "intact"
    PLACEBO = "placebo"
    SWAP = "swap"
    SWAP_CLEARED = "swap_cleared"
    AMNESIA = "amnesia"
    NAIVE = "naive"
    REPLACE = "replace"

    @property
    def needs_donor(self) -> bool:
        """Whether the new occupant comes from another team."""
        return self in (Condition.SWAP, Condition.SWAP_CLEARED)


class RosterChange(Frozen):
    """One condition applied to one seat of one team.

    Attributes
    ----------
    condition, seat
        What was done, and where.
    before, after
        The team as formed, and the team that plays.
    donor
        The team that gave the new occupant, if any.
    """

    condition: Condition
    seat: str
    before: Team
    after: Team
    donor: Team | None = None


def announcement(seat: str) -> str:
    """Return the announcement of a roster change; the same words under every condition."""
    return (
        f"Roster change: the {seat} seat was vacated and has been filled again before this episode. "
        "Earlier conversations are gone; only notebooks remain."
    )


def intact(team: Team, seat: str) -> RosterChange:
    """Leave the team as formed, without an announcement."""
    team[seat]
    return RosterChange(condition=Condition.INTACT, seat=seat, before=team, after=team)


def placebo(team: Team, seat: str) -> RosterChange:
    """Remove the occupant and reinstate it under the announcement."""
    return _seat(Condition.PLACEBO, team, seat, team[seat])


def swap(team: Team, seat: str, donor: Team) -> RosterChange:
    """Seat the role-matched agent of another team, its whole notebook with it."""
    return _seat(Condition.SWAP, team, seat, donor[seat], donor)


def swap_cleared(team: Team, seat: str, donor: Team) -> RosterChange:
    """Seat the role-matched agent of another team without its partner notes."""
    return _seat(Condition.SWAP_CLEARED, team, seat, _cleared(donor[seat]), donor)


def amnesia(team: Team, seat: str) -> RosterChange:
    """Keep the occupant, delete its own partner notes."""
    return _seat(Condition.AMNESIA, team, seat, _cleared(team[seat]))


def naive(team: Team, seat: str, *, unformed: Agent | None = None) -> RosterChange:
    """Seat a fresh agent of the same model with an empty notebook.

    Parameters
    ----------
    unformed
        What an occupant is before formation, for teams of another framework, whose fresh state only it knows;
        None takes an empty notebook and no state.
    """
    fresh = {"notebook": Notebook(), "state": ""}
    if unformed is not None:
        fresh = {"notebook": unformed.notebook, "state": unformed.state}
    return _seat(Condition.NAIVE, team, seat, team[seat].model_copy(update={**fresh, "origin": "fresh"}))


def replace(team: Team, seat: str, *, model: str) -> RosterChange:
    """Let another model occupy the seat, with the incumbent's role and notebook."""
    return _seat(Condition.REPLACE, team, seat, team[seat].model_copy(update={"model": model}))


def _cleared(agent: Agent) -> Agent:
    return agent.model_copy(update={"notebook": agent.notebook.without_partner_notes()})


def _seat(
    condition: Condition, team: Team, seat: str, occupant: Agent, donor: Team | None = None
) -> RosterChange:
    after = team.with_occupant(seat, occupant).model_copy(update={"announcement": announcement(seat)})
    return RosterChange(condition=condition, seat=seat, before=team, after=after, donor=donor)
