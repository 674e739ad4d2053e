"""An existing suite with its ordinary tests, and one gate beside them: two callables, no teams of ours.

pytest examples/existing_suite
"""

import pytest
from support_desk import answer, triage

TICKETS = [
    f"{opening} {problem} {n}"
    for opening in ("Hello, my", "Urgent:", "Third time now,")
    for problem in (
        "refund is late, order",
        "invoice is wrong, number",
        "app has a crash in version",
        "login fails, user",
    )
    for n in range(10)
]


def test_triage_knows_the_desks(rng):
    assert triage("my invoice is wrong", rng, error_rate=0.0) == "billing"


def test_a_crash_is_solved():
    assert answer("the app has a crash", seed=1) == "solved"


def today(ticket, seed):
    return answer(ticket, seed) == "solved"


async def next_release(ticket, seed):
    return answer(ticket, seed + 1_000_003, triage_error_rate=0.06) == "solved"


@pytest.mark.swap_penalty(score=0.10, discordance=0.15)
def test_the_new_triage_agent_solves_as_many_tickets(paired_runner):
    result = paired_runner(today, next_release, TICKETS)
    assert result.mean_score("candidate") > 0.5
