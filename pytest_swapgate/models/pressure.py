"""Back-pressure: how many calls one model takes at once, learned from its refusals."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.lowlevel import RunVar

_UNLIMITED = 1024
"""Calls at once beyond which a limit is no limit."""


class Pressure:
    """A limit on the calls in flight to one model: halved at a 429, one more after as many answers as it allows.

    Additive increase, multiplicative decrease (Chiu and Jain, 1989), as TCP shares a line. Without a refusal there
    is no limit; what was learned stays when one event loop ends and another begins. Make each attempt inside `call`
    and say how it went.

    Attributes
    ----------
    limit
        Calls that may be in flight at once; infinite before the first refusal.
    """

    def __init__(self) -> None:
        self.limit: float = math.inf
        self._answers = 0
        self._round = 0
        self._here: RunVar[anyio.CapacityLimiter] = RunVar("swapgate_pressure")

    def answered(self) -> None:
        """Take note of an answer."""
        if math.isinf(self.limit):
            return
        self._answers += 1
        if self._answers >= self.limit:
            self._set(self.limit + 1 if self.limit < _UNLIMITED else math.inf)

    def refused(self, started_in: int) -> None:
        """Take note of a refusal (429) of a call that started in a round.

        Calls that were in flight together are refused together: they lower the limit once.
        """
        if started_in != self._round:
            return
        self._round += 1
        self._set(max(1, math.ceil(min(self.limit, self._limiter.borrowed_tokens) / 2)))

    def _set(self, limit: float) -> None:
        self.limit = limit
        self._answers = 0
        self._limiter.total_tokens = limit

    @property
    def _limiter(self) -> anyio.CapacityLimiter:
        try:
            limiter = self._here.get()
        except LookupError:
            limiter = anyio.CapacityLimiter(self.limit)
            self._here.set(limiter)
        if limiter.total_tokens != self.limit:  # lowered or raised in another event loop
            limiter.total_tokens = self.limit
        return limiter

    @asynccontextmanager
    async def call(self) -> AsyncIterator[int]:
        """Wait until one more call may be in flight; gives the round that it starts in, for `refused`."""
        limiter, token = self._limiter, object()
        await limiter.acquire_on_behalf_of(token)
        try:
            yield self._round
        finally:
            limiter.release_on_behalf_of(token)

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
