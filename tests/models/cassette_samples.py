"""A model that answers each call differently, and short ways to ask it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import anyio

from pytest_swapgate.models import ChatModel, Completion, ModelError
from pytest_swapgate.teams import FailureClass, Usage

USAGE = Usage(calls=2, prompt_tokens=30, completion_tokens=4, usd=0.1 + 0.2)


class Talker:
    """Answers ``<prefix>1``, ``<prefix>2``, ...; raises what is put into ``faults`` first."""

    def __init__(self, prefix: str = "answer ", name: str = "talker") -> None:
        self.name = name
        self.prefix = prefix
        self.calls = 0
        self.faults: list[BaseException] = []

    async def complete(self, messages: Any, **parameters: Any) -> Completion:
        self.calls += 1
        if self.faults:
            raise self.faults.pop(0)
        return Completion(f"{self.prefix}{self.calls}", USAGE, "talker-2026")


def fault(kind: FailureClass, text: str = "no answer") -> ModelError:
    return ModelError(text, failure=kind, usage=USAGE)


def messages(text: str, system: str = "You cook.") -> list[Any]:
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]


def complete(model: ChatModel, text: str, **parameters: Any) -> Completion:
    return anyio.run(partial(model.complete, messages(text), **parameters))


def ask(model: ChatModel, *texts: str, **parameters: Any) -> list[str]:
    return [complete(model, text, **parameters).text for text in texts]


def never(name: str) -> ChatModel:
    raise AssertionError(f"{name} was resolved")


def only(model: ChatModel) -> Callable[[str], ChatModel]:
    return lambda name: model
