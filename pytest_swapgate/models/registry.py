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
    price
        USD per prompt token and per completion token, for models that litellm has no price for.
    must_be_priced
        Whether a model without a price is refused: a cap on money could not be kept with it.

    Raises
    ------
    ValueError
        If the price is not two numbers >= 0.
    """

    def __init__(
        self,
        simulated: Callable[[str], ChatModel] | None = None,
        *,
        price: tuple[float, float] | None = None,
        must_be_priced: bool = False,
    ) -> None:
        LiteLLMModel(SIMULATED, price=price)  # checks it
        self._simulated = simulated
        self._price = price
        self._must_be_priced = must_be_priced
        self._models: dict[str, ChatModel] = {}

    def add(self, model: ChatModel) -> str:
        """Keep a ready model under its own name and return the name.

        Raises
        ------
        ModelError
            Of class configuration, when it has no price and must have one.
        """
        self._models[model.name] = self._priced(model) if isinstance(model, LiteLLMModel) else model
        return model.name

    def __call__(self, name: str) -> ChatModel:
        """Return the model of that name.

        Raises
        ------
        ModelError
            Of class configuration, when the name is unknown, its key is missing, or it has no price and must have one.
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
        return self._priced(model)

    def _priced(self, model: LiteLLMModel) -> LiteLLMModel:
        if self._price is None and not self._must_be_priced:
            return model
        if model.priced:
            return model
        if self._price is not None:
            return model.at_price(self._price)
        raise ModelError(
            f"model {model.name!r}: litellm has no price for it, so a budget in USD cannot be kept: give its price "
            "with --swapgate-price IN,OUT, or cap with --swapgate-max-episodes instead",
            failure=FailureClass.CONFIGURATION,
        )
