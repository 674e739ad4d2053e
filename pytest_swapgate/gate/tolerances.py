"""What a marker declares, validated. Light enough to be imported at collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from pytest_swapgate.shortening import written

SMALLEST = 0.0001
"""The smallest level, effect and share that can be declared: a tenth of this is beyond any affordable sample."""
LARGEST_ALPHA = 0.25
LEAST_POWER = 0.5
"""A gate that is wrong more often, or misses harm more often, than this is no gate."""
MOST_FAMILY = 1_000
MOST_TRIALS = 100_000
MOST_K = 1_000
_EDGE = 1e-6
"""How far a power must stay below 1 - alpha, where no sample is large enough."""


class ToleranceError(ValueError):
    """A marker argument that cannot be; names the argument, its value and what is accepted."""


def _number(name: str, value: Any, *, low: float, high: float, accepted: str) -> None:
    # Compared as it is: a whole number may be too large for a float.
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not (good and low <= value <= high):
        raise ToleranceError(f"{name}={written(value)}: accepted is {accepted}")


def _whole(name: str, value: Any, *, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ToleranceError(f"{name}={written(value)}: accepted is a whole number from {least} to {most:,}")


def _effect(name: str, value: Any, limit: float) -> None:
    accepted = f"a number in [{SMALLEST:g}, {limit:g}]: what must be detected may not exceed the tolerance"
    _number(name, value, low=SMALLEST, high=limit, accepted=accepted)


def _share(name: str, value: Any) -> None:
    _number(name, value, low=SMALLEST, high=1.0, accepted=f"a share in [{SMALLEST:g}, 1]")


def _seat(value: Any) -> None:
    if value is not None and (not isinstance(value, str) or not value):
        raise ToleranceError(f"seat={written(value)}: accepted is the name of a seat, or None to draw one")


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """What every gate declares; ``marker`` is its name, ``example`` shows it written down.

    Attributes
    ----------
    alpha
        One-sided level of the gate, in [0.0001, 0.25]; split over its metrics and its family on the FAIL side.
    power
        Planned chance to fail a harm of the size of the tolerance, in [0.5, 1 - alpha): the rule passes such a harm
        with probability alpha.
    family
        Gates that are decided together (seats), from 1 to 1,000; metrics inside a gate are counted by themselves.
    trials
        Trials of each task for two callables, from 1 to 100,000; None takes what the plan needs.
    """

    marker: ClassVar[str] = ""
    example: ClassVar[str] = ""

    alpha: float = 0.05
    power: float = 0.9
    family: int = 1
    trials: int | None = None

    def __post_init__(self) -> None:
        accepted = f"a number in [{SMALLEST:g}, {LARGEST_ALPHA:g}]"
        _number("alpha", self.alpha, low=SMALLEST, high=LARGEST_ALPHA, accepted=accepted)
        accepted = f"a number in [{LEAST_POWER:g}, {1 - self.alpha:g}), the upper end being 1 - alpha"
        _number("power", self.power, low=LEAST_POWER, high=1 - self.alpha - _EDGE, accepted=accepted)
        _whole("family", self.family, least=1, most=MOST_FAMILY)
        if self.trials is not None:
            _whole("trials", self.trials, least=1, most=MOST_TRIALS)

    @classmethod
    def accepted(cls) -> tuple[str, ...]:
        """Names of the marker's arguments, its own before those that every marker takes."""
        shared = {field.name for field in fields(Tolerance)}
        names = [field.name for field in fields(cls)]
        return tuple(sorted(names, key=lambda name: name in shared))

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Tolerance:
        """Build from a marker's keyword arguments.

        Raises
        ------
        ToleranceError
            For an unknown name or a bad value.
        """
        for name in arguments:
            if name not in cls.accepted():
                raise ToleranceError(
                    f"{name}={written(arguments[name])} is unknown: accepted are {', '.join(cls.accepted())}"
                )
        made = cls(**arguments)
        object.__setattr__(made, "_given", frozenset(arguments))
        made.check_together()
        return made

    def check_together(self) -> None:
        """Refuse arguments that exclude each other; called once it is known which were written down."""

    def explicit(self, name: str) -> bool:
        """Whether an argument was written down, be it with its default value."""
        default = next(field.default for field in fields(self) if field.name == name)
        return name in getattr(self, "_given", ()) or getattr(self, name) != default


@dataclass(frozen=True, kw_only=True)
class SwapPenalty(Tolerance):
    """``swap_penalty``: what a change of an occupant may cost.

    Attributes
    ----------
    score
        Largest tolerable drop of the mean score, in [0.0001, 1]; None does not gate the score.
    cost
        Largest tolerable relative rise of messages per completed sub-task, in [0.0001, 100]; None does not gate the
        cost.
    seat
        Seat that arms without one change; None takes the seat that each swap pair drew.
    mde
        Smallest drop of score that the sample must be able to detect; defaults to ``score``, may not exceed it.
        In a gate of the cost alone it is the smallest rise of cost.
    cost_mde
        The same for the cost beside a score; defaults to ``cost``.
    discordance
        Planning guess for two callables: share of pairs in which exactly one arm succeeds, in [0.0001, 1].
    sequential
        Stop at one of five planned looks as soon as the score is decided (O'Brien-Fleming spending on both sides).
        For two functions that return successes, one trial a task.
    score_sd, cost_sd
        Planning guesses for teams: standard deviation, between units, of the drop of score and of the log ratio of
        costs; None takes built-in guesses, which ``--swapgate-plan`` prints.
    """

    marker: ClassVar[str] = "swap_penalty"
    example: ClassVar[str] = "swap_penalty(score=0.05, cost=0.20)"

    score: float | None = 0.05
    cost: float | None = 0.20
    seat: str | None = None
    mde: float | None = None
    cost_mde: float | None = None
    discordance: float = 0.3
    score_sd: float | None = None
    cost_sd: float | None = None
    sequential: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.score is None and self.cost is None:
            raise ToleranceError("score=None, cost=None: accepted is a tolerance for at least one of them")
        if self.score is not None:
            accepted = f"a drop of score in [{SMALLEST:g}, 1], or None"
            _number("score", self.score, low=SMALLEST, high=1.0, accepted=accepted)
        if self.cost is not None:
            accepted = f"a relative rise in [{SMALLEST:g}, 100], or None"
            _number("cost", self.cost, low=SMALLEST, high=100.0, accepted=accepted)
        _seat(self.seat)
        for name, value, limit in (
            ("mde", self.mde, self.score if self.score is not None else self.cost),
            ("cost_mde", self.cost_mde, self.cost),
        ):
            if value is None:
                continue
            if limit is None:
                raise ToleranceError(f"{name}={written(value)}: accepted only beside cost=...")
            _effect(name, value, limit)
        _share("discordance", self.discordance)
        if not isinstance(self.sequential, bool):
            raise ToleranceError(f"sequential={written(self.sequential)}: accepted is True or False")
        self.check_together()
        for name, value, most in (("score_sd", self.score_sd, 1.0), ("cost_sd", self.cost_sd, 10.0)):
            if value is not None:
                accepted = f"a standard deviation in [{SMALLEST:g}, {most:g}], or None"
                _number(name, value, low=SMALLEST, high=most, accepted=accepted)

    def check_together(self) -> None:
        """Refuse a sequential gate of anything but the score, also where the cost that was given is the default."""
        costs = self.cost is not None and self.explicit("cost")
        if self.sequential and (self.score is None or costs or self.trials not in (None, 1)):
            raise ToleranceError(
                "sequential=True: accepted beside a score tolerance alone, without cost=... and with one trial a task"
            )

    @property
    def score_effect(self) -> float | None:
        """Drop of score that the sample is planned for."""
        return self.mde if self.mde is not None and self.score is not None else self.score

    @property
    def cost_effect(self) -> float | None:
        """Relative rise of cost that the sample is planned for."""
        if self.cost_mde is not None:
            return self.cost_mde
        return self.mde if self.mde is not None and self.score is None else self.cost


@dataclass(frozen=True, kw_only=True)
class ActivePassK(Tolerance):
    """``active_pass_k``: how far coordination-active pass^k may drop.

    Attributes
    ----------
    k
        Successes in a row that are asked for, from 1 to 1,000.
    drop
        Largest tolerable drop of pass^k, in [0.0001, 1].
    mde
        Smallest drop that the sample must be able to detect; defaults to ``drop``, may not exceed it.
    discordance
        Planning guess: share of tasks on which exactly one arm passes k times, in [0.0001, 1].
    seat
        As of ``swap_penalty``.
    """

    marker: ClassVar[str] = "active_pass_k"
    example: ClassVar[str] = "active_pass_k(k=2, drop=0.10)"

    k: int = 2
    drop: float = 0.10
    mde: float | None = None
    discordance: float = 0.3
    seat: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _whole("k", self.k, least=1, most=MOST_K)
        accepted = f"a drop of pass^k in [{SMALLEST:g}, 1]"
        _number("drop", self.drop, low=SMALLEST, high=1.0, accepted=accepted)
        if self.mde is not None:
            _effect("mde", self.mde, self.drop)
        _share("discordance", self.discordance)
        if self.trials is not None and self.trials < self.k:
            raise ToleranceError(f"trials={self.trials!r}: accepted is a whole number >= k={self.k}")
        _seat(self.seat)

    @property
    def effect(self) -> float:
        """Drop that the sample is planned for."""
        return self.drop if self.mde is None else self.mde


GATES: dict[str, type[Tolerance]] = {cls.marker: cls for cls in (SwapPenalty, ActivePassK)}
"""Marker name -> what it declares."""
