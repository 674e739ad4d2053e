"""From a model's name to the model, once a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_swapgate.models.base import SIMULATED, ChatModel, is_simulated
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.models.litellm_model import LiteLLMModel
from pytest_swapgate.models.own import OwnModel, OwnModels
from pytest_swapgate.teams.episode import FailureClass

__all__ = ["SIMULATED", "ModelRegistry", "is_simulated"]


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
        self._own = OwnModels({})
        self._added: set[str] = set()

    def take(self, own: Mapping[str, OwnModel]) -> None:
        """Let a project's own models be asked for by name; they go before the simulated player and providers.

        Raises
        ------
        ModelError
            Of class configuration, when a name or a model is not what is accepted.
        """
        self._own = OwnModels(own)

    def add(self, model: ChatModel) -> str:
        """Keep a ready model and return its name: the one that the project gave it, or else its own.

        Raises
        ------
        ModelError
            Of class configuration, when it has no price and must have one, or its name is another model's.
        """
        if name := self._own.name_of(model):
            return name
        if model.name in self._own:
            raise ModelError(
                f"model {model.name!r}: swapgate_models has another one of that name; let swapgate_model return the "
                "name alone, or give one of them another",
                failure=FailureClass.CONFIGURATION,
            )
        self._models[model.name] = self._priced(model)
        self._added.add(model.name)
        return model.name

    def identity(self, name: str) -> str | None:
        """Return what evidence must know of a model besides its name.

        Returns
        -------
        str or None
            Empty for a model that is known by its name alone: a provider's, or the environment's player. Of a
            project's own its ``digest``, and None if it has none: only the project's code says what it is.
        """
        model = self._models.get(name) if name in self._added else self._own.made(name)
        if model is None:
            return ""
        digest = getattr(model, "digest", None)
        return digest if isinstance(digest, str) and digest else None

    def __call__(self, name: str) -> ChatModel:
        """Return the model of that name.

        Raises
        ------
        ModelError
            Of class configuration, when the name is unknown, its key is missing, or it has no price and must have one.
        """
        if name not in self._models:
            try:
                self._models[name] = self._priced(
                    self._own[name] if name in self._own else self._resolve(name)
                )
            except ModelError as error:
                if name in self._own or not self._own.names:
                    raise
                raise ModelError(
                    f"{error}; swapgate_models has {', '.join(self._own.names)}", failure=error.failure
                ) from error
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

    def _priced(self, model: ChatModel) -> ChatModel:
        if not isinstance(model, LiteLLMModel) or (self._price is None and not self._must_be_priced):
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
