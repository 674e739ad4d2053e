"""Prices: a cap on money takes only models that have one, and says how to give it."""

from __future__ import annotations

import socket

import pytest

from pytest_swapgate.models import ModelError
from pytest_swapgate.models.litellm_model import LiteLLMModel
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.teams import FailureClass


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("went to the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("OPENAI_API_KEY", "x")


def test_unpriced_model_is_refused_under_a_budget_in_one_line():
    with pytest.raises(ModelError) as caught:
        ModelRegistry(must_be_priced=True)("openai/my-own-finetune")
    assert caught.value.failure is FailureClass.CONFIGURATION
    assert "--swapgate-price IN,OUT" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_priced_models_are_taken_under_a_budget():
    registry = ModelRegistry(must_be_priced=True)
    assert registry("openai/gpt-4o-mini").priced
    own = LiteLLMModel("openai/mine", options={"api_base": "http://x"}, price=(0.0, 0.0))
    assert registry(registry.add(own)) is own


def test_ready_model_without_a_price_is_refused_under_a_budget():
    own = LiteLLMModel("openai/mine", options={"api_base": "http://x"})
    with pytest.raises(ModelError, match="no price"):
        ModelRegistry(must_be_priced=True).add(own)
    assert ModelRegistry().add(own) == "openai/mine"


@pytest.mark.parametrize("must", [True, False])
def test_price_that_is_given_is_for_models_without_one(must):
    registry = ModelRegistry(price=(0.25, 0.5), must_be_priced=must)
    assert registry("openai/my-own-finetune")._price == (0.25, 0.5)
    assert registry("openai/gpt-4o-mini")._price is None


@pytest.mark.parametrize("price", [(1.0,), (-1.0, 0.0), (float("nan"), 0.0), (True, 1.0)])
def test_bad_price_is_refused(price):
    with pytest.raises(ValueError, match="price must be two numbers"):
        ModelRegistry(price=price)


@pytest.mark.parametrize(
    ("argument", "value"), [("backoff", -1), ("backoff", float("nan")), ("options", {"stream": True})]
)
def test_bad_arguments_are_refused_by_name(argument, value):
    with pytest.raises(ValueError, match=rf"^{argument} must"):
        LiteLLMModel("openai/x", **{argument: value})
