"""Telling an outage from a fault of the user's code, where that code calls providers itself."""

from __future__ import annotations

from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.faults import classify
from pytest_swapgate.shortening import shortened
from pytest_swapgate.teams.episode import FailureClass

_CLIENTS = {
    # What every refusal and failure of a provider is derived from, in the packages that people call them with.
    "anthropic": {"APIError"},
    "groq": {"APIError"},
    "litellm": {"APIError", "APIConnectionError", "Timeout", "OpenAIError"},
    "openai": {"APIError"},
    # Transport only: a wrong address or argument is the caller's own fault.
    "aiohttp": {"ClientConnectionError", "ClientPayloadError", "ServerTimeoutError"},
    "httpcore": {"NetworkError", "TimeoutException", "ProtocolError"},
    "httpx": {"TransportError"},
    "requests": {"ConnectionError", "Timeout", "ChunkedEncodingError"},
    "urllib3": {"HTTPError"},
}


def outage(error: BaseException, who: str) -> ModelError | None:
    """Return what a provider or the network did to a user's code, under its failure class; None if it is neither.

    Parameters
    ----------
    who
        Whose code it is; begins the message.
    """
    if isinstance(error, TimeoutError | ConnectionError):
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return ModelError(f"{who}: {shortened(what)}", failure=FailureClass.INFRASTRUCTURE)
    if isinstance(error, Exception) and any(
        cls.__name__ in _CLIENTS.get(cls.__module__.partition(".")[0], ()) for cls in type(error).__mro__
    ):
        return classify(error, who)
    return None
