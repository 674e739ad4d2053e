"""Running a coroutine from plain code, and knowing when that is not possible."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import anyio

T = TypeVar("T")


def inside_event_loop() -> bool:
    """Whether an event loop (asyncio or trio) is running in this thread."""
    try:
        anyio.get_current_task()
    except RuntimeError:
        return False
    return True


def run_blocking(work: Callable[[], Awaitable[T]]) -> T:
    """Run an async function to its end in an event loop of its own, aside if one runs in this thread already."""
    if inside_event_loop():
        with ThreadPoolExecutor(1) as aside:
            return aside.submit(anyio.run, work).result()
    return anyio.run(work)
