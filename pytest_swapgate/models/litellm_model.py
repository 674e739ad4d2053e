"""Providers through litellm, imported on the first real call only."""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import os
import random
import sys
import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.lowlevel import RunVar

from pytest_swapgate.models.base import ChatMessage, Completion
from pytest_swapgate.models.errors import ModelError, spent_before
from pytest_swapgate.models.faults import classify
from pytest_swapgate.models.pressure import Pressure
from pytest_swapgate.models.tool_history import check_tool_history, malformed_calls
from pytest_swapgate.teams.episode import FailureClass, Usage

_ATTEMPTS = 5
_BACKOFF_CAP = 30.0
_TOO_MANY = 429
_CALLBACKS = 0.5
"""Seconds that litellm's callbacks have at the end of a run."""
_HARMLESS: tuple[tuple[str, type[Warning]], ...] = (
    (".*`ReadOnly` qualifier.*", UserWarning),
    (".*conflict with protected namespace.*", UserWarning),
    (".*Accessing the.*attribute on the instance is deprecated.*", DeprecationWarning),
    ("coroutine '.*completion' was never awaited", RuntimeWarning),
)
"""What litellm itself silences when it is imported; and the last, what it forgets when a call is cancelled."""


class LiteLLMModel:
    """A model behind a provider that litellm knows.

    Parameters
    ----------
    name
        ``provider/model`` as litellm names it.
    options
        Further keyword arguments of ``litellm.acompletion``, such as ``api_base``; not ``stream``, for an answer is
        taken whole. Keys are read from the environment by litellm and never stored here.
    price
        USD per prompt token and per completion token, each >= 0, for models that litellm has no price for.
    timeout
        Seconds for one attempt, > 0, the whole body included.
    attempts
        Tries of one call when the provider fails (429, 5xx, timeouts, lost connections), >= 1.
    backoff
        Seconds that the first wait between two tries is at most, >= 0; it doubles up to 30 s. Each wait is drawn
        anew between 0 and that (full jitter), unless the provider says how long to wait.

    Attributes
    ----------
    pressure
        How many calls may be in flight at once: fewer after each 429, more again with each round of answers.

    Notes
    -----
    litellm's own retries are off so that each attempt is made, and counted, once. The seed is a wish: it is left
    out for providers that take none. Every other parameter is sent as given or refused, never dropped.
    """

    def __init__(
        self,
        name: str,
        *,
        options: Mapping[str, Any] | None = None,
        price: tuple[float, float] | None = None,
        timeout: float = 120.0,
        attempts: int = _ATTEMPTS,
        backoff: float = 1.0,
    ) -> None:
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise ValueError(f"attempts must be a whole number >= 1, got {attempts!r}")
        if not _is_number(timeout) or not timeout > 0:
            raise ValueError(f"timeout must be a number of seconds > 0, got {timeout!r}")
        if price is not None and not (len(price) == 2 and all(_is_number(p) and p >= 0 for p in price)):
            raise ValueError(
                f"price must be two numbers >= 0, USD a prompt and a completion token, got {price!r}"
            )
        if not _is_number(backoff) or not backoff >= 0:
            raise ValueError(f"backoff must be a number of seconds >= 0, got {backoff!r}")
        if (options or {}).get("stream"):
            raise ValueError("options must not ask for a stream, got stream=True; an answer is taken whole")
        self.name = name
        self.pressure = Pressure()
        self._backoff = backoff
        self._options = dict(options or {})
        self._price = price
        self._timeout = timeout
        self._attempts = attempts
        self._jitter = random.Random()  # waiting times only; no outcome depends on them

    def check(self) -> None:
        """Refuse an unknown provider or a missing key before anything is spent.

        Raises
        ------
        ModelError
            Of class configuration, saying what to fix.
        """
        litellm = load_litellm()
        try:
            _, provider, _, _ = litellm.get_llm_provider(
                model=self.name, api_base=self._options.get("api_base")
            )
        except Exception as error:
            raise ModelError(
                f"model {self.name!r} is not one that litellm knows: write provider/model, "
                "for example openai/gpt-5-mini, or simulated",
                failure=FailureClass.CONFIGURATION,
            ) from error
        if "api_base" in self._options or "api_key" in self._options:
            return
        found = litellm.validate_environment(model=self.name)
        missing = [] if found["keys_in_environment"] else found["missing_keys"]
        # Anything but a plain key (a cloud's identity, the address of a local server) may come from elsewhere.
        if missing and all(name.endswith("_API_KEY") for name in missing):
            raise ModelError(
                f"model {self.name!r} ({provider}) needs {' and '.join(missing)} in the environment",
                failure=FailureClass.CONFIGURATION,
            )

    def at_price(self, price: tuple[float, float]) -> LiteLLMModel:
        """Return the same model at a price."""
        return LiteLLMModel(
            self.name,
            options=self._options,
            price=price,
            timeout=self._timeout,
            attempts=self._attempts,
            backoff=self._backoff,
        )

    @property
    def priced(self) -> bool:
        """Whether a price was given, or litellm's own list (the one that it ships with) has one."""
        if self._price is not None:
            return True
        if {"input_cost_per_token", "output_cost_per_token"} <= self._options.keys():
            return True
        litellm = load_litellm()
        try:
            litellm.cost_per_token(model=self.name, prompt_tokens=1, completion_tokens=1)
        except Exception:
            return False
        return True

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        seed: int | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Completion:
        """Ask the provider; retry what is the infrastructure's fault, with full jitter.

        An answer that ``max_tokens`` cut short is the agent's own and is returned as it is.

        Raises
        ------
        ModelError
            When there is no answer, with what the attempts consumed.
        """
        litellm = load_litellm()
        request: dict[str, Any] = {
            "model": self.name,
            "num_retries": 0,
            "max_retries": 0,
            "timeout": self._timeout,
            **({} if seed is None or not self._takes_seed(litellm) else {"seed": seed % 2**31}),
            **({} if temperature is None else {"temperature": temperature}),
            **({} if max_tokens is None else {"max_tokens": max_tokens}),
            **self._options,
        }
        if self._price is not None:
            request["input_cost_per_token"], request["output_cost_per_token"] = self._price
        check_tool_history(messages)
        spent = Usage()
        for attempt in range(1, self._attempts + 1):
            begun = 0
            try:
                async with self.pressure.call() as started_in:
                    begun = 1
                    response, found = await self._attempt(litellm, messages, request)
                    if found is not None and found.refused:
                        self.pressure.refused(started_in)
                    else:
                        self.pressure.answered()
            except BaseException as error:
                # Cancelled in the middle: made, and perhaps paid for, all the same.
                spent_before(error, spent + Usage(calls=begun))
                raise
            spent = spent + (Usage(calls=1) if response is None else _usage(response))
            if found is None:
                return _completion(response, spent, self.name)
            if found.failure is not FailureClass.INFRASTRUCTURE or attempt == self._attempts:
                found.usage = spent
                raise found
            try:
                await anyio.sleep(self._wait(attempt, found.retry_after))
            except BaseException as error:
                spent_before(error, spent)
                raise
        raise AssertionError("unreachable: the last attempt raises")

    async def _attempt(
        self, litellm: Any, messages: Sequence[ChatMessage], request: Mapping[str, Any]
    ) -> tuple[Any, ModelError | None]:
        """Make one attempt; return the response, if one came, and what is wrong with it, if anything."""
        try:
            # litellm's own limit is on each read, not on the sum of them.
            with anyio.fail_after(self._timeout):
                response = await litellm.acompletion(
                    messages=[dict(message) for message in messages], **request
                )
        except Exception as error:
            fault = classify(error, self.name, secrets=self._secrets())
            fault.refused = getattr(error, "status_code", None) == _TOO_MANY
            return None, fault
        return response, _fault(response, self.name, offered=bool(request.get("tools")))

    def _wait(self, attempt: int, asked: float | None) -> float:
        if asked is not None:
            return min(asked, _BACKOFF_CAP)
        return self._jitter.uniform(0, min(_BACKOFF_CAP, self._backoff * 2.0 ** (attempt - 1)))

    def _takes_seed(self, litellm: Any) -> bool:
        try:
            supported = litellm.get_supported_openai_params(model=self.name)
        except Exception:
            return True  # the call itself will say what is wrong
        return supported is None or "seed" in supported

    def _secrets(self) -> list[str]:
        marks = ("key", "token", "secret", "password", "credential", "authorization")
        return [
            str(value)
            for name, value in self._options.items()
            if any(mark in name.lower() for mark in marks) or name.endswith("headers")
        ]


def load_litellm() -> Any:
    """Import litellm without letting it go to the network, or talk."""
    # Again at each call: pytest takes back the filters that an import in an earlier test has set, and litellm
    # imports its providers late; where warnings are errors, a call would fail.
    newest = getattr(warnings.filters[0][1], "pattern", None) if warnings.filters else None
    if newest != _HARMLESS[-1][0]:
        for message, category in _HARMLESS:
            warnings.filterwarnings("ignore", message=message, category=category)
    if "litellm" not in sys.modules:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
        if "LITELLM_LOG" not in os.environ:
            # Each comparison has an event loop of its own; litellm would remark on every one.
            logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    import litellm

    litellm.suppress_debug_info = True
    return litellm


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


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _usage(response: Any) -> Usage:
    """Return what an answer consumed; the price is None where it or the number of tokens is not known."""
    counts = getattr(response, "usage", None)
    prompt = getattr(counts, "prompt_tokens", 0) or 0
    usd = response._hidden_params.get("response_cost")
    return Usage(
        calls=1,
        prompt_tokens=prompt,
        completion_tokens=getattr(counts, "completion_tokens", 0) or 0,
        usd=None if usd is None or not prompt else float(usd),
    )


def _fault(response: Any, name: str, *, offered: bool) -> ModelError | None:
    if not getattr(response, "choices", None):
        return ModelError(
            f"{name}: the provider answered without choices", failure=FailureClass.INFRASTRUCTURE
        )
    choice = response.choices[0]
    malformed = malformed_calls(choice.message, offered=offered)
    if malformed:
        return ModelError(
            f"{name}: the provider's answer is malformed: {malformed}", failure=FailureClass.INFRASTRUCTURE
        )
    if choice.message.content is None:
        return ModelError(
            f"{name}: the model answered without text (finish reason: {choice.finish_reason})",
            failure=FailureClass.AGENT,
        )
    return None


def _completion(response: Any, usage: Usage, name: str) -> Completion:
    choice = response.choices[0]
    return Completion(
        text=choice.message.content,
        usage=usage,
        model=str(response.model or name),
        finish_reason=str(choice.finish_reason or "stop"),
    )
