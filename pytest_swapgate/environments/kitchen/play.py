"""One episode: two cooks, a clock, conversations, and what came of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pytest_swapgate.environments.kitchen import prompts, scoring
from pytest_swapgate.environments.kitchen.actions import Action, within_reach
from pytest_swapgate.environments.kitchen.grammar import Turn, message_kind, near_duplicate, parse_turn
from pytest_swapgate.environments.kitchen.recipes import Order
from pytest_swapgate.environments.kitchen.validator import problem
from pytest_swapgate.environments.kitchen.world import World
from pytest_swapgate.models.playing import PlayingTeam
from pytest_swapgate.teams.episode import Episode, Message

SEATS = ("chef", "assistant")
TURN_CAP = 6
"""Messages in one conversation at most; the original has no cap."""
PATIENCE = 5
"""Steps that an action may stand blocked before its cook is asked again."""
_WAIT = parse_turn("plan: wait(1)").plan


@dataclass(slots=True)
class _Cook:
    """What the loop keeps of one cook."""

    system: str
    queue: deque[Action] = field(default_factory=deque)
    feedback: str = ""
    blocked: int = 0


class KitchenEpisode:
    """Plays one order with one team; used once.

    Parameters
    ----------
    team
        Agents in the seats ``chef`` and ``assistant``.
    order
        What is to be cooked.
    seed
        Seeds every model call of the episode.
    turn_cap
        Messages in one conversation at most.
    """

    def __init__(self, team: PlayingTeam, order: Order, seed: int, *, turn_cap: int = TURN_CAP) -> None:
        self._team = team
        self._world = World(order)
        self._seed = seed
        self._turn_cap = turn_cap
        self._cooks = tuple(
            _Cook(
                prompts.system_text(
                    team[seat].role, team.notebook(seat), team.announcement, order if seat == "chef" else None
                )
            )
            for seat in SEATS
        )
        self._messages: list[Message] = []
        self._transcript: list[str] = []
        self._events: list[str] = []
        self._conversations: list[scoring.Conversation] = []

    async def play(self) -> Episode:
        """Play until delivery or the time limit."""
        world, cooks = self._world, self._cooks
        while not world.finished:
            for agent in (0, 1):
                if not cooks[agent].queue:
                    await self._decide(agent)
            heads = [cook.queue[0] if cook.queue else None for cook in cooks]
            for agent, outcome in enumerate(world.step(heads[0], heads[1])):
                self._after_step(agent, outcome.status, outcome.reason)
            for notice in world.notices:
                self._event(notice)
        return self._episode()

    def _after_step(self, agent: int, status: str, reason: str) -> None:
        cook = self._cooks[agent]
        if not cook.queue:
            return
        if status in ("done", "moving"):
            cook.blocked = 0
            if status == "done":
                cook.queue.popleft()
                cook.feedback = reason
            return
        if status == "waiting" and cook.queue[0].steps == 0:
            cook.blocked += 1
        if status == "failed" or cook.blocked > PATIENCE:
            self._refuse(agent, cook.queue[0].text, reason)
            cook.queue.clear()
            cook.blocked = 0

    def _refuse(self, agent: int, what: str, reason: str) -> None:
        self._cooks[agent].feedback = f"{what} did not work. {reason}"
        self._event(f"{SEATS[agent]}: {what} did not work. {reason}")

    def _event(self, text: str) -> None:
        self._events.append(f"[{self._world.time}] {text}")

    async def _ask(self, agent: int, *, replying: bool) -> Turn:
        cook, world = self._cooks[agent], self._world
        situation = prompts.situation_text(
            world.observation(agent),
            queue=[action.text for action in cook.queue],
            done=world.history[agent],
            feedback=cook.feedback,
            transcript=self._transcript,
            replying=replying,
        )
        text = await self._team.ask(
            SEATS[agent],
            prompts.turn_request(cook.system, situation),
            seed=self._seed,
            max_tokens=300,
        )
        return parse_turn(text)

    async def _decide(self, agent: int) -> None:
        """Ask a cook with an empty queue; a refused plan gets one self-correction, then waits a step."""
        cook = self._cooks[agent]
        turn = await self._ask(agent, replying=False)
        if self._refused(agent, turn):
            turn = await self._ask(agent, replying=False)
            if self._refused(agent, turn):
                turn = Turn(_WAIT, turn.requests, turn.say, turn.ends)
        cook.feedback = ""
        cook.queue.extend(turn.plan)
        if turn.say:
            await self._converse(agent, turn)

    def _refused(self, agent: int, turn: Turn) -> bool:
        if turn.error:
            self._refuse(agent, "The plan", turn.error)
            return True
        if turn.plan:
            found = problem(self._world, agent, turn.plan[0])
            if found is not None and not found.passing:
                self._refuse(agent, turn.plan[0].text, found.reason)
                return True
        return False

    async def _converse(self, initiator: int, opening: Turn) -> None:
        """Let the cooks talk until one has nothing to add, repeats itself, or the cap is reached."""
        responder = 1 - initiator
        before = tuple(self._world.history[responder])
        requested = opening.requests
        spoken: tuple[list[str], list[str]] = ([], [])
        speaker, turn, said = initiator, opening, 0
        while turn.say:
            self._say(speaker, turn.say)
            said += 1
            repeats = any(near_duplicate(turn.say, past) for past in spoken[speaker])
            spoken[speaker].append(turn.say)
            if turn.ends or repeats or said >= self._turn_cap:
                break
            speaker = 1 - speaker
            turn = await self._ask(speaker, replying=True)
            if turn.error:
                self._refuse(speaker, "The plan", turn.error)
            elif turn.plan:
                self._cooks[speaker].queue = deque(turn.plan)
                self._cooks[speaker].blocked = 0
            if speaker == initiator and turn.requests:
                requested = turn.requests
        self._conversations.append(
            scoring.Conversation(
                responder=responder,
                history=before,
                requested=tuple(a.text for a in requested if within_reach(responder, a)),
                planned=tuple(a.text for a in self._cooks[responder].queue if within_reach(responder, a)),
            )
        )

    def _say(self, agent: int, text: str) -> None:
        step = self._world.time
        self._messages.append(Message(sender=SEATS[agent], text=text, kind=message_kind(text), step=step))
        self._transcript.append(f"[{step}] {SEATS[agent]}: {text}")

    def _episode(self) -> Episode:
        world, order = self._world, self._world.order
        skills = scoring.collaboration(order, self._conversations)
        progress = scoring.progress_completeness(order, world.history)
        return Episode(
            score=progress / 100,
            success=world.delivered,
            messages=tuple(self._messages),
            subtasks=scoring.completed_subtasks(order, world.history),
            active=any(self._team.notebook(seat).partner_notes for seat in SEATS),
            events=tuple(self._events),
            metrics={
                "steps": world.time,
                "delivered": float(world.delivered),
                "progress_completeness": progress,
                "tes": scoring.team_tes(order, world.history),
                "initiating": skills.initiating,
                "responding": skills.responding,
                "conversations": skills.conversations,
            },
        )
