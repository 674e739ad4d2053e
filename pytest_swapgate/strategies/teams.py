"""Strategies for notebooks, agents and teams."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from pytest_swapgate.teams import Agent, Notebook, Team

SEATS = ("planner", "executor")
MODELS = ("simulated/a", "simulated/b")

_WORDS = (
    "wait",
    "ask",
    "tell",
    "me",
    "when",
    "the",
    "pot",
    "is",
    "ready",
    "never",
    "before",
    "7",
    "ä",
    "rôle",
)
_SENTENCE = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(lambda words: " ".join(words) + ".")


def notebooks(
    *, notes: SearchStrategy[str] | None = None, budget: int = 200, empty: bool = True
) -> SearchStrategy[Notebook]:
    """Generate notebooks within their budget; shrinks to empty sections.

    Parameters
    ----------
    notes
        Strategy for the text of one section; default: up to four short sentences.
    budget
        Tokens that both sections may hold together, >= 1.
    empty
        Whether a section may be empty.
    """
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise ValueError(f"budget must be a whole number >= 1, got {budget!r}")
    if notes is None:
        notes = st.lists(_SENTENCE, min_size=0 if empty else 1, max_size=4).map(" ".join)
    written = st.builds(lambda task, partner: Notebook.write(task, partner, budget=budget), notes, notes)
    if empty:
        return written
    return written.filter(lambda notebook: bool(notebook.task_notes and notebook.partner_notes))


def agents(
    seat: str,
    *,
    models: Sequence[str] = MODELS,
    notebook: SearchStrategy[Notebook] | None = None,
) -> SearchStrategy[Agent]:
    """Generate occupants of one seat.

    Parameters
    ----------
    seat
        The role slot, not empty.
    models
        Model names to choose from, at least one; shrinks to the first.
    notebook
        Strategy for the notebook; default: `notebooks`.
    """
    if not isinstance(seat, str) or not seat:
        raise ValueError(f"seat must be a non-empty string, got {seat!r}")
    names = _names("models", models, 1)
    return st.builds(
        Agent,
        seat=st.just(seat),
        model=st.sampled_from(names),
        role=st.sampled_from((f"You are the {seat}.", "")),
        notebook=notebooks() if notebook is None else notebook,
    )


def teams(
    seats: Sequence[str] = SEATS,
    *,
    models: Sequence[str] = MODELS,
    notebook: SearchStrategy[Notebook] | None = None,
) -> SearchStrategy[Team]:
    """Generate formed teams, not under any roster change.

    Parameters
    ----------
    seats
        At least two distinct role slots, in seat order.
    models
        Model names that each agent's model is drawn from.
    notebook
        Strategy for each agent's notebook; default: `notebooks`.
    """
    slots = _names("seats", seats, 2)
    occupants = st.tuples(*(agents(seat, models=models, notebook=notebook) for seat in slots))
    return st.builds(Team, id=st.integers(0, 99).map("team-{}".format), agents=occupants)


def _names(what: str, values: Sequence[str], least: int) -> tuple[str, ...]:
    accepted = f"at least {least} distinct, non-empty string(s)"
    if isinstance(values, str) or not all(isinstance(value, str) and value for value in values):
        raise ValueError(f"{what} must be {accepted}, got {values!r}")
    names = tuple(values)
    if len(names) < least or len(set(names)) != len(names):
        raise ValueError(f"{what} must be {accepted}, got {values!r}")
    return names
