"""Teams that live in another framework, behind the environment protocol."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import anyio.to_thread

from pytest_swapgate.environments.plain import function_parts
from pytest_swapgate.models.playing import PlayingTeam
from pytest_swapgate.teams.episode import Episode, Split, Task
from pytest_swapgate.teams.fingerprint import BiteError, agent_fingerprint
from pytest_swapgate.teams.outcome import as_episode
from pytest_swapgate.teams.team import Agent, Team

Outcome = Episode | float | bool


@runtime_checkable
class TeamAdapter(Protocol):
    """One live team of a user's framework.

    ``snapshot`` and ``restore`` must round-trip: what an occupant has learned goes into its
    notebook, or as text into ``Agent.state``. After ``change_seat`` a snapshot must show the new
    occupant; a switch that silently did not happen is an error of the gate.
    """

    def snapshot(self) -> Team:
        """Return the team as it is now."""
        ...

    def restore(self, team: Team) -> None:
        """Put every occupant back into the state of a snapshot.

        ``team.announcement`` is what the team is to be told of a roster change; empty for an intact team.
        """
        ...

    def change_seat(self, seat: str, occupant: Agent) -> None:
        """Let another occupant take the seat."""
        ...

    def play(self, task: Task, seed: int) -> Outcome | Awaitable[Outcome]:
        """Play one task and return the episode, a score in [0, 1] or a success; may be ``async``."""
        ...


class AdaptedEnvironment:
    """An environment whose teams are played by adapters.

    Parameters
    ----------
    build
        Makes a fresh, unformed live team; called once for each episode.
    tasks
        All tasks, of both splits.
    digest
        None: stored episodes are read only while the project's files, the installed packages, and the environment
        variables and options that may matter are unchanged. A text is your word instead, and nothing else is looked
        at: neither the code behind the adapter, nor prompts, settings, models or tasks' data. Change it whenever the
        system behind it changes, or old episodes are read for the new system and its gate passes unplayed.
    """

    writes_notebooks = False  # the framework's own agents learn; the adapter reports it
    asks_models = False  # the names of its models are its own

    def __init__(
        self, build: Callable[[], TeamAdapter], tasks: Sequence[Task], *, digest: str | None = None
    ) -> None:
        if digest is not None and not (isinstance(digest, str) and digest.strip()):
            raise ValueError(
                f"digest must be None, or a text that names the version of your system, got {digest!r}"
            )
        self.digest = digest
        self._build = build
        self._built_by = function_parts(build)
        self._tasks = tuple(tasks)
        first = build()
        self.plays_in_threads = not inspect.iscoroutinefunction(first.play)
        fresh = first.snapshot()
        self.seats = fresh.seats
        self._fresh = fresh

    def fresh_team(self, index: int) -> Team:
        """Return team number ``index`` before formation."""
        return self._fresh.model_copy(update={"id": f"team-{index:02d}"})

    def tasks(self, split: Split) -> Sequence[Task]:
        """Return the tasks of a split."""
        return tuple(task for task in self._tasks if task.split == split)

    async def play(self, team: PlayingTeam, task: Task, seed: int) -> Episode:
        """Restore the team into a fresh adapter, prove that it is there, play, read back what it learned."""
        live = self._build()
        live.restore(self._fresh.model_copy(update={"announcement": team.announcement}))
        for agent in team.team.agents:
            if agent_fingerprint(agent) != agent_fingerprint(self._fresh[agent.seat]):
                live.change_seat(agent.seat, agent)
        seated = live.snapshot()
        for agent in team.team.agents:
            if agent_fingerprint(seated[agent.seat]) != agent_fingerprint(agent):
                raise BiteError(
                    f"the change did not bite: after change_seat({agent.seat!r}, ...) the adapter's snapshot "
                    "does not show the occupant that was seated; make snapshot() and change_seat() agree"
                )
        if inspect.iscoroutinefunction(live.play):
            outcome = live.play(task, seed)
        else:  # a plain one would hold up every other episode, and who wants to stop
            play: Callable[[Task, int], Any] = live.play
            outcome = await anyio.to_thread.run_sync(play, task, seed, abandon_on_cancel=True)
        if inspect.isawaitable(outcome):
            outcome = await outcome
        episode = as_episode(outcome, f"{type(live).__name__}.play on task {task.id!r}")
        after = live.snapshot()
        learned = {agent.seat: agent.notebook for agent in after.agents}
        states = {agent.seat: agent.state for agent in after.agents}
        # The adapter has shown whom it seated; its own requests, where it reports them, say more.
        proof = {agent.seat: agent_fingerprint(seated[agent.seat]) for agent in team.team.agents}
        payloads = {**proof, **episode.payloads}
        return episode.model_copy(update={"notebooks": learned, "states": states, "payloads": payloads})
