"""Fingerprints of agents and teams, and the proof that a change bit."""

from __future__ import annotations

import hashlib
import json

from pytest_swapgate.teams.roster import Condition, RosterChange, announcement
from pytest_swapgate.teams.team import Agent, Team


class BiteError(ValueError):
    """A candidate that is not what it claims to be: the change did not bite."""


def agent_fingerprint(agent: Agent) -> str:
    """Return the SHA-256 of what makes an occupant: seat, model, role, notebook, state.

    Origin and team do not enter: the same text in other hands is the same agent.
    """
    return _digest(
        [
            agent.seat,
            agent.model,
            agent.role,
            agent.notebook.task_notes,
            agent.notebook.partner_notes,
            agent.state,
        ]
    )


def team_fingerprint(team: Team) -> str:
    """Return the SHA-256 over the agents' fingerprints and the announcement."""
    return _digest([team.announcement, *map(agent_fingerprint, team.agents)])


def prove_bite(change: RosterChange) -> None:
    """Check that a roster change did what its condition says, byte for byte.

    Raises
    ------
    BiteError
        If the placebo's occupant is not the same, if another condition left the seat
        as it was, if another seat changed too, or if the announcement is missing or
        not the one of every other condition.
    """
    before, after, seat = change.before, change.after, change.seat
    label = f"{change.condition.value}({seat!r}) of {before.id}"
    if before.seats != after.seats:
        raise BiteError(f"{label} changed the seats from {before.seats} to {after.seats}")
    others = [s for s in before.seats if s != seat]
    touched = [s for s in others if agent_fingerprint(before[s]) != agent_fingerprint(after[s])]
    if touched:
        raise BiteError(f"{label} also changed the {', '.join(touched)} seat; only {seat} may change")
    same = agent_fingerprint(before[seat]) == agent_fingerprint(after[seat])
    keeps = change.condition in (Condition.INTACT, Condition.PLACEBO)
    if keeps and not same:
        raise BiteError(f"{label} seated another occupant; a placebo reinstates the same one, byte for byte")
    if not keeps and same:
        raise BiteError(f"the change did not bite: {label} {_WHY_SAME[change.condition]}")
    if change.condition is Condition.INTACT:
        if after.announcement:
            raise BiteError(f"{label} must not carry a roster-change announcement")
    elif after.announcement != announcement(seat):
        raise BiteError(f"{label} must carry the roster-change announcement, word for word")


_WHY_SAME = {
    Condition.SWAP: "seated an occupant with the same model, role and notebook as the incumbent",
    Condition.SWAP_CLEARED: "seated an occupant with the same model, role and notebook as the incumbent",
    Condition.AMNESIA: "found no partner notes to delete",
    Condition.NAIVE: "found an incumbent whose notebook was already empty",
    Condition.REPLACE: "names the model that already occupies the seat; give another one",
}


def _digest(parts: list[str]) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
