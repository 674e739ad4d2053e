"""A hand-off in about 40 lines: the lead sees the order, only the helper knows the shelves, one line each."""

from pytest_swapgate import Episode, Message, Task

SHELVES = {"soup": "red", "salad": "blue", "roast": "green", "juice": "black"}
SHOWN = ((2, "leek", "soup"), (1, "lemon", "juice"), (3, "radish", "salad"), (4, "lamb", "roast"))
HELD_OUT = ("beef", "fish", "rice", "corn", "kale", "melon", "spinach", "bread", "cheese", "pork")
ROLES = {
    "lead": "You lead a kitchen. You see the order. In one line, tell your helper what is needed for which dish.",
    "helper": "You help in a kitchen. In one line, say what you take and on which shelf you put it: "
    "soup red, salad blue, roast green, juice black.",
}
GRAMMAR = """root ::= "need " count " " word " for " word | "take " count " " word "; put " word
count ::= [1-9]
word ::= [a-z]+"""  # the server lets a model write one of these two lines and nothing else


class HandOff:
    seats = ("lead", "helper")
    writes_notebooks = False  # models this small write nothing that helps them: their teams are not formed

    def role(self, seat):
        return ROLES[seat]

    def tasks(self, split):
        orders = SHOWN
        if split == "held_out":
            orders = [(1 + (3 * i + d) % 5, item, dish) for i, item in enumerate(HELD_OUT) for d, dish in enumerate(SHELVES)]
        return [Task(id="{} {} {}".format(*order), split=split, data={"order": order}) for order in orders]

    async def play(self, team, task, seed):
        order, _, move = self.lines(*task.data["order"])
        request = await self.say(team, "lead", order, seed)
        answer = await self.say(team, "helper", request, seed)
        right = [said == meant for said, meant in zip(answer.split(), move.split(), strict=False)]
        said = [Message(sender="lead", text=request, kind="request"), Message(sender="helper", text=answer, kind="move")]
        return Episode(score=float(answer == move), subtasks=sum(right), messages=said)

    async def say(self, team, seat, heard, seed):
        here = self.seats.index(seat)
        messages = [{"role": "system", "content": f"{team.announcement}\n{team[seat].role}".strip()}]
        for shown in SHOWN:
            lines = self.lines(*shown)
            messages.append({"role": "user", "content": lines[here]})
            messages.append({"role": "assistant", "content": lines[here + 1]})
        return await team.ask(seat, [*messages, {"role": "user", "content": heard}], seed=seed, max_tokens=20)

    def lines(self, count, item, dish):
        portions = "1 portion" if count == 1 else f"{count} portions"
        return f"Order: {item} {dish}, {portions}", f"need {count} {item} for {dish}", f"take {count} {item}; put {SHELVES[dish]}"
