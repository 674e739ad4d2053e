"""When a cap is reached in the middle: nothing more starts, what is in flight may finish, what is known is read.

When the run itself is stopped, what is in flight is cut.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

import anyio

from pytest_swapgate.runner.errors import BudgetReachedError
from pytest_swapgate.runner.purse import Purse


class Halt:
    """Remembers that a cap was reached, so that whoever plays ends with what is there instead of with an error.

    Parameters
    ----------
    purse
        Whose caps they are.

    Attributes
    ----------
    reached
        The first cap that was reached; None while there is none.
    """

    def __init__(self, purse: Purse) -> None:
        self.reached: BudgetReachedError | None = None
        self._purse = purse
        self._waiting: set[Future[Any]] = set()

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Keep a cap that is reached inside, and end there quietly."""
        try:
            yield
        except BudgetReachedError as error:
            self.reached = self.reached or error
            self._call_back()

    def check(self) -> None:
        """Let something start.

        Raises
        ------
        BudgetReachedError
            Once a cap was reached.
        """
        if self.reached is not None:
            raise BudgetReachedError(str(self.reached))

    @contextmanager
    def cutting(self) -> Iterator[None]:
        """Cut what is awaited inside when the purse is closed.

        Raises
        ------
        BudgetReachedError
            If it was.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # trio: what is in flight finishes
            yield
            return
        with anyio.CancelScope() as scope:

            def cut() -> None:
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(scope.cancel)

            with self._purse.at_close(cut):
                yield
        if scope.cancel_called:  # even if whatever was cut has swallowed it
            self._purse.check_open()

    @contextmanager
    def sent(self, future: Future[Any]) -> Iterator[None]:
        """Know of an episode that an executor was given, while somebody waits for it."""
        self._waiting.add(future)
        try:
            yield
        finally:
            self._waiting.discard(future)

    def _call_back(self) -> None:
        """Take back what has not begun, where it would spend money or tokens that are not there."""
        try:
            self._purse.check()
        except BudgetReachedError:
            for future in tuple(self._waiting):
                future.cancel()
