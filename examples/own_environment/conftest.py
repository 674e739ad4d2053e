"""An environment of one's own in about 30 lines: a shop, a warehouse, and the words they agree on."""

import random

import pytest

from pytest_swapgate import Episode, Message, Notebook, Task

ITEMS = ("bolts", "nuts", "washers", "hinges", "brackets", "screws", "clamps", "pins")


class Warehouse:
    seats = ("shop", "store")

    def tasks(self, split):
        first, last = (0, 4) if split == "formation" else (4, 8)
        return [Task(id=item, split=split) for item in ITEMS[first:last]]

    def play(self, team, task, seed):
        rng = random.Random(f"{seed}{team.notebook('shop').render()}{team.notebook('store').render()}")
        shop, store = (self.words(team, seat) for seat in self.seats)
        word = shop or rng.choice(["quick", "pronto", "zip"])
        messages = [Message(sender="shop", text=f"{word} {task.id}", kind="request")]
        if store != word:
            messages.append(Message(sender="store", text=f"{word}?", kind="clarification"))
            messages.append(Message(sender="shop", text=f"please send {task.id} today", kind="request again"))
        messages.extend(Message(sender="store", text="sent", kind="status") for _ in range(rng.randint(1, 4)))
        note = Notebook.write(f"Last item {task.id} with {seed}.", f"The word is {word}.")
        on_time = rng.uniform(0.8, 1.0) if store == word else rng.uniform(0.75, 1.0)
        return Episode(
            score=on_time, messages=messages, subtasks=4, notebooks=dict.fromkeys(self.seats, note)
        )

    def words(self, team, seat):
        return team.notebook(seat).partner_notes.removeprefix("The word is ").rstrip(".")


@pytest.fixture(scope="session")
def swapgate_environment():
    return Warehouse()
