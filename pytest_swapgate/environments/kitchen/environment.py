"""The kitchen as an environment: two seats, levels that form and levels that are held out."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_swapgate.environments.base import source_digest
from pytest_swapgate.environments.kitchen.cooks import SimulatedCooks
from pytest_swapgate.environments.kitchen.play import SEATS, TURN_CAP, KitchenEpisode
from pytest_swapgate.environments.kitchen.prompts import role_text
from pytest_swapgate.environments.kitchen.recipes import LEVELS, order, orders
from pytest_swapgate.models.base import ChatModel
from pytest_swapgate.models.playing import PlayingTeam
from pytest_swapgate.teams.episode import Episode, Split, Task, Usage

RULES_VERSION = "1"
"""Changes whenever the same prompt could lead to another episode."""
EXPECTED_USAGE = Usage(calls=57, prompt_tokens=36_000, completion_tokens=3_000)
"""What an episode on level 6 asks of its models, notebook rewriting included; for price estimates."""


class KitchenEnvironment:
    """Collab-Overcooked: a chef with the recipe and an assistant with the ingredients.

    Parameters
    ----------
    formation_level, held_out_level
        Levels 1 to 6 that teams form on and are measured on. The swap-test paper uses 1 -> 2
        (low coupling) and 5 -> 6 (high coupling, the default).
    turn_cap
        Messages in one conversation at most, >= 1.

    Notes
    -----
    Score is progress completeness (0..100, here as 0..1); cost is messages per completed sub-task, a sub-task
    being one matched reference action.
    """

    seats = SEATS
    units = ("PC", 100.0)

    def __init__(
        self, *, formation_level: int = 5, held_out_level: int = 6, turn_cap: int = TURN_CAP
    ) -> None:
        for name, level in (("formation_level", formation_level), ("held_out_level", held_out_level)):
            if isinstance(level, bool) or not isinstance(level, int) or level not in LEVELS:
                raise ValueError(f"{name}={level!r}: accepted is a whole number from 1 to 6")
        if isinstance(turn_cap, bool) or not isinstance(turn_cap, int) or turn_cap < 1:
            raise ValueError(f"turn_cap={turn_cap!r}: accepted is a whole number >= 1")
        self.formation_level = formation_level
        self.held_out_level = held_out_level
        self.turn_cap = turn_cap

    @property
    def digest(self) -> str:
        """Identity of the rules; a subclass adds its own source."""
        rules = f"kitchen/{RULES_VERSION}/turn_cap={self.turn_cap}"
        return rules if type(self) is KitchenEnvironment else f"{rules}/{source_digest(self)}"

    def role(self, seat: str) -> str:
        """Return the role prompt of a seat."""
        return role_text(seat)

    def tasks(self, split: Split) -> Sequence[Task]:
        """Return the five orders of the split's level."""
        level = self.formation_level if split == "formation" else self.held_out_level
        return tuple(Task(id=o.name, split=split, data={"level": o.level}) for o in orders(level))

    async def play(self, team: PlayingTeam, task: Task, seed: int) -> Episode:
        """Play one order."""
        return await KitchenEpisode(team, order(task.id), seed, turn_cap=self.turn_cap).play()

    def simulated(self, name: str) -> ChatModel:
        """Return the simulated cooks of that name."""
        return SimulatedCooks(name)
