"""Running a coroutine from plain code, and knowing when that is not possible."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TypeVar, cast

import anyio
from anyio.from_thread import start_blocking_portal

T = TypeVar("T")
R = TypeVar("R")
_PATIENCE = 0.2
"""Seconds between two looks at whether somebody wants to stop."""


def inside_event_loop() -> bool:
    """Whether an event loop (asyncio or trio) is running in this thread."""
    try:
        anyio.get_current_task()
    except RuntimeError:
        return False
    return True


def run_blocking(work: Callable[[], Awaitable[T]]) -> T:
    """Run an async function to its end in an event loop of its own, aside if one runs in this thread already.

    Ctrl-C ends it, wherever it runs.
    """
    if not inside_event_loop():
        return anyio.run(work)

    async def outcome() -> tuple[T | None, BaseException | None]:
        try:
            return await work(), None
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # pytest's skip and fail are no Exception; a portal would wrap them
            return None, error

    with start_blocking_portal() as portal:
        future = portal.start_task_soon(outcome)
        try:
            result, error = _unless_cancelled(future)
        except BaseException:
            future.cancel()
            raise
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
