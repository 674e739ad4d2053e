"""Plain functions stay in the thread of their test, while the comparison that calls them runs in another."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar, cast

import anyio
from anyio.from_thread import start_blocking_portal

from pytest_swapgate.runner import Purse
from pytest_swapgate.runner.blocking import interrupt_main_thread, interruptible

T = TypeVar("T")
_Answer = tuple[Any, BaseException | None]


class ThisThread:
    """Runs a comparison aside and, here, the functions that it calls.

    A function may then call ``asyncio.run`` itself, and use what belongs to the thread of its test: a connection of
    SQLite, a transaction of Django, a browser.

    Parameters
    ----------
    purse
        When it is closed, the function that runs is interrupted as by Ctrl-C.
    """

    def __init__(self, purse: Purse) -> None:
        self._purse = purse
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._calling = False
        self._interrupted = False

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

        async def whole() -> tuple[T | None, BaseException | None]:
            try:
                return await work(), None
            except anyio.get_cancelled_exc_class():
                raise
            except (
                BaseException
            ) as error:  # pytest's skip and fail are no Exception; a portal would wrap them
                return None, error
            finally:
                self._calls.put(None)

        with start_blocking_portal() as portal:
            played = portal.start_task_soon(whole)
            try:
                with self._purse.at_close(self._interrupt):
                    while self._take_call():
                        pass
                result, error = played.result()
            except BaseException:
                played.cancel()  # Ctrl-C: nothing goes on playing, and spending, behind the reader's back
                raise
        if error is not None:
            raise error
        return cast(T, result)

    def _take_call(self) -> bool:
        """Make the next call; return False when there is none left."""
        try:
            call = self._calls.get()
            if call is None:
                return False
            self._be_calling(True)
            call()
            self._be_calling(False)
        except KeyboardInterrupt:
            self._be_calling(False)
            if not self._interrupted:
                raise
            # Nobody waits for this answer any more: the comparison is being stopped.
            self._interrupted = False
        return True

    def _be_calling(self, calling: bool) -> None:
        with self._lock:
            self._calling = calling and threading.current_thread() is threading.main_thread()

    def _interrupt(self) -> None:
        with self._lock:
            if self._calling:
                self._interrupted = True
                interrupt_main_thread()


def _answer(function: Callable[[Any, int], Any], task: Any, seed: int) -> _Answer:
    try:
        with interruptible():
            return function(task, seed), None
    except (KeyboardInterrupt, SystemExit):
        raise
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
