"""The simulated cooks know only what the prompt says: text in, text out, byte for byte."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.environments.kitchen import KitchenEnvironment
from pytest_swapgate.environments.kitchen.cooks import SimulatedCooks
from pytest_swapgate.environments.kitchen.cooks.language import NOTHING_NEW, read_agreements
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import Stage
from pytest_swapgate.runner.episodes import play_episode
from pytest_swapgate.studies import form_cohort, run_swap_study
from pytest_swapgate.studies.formed import FormedTeams
from pytest_swapgate.teams import Agent, Condition, Team, amnesia, placebo
from pytest_swapgate.teams.roster import announcement

MARK = "Xyzzy"
"""Part of every name that no model may see."""


class MarkedKitchen(KitchenEnvironment):
    """A kitchen whose teams and agents have telling names."""

    def fresh_team(self, index):
        agents = tuple(
            Agent(seat=seat, model="recorded", role=self.role(seat), origin=f"{MARK}Origin{index}")
            for seat in self.seats
        )
        return Team(id=f"{MARK}Team{index}", agents=agents)


class Recorded:
    """A simulated model that keeps every request."""

    name = "recorded"

    def __init__(self, variant="simulated"):
        self.cooks = SimulatedCooks(variant)
        self.requests = []

    async def complete(self, messages, **parameters):
        self.requests.append((json.loads(json.dumps(list(messages))), parameters))
        return await self.cooks.complete(messages, **parameters)


def form(variant="simulated", *, teams=6, episodes=5, trials=2, concurrency=16, environment=None, seed=0):
    environment = environment or MarkedKitchen()
    model = Recorded(variant)
    registry = ModelRegistry(environment.simulated)
    registry.add(model)
    stage = Stage(environment, registry, concurrency=concurrency)

    async def work():
        return await form_cohort(
            stage, model="recorded", teams=teams, episodes=episodes, trials=trials, seed=seed
        )

    return anyio.run(work), model


@pytest.fixture(scope="module")
def study():
    """All conditions of six marked teams, and every request that was made."""
    cohort, model = form()
    formation = list(model.requests)
    model.requests.clear()
    return anyio.run(run_swap_study, cohort), cohort, formation, list(model.requests)


def texts(requests):
    return [message["content"] for messages, _ in requests for message in messages]


def test_no_condition_arm_or_team_reaches_the_model(study):
    result, cohort, formation, requests = study
    assert len(formation) > 1000
    assert len(requests) > 1000
    labels = {arm.arm.label for arm in result.played}
    words = re.compile(
        r"\b("
        + "|".join([c.value for c in Condition] + ["cleared", "baseline", "candidate", "arm"])
        + r")\b",
        re.IGNORECASE,
    )
    for messages, parameters in formation + requests:
        whole = json.dumps([messages, {**parameters, "seed": None}])
        assert MARK not in whole
        assert not words.search(whole)
        assert not any(label in whole for label in labels)
        assert not any(team.id in whole for team in cohort.teams)


def test_announcement_is_the_only_trace_of_a_change_and_the_same_for_all(study):
    _, cohort, formation, requests = study
    said = {announcement(seat) for seat in cohort.seats}
    assert not any("Roster change" in text for text in texts(formation))
    for text in texts(requests):
        rest = text
        for words in said:
            rest = rest.replace(words, "")
        assert "Roster" not in rest
        assert "vacated" not in rest
    # Intact plays without, the other five with it.
    turns = [
        messages[0]["content"] for messages, _ in requests if "Rewrite your" not in messages[1]["content"]
    ]
    assert any("Roster change" in text for text in turns)
    assert any("Roster change" not in text for text in turns)


def test_conditions_differ_in_no_parameter(study):
    _, cohort, _, requests = study
    seeds = {seed for index in range(len(cohort.teams)) for _, seed in cohort.evaluation(index)}
    for _, parameters in requests:
        assert set(parameters) == {"seed", "temperature", "max_tokens"}
        assert parameters["temperature"] is None
        assert parameters["max_tokens"] in (300, 600)
    assert {parameters["seed"] for _, parameters in requests} == seeds


def test_every_condition_is_asked_with_the_same_seeds_and_tasks(study):
    result, *_ = study
    plans = {
        tuple((e.task_id, e.seed) for episodes in arm.episodes for e in episodes) for arm in result.played
    }
    assert len(plans) == 1


def play(team, *, task=0, seed=5, variant="simulated"):
    environment = KitchenEnvironment()
    registry = ModelRegistry(environment.simulated)
    model = Recorded(variant)
    registry.add(model)
    stage = Stage(environment, registry)
    return anyio.run(play_episode, stage, team, environment.tasks("held_out")[task], seed)


def test_same_notebook_in_other_hands_says_the_same(study):
    _, cohort, _, _ = study
    for team in cohort.teams:
        stranger = Team(
            id="another",
            agents=tuple(agent.model_copy(update={"origin": "elsewhere"}) for agent in team.agents),
        )
        one, other = play(team), play(stranger)
        assert one.messages
        assert one.model_dump_json() == other.model_dump_json()


def test_another_notebook_says_something_else(study):
    _, cohort, _, _ = study
    said = [play(team).messages for team in cohort.teams]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("seat", ["chef", "assistant"])
def test_deleting_partner_notes_changes_what_is_said(study, seat):
    _, cohort, _, _ = study
    kept = [play(placebo(team, seat).after).messages for team in cohort.teams]
    lost = [play(amnesia(team, seat).after).messages for team in cohort.teams]
    assert all(one != other for one, other in zip(kept, lost, strict=True))


def test_coined_words_are_used_by_those_who_noted_them_only(study):
    _, cohort, _, _ = study
    known = 0
    for team in cohort.teams:
        words = [word for word, _ in read_agreements(team["chef"].notebook.partner_notes).codes]
        opening = re.compile(rf"({'|'.join(words)}) \w+\.", re.IGNORECASE) if words else None
        if opening is None:
            continue
        noted = [m.text for m in play(placebo(team, "chef").after).messages if m.sender == "chef"]
        cleared = [m.text for m in play(amnesia(team, "chef").after).messages if m.sender == "chef"]
        known += any(opening.match(text) for text in noted)
        assert not opening.match(cleared[0])
    assert known >= 3


# Determinism.


def digest_of(cohort):
    text = json.dumps(
        [[team.model_dump(mode="json") for team in cohort.teams]]
        + [[e.model_dump(mode="json") for e in episodes] for episodes in cohort.formation]
    )
    return hashlib.sha256(text.encode()).hexdigest()


def test_formation_is_the_same_whatever_runs_beside_it():
    digests = {digest_of(form(teams=3, episodes=3, concurrency=c)[0]) for c in (1, 2, 16)}
    assert len(digests) == 1


def test_a_team_forms_the_same_in_a_larger_cohort():
    small, large = form(teams=2, episodes=3)[0], form(teams=4, episodes=3)[0]
    assert large.teams[:2] == small.teams
    assert large.formation[:2] == small.formation


def test_formation_is_the_same_in_another_process():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_cooks_blind import digest_of, form\n"
        "print(digest_of(form(teams=2, episodes=3)[0]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, os.path.dirname(__file__)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "77"},
    )
    assert done.stdout.strip() == digest_of(form(teams=2, episodes=3)[0])


def test_another_seed_forms_other_teams():
    assert digest_of(form(teams=2, episodes=2)[0]) != digest_of(form(teams=2, episodes=2, seed=1)[0])


# No conventions.


@pytest.fixture(scope="module")
def plain():
    """Formation and all conditions of teams without conventions."""
    cohort, model = form("simulated:plain", episodes=8)
    anyio.run(run_swap_study, cohort)
    return cohort, model.requests


def test_strength_0_coins_no_word_ever(plain):
    cohort, requests = plain
    for team in cohort.teams:
        for agent in team.agents:
            assert read_agreements(agent.notebook.partner_notes) is NOTHING_NEW
    for episodes in cohort.formation:
        for episode in episodes:
            for message in episode.messages:
                assert read_agreements(message.text) is NOTHING_NEW
    assert all(read_agreements(text) is NOTHING_NEW for text in texts(requests))


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_strength_0_coins_no_word_under_any_seed(plain, data):
    _, requests = plain
    messages, _ = requests[data.draw(st.integers(0, len(requests) - 1))]
    seed = data.draw(st.integers(0, 2**31))
    noise = data.draw(st.sampled_from(["0", "1", "20"]))
    cooks = SimulatedCooks(f"simulated:strength=0,noise={noise}")
    answer = cooks.answer(messages[0]["content"], messages[1]["content"], str(seed))
    assert read_agreements(answer) is NOTHING_NEW


# Words of a real model beside a simulated partner.

_WORDS = st.lists(
    st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n"), max_size=30)
    | st.sampled_from(
        [
            "Again: is the egg there?",
            "Report: 1 | 2 | 3.",
            "Report: a | the b | the c.",
            'What does "prep" mean?',
            '"prep" means cut.',
            "Reports go item, item, item.",
            "Prep ٣.",
            "Please cut the moon and put the slices on the pass.",
            "Correction: Please put a dish on the pass.",
            "Understood",
        ]
    ),
    min_size=1,
    max_size=4,
)


@given(st.data(), _WORDS)
@settings(deadline=None, max_examples=150)
def test_no_words_of_a_partner_break_a_cook(study, data, said):
    _, _, formation, _ = study
    messages, _ = formation[data.draw(st.integers(0, len(formation) - 1))]
    system, prompt = messages[0]["content"], messages[1]["content"]
    seats = data.draw(
        st.lists(st.sampled_from(["chef", "assistant"]), min_size=len(said), max_size=len(said))
    )
    lines = "".join(f"[{i}] {seat}: {text}\n" for i, (seat, text) in enumerate(zip(seats, said, strict=True)))
    head, sign, rest = prompt.partition("Transcript:\n")
    if sign:
        prompt = f"{head}Transcript:\n{lines}{rest.splitlines()[-1]}"
    answer = SimulatedCooks().answer(system, prompt, "1")
    assert answer.count("\n") >= 2


def test_one_simulated_seat_plays_beside_another_model():
    cohort, _ = form(teams=2, episodes=2)
    arm = FormedTeams(cohort).replace("chef", model="simulated:careless")
    change = arm.changes()[0]
    assert change.after["chef"].model == "simulated:careless"
    episode = anyio.run(play_episode, cohort.stage, change.after, *cohort.evaluation(0)[0])
    assert episode.counts
