"""Letting one process play what several need, while the others wait and then read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager

import anyio
import anyio.to_thread

from pytest_swapgate.runner.stage import Stage


@asynccontextmanager
async def locked(stage: Stage, names: Sequence[str]) -> AsyncIterator[None]:
    """Hold the named locks of an evidence file, in one order for everybody; without a file, nothing."""
    store = stage.store
    if store is None:
        yield
        return
    with ExitStack() as stack:
        for name in sorted(set(names)):
            lock = store.lock(f"{stage.digest}/{name}", timeout=None)
            # The wait can be long (another process is playing): keep the event loop free.
            await anyio.to_thread.run_sync(stack.enter_context, lock, abandon_on_cancel=False)
        yield
