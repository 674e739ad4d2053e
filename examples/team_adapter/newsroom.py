"""A team of another framework, with agents and a loop of its own. It knows nothing of gates.

The agents here are rules with a random hand, so that the example runs anywhere; yours call models.
"""

import random

CATCHES = {"careful": 0.95, "hasty": 0.30}
"""Model -> share of the mistakes that an editor with this model notices."""


class Member:
    def __init__(self, model="careful", memory=None):
        self.model = model
        self.memory = memory or {}


class Newsroom:
    """One live team: a reporter writes, an editor accepts or sends back."""

    def __init__(self):
        self.members = {"reporter": Member(), "editor": Member()}

    def publish(self, topic, seed):
        """Return the share of sound paragraphs and what was said: (sender, kind, text)."""
        reporter, editor = self.members["reporter"], self.members["editor"]
        chance = random.Random(f"{topic} {seed} {reporter.memory} {editor.memory} {editor.model}")
        code = reporter.memory.setdefault("code", f"slug-{chance.randrange(10**6)}")
        said, sound = [("reporter", "request", f"{code}: {topic}")], 0
        if editor.memory.get("code") != code:
            said += [("editor", "clarification", f"{code}?"), ("reporter", "correction", f"I mean {topic}")]
            editor.memory["code"] = code
        for number in range(4):
            said.append(("reporter", "status", f"paragraph {number} on {topic}"))
            mistake = chance.random() < 0.3
            while mistake and chance.random() < CATCHES[editor.model]:
                said.append(("editor", "correction", f"paragraph {number} is wrong"))
                said.append(("reporter", "status", f"paragraph {number} again"))
                mistake = chance.random() < 0.1
            said.append(("editor", "status", "accepted"))
            sound += not mistake
        return sound / 4, said
