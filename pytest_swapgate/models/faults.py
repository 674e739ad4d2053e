"""Whose fault a provider's failure is, and what may be said about it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.teams.episode import FailureClass

# Configuration first: a wrong key or name never heals by itself.
_CONFIGURATION = (
    "AuthenticationError",
    "NotFoundError",
    "PermissionDeniedError",
    "BadRequestError",
    "UnprocessableEntityError",
    "UnsupportedParamsError",
    "ImportError",
)
_AGENT = ("ContextWindowExceededError", "ContentPolicyViolationError", "JSONSchemaValidationError")
# litellm files these by the text of the message alone; the code is what the provider really says.
_AGENT_CODES = ("context_length_exceeded", "content_policy_violation", "content_filter")
_CONFIGURATION_CODES = ("insufficient_quota", "invalid_api_key", "model_not_found")
_GARBLED = "error converting to valid response"
"""What litellm says, as a bad request, about a body that it cannot read."""

_DRESS = re.compile(r"^(?:(?:litellm\.)?\w+: )*(?:\w+Exception - )?")
"""What litellm puts before the provider's own words."""
_CODE = re.compile(r'"(?:code|type)": ?"(\w+)"')
_KEYLIKE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|AIza)[-_]?[\w-]{8,}|(?i:bearer)\s+\S+")
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
_SHORTEST_SECRET = 6


def classify(error: Exception, name: str, *, secrets: Sequence[str] = ()) -> ModelError:
    """File an exception of litellm under a failure class.

    Whatever is not known to be the agent's or the configuration's fault is infrastructure.

    Parameters
    ----------
    name
        Of the model; begins the message.
    secrets
        Texts that the message must not show, besides what the environment holds under a secret's name.
    """
    kinds = {cls.__name__ for cls in type(error).__mro__}
    status = getattr(error, "status_code", None)
    codes = _codes(error)
    # Class names, not isinstance: the agent's classes derive from BadRequestError.
    if kinds & set(_AGENT) or codes & set(_AGENT_CODES):
        failure = FailureClass.AGENT
    elif _GARBLED in str(error).lower():
        failure = FailureClass.INFRASTRUCTURE
    elif kinds & set(_CONFIGURATION) or status in (401, 403, 404, 422) or codes & set(_CONFIGURATION_CODES):
        failure = FailureClass.CONFIGURATION
    else:
        failure = FailureClass.INFRASTRUCTURE
    message = f"{name}: {type(error).__name__}" + (f" ({status})" if status else "")
    if failure is FailureClass.CONFIGURATION:
        message += f": {_advice(kinds, status, codes)}"
    said = _said(error, secrets)
    message += f"; it says: {said}" if said else ""
    return ModelError(message, failure=failure, retry_after=_retry_after(error))


def _codes(error: Exception) -> set[str]:
    """Return the codes that the provider's error body names; some adapters hand it on as text only."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    found = [getattr(error, "code", None), *_CODE.findall(str(error))]
    if isinstance(inner, dict):
        found += [inner.get("code"), inner.get("type")]
    return {code for code in found if isinstance(code, str)}


def _advice(kinds: set[str], status: object, codes: set[str]) -> str:
    if "insufficient_quota" in codes:
        return "the account has no credit left"
    if "AuthenticationError" in kinds or status == 401:
        return "check the key"
    if "NotFoundError" in kinds or status == 404:
        return "check the model name"
    if "PermissionDeniedError" in kinds or status == 403:
        return "check that the key may use this model"
    if "ImportError" in kinds:
        return "install what this provider needs"
    return "check the model name and its parameters"


def _said(error: Exception, secrets: Sequence[str]) -> str:
    """Return the first line of the provider's message with everything that looks like a secret taken out."""
    text = str(error).strip().split("\n")[0]
    hidden = [
        *secrets,
        *(v for n, v in os.environ.items() if any(mark in n.upper() for mark in _SECRET_NAMES)),
    ]
    for secret in sorted(hidden, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    text = _DRESS.sub("", _KEYLIKE.sub("***", text))
    return text if len(text) <= 200 else text[:197] + "..."


def _retry_after(error: Exception) -> float | None:
    """Return the seconds that the provider asks to wait: a number, or a date as HTTP writes it."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    try:
        asked = str(headers["retry-after"]).strip()
    except (KeyError, TypeError):
        return None
    try:
        seconds = float(asked)
    except ValueError:
        try:
            until = parsedate_to_datetime(asked)
        except ValueError:
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return None if math.isnan(seconds) else max(0.0, seconds)
