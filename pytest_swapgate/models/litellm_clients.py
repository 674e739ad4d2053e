"""The connections that litellm keeps: closed when the run that opened them ends."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.lowlevel import RunVar

_CALLBACKS = 0.5
"""Seconds that litellm's callbacks have at the end of a run."""
_RUNS: RunVar[int] = RunVar("swapgate_runs")


@asynccontextmanager
async def closing_clients() -> AsyncIterator[None]:
    """Close, at the end, the connections that litellm has opened inside and would keep until its process ends.

    Of runs that overlap in one event loop, the last to end closes; connections from before are left alone.
    """
    before = set(_cached_clients())
    _RUNS.set(_RUNS.get(0) + 1)
    try:
        yield
    finally:
        _RUNS.set(_RUNS.get(1) - 1)
        if not _RUNS.get(0):
            with anyio.CancelScope(shield=True):
                await _close_clients(before)
                await _stop_logging()


def _cached_clients() -> dict[str, Any]:
    """Return litellm's clients of the running event loop, by key."""
    litellm = sys.modules.get("litellm")
    if litellm is None or not hasattr(litellm, "in_memory_llm_clients_cache"):
        return {}
    cache = litellm.in_memory_llm_clients_cache
    mark = cache.update_cache_key_with_event_loop("")
    return {key: client for key, client in cache.cache_dict.items() if mark and key.endswith(mark)}


async def _close_clients(kept: set[str]) -> None:
    for key, client in _cached_clients().items():
        if key in kept:
            continue
        sys.modules["litellm"].in_memory_llm_clients_cache.cache_dict.pop(key, None)
        close = getattr(client, "aclose", None) or getattr(client, "close", None)
        with suppress(Exception):
            closed = close() if close is not None else None
            if inspect.isawaitable(closed):
                await closed


async def _stop_logging() -> None:
    """End the task in which litellm runs its callbacks, theirs first; the next call starts another."""
    module = sys.modules.get("litellm.litellm_core_utils.logging_worker")
    worker: Any = getattr(module, "GLOBAL_LOGGING_WORKER", None)
    task: asyncio.Task[Any] | None = getattr(worker, "_worker_task", None)
    if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
        return
    with suppress(Exception), anyio.move_on_after(_CALLBACKS):
        await worker.flush()
    with suppress(Exception):
        await worker.stop()
