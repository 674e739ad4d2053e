"""From a model's name to the model, once a session."""

from __future__ import annotations

from collections.abc import Callable

from pytest_swapgate.models.base import ChatModel
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.litellm_model import LiteLLMModel
from pytest_swapgate.teams.episode import FailureClass

SIMULATED = "simulated"


def is_simulated(name: str) -> bool:
    """Whether a name asks for the environment's simulated player (``simulated`` or ``simulated:variant``)."""
    return name == SIMULATED or name.startswith(SIMULATED + ":")


class ModelRegistry:
    """Resolves and keeps the models of a session.

    Parameters
    ----------
    simulated
        Builds an environment's simulated player from its name, or None if it has none.
    """

    def __init__(self, simulated: Callable[[str], ChatModel] | None = None) -> None:
        self._simulated = simulated
        self._models: dict[str, ChatModel] = {}

    def add(self, model: ChatModel) -> str:
        """Keep a ready model under its own name and return the name."""
        self._models[model.name] = model
        return model.name

    def __call__(self, name: str) -> ChatModel:
        """Return the model of that name.

        Raises
        ------
        ModelError
            Of class configuration, when the name is unknown or its key is missing.
        """
        if name not in self._models:
            self._models[name] = self._resolve(name)
        return self._models[name]

    def _resolve(self, name: str) -> ChatModel:
        if is_simulated(name):
            if self._simulated is None:
                raise ModelError(
                    f"model {name!r}: this environment has no simulated player; name a provider's model "
                    "with --swapgate-model provider/model or override the swapgate_model fixture",
                    failure=FailureClass.CONFIGURATION,
                )
            try:
                return self._simulated(name)
            except ValueError as error:
                raise ModelError(f"model {name!r}: {error}", failure=FailureClass.CONFIGURATION) from error
        model = LiteLLMModel(name)
        model.check()
        return model
