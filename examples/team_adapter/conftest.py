"""The adapter: four methods around one live team, and the fixture that hands it to the gates."""

import json

import pytest
from newsroom import Member, Newsroom

from pytest_swapgate import AdaptedEnvironment, Agent, Episode, Message, Task, Team


class NewsroomAdapter:
    def __init__(self):
        self.room = Newsroom()

    def snapshot(self):
        agents = [
            Agent(seat=seat, model=member.model, state=json.dumps(member.memory))
            for seat, member in self.room.members.items()
        ]
        return Team(id="newsroom", agents=agents)

    def restore(self, team):
        for agent in team.agents:
            self.change_seat(agent.seat, agent)

    def change_seat(self, seat, occupant):
        self.room.members[seat] = Member(occupant.model, json.loads(occupant.state))

    def play(self, task, seed):  # may be async
        score, said = self.room.publish(task.id, seed)
        messages = [Message(sender=sender, kind=kind, text=text) for sender, kind, text in said]
        return Episode(score=score, messages=messages, subtasks=4)


FORMATION = [Task(id=topic, split="formation") for topic in ("harbour", "council", "school", "weather")]
HELD_OUT = [Task(id=topic) for topic in ("elections", "railway", "football", "hospital", "market")]


@pytest.fixture(scope="session")
def swapgate_environment():
    return AdaptedEnvironment(NewsroomAdapter, FORMATION + HELD_OUT)
