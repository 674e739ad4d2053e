"""Agents in seats."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator

from pytest_swapgate.teams.episode import Episode
from pytest_swapgate.teams.frozen import Frozen
from pytest_swapgate.teams.notebook import Notebook


class Agent(Frozen):
    """The occupant of a seat.

    Attributes
    ----------
    seat
        The role slot that it fills.
    model
        Name of the model that thinks for it.
    role
        Its role prompt.
    notebook
        What it has learned.
    state
        Opaque text (usually JSON) of an occupant that lives in another framework.
    origin
        Where it was formed. For reports only: it is not part of the fingerprint and
        is never shown to a model.
    """

    seat: str = Field(min_length=1)
    model: str = Field(min_length=1)
    role: str = ""
    notebook: Notebook = Notebook()
    state: str = ""
    origin: str = ""


class Team(Frozen):
    """Agents in fixed seats, and the roster-change announcement they were given.

    Attributes
    ----------
    id
        Name inside the cohort; for reports only.
    agents
        One agent a seat, at least two, in seat order.
    announcement
        Text of the roster change; empty for an intact team.
    """

    id: str
    agents: tuple[Agent, ...]
    announcement: str = ""

    @field_validator("agents")
    @classmethod
    def _distinct_seats(cls, agents: tuple[Agent, ...]) -> tuple[Agent, ...]:
        seats = [agent.seat for agent in agents]
        if len(seats) < 2:
            raise ValueError(f"a team has at least two seats, got {seats}")
        if len(set(seats)) != len(seats):
            raise ValueError(f"a team's seats must be distinct, got {seats}")
        return agents

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats, in order."""
        return tuple(agent.seat for agent in self.agents)

    def __getitem__(self, seat: str) -> Agent:
        """Return the occupant of a seat.

        Raises
        ------
        ValueError
            If the team has no such seat.
        """
        for agent in self.agents:
            if agent.seat == seat:
                return agent
        raise ValueError(f"seat must be one of {', '.join(self.seats)}, got {seat!r}")

    def with_occupant(self, seat: str, occupant: Agent) -> Self:
        """Return the team with another occupant in one seat."""
        self[seat]
        seated = occupant.model_copy(update={"seat": seat})
        agents = tuple(seated if agent.seat == seat else agent for agent in self.agents)
        return self.model_copy(update={"agents": agents})

    def after(self, episode: Episode) -> Self:
        """Return the team with the notebooks and states that its agents left the episode with."""
        agents = tuple(
            agent.model_copy(
                update={
                    "notebook": episode.notebooks.get(agent.seat, agent.notebook),
                    "state": episode.states.get(agent.seat, agent.state),
                }
            )
            for agent in self.agents
        )
        return self.model_copy(update={"agents": agents})
