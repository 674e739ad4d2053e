"""A hand-off in about 40 lines: the lead sees the order, only the helper knows the shelves, one line each."""

from pytest_swapgate import Episode, Message, Task

SHELVES = {"soup": "yellow", "salad": "green", "roast": "brown", "juice": "red"}
SHOWN = ((2, "leek", "soup"), (1, "lemon", "juice"), (3, "radish", "salad"), (4, "lamb", "roast"))
HELD_OUT = ("beef", "fish", "rice", "corn", "kale", "tofu", "spinach", "bread", "squash", "pork")
ROLES = {
    "lead": "You lead a kitchen. You see the order. In one line, tell your helper what is needed for which dish.",
    "helper": "You help in a kitchen. In one line, say what you take and on which shelf you put it: "
    + ", ".join(f"{dish} {shelf}" for dish, shelf in SHELVES.items()),
}
GRAMMAR = """root ::= "need " count " " word " for " word | "take " count " " word "; put " word
count ::= [1-9]
word ::= [a-z]+"""  # the server lets a model write one of these two lines and nothing else
OPTIONS = {"temperature": 0.8, "max_tokens": 20, "extra_body": {"grammar": GRAMMAR}}


class HandOff:
    seats = ("lead", "helper")
    writes_notebooks = False  # so small a model writes nothing that would help it: these teams are not formed

    def role(self, seat):
        return ROLES[seat]

    def tasks(self, split):
        dishes = [(item, dish) for item in HELD_OUT for dish in SHELVES]
        orders = SHOWN if split == "formation" else [(1 + 3 * n % 5, *dish) for n, dish in enumerate(dishes)]
        return [Task(id="{} {} {}".format(*order), split=split, data={"order": order}) for order in orders]

    async def play(self, team, task, seed):
        order, _, right = lines(*task.data["order"])
        request = await self.say(team, "lead", order, seed)
        move = await self.say(team, "helper", request, seed)
        done = [part in move.split("; ") for part in right.split("; ")]
        return Episode(
            score=float(all(done)),
            subtasks=sum(done),
            messages=[Message(sender="lead", text=request), Message(sender="helper", text=move)],
        )

    async def say(self, team, seat, heard, seed):
        messages = [{"role": "system", "content": f"{team.announcement}\n{team[seat].role}".strip()}]
        for order in SHOWN:
            question, answer = lines(*order)[self.seats.index(seat) :][:2]
            messages.append({"role": "user", "content": question})
            messages.append({"role": "assistant", "content": answer})
        messages.append({"role": "user", "content": heard})
        return await team.ask(seat, messages, seed=seed, options=OPTIONS)


def lines(count, item, dish):
    """Return what the order says, what the lead should say, and what the helper should say."""
    order = f"Order: {item} {dish}, {count} portion{'s' if count > 1 else ''}"
    return order, f"need {count} {item} for {dish}", f"take {count} {item}; put {SHELVES[dish]}"
