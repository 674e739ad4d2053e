"""Plain functions stay in the thread of their test, while the comparison that calls them runs in another."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import anyio

T = TypeVar("T")
_Answer = tuple[Any, BaseException | None]


class ThisThread:
    """Runs a comparison aside and, here, the functions that it calls.

    A function may then call ``asyncio.run`` itself, and use what belongs to the thread of its test: a connection of
    SQLite, a transaction of Django, a browser.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def arm(self, function: Callable[[Any, int], Any]) -> Callable[[Any, int], Awaitable[Any]]:
        """Return what the comparison calls instead: it hands the call over and waits for the answer."""

        def handed_over(task: Any, seed: int) -> Awaitable[Any]:
            answer: Future[_Answer] = Future()

            def call() -> None:
                if answer.set_running_or_notify_cancel():
                    answer.set_result(_answer(function, task, seed))

            self._calls.put(call)
            return _awaited(answer)

        return handed_over

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run the work to its end and return its result, or raise what it raised."""
        outcome: Future[T] = Future()

        def aside() -> None:
            try:
                outcome.set_result(anyio.run(work))
            except BaseException as error:
                outcome.set_exception(error)
            finally:
                self._calls.put(None)

        thread = Thread(target=contextvars.copy_context().run, args=(aside,), name="swapgate", daemon=True)
        thread.start()
        while (call := self._calls.get()) is not None:
            call()
        thread.join()
        return outcome.result()


def _answer(function: Callable[[Any, int], Any], task: Any, seed: int) -> _Answer:
    try:
        return function(task, seed), None
    except BaseException as error:
        # As a value: a future does not take every exception (StopIteration).
        return None, error


async def _awaited(answer: Future[_Answer]) -> Any:
    outcome, error = await asyncio.wrap_future(answer)
    if isinstance(error, StopIteration):  # a coroutine may not raise it
        raise RuntimeError("StopIteration, from a next() with nothing left").with_traceback(
            error.__traceback__
        )
    if error is not None:
        raise error
    return await outcome if inspect.isawaitable(outcome) else outcome
