"""Letting one process play what several need, while the others wait and then read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager

import anyio
import anyio.to_thread

from pytest_swapgate.evidence import EvidenceError, EvidenceStore
from pytest_swapgate.runner.stage import Stage

_PATIENCE = 0.25
"""Seconds of one wait: who stops the run while another process plays does not wait longer than that."""


@asynccontextmanager
async def locked(stage: Stage, names: Sequence[str]) -> AsyncIterator[None]:
    """Hold the named locks of an evidence file, in one order for everybody; without a file, nothing."""
    store = stage.store
    if store is None:
        yield
        return
    with ExitStack() as stack:
        for name in sorted(set(names)):
            # The wait can be long (another process is playing): keep the event loop free, and the way out too.
            while not await anyio.to_thread.run_sync(_take, stack, store, f"{stage.digest}/{name}"):
                stage.purse.check_open()
                await anyio.sleep(0)
        yield


def _take(stack: ExitStack, store: EvidenceStore, name: str) -> bool:
    lock: AbstractContextManager[None] = store.lock(name, timeout=_PATIENCE)
    try:
        stack.enter_context(lock)
    except EvidenceError as error:
        if "is still held by another process" not in str(error):
            raise
        return False
    return True
