"""Many pieces of work at once, with one plain exception if any of them fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import anyio

T = TypeVar("T")


async def side_by_side(work: Callable[[T], Awaitable[None]], items: Iterable[T], concurrency: int) -> None:
    """Do the work of every item, at most ``concurrency`` at once.

    The first exception ends all of it and is raised as it is, not in a group: it is shown to a user. So are
    pytest's skip and fail, which are no `Exception`.
    """
    limiter = anyio.CapacityLimiter(concurrency)
    failed: list[BaseException] = []

    async def limited(item: T) -> None:
        async with limiter:
            if failed:
                return
            try:
                await work(item)
            except (KeyboardInterrupt, SystemExit, GeneratorExit, anyio.get_cancelled_exc_class()):
                raise
            except BaseException as error:
                failed.append(error)
                group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for item in items:
            group.start_soon(limited, item)
    if failed:
        raise failed[0]
