"""Scores of an episode: TES, ITES, progress completeness, completed sub-tasks, collaboration capabilities.

All functions take actions as normalised text (``Action.text``), histories as chef's and assistant's list.

References
----------
Collab-Overcooked, section on process metrics (TES, ITES, initiating and responding capability), restated from
its public evaluation. "Progress completeness" is named by the paper but not computed there; here it is the
length-weighted share of the reference that was matched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_swapgate.environments.kitchen.recipes import Order

BETA = 0.95
"""Weight of precision against progress in TES, as in the benchmark."""
_BETA2 = BETA * BETA

Histories = tuple[Sequence[str], Sequence[str]]
"""Completed actions of chef and assistant."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation, as its scoring needs it.

    Attributes
    ----------
    responder : int
        The cook who did not begin it: 0 chef, 1 assistant.
    history : tuple of str
        H: what the responder had completed before it.
    requested : tuple of str
        R: actions the initiator asked the responder for. Leave out what the responder cannot reach.
    planned : tuple of str
        R^: actions the responder then planned, without waits and requests.
    """

    responder: int
    history: tuple[str, ...]
    requested: tuple[str, ...]
    planned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Collaboration:
    """Capabilities over conversations, each a share in [0, 1]; both 0 where there was no conversation.

    Attributes
    ----------
    initiating : float
        Share of conversations whose request, if carried out, raises the responder's TES (c1 > 0).
    responding : float
        Share in which the responder's own plan does (c3 > 0).
    conversations : int
        How many there were.
    """

    initiating: float
    responding: float
    conversations: int


def matched(reference: Sequence[str], history: Iterable[str]) -> int:
    """Return D: length of the longest prefix of the reference found in the history in order, gaps allowed.

    The greedy match from the first fitting action is the longest one.
    """
    depth, length = 0, len(reference)
    for action in history:
        if depth == length:
            break
        if action == reference[depth]:
            depth += 1
    return depth


def tes(reference: Sequence[str], history: Sequence[str]) -> float:
    """Trajectory efficiency score of one cook against one reference.

    ``(1 + b^2) D / (|reference| + b^2 |history|)`` with b = 0.95.

    Parameters
    ----------
    reference, history : sequence of str
        The reference must not be empty.

    Returns
    -------
    float
        In [0, 1]; 1 where history and reference are equal.

    Raises
    ------
    ValueError
        If the reference is empty.
    """
    if not reference:
        raise ValueError("reference=(): accepted is a sequence of at least one action")
    return _score(matched(reference, history), len(reference), len(history))


def _score(depth: int, reference: int, history: int) -> float:
    if depth == reference == history:
        return 1.0  # exact, where the fraction can be off by a rounding
    return (1 + _BETA2) * depth / (reference + _BETA2 * history)


def _check_agent(agent: int, what: str = "agent") -> None:
    if isinstance(agent, bool) or agent not in (0, 1):
        raise ValueError(f"{what}={agent!r}: accepted is 0 (chef) or 1 (assistant)")


def _best(order: Order, agent: int, history: Sequence[str]) -> tuple[float, int, int]:
    """Return the highest TES over the references, and D and length of the reference that gave it."""
    best = (-1.0, 0, 1)
    size = len(history)
    for reference in order.references:
        actions = reference[agent]
        depth = matched(actions, history)
        found = (_score(depth, len(actions), size), depth, len(actions))
        if found > best:
            best = found
            if depth == size:  # every action matched: no reference does better, all being of one length
                break
    return best


def max_tes(order: Order, agent: int, history: Sequence[str]) -> float:
    """Return a cook's TES against the reference that fits best.

    Parameters
    ----------
    order : Order
    agent : int
        0 chef, 1 assistant.
    history : sequence of str
        What that cook completed.
    """
    _check_agent(agent)
    return _best(order, agent, history)[0]


def ites(order: Order, agent: int, after: Sequence[str], before: Sequence[str]) -> float:
    """Return what a change of history does to a cook's TES: best TES after minus before, in [-1, 1]."""
    _check_agent(agent)
    return _best(order, agent, after)[0] - _best(order, agent, before)[0]


def team_tes(order: Order, histories: Histories) -> float:
    """Return the two cooks' max TES, weighted by the length of their references, in [0, 1]."""
    chef = _best(order, 0, histories[0])
    assistant = _best(order, 1, histories[1])
    return (chef[0] * chef[2] + assistant[0] * assistant[2]) / (chef[2] + assistant[2])


def completed_subtasks(order: Order, histories: Histories) -> int:
    """Return how many reference actions were matched: the sub-tasks done so far, both cooks together."""
    return _best(order, 0, histories[0])[1] + _best(order, 1, histories[1])[1]


def progress_completeness(order: Order, histories: Histories) -> float:
    """Return how much of the order's work was done, 0..100.

    D/|reference| of each cook, against the reference that fits that cook best, weighted by reference length.
    """
    chef = _best(order, 0, histories[0])
    assistant = _best(order, 1, histories[1])
    return 100.0 * (chef[1] + assistant[1]) / (chef[2] + assistant[2])


def conversation_effects(order: Order, conversation: Conversation) -> tuple[float, float, float]:
    """Return c1, c2, c3 of a conversation.

    With the responder's history H, requested actions R and its plan R^: c1 = ITES(H+R, H),
    c2 = ITES(H+R, H+R^), c3 = ITES(H+R^, H).
    """
    _check_agent(conversation.responder, "responder")
    agent, history = conversation.responder, conversation.history
    now = _best(order, agent, history)[0]
    asked = _best(order, agent, history + conversation.requested)[0]
    planned = _best(order, agent, history + conversation.planned)[0]
    return asked - now, asked - planned, planned - now


def collaboration(order: Order, conversations: Sequence[Conversation]) -> Collaboration:
    """Return initiating and responding capability from the signs of c1 and c3.

    The original reads them off a confusion matrix that leaves out some combinations of signs; here every
    conversation counts.
    """
    if not conversations:
        return Collaboration(0.0, 0.0, 0)
    effects = [conversation_effects(order, conversation) for conversation in conversations]
    total = len(effects)
    return Collaboration(
        initiating=sum(c1 > 0 for c1, _, _ in effects) / total,
        responding=sum(c3 > 0 for _, _, c3 in effects) / total,
        conversations=total,
    )
