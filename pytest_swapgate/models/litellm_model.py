"""Providers through litellm, imported on the first real call only."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from pytest_swapgate.models.base import ChatMessage, Completion
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.faults import classify
from pytest_swapgate.models.litellm_answers import as_completion, fault_of_answer, usage_of_answer
from pytest_swapgate.models.litellm_clients import closing_clients
from pytest_swapgate.models.litellm_loading import load_litellm
from pytest_swapgate.models.pressure import Pressure
from pytest_swapgate.models.retries import Retries, Tried, is_number
from pytest_swapgate.models.tool_history import check_tool_history
from pytest_swapgate.teams.episode import FailureClass, Usage

__all__ = ["LiteLLMModel", "closing_clients", "load_litellm"]

_ATTEMPTS = 5
_TOO_MANY = 429
_SAYS_NOTHING = re.compile(
    r"^(api_base|base_url|timeout)$|(key|key_id|token|secret|password|credentials?|authorization|headers)$"
)
"""Names of options that are no part of a model's identity: where it is, how it is reached and paid, and secrets."""


class LiteLLMModel:
    """A model behind a provider that litellm knows.

    Parameters
    ----------
    name
        ``provider/model`` as litellm names it.
    options
        Further keyword arguments of ``litellm.acompletion``, such as ``api_base``; not ``stream``, for an answer is
        taken whole. They go before the ``temperature`` and ``max_tokens`` that a call is given, and behind the
        ``options`` of a call. Keys are read from the environment by litellm and never stored here.
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
        self._retries = Retries(attempts=attempts, backoff=backoff)
        if not is_number(timeout) or not timeout > 0:
            raise ValueError(f"timeout must be a number of seconds > 0, got {timeout!r}")
        if price is not None and not (len(price) == 2 and all(is_number(p) and p >= 0 for p in price)):
            raise ValueError(
                f"price must be two numbers >= 0, USD a prompt and a completion token, got {price!r}"
            )
        if (options or {}).get("stream"):
            raise ValueError("options must not ask for a stream, got stream=True; an answer is taken whole")
        self.name = name
        self.pressure = Pressure()
        self._options = dict(options or {})
        self._price = price
        self._timeout = timeout

    @property
    def address(self) -> str:
        """Where its server is, empty for the provider's own."""
        return str(self._options.get("api_base") or self._options.get("base_url") or "")

    @property
    def digest(self) -> str:
        """Identity of name and options, for the evidence file; address, key, headers and price do not enter."""
        told = {name: value for name, value in self._options.items() if not _SAYS_NOTHING.search(name)}
        text = json.dumps([self.name, told], sort_keys=True, default=lambda value: type(value).__qualname__)
        return hashlib.sha256(text.encode()).hexdigest()

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
            attempts=self._retries.attempts,
            backoff=self._retries.backoff,
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
        options: Mapping[str, Any] | None = None,
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
            **(options or {}),
        }
        if self._price is not None:
            request["input_cost_per_token"], request["output_cost_per_token"] = self._price
        check_tool_history(messages)
        response, spent = await self._retries.until_answered(
            lambda: self._attempt(litellm, messages, request), self.pressure
        )
        return as_completion(response, spent, self.name)

    async def _attempt(
        self, litellm: Any, messages: Sequence[ChatMessage], request: Mapping[str, Any]
    ) -> Tried:
        try:
            # litellm's own limit is on each read, not on the sum of them.
            with anyio.fail_after(self._timeout):
                response = await litellm.acompletion(
                    messages=[dict(message) for message in messages], **request
                )
        except Exception as error:
            fault = classify(error, self.name, secrets=self._secrets())
            fault.refused = getattr(error, "status_code", None) == _TOO_MANY
            return Tried(None, Usage(calls=1), fault)
        wrong = fault_of_answer(response, self.name, offered=bool(request.get("tools")))
        return Tried(response, Usage(calls=1) if response is None else usage_of_answer(response), wrong)

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
