"""The request with which an agent rewrites its notebook after an episode."""

from __future__ import annotations

from pytest_swapgate.models.base import ChatMessage
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.playing import PlayingTeam
from pytest_swapgate.teams.episode import Episode, FailureClass
from pytest_swapgate.teams.notebook import BUDGET, PARTNER_HEADING, TASK_HEADING, Notebook


async def rewrite_notebooks(
    team: PlayingTeam, episode: Episode, *, seed: int, budget: int = BUDGET
) -> dict[str, Notebook]:
    """Let every agent rewrite its notebook and return seat -> notebook; one that cannot keeps the old one.

    Parameters
    ----------
    budget
        Tokens a notebook may hold; what is over it is cut and the cut is recorded.
    """
    said = "\n".join(f"[{m.step}] {m.sender}: {m.text}" for m in episode.messages)
    happened = "\n".join(episode.events)
    rewritten = {}
    for seat in team.seats:
        old = team.notebook(seat)
        request = _request(team[seat].role, old, episode, said, happened, budget)
        try:
            text = await team.ask(seat, request, seed=seed, max_tokens=3 * budget)
        except ModelError as error:
            if error.failure is not FailureClass.AGENT:
                raise
            text = ""  # the episode was played all the same
        rewritten[seat] = Notebook.parse(text, budget=budget) if text.strip() else old
    return rewritten


def _request(
    role: str, notebook: Notebook, episode: Episode, said: str, happened: str, budget: int
) -> list[ChatMessage]:
    debrief = (
        f"The episode is over. Task: {episode.task_id}\n"
        f"Score: {episode.score:.2f} of 1.\n\n"
        f"Your notebook:\n{notebook.render()}\n"
        f"What was said:\n{said}\n\n"
        f"What happened:\n{happened}\n\n"
        f"Rewrite your notebook in at most {budget} tokens, in short sentences, for your next episode. "
        f"Use exactly two headings: '{TASK_HEADING}' for what is true with any partner, and "
        f"'{PARTNER_HEADING}' for what you know of this teammate: habits, what must be said, agreed words."
    )
    return [
        {"role": "system", "content": role or "You are one of a team."},
        {"role": "user", "content": debrief},
    ]
