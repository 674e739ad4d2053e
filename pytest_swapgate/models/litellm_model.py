"""Providers through litellm, imported on the first real call only."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from pytest_swapgate.models.base import ChatMessage, Completion
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.teams.episode import FailureClass, Usage

_ATTEMPTS = 5
_BACKOFF_CAP = 30.0

# Configuration first: a wrong key or name never heals by itself.
_CONFIGURATION = (
    "AuthenticationError",
    "NotFoundError",
    "PermissionDeniedError",
    "BadRequestError",
    "UnprocessableEntityError",
    "UnsupportedParamsError",
)
_AGENT = ("ContextWindowExceededError", "ContentPolicyViolationError", "JSONSchemaValidationError")


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
        USD per prompt token and per completion token, for models that litellm has no price for.
    timeout
        Seconds for one attempt.
    attempts
        Tries of one call when the provider fails (429, 5xx, timeouts, lost connections).

    Notes
    -----
    litellm's own retries are off so that each attempt is made, and counted, once.
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
        if attempts < 1:
            raise ValueError(f"attempts must be >= 1, got {attempts!r}")
        if not timeout > 0:
            raise ValueError(f"timeout must be > 0 seconds, got {timeout!r}")
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
        if missing:
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
        """Ask the provider; retry what is the infrastructure's fault, with full jitter."""
        litellm = load_litellm()
        request: dict[str, Any] = {
            "model": self.name,
            "messages": [dict(message) for message in messages],
            "num_retries": 0,
            "max_retries": 0,
            "timeout": self._timeout,
            **({} if seed is None else {"seed": seed % 2**31}),
            **({} if temperature is None else {"temperature": temperature}),
            **({} if max_tokens is None else {"max_tokens": max_tokens}),
            **self._options,
        }
        if self._price is not None:
            request["input_cost_per_token"], request["output_cost_per_token"] = self._price
        for attempt in range(1, self._attempts + 1):
            try:
                response = await litellm.acompletion(**request)
                return _read(response, self.name)
            except ModelError as error:
                fault = error
            except Exception as error:
                fault = classify(error, self.name)
            if fault.failure is not FailureClass.INFRASTRUCTURE or attempt == self._attempts:
                raise fault
            wait = self._jitter.uniform(0, min(_BACKOFF_CAP, 2.0 ** (attempt - 1)))
            await anyio.sleep(wait if fault.retry_after is None else min(fault.retry_after, _BACKOFF_CAP))
        raise AssertionError("unreachable: the last attempt raises")


def load_litellm() -> Any:
    """Import litellm without letting it go to the network."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def classify(error: Exception, name: str) -> ModelError:
    """File an exception of litellm under a failure class.

    Whatever is not known to be the agent's or the configuration's fault is infrastructure.
    """
    kinds = {cls.__name__ for cls in type(error).__mro__}
    status = getattr(error, "status_code", None)
    # Class names, not isinstance: the agent's classes derive from BadRequestError.
    if kinds & set(_AGENT):
        failure = FailureClass.AGENT
    elif kinds & set(_CONFIGURATION) or status in (401, 403, 404, 422):
        failure = FailureClass.CONFIGURATION
    else:
        failure = FailureClass.INFRASTRUCTURE
    advice = (
        ": check the key, the model name and the request" if failure is FailureClass.CONFIGURATION else ""
    )
    return ModelError(
        f"{name}: {type(error).__name__} ({status}){advice}", failure=failure, retry_after=_retry_after(error)
    )


def _retry_after(error: Exception) -> float | None:
    headers = getattr(error, "litellm_response_headers", None) or {}
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, TypeError, ValueError):
        return None


def _read(response: Any, name: str) -> Completion:
    if not getattr(response, "choices", None):
        raise ModelError(
            f"{name}: the provider answered without choices", failure=FailureClass.INFRASTRUCTURE
        )
    choice = response.choices[0]
    text = choice.message.content
    if text is None:
        raise ModelError(f"{name}: the model answered without text", failure=FailureClass.AGENT)
    counts = getattr(response, "usage", None)
    usd = response._hidden_params.get("response_cost")
    return Completion(
        text=text,
        usage=Usage(
            calls=1,
            prompt_tokens=getattr(counts, "prompt_tokens", 0) or 0,
            completion_tokens=getattr(counts, "completion_tokens", 0) or 0,
            usd=None if usd is None else float(usd),
        ),
        model=str(response.model or name),
        finish_reason=str(choice.finish_reason or "stop"),
    )
