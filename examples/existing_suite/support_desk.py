"""An ordinary application: two agents answer support tickets. It knows nothing of gates.

The agents here are rules with a random hand, so that the example runs anywhere; yours call models.
"""

import random

INTENTS = {"refund": "billing", "invoice": "billing", "crash": "engineering", "login": "engineering"}


def triage(text: str, rng: random.Random, *, error_rate: float) -> str:
    """Read a ticket and route it to a desk."""
    if rng.random() < error_rate:
        return rng.choice(["billing", "engineering", "sales"])
    return next((desk for word, desk in INTENTS.items() if word in text), "sales")


def resolve(desk: str, text: str, rng: random.Random) -> str:
    """Answer from a desk; a ticket at the wrong desk is seldom solved."""
    right = next((d for word, d in INTENTS.items() if word in text), "sales")
    return "solved" if desk == right or rng.random() < 0.1 else "escalated"


def answer(text: str, seed: int, *, triage_error_rate: float = 0.05) -> str:
    """Run both agents on one ticket."""
    rng = random.Random(seed)
    return resolve(triage(text, rng, error_rate=triage_error_rate), text, rng)
