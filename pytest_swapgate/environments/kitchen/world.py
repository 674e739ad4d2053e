"""The kitchen at work: state and step engine. Plain, mutable, deterministic, fast.

Timing follows the original: in a step both cooks decide on the state they see, then deeds happen (chef
first), then utensils cook on. A step moves a cook one cell or turns it, or does one deed facing the station.
Where the original is stuck or random (see the class), this engine is not.

References
----------
Collab-Overcooked (YusaeMeow, MIT); overcooked_ai (CHAI, MIT) for movement and interaction.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_swapgate.environments.kitchen.actions import Action
from pytest_swapgate.environments.kitchen.layout import (
    DROP_ORDER,
    HERE,
    SHARED_COUNTERS,
    SIDES,
    UTENSILS,
    Cell,
)
from pytest_swapgate.environments.kitchen.recipes import COOK_TIME, FILLED, Order, product_of
from pytest_swapgate.environments.kitchen.validator import problem
from pytest_swapgate.environments.kitchen.views import Observation, Outcome, Status, Utensil, UtensilView

__all__ = ["Observation", "Outcome", "Status", "Utensil", "UtensilView", "World"]

_MOVING = Outcome("moving")
_DONE = Outcome("done")
_IDLE = Outcome("waiting", "There is nothing to do.")
_TAKEN = Outcome("waiting", "The partner took it in the same step.")
_FULL = Outcome("waiting", "The partner filled that counter in the same step.")


class World:
    """State of one episode and its step engine.

    Parameters
    ----------
    order : Order
        What is to be delivered.

    Attributes
    ----------
    time : int
        Steps gone.
    holding : list of (str or None), length 2
        One item a hand; a filled dish is ``dish:product``.
    tables : dict of counter name to item
        Items on all counters, oldest first.
    utensils : dict of name to Utensil
    delivered : bool
        True once the ordered food is served.
    history : (list of str, list of str)
        Completed actions, normalised text; waits are not in it.
    notices : tuple of str
        Mishaps of the last step, for both cooks to see.

    Notes
    -----
    Kept from the original: food operated on without a matching recipe is thrown away (the action counts as
    done); what is delivered is gone, right or wrong; raw contents cannot be taken out of a utensil again; a
    shared counter is used before a private one, the nearest first and the upper one at a tie; a dish may be
    brought to a utensil that still cooks, the cook then stands and waits there.
    Changed: a deed that can never succeed fails with a reason instead of blocking its cook for ever (a fourth
    item in a utensil, raw food or a bare product brought to serving, an unreachable place); a dish goes with
    products that need one, a filled one into no utensil; every fill is recorded as ``fill_dish_with_food``
    (the original records it as a put for all utensils but the pot, so its own references of levels 5 and 6
    cannot match in full); a utensil cooks on while another one is started (the original skips a step,
    depending on which was loaded first).
    """

    __slots__ = (
        "_stances",
        "_waits",
        "delivered",
        "history",
        "holding",
        "notices",
        "order",
        "tables",
        "time",
        "utensils",
    )

    def __init__(self, order: Order) -> None:
        if not isinstance(order, Order):
            raise ValueError(f"order={order!r}: accepted is an Order, as order('boiled_egg') gives")
        self.order = order
        self.time = 0
        self.holding: list[str | None] = [None, None]
        self.tables: dict[str, str] = {}
        self.utensils: dict[str, Utensil] = {name: Utensil() for name in UTENSILS}
        self.delivered = False
        self.history: tuple[list[str], list[str]] = ([], [])
        self.notices: tuple[str, ...] = ()
        self._stances = [SIDES[0].start, SIDES[1].start]
        self._waits = [0, 0]

    @property
    def counters(self) -> tuple[str | None, ...]:
        """Items on the three shared counters, from the top."""
        return tuple(self.tables.get(name) for name in SHARED_COUNTERS)

    @property
    def finished(self) -> bool:
        """Whether the episode is over: delivered or out of time."""
        return self.delivered or self.time >= self.order.limit

    @property
    def positions(self) -> tuple[Cell, Cell]:
        """Cells (x, y from the top left) of chef and assistant."""
        return (SIDES[0].cells[self._stances[0] >> 2], SIDES[1].cells[self._stances[1] >> 2])

    def observation(self, agent: int) -> Observation:
        """Return what a cook sees now; ``agent`` is 0 (chef) or 1 (assistant)."""
        if isinstance(agent, bool) or agent not in (0, 1):
            raise ValueError(f"agent={agent!r}: accepted is 0 (chef) or 1 (assistant)")
        tables = self.tables
        return Observation(
            agent=agent,
            order=self.order.name,
            time=self.time,
            limit=self.order.limit,
            holding=(self.holding[0], self.holding[1]),
            counters=self.counters,
            own_counters=tuple(tables[name] for name in DROP_ORDER[agent][1] if name in tables),
            utensils=tuple(
                UtensilView(name, tuple(u.contents), u.product, u.left) for name, u in self.utensils.items()
            ),
            notices=self.notices,
        )

    def step(self, chef: Action | None, assistant: Action | None) -> tuple[Outcome, Outcome]:
        """Play one step.

        Parameters
        ----------
        chef, assistant : Action or None
            Each cook's current action, given again every step until it is ``done``; None stands idle.

        Returns
        -------
        (Outcome, Outcome)
            Of chef and assistant.

        Raises
        ------
        ValueError
            If the order is already delivered.
        """
        if self.delivered:
            raise ValueError(f"step {self.time + 1}: accepted are steps until the order is delivered")
        # Both decide on the same state, before either acts.
        first = self._decide(0, chef)
        second = self._decide(1, assistant)
        if self.notices:
            self.notices = ()
        one = first if isinstance(first, Outcome) else self._go(0, chef, first)
        two = second if isinstance(second, Outcome) else self._go(1, assistant, second)
        for utensil in self.utensils.values():
            if utensil.left:
                utensil.left -= 1
        self.time += 1
        return one, two

    def _decide(self, agent: int, action: Action | None) -> Outcome | str:
        """Return the station to go to, or the outcome of a step without a deed."""
        if action is None:
            self._waits[agent] = 0
            return _IDLE
        if action.steps:
            left = (self._waits[agent] or action.steps) - 1
            self._waits[agent] = left
            return Outcome("waiting", f"Waiting, {left} step(s) left.") if left else _DONE
        self._waits[agent] = 0
        found = problem(self, agent, action)
        if found is not None:
            return Outcome("waiting" if found.passing else "failed", found.reason)
        name = action.name
        if name == "place_obj_on_counter":
            return self._nearest_free(agent)
        if name == "deliver_soup":
            return "serving"
        target = action.args[-1]
        return self._nearest_with(agent, action.args[0]) if target == "counter" else target

    def _nearest_free(self, agent: int) -> str:
        cost, stance, tables = SIDES[agent].cost, self._stances[agent], self.tables
        for group in DROP_ORDER[agent]:
            free = [name for name in group if name not in tables]
            if free:
                return min(free, key=lambda name: cost[name][stance])
        raise AssertionError("the validator lets nobody place without a free counter")

    def _nearest_with(self, agent: int, item: str) -> str:
        """Return where to fetch an item: own counters before shared, then the nearest, then the oldest."""
        cost, stance, filled = SIDES[agent].cost, self._stances[agent], FILLED + item
        found = [name for name, there in self.tables.items() if there in (item, filled) and name in cost]
        if len(found) == 1:
            return found[0]
        private = [name for name in found if name not in SHARED_COUNTERS]
        return min(private or found, key=lambda name: cost[name][stance])

    def _go(self, agent: int, action: Action | None, station: str) -> Outcome:
        ahead = SIDES[agent].walk[station][self._stances[agent]]
        if ahead != HERE:
            self._stances[agent] = ahead
            return _MOVING
        assert action is not None
        outcome = _DEEDS[action.name](self, agent, action, station)
        if outcome.status == "done":
            self.history[agent].append(action.text)
        return outcome

    def _mishap(self, text: str) -> Outcome:
        self.notices += (text,)
        return Outcome("done", text)

    def _pickup(self, agent: int, action: Action, station: str) -> Outcome:
        item = action.args[0]
        if action.args[1] == "counter":
            there = self.tables.get(station)
            if there is None or there not in (item, FILLED + item):
                return _TAKEN
            del self.tables[station]
            self.holding[agent] = there
            return _DONE
        utensil = self.utensils.get(station)
        if utensil is not None:
            utensil.empty()
        self.holding[agent] = item
        return _DONE

    def _place(self, agent: int, action: Action, station: str) -> Outcome:  # noqa: ARG002
        held = self.holding[agent]
        if station in self.tables:
            return _FULL
        assert held is not None
        self.tables[station] = held
        self.holding[agent] = None
        return _DONE

    def _put(self, agent: int, action: Action, station: str) -> Outcome:  # noqa: ARG002
        held = self.holding[agent]
        assert held is not None
        self.utensils[station].contents.append(held)
        self.holding[agent] = None
        return _DONE

    def _operate(self, agent: int, action: Action, station: str) -> Outcome:  # noqa: ARG002
        utensil = self.utensils[station]
        product = product_of(station, utensil.contents)
        if product is None:
            lost = " + ".join(utensil.contents)
            utensil.empty()
            return self._mishap(f"{lost} in {station} match no recipe and were thrown away.")
        utensil.product = product
        utensil.left = COOK_TIME
        return _DONE

    def _fill(self, agent: int, action: Action, station: str) -> Outcome:  # noqa: ARG002
        utensil = self.utensils[station]
        if utensil.left or utensil.product is None:
            return Outcome("waiting", f"{station} is still cooking, {utensil.left} step(s) left.")
        self.holding[agent] = FILLED + utensil.product
        utensil.empty()
        return _DONE

    def _deliver(self, agent: int, action: Action, station: str) -> Outcome:  # noqa: ARG002
        held = self.holding[agent]
        assert held is not None
        self.holding[agent] = None
        wanted = FILLED + self.order.name if self.order.needs_dish else self.order.name
        if held == wanted:
            self.delivered = True
            return _DONE
        return self._mishap(f"{held} is not what was ordered and is gone.")


_DEEDS: dict[str, Callable[[World, int, Action, str], Outcome]] = {
    "pickup": World._pickup,
    "place_obj_on_counter": World._place,
    "put_obj_in_utensil": World._put,
    "fill_dish_with_food": World._fill,
    "deliver_soup": World._deliver,
    **dict.fromkeys(("cook", "bake", "cut", "stir"), World._operate),
}
