"""Caps on what a run may spend: money and episodes."""

from __future__ import annotations

import math
import threading

from pytest_swapgate.runner.errors import BudgetReachedError
from pytest_swapgate.teams.episode import Usage


class Purse:
    """Counts what was played and refuses to start more than the caps allow.

    An episode in flight may finish; none starts once a cap is reached.

    Parameters
    ----------
    usd
        Cap in US dollars, > 0; None for no cap.
    episodes
        Cap on episodes played (not on those read from evidence), >= 1; None for no cap.

    Attributes
    ----------
    played, read
        Episodes played, and episodes read from the evidence file.
    usage
        What the played ones consumed.
    """

    def __init__(self, *, usd: float | None = None, episodes: int | None = None) -> None:
        if usd is not None and (isinstance(usd, bool) or not (math.isfinite(usd) and usd > 0)):
            raise ValueError(f"budget must be a number of US dollars > 0, got {usd!r}")
        if episodes is not None and (
            isinstance(episodes, bool) or not isinstance(episodes, int) or episodes < 1
        ):
            raise ValueError(f"max_episodes must be a whole number >= 1, got {episodes!r}")
        self._usd = usd
        self._episodes = episodes
        self._lock = threading.Lock()
        self._started = 0
        self.played = 0
        self.read = 0
        self.usage = Usage()

    def start(self) -> None:
        """Ask to start one episode.

        Raises
        ------
        BudgetReachedError
            When a cap is reached, or when a dollar cap meets a price that is not known.
        """
        with self._lock:
            if self._episodes is not None and self._started >= self._episodes:
                raise BudgetReachedError(
                    f"the cap of {self._episodes} episodes is reached: raise --swapgate-max-episodes; "
                    "what was played is kept and will be read"
                )
            if self._usd is not None:
                if self.usage.usd is None:
                    raise BudgetReachedError(
                        "a model answered without a price, so the budget cannot be kept: "
                        "use a model that litellm has a price for, or cap with --swapgate-max-episodes"
                    )
                if self.usage.usd >= self._usd:
                    raise BudgetReachedError(
                        f"the budget of USD {self._usd:g} is reached: raise --swapgate-budget; "
                        "what was played is kept and will be read"
                    )
            self._started += 1

    def finish(self, usage: Usage) -> None:
        """Book a played episode."""
        with self._lock:
            self.played += 1
            self.usage = self.usage + usage

    def found(self) -> None:
        """Book an episode that was read instead of played."""
        with self._lock:
            self.read += 1
