"""Providers through litellm, imported on the first real call only."""

from __future__ import annotations

import logging
import math
import os
import random
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from pytest_swapgate.models.base import ChatMessage, Completion
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.faults import classify
from pytest_swapgate.teams.episode import FailureClass, Usage

_ATTEMPTS = 5
_BACKOFF_CAP = 30.0
_HARMLESS: tuple[tuple[str, type[Warning]], ...] = (
    (".*`ReadOnly` qualifier.*", UserWarning),
    (".*conflict with protected namespace.*", UserWarning),
    (".*Accessing the.*attribute on the instance is deprecated.*", DeprecationWarning),
)
"""What litellm itself silences when it is imported."""


class LiteLLMModel:
    """A model behind a provider that litellm knows.

    Parameters
    ----------
    name
        ``provider/model`` as litellm names it.
    options
        Further keyword arguments of ``litellm.acompletion``, such as ``api_base``. Keys are read from
        the environment by litellm and never stored here.
    price
        USD per prompt token and per completion token, each >= 0, for models that litellm has no price for.
    timeout
        Seconds for one attempt, > 0, the whole body included.
    attempts
        Tries of one call when the provider fails (429, 5xx, timeouts, lost connections), >= 1.

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
    ) -> None:
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise ValueError(f"attempts must be a whole number >= 1, got {attempts!r}")
        if not _is_number(timeout) or not timeout > 0:
            raise ValueError(f"timeout must be a number of seconds > 0, got {timeout!r}")
        if price is not None and not (len(price) == 2 and all(_is_number(p) and p >= 0 for p in price)):
            raise ValueError(
                f"price must be two numbers >= 0, USD a prompt and a completion token, got {price!r}"
            )
        self.name = name
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
        spent = Usage()
        for attempt in range(1, self._attempts + 1):
            try:
                # litellm's own limit is on each read, not on the sum of them.
                with anyio.fail_after(self._timeout):
                    response = await litellm.acompletion(
                        messages=[dict(message) for message in messages], **request
                    )
            except Exception as error:
                fault = classify(error, self.name, secrets=self._secrets())
                spent = spent + Usage(calls=1)
            else:
                spent = spent + _usage(response)
                found = _fault(response, self.name)
                if found is None:
                    return _completion(response, spent, self.name)
                fault = found
            if fault.failure is not FailureClass.INFRASTRUCTURE or attempt == self._attempts:
                fault.usage = spent
                raise fault
            wait = self._jitter.uniform(0, min(_BACKOFF_CAP, 2.0 ** (attempt - 1)))
            await anyio.sleep(wait if fault.retry_after is None else min(fault.retry_after, _BACKOFF_CAP))
        raise AssertionError("unreachable: the last attempt raises")

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


def _fault(response: Any, name: str) -> ModelError | None:
    if not getattr(response, "choices", None):
        return ModelError(
            f"{name}: the provider answered without choices", failure=FailureClass.INFRASTRUCTURE
        )
    choice = response.choices[0]
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
