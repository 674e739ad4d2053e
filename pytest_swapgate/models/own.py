"""A project's own models: each name stands for an object, or for a function that makes one on first need."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from pytest_swapgate.models.base import SIMULATED, ChatModel, is_simulated
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.teams.episode import FailureClass

OwnModel = ChatModel | Callable[[], ChatModel]
"""What a name may stand for."""

A_MODEL = "a ChatModel (an object with name and async complete(messages, ...))"
_SOURCE = "swapgate_models"


def is_model(value: object) -> TypeGuard[ChatModel]:
    """Whether a value can be asked: an object with a name and ``complete``; not the class of one."""
    if isinstance(value, type) or not isinstance(value, ChatModel):
        return False
    name: Any = value.name
    return isinstance(name, str) and bool(name)


class OwnModels:
    """The models that a project names itself.

    Parameters
    ----------
    given
        Name -> model, or a function without arguments that makes it; such a function is called once at most.

    Raises
    ------
    ModelError
        Of class configuration, when it is no mapping, or one of its names or values is not what is accepted.
    """

    def __init__(self, given: Mapping[str, OwnModel]) -> None:
        anything: Any = given  # a user's
        if not isinstance(anything, Mapping):
            raise _refused(
                f"{_SOURCE} gave {type(given).__name__}: accepted is a mapping of names to {A_MODEL}, or to functions "
                "without arguments that return one"
            )
        for name, model in anything.items():
            if not (isinstance(name, str) and name and name == name.strip()):
                raise _refused(
                    f"{_SOURCE} has the name {name!r}: accepted is a text that is not empty, without spaces around it"
                )
            if is_model(model):
                _check_says_what_it_is(name, model)
            elif not callable(model):
                raise _refused(
                    f"{_SOURCE}[{name!r}] is {_kind(model)}: accepted is {A_MODEL}, or a function without arguments "
                    "that returns one"
                )
        self._given: dict[str, OwnModel] = dict(given)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in their order."""
        return tuple(self._given)

    def __contains__(self, name: object) -> bool:
        """Whether a name is one of them."""
        return name in self._given

    def __getitem__(self, name: str) -> ChatModel:
        """Return the model of a name, made now if it has to be.

        Raises
        ------
        ModelError
            Of class configuration, when its function fails, or returns no model.
        """
        given: Any = self._given[name]
        if is_model(given):
            return given
        try:
            made: Any = given()
        except Exception as error:
            raise _refused(f"{_SOURCE}[{name!r}] raised {_fault(error)}") from error
        if not is_model(made):
            if inspect.iscoroutine(made):
                made.close()
            raise _refused(f"{_SOURCE}[{name!r}] returned {_kind(made)}: accepted is {A_MODEL}")
        _check_says_what_it_is(name, made)
        self._given[name] = made
        return made

    def made(self, name: str) -> ChatModel | None:
        """Return the model of a name if it is there already."""
        given = self._given.get(name)
        return given if is_model(given) else None

    def name_of(self, model: ChatModel) -> str:
        """Return the name that stands for an object, empty if none does."""
        return next((name for name, given in self._given.items() if given is model), "")


def _check_says_what_it_is(name: str, model: ChatModel) -> None:
    """Refuse a name that hides, or claims, that a model is a stand-in: reports go by the name."""
    if is_simulated(name) != is_simulated(model.name):
        raise _refused(
            f"{_SOURCE}[{name!r}] is the model {model.name!r}: a stand-in, and nothing else, has a name that begins "
            f"with {SIMULATED}, so that reports say so; name it {model.name!r}"
        )


def _kind(value: object) -> str:
    return (
        f"the class {value.__name__}"
        if isinstance(value, type)
        else f"an object of type {type(value).__name__}"
    )


def _fault(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[1:]
    place = f" ({Path(frames[0].filename).name}:{frames[0].lineno})" if frames else ""
    said = str(error).strip().split("\n")[0][:300]
    return f"{type(error).__name__}: {said}{place}" if said else f"{type(error).__name__}{place}"


def _refused(message: str) -> ModelError:
    return ModelError(message, failure=FailureClass.CONFIGURATION)
