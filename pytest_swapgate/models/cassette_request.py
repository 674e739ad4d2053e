"""What a recorded request is: its text without secrets, and the key that it is found under."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pytest_swapgate.models.base import ChatMessage

REDACTED = "<redacted>"
"""Stands in a recording where a secret stood."""
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SHORTEST_SECRET = 8


class Request(NamedTuple):
    """One request as it is recorded.

    Attributes
    ----------
    model
        Name of the model that was asked.
    parameters
        Sampling parameters that were given, and the options of the call.
    messages
        The whole conversation that was sent.
    key
        SHA-256 of the three.
    """

    model: str
    parameters: dict[str, Any]
    messages: list[Any]
    key: str

    @classmethod
    def of(
        cls,
        model: str,
        messages: Sequence[ChatMessage],
        *,
        seed: int | None,
        temperature: float | None,
        max_tokens: int | None,
        options: Mapping[str, Any] | None = None,
    ) -> Request:
        """Take the secrets out of a request and find its key.

        Raises
        ------
        ValueError
            If a message or an option holds something that is not JSON.
        """
        given = {
            "max_tokens": max_tokens,
            # A request without them has the key that it had before there were any.
            "options": without_secrets(dict(options)) if options else None,
            "seed": seed,
            # 0 and 0.0 are the same temperature, and would be different texts.
            "temperature": None if temperature is None else float(temperature),
        }
        parameters = {name: value for name, value in given.items() if value is not None}
        name, said = without_secrets(model), without_secrets([dict(message) for message in messages])
        # As a file gives it back, where names are texts: {9: ..., 10: ...} is sorted otherwise there.
        asked = json.loads(_canonical(name, parameters, said))
        return cls(**asked, key=request_key(**asked))

    def __str__(self) -> str:
        """Name the request for a reader: model, first words of the last message, digest."""
        last = self.messages[-1] if self.messages else ""
        words = " ".join(str(last.get("content", "") if isinstance(last, dict) else last).split())
        shown = words if len(words) <= 60 else f"{words[:57]}..."
        return f"model {self.model!r}, last message {shown!r}, digest {self.key[:12]}"


def request_key(model: str, parameters: dict[str, Any], messages: Sequence[Any]) -> str:
    """Return the SHA-256 of a request's canonical JSON."""
    return hashlib.sha256(_canonical(model, parameters, messages).encode("ascii")).hexdigest()


def _canonical(model: str, parameters: dict[str, Any], messages: Sequence[Any]) -> str:
    parts = {"model": model, "parameters": parameters, "messages": messages}
    try:
        return json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"a request that is recorded must be plain JSON: {error}") from None


def without_secrets(value: Any) -> Any:
    """Return a JSON value with every secret of the environment replaced by `REDACTED`.

    A secret is the value, of at least 8 characters, of an environment variable whose name contains KEY, TOKEN,
    SECRET or PASSWORD. Halves of surrogate pairs, which no file takes, become '?'.
    """
    found = {os.environ.get(name, "").strip() for name in os.environ if _names_a_secret(name)}
    return _clean(value, _pattern(frozenset(text for text in found if len(text) >= _SHORTEST_SECRET)))


@lru_cache(maxsize=1024)
def _names_a_secret(name: str) -> bool:
    return any(mark in name.upper() for mark in _SECRET_NAMES)


@lru_cache(maxsize=4)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str] | None:
    # One pass, longest first: no secret is cut by a shorter one, no placeholder is replaced again.
    ordered = sorted(secrets, key=lambda secret: (-len(secret), secret))
    return re.compile("|".join(map(re.escape, ordered))) if ordered else None


def _clean(value: Any, secrets: re.Pattern[str] | None) -> Any:
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode("utf-8")
        return text if secrets is None else secrets.sub(REDACTED, text)
    if isinstance(value, list | tuple):
        return [_clean(item, secrets) for item in value]
    if isinstance(value, dict):
        return {_clean(name, secrets): _clean(item, secrets) for name, item in value.items()}
    return value
