"""Running a coroutine from plain code, and knowing when that is not possible."""

from __future__ import annotations

import _thread
import asyncio
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import TypeVar, cast

import anyio
from anyio.from_thread import start_blocking_portal

T = TypeVar("T")
R = TypeVar("R")
_PATIENCE = 0.2
"""Seconds between two looks at whether somebody wants to stop."""
_FAREWELL = 0.5
"""Seconds that work, once it is cancelled, has to close what it has open."""


def inside_event_loop() -> bool:
    """Whether an event loop (asyncio or trio) is running in this thread."""
    try:
        anyio.get_current_task()
    except RuntimeError:
        return False
    return True


def interrupt_main_thread() -> None:
    """Do to the main thread what Ctrl-C does."""
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:  # to the thread itself, so that it does not sleep on
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end what runs inside at once, also in an event loop, and whatever it makes of it.

    asyncio would wait for a plain function, and one that catches everything would go on.
    """
    __tracebackhide__ = True
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    asked = False

    def interrupt(_number: int, _frame: object) -> None:
        __tracebackhide__ = True
        nonlocal asked
        asked = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException:
        if asked:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt


def run_blocking(work: Callable[[], Awaitable[T]], *, leaving_threads: bool = False) -> T:
    """Run an async function to its end in an event loop of its own, aside if one runs in this thread already.

    Ctrl-C ends it, wherever it runs.

    Parameters
    ----------
    leaving_threads
        Whether it may leave threads behind when it is ended early, such as one in a plain function: Python's exit
        does not wait for them then.
    """
    __tracebackhide__ = True
    try:
        return _run(work, leaving_threads)
    except KeyboardInterrupt:  # where the event loop was interrupted would tell nobody anything
        raise KeyboardInterrupt from None


def _run(work: Callable[[], Awaitable[T]], leaving_threads: bool) -> T:
    if leaving_threads:
        return _run_in_daemon(work)
    if not inside_event_loop():
        return anyio.run(work)
    with start_blocking_portal() as portal:
        future = portal.start_task_soon(_outcome, work)
        try:
            result = _unless_cancelled(future)
        except BaseException:
            future.cancel()
            raise
    return _unwrapped(result)


def _run_in_daemon(work: Callable[[], Awaitable[T]]) -> T:
    # Python waits at its exit for the worker threads of an event loop, unless the loop's own thread is a daemon.
    begun: Future[Callable[[], object]] = Future()
    done: Future[tuple[T | None, BaseException | None]] = Future()

    async def whole() -> None:
        loop = asyncio.get_running_loop()
        with anyio.CancelScope() as scope:
            begun.set_result(lambda: loop.call_soon_threadsafe(scope.cancel))
            done.set_result(await _outcome(work))

    def run() -> None:
        try:
            asyncio.run(whole())
        except BaseException as error:
            begun.cancel()
            if not done.done():
                done.set_exception(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), name="swapgate-playing", daemon=True)
    try:
        thread.start()
        result = _unless_cancelled(done)
    except BaseException:
        with suppress(RuntimeError, CancelledError, TimeoutError):  # it has ended, or never begun
            begun.result(_FAREWELL)()
            thread.join(_FAREWELL)
        raise
    thread.join()
    return _unwrapped(result)


async def _outcome(work: Callable[[], Awaitable[T]]) -> tuple[T | None, BaseException | None]:
    try:
        return await work(), None
    except anyio.get_cancelled_exc_class():
        raise
    except BaseException as error:  # pytest's skip and fail are no Exception; a portal would wrap them
        return None, error


def _unwrapped(outcome: tuple[T | None, BaseException | None]) -> T:
    result, error = outcome
    if error is not None:
        raise error
    return cast(T, result)


def _unless_cancelled(future: Future[R]) -> R:
    """Wait for a result; give up when the task that waits here, and holds up its event loop, is cancelled.

    That is what asyncio makes of Ctrl-C.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:  # trio: Ctrl-C is raised right here
        task = None
    while True:
        try:
            return future.result(_PATIENCE)
        except TimeoutError:
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from None
