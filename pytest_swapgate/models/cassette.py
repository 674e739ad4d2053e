"""Cassettes: a model's words are recorded once and replayed without key, network or litellm.

`with_cassette` puts one around a resolver of models. What is recorded is what our own seam sees, requests and
answers, never headers or keys. Replayed are usage and price too, so that a report reads the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pytest_swapgate.models.asking import ask_model
from pytest_swapgate.models.base import ChatMessage, ChatModel, Completion, is_simulated
from pytest_swapgate.models.cassette_file import Answer, CassetteError
from pytest_swapgate.models.cassette_parts import fold
from pytest_swapgate.models.cassette_request import Request, without_secrets
from pytest_swapgate.models.cassette_tape import MODES, Tape, Turn
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.own import OwnModel
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.teams.episode import FailureClass

__all__ = [
    "MODES",
    "CassetteError",
    "CassetteModel",
    "RecordedModels",
    "Tape",
    "attempt",
    "fold",
    "with_cassette",
]


class CassetteModel:
    """A `ChatModel` around another one, or around nothing.

    Parameters
    ----------
    tape
        Where answers come from and go to.
    name
        The model's name.
    model
        Gives the model when it must be asked, on first need; None if there is none.

    Notes
    -----
    Recorded are answers and the agent's own failures. A failure of the infrastructure or the configuration is
    handed on and not recorded: the next time that the request is made counts as the same time.
    """

    def __init__(self, tape: Tape, name: str, model: Callable[[], ChatModel] | None = None) -> None:
        self.name = name
        self.tape = tape
        self._model = model

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        seed: int | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Answer from the cassette, or ask and record, as the mode says.

        What is returned is what is recorded, secrets taken out: a recording run reads as its replay will.

        Raises
        ------
        CassetteError
            If the request is not recorded and may not be asked, or the cassette cannot be written.
        ModelError
            The agent's own failure, replayed or not; and whatever the model raises.
        """
        given: dict[str, Any] = {"seed": seed, "temperature": temperature, "max_tokens": max_tokens}
        given["options"] = dict(options or {})
        request = Request.of(self.name, messages, **given)
        turn = self.tape.turn(request, can_ask=self._model is not None)
        answer = turn.answer
        if answer is None:
            assert self._model is not None
            try:
                answer = await _ask(self._model(), messages, {**given, "name": self.name})
                self.tape.record(turn, answer)
            except BaseException:
                self.tape.take_back(turn)
                raise
        tried = _ATTEMPT.get()
        if tried is not None:
            tried.turns.append((self.tape, turn))
        if answer.failure is not None:
            raise ModelError(answer.error, failure=FailureClass(answer.failure), usage=answer.usage)
        return Completion(answer.text, answer.usage, answer.model, answer.finish_reason)


class RecordedModels(ModelRegistry):
    """A registry whose models are on a cassette, all on one. See `with_cassette`.

    Attributes
    ----------
    tape
        The cassette in use.
    """

    def __init__(self, resolve: Callable[[str], ChatModel], tape: Tape) -> None:
        super().__init__()
        self.tape = tape
        self._source = resolve
        self._known: dict[str, ChatModel] = {}

    @property
    def replayed(self) -> bool:
        """Whether every answer of this run so far came from the cassette, and there was at least one."""
        return self.tape.replayed > 0 and self.tape.recorded == 0

    def take(self, own: Mapping[str, OwnModel]) -> None:
        """Let a project's own models be asked for by name, and put them on the cassette; see `ModelRegistry.take`."""
        if not isinstance(self._source, ModelRegistry):
            raise TypeError(
                "a project's own models are taken by a ModelRegistry; put the cassette around one"
            )
        self._source.take(own)

    def add(self, model: ChatModel) -> str:
        """Put a ready model on the cassette and return its name; see `ModelRegistry.add`."""
        if isinstance(self._source, ModelRegistry):
            name = self._source.add(model)
            self._known[name] = CassetteModel(self.tape, name, lambda: self._source(name))
            return name
        self._known[model.name] = CassetteModel(self.tape, model.name, lambda: model)
        return model.name

    def identity(self, name: str) -> str | None:
        """Return what evidence must know of a model; see `ModelRegistry.identity`."""
        return self._source.identity(name) if isinstance(self._source, ModelRegistry) else ""

    def __call__(self, name: str) -> ChatModel:
        """Return the model of that name.

        A model that will be asked is resolved now, so that a wrong name or a missing key is found before anything
        is spent; one that is replayed is not resolved at all. Simulated players are not recorded: they need neither
        key nor network and always say the same.

        Raises
        ------
        ModelError
            As the resolver does.
        """
        if is_simulated(name) and name not in self._known:
            return self._source(name)
        if name not in self._known:
            if self.tape.will_ask:
                self._source(name)
            self._known[name] = CassetteModel(self.tape, name, lambda: self._source(name))
        return self._known[name]

    def close(self) -> None:
        """End the recording; see `Tape.close`."""
        self.tape.close()


def with_cassette(
    resolve: Callable[[str], ChatModel],
    path: str | os.PathLike[str],
    mode: str,
    *,
    writer: str = "",
) -> RecordedModels:
    """Put a cassette around a resolver of models, such as a `ModelRegistry`. Close what it returns.

    Parameters
    ----------
    resolve
        Name to model; not called for what is replayed.
    path, mode, writer
        As in `Tape`.

    Raises
    ------
    ValueError
        For a bad mode or writer.
    CassetteError
        If the cassette cannot be used.
    """
    return RecordedModels(resolve, Tape(path, mode, writer=writer))


class Attempt:
    """One try at something, such as an episode, that may have to be tried again."""

    def __init__(self) -> None:
        self.turns: list[tuple[Tape, Turn]] = []

    def again(self) -> None:
        """Take back all turns of this try: the next one is answered, and recorded, as if this had not been."""
        while self.turns:
            tape, turn = self.turns.pop()
            tape.take_back(turn)


_ATTEMPT: ContextVar[Attempt | None] = ContextVar("swapgate_attempt", default=None)


@contextmanager
def attempt() -> Iterator[Attempt]:
    """Watch what the models are asked inside, in tasks and threads started there too.

    An episode that is lost in the middle and played again makes its first requests twice, its replay once: call
    `Attempt.again` on the lost try so that only the one that counts is on the cassette.
    """
    tried = Attempt()
    token = _ATTEMPT.set(tried)
    try:
        yield tried
    finally:
        _ATTEMPT.reset(token)


async def _ask(model: ChatModel, messages: Sequence[ChatMessage], given: Mapping[str, Any]) -> Answer:
    try:
        said = await ask_model(model, messages, **given)
    except ModelError as error:
        if error.failure is not FailureClass.AGENT:
            raise
        return Answer(failure="agent", error=without_secrets(str(error)), usage=error.usage)
    text: Any = said.text
    if not isinstance(text, str):
        return Answer(
            failure="agent", error=f"{model.name}: the model answered without text", usage=said.usage
        )
    words = without_secrets({"text": text, "model": said.model, "finish_reason": said.finish_reason})
    return Answer(**words, usage=said.usage)
