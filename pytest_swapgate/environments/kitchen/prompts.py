"""The words that a cook is handed: role, notebook, kitchen, transcript. The same for every kind of model.

Nothing here says which condition, arm or team is being played; only the roster-change announcement, which
all conditions but ``intact`` share word for word.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_swapgate.environments.kitchen.recipes import Order
from pytest_swapgate.environments.kitchen.world import Observation, UtensilView
from pytest_swapgate.models.base import ChatMessage
from pytest_swapgate.teams.notebook import Notebook

ROLE = {
    "chef": (
        "You are the chef. Only you have the recipe. You work the pot (cook), the oven (bake) and the serving place. "
        "Your partner, the assistant, reaches the ingredient_dispenser, the chopping_board0 (cut), the blender0 (stir) "
        "and the dish_dispenser, and does not know the recipe: tell it what you need."
    ),
    "assistant": (
        "You are the assistant. You reach the ingredient_dispenser, the chopping_board0 (cut), the blender0 (stir) "
        "and the dish_dispenser. Your partner, the chef, has the recipe, the pot, the oven and the serving place: "
        "do what it asks for."
    ),
}

RULES = """Things cross between you only over the shared counter, which holds three items. A hand holds one item.
Every utensil takes 3 steps. You have a limited number of steps.
Actions: pickup(item, place); put_obj_in_utensil(utensil); place_obj_on_counter(); {verbs}; wait(n), n from 1 to 5.
In a plan you may also write request('action') for what your partner should do.
Answer in three lines:
{name} analysis: what matters now
{name} plan: action; action; ...   (replaces your queue; empty keeps it)
{name} say: words to your partner, or [NOTHING]; [END] closes the conversation"""

_VERBS = {
    "chef": "cook(pot0); bake(oven0); fill_dish_with_food(utensil); deliver_soup()",
    "assistant": "cut(chopping_board0); stir(blender0)",
}


def role_text(seat: str) -> str:
    """Return the role prompt of a seat: who it is, the rules, the message grammar."""
    return f"{ROLE[seat]}\n{RULES.format(verbs=_VERBS[seat], name=seat.capitalize())}"


def system_text(role: str, notebook: Notebook, announcement: str, order: Order | None) -> str:
    """Return the system prompt of an episode; ``order`` only for the cook who has the recipe."""
    parts = [role]
    if announcement:
        parts.append(announcement)
    parts.append(f"Your notebook:\n{notebook.render()}")
    if order is not None:
        parts.append(f"Recipe:\n{order.recipe_text}")
    return "\n\n".join(parts)


def situation_text(
    seen: Observation,
    *,
    queue: Sequence[str],
    done: Sequence[str],
    feedback: str,
    transcript: Sequence[str],
    replying: bool,
) -> str:
    """Return what a cook is told before one turn."""
    hand, partner = seen.holding if seen.agent == 0 else seen.holding[::-1]
    lines = [
        f"Step {seen.time} of {seen.limit}. Order: {seen.order}",
        f"You hold: {hand or 'nothing'}",
        f"Partner holds: {partner or 'nothing'}",
        f"Counter: {', '.join(item for item in seen.counters if item) or 'empty'}",
    ]
    if seen.own_counters:
        lines.append(f"Your own counters: {', '.join(seen.own_counters)}")
    lines.append("Utensils: " + "; ".join(map(_utensil_text, seen.utensils)))
    lines.append(f"Your queue: {'; '.join(queue) or 'empty'}")
    lines.append(f"You did: {'; '.join(done) or 'nothing yet'}")
    lines.extend(f"Notice: {notice}" for notice in seen.notices)
    if feedback:
        lines.append(f"Feedback: {feedback}")
    lines.append("Transcript:")
    lines.extend(transcript)
    lines.append(
        "Your partner waits for your reply." if replying else "Your queue is empty: plan what to do."
    )
    return "\n".join(lines)


def _utensil_text(view: UtensilView) -> str:
    if view.product is None:
        return f"{view.name} {'holds ' + ' + '.join(view.contents) if view.contents else 'empty'}"
    return f"{view.name} {'makes' if view.left else 'has ready'} {view.product}"


def turn_request(system: str, situation: str) -> list[ChatMessage]:
    """Return the request for one turn."""
    return [{"role": "system", "content": system}, {"role": "user", "content": situation}]
