"""What the engine tells: the outcome of a step, the state of a utensil, and what a cook sees."""

from __future__ import annotations

from typing import Literal, NamedTuple

Status = Literal["moving", "done", "waiting", "failed"]


class Outcome(NamedTuple):
    """What a step was for one cook.

    Attributes
    ----------
    status : str
        ``moving`` (on the way), ``done`` (the action is complete), ``waiting`` (stood still; time may help)
        or ``failed`` (stood still; as things are it never works).
    reason : str
        Why it waited or failed; with ``done`` a remark, usually empty.
    """

    status: Status
    reason: str = ""


class Utensil:
    """One utensil: ``contents`` until started, then ``product`` with ``left`` steps to go (0: ready)."""

    __slots__ = ("contents", "left", "product")

    def __init__(self) -> None:
        self.contents: list[str] = []
        self.product: str | None = None
        self.left = 0

    def empty(self) -> None:
        """Leave nothing inside."""
        self.contents.clear()
        self.product = None
        self.left = 0


class UtensilView(NamedTuple):
    """A utensil as seen: what went in, what it makes (None before its start), steps left (0 when ready)."""

    name: str
    contents: tuple[str, ...]
    product: str | None
    left: int

    @property
    def state(self) -> Literal["empty", "loaded", "cooking", "ready"]:
        """One word for it."""
        if self.product is not None:
            return "cooking" if self.left else "ready"
        return "loaded" if self.contents else "empty"


class Observation(NamedTuple):
    """What a cook sees: everything but the recipe.

    Attributes
    ----------
    agent : int
        Who looks: 0 chef, 1 assistant.
    order : str
        Name of the order.
    time, limit : int
        Steps gone, steps allowed.
    holding : (str or None, str or None)
        What chef and assistant hold.
    counters : tuple of (str or None), length 3
        Shared counters from the top.
    own_counters : tuple of str
        Items on counters only this cook reaches (used when the shared ones are full).
    utensils : tuple of UtensilView
        Pot, oven, chopping board, blender.
    notices : tuple of str
        What went wrong in the last step for both to see (food thrown away).
    """

    agent: int
    order: str
    time: int
    limit: int
    holding: tuple[str | None, str | None]
    counters: tuple[str | None, ...]
    own_counters: tuple[str, ...]
    utensils: tuple[UtensilView, ...]
    notices: tuple[str, ...]
