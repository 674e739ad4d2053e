"""The kitchen's conversations: who is asked when, what stops a dialogue, what a cook is told back."""

from __future__ import annotations

import anyio
import pytest

from pytest_swapgate.environments.kitchen import KitchenEnvironment
from pytest_swapgate.environments.kitchen.play import PATIENCE, TURN_CAP, KitchenEpisode
from pytest_swapgate.environments.kitchen.recipes import order
from pytest_swapgate.models import Completion, ModelError, PlayingTeam
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import Stage
from pytest_swapgate.runner.episodes import play_episode
from pytest_swapgate.teams import Agent, FailureClass, Notebook, Team, Usage, placebo

SILENT = "plan:\nsay: [NOTHING]"


class Cooks:
    """Two cooks that speak from a script; when it ends they say and plan nothing."""

    name = "cooks"

    def __init__(self, chef=(), assistant=(), replies=()):
        self.lines = {"chef": list(chef), "assistant": list(assistant)}
        self.replies = list(replies)
        self.asked = []

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None):
        system, prompt = messages[0]["content"], messages[1]["content"]
        seat = "chef" if "You are the chef." in system else "assistant"
        replying = prompt.endswith("Your partner waits for your reply.")
        self.asked.append((seat, replying, system, prompt))
        script = self.replies if replying else self.lines[seat]
        text = script.pop(0) if script else SILENT
        if isinstance(text, Exception):
            raise text
        return Completion(text, Usage(calls=1), self.name)

    def prompts(self, seat, replying=False):
        return [prompt for who, answering, _, prompt in self.asked if (who, answering) == (seat, replying)]


def make_team(**agents):
    environment = KitchenEnvironment()
    return Team(
        id="t",
        agents=tuple(
            Agent(seat=seat, model="cooks", role=environment.role(seat), **agents.get(seat, {}))
            for seat in environment.seats
        ),
    )


def play(cooks, *, dish="boiled_egg", team=None, turn_cap=TURN_CAP):
    playing = PlayingTeam(team or make_team(), lambda name: cooks)
    return anyio.run(KitchenEpisode(playing, order(dish), 5, turn_cap=turn_cap).play)


EGG_CHEF = (
    "plan: wait(5); wait(3); pickup(egg, counter); put_obj_in_utensil(pot0); cook(pot0); "
    "pickup(boiled_egg, pot0); deliver_soup()"
)
EGG_ASSISTANT = "plan: pickup(egg, ingredient_dispenser); place_obj_on_counter()"


def test_cooks_that_know_the_recipe_deliver():
    episode = play(Cooks([EGG_CHEF], [EGG_ASSISTANT]))
    assert episode.success
    assert episode.score == 1.0
    assert episode.messages == ()
    assert episode.subtasks == 7  # the reference's actions of both cooks
    assert episode.metrics["delivered"] == 1.0
    assert episode.metrics["progress_completeness"] == 100.0


def test_episode_carries_every_metric():
    metrics = play(Cooks()).metrics
    assert set(metrics) == {
        "steps",
        "delivered",
        "progress_completeness",
        "tes",
        "initiating",
        "responding",
        "conversations",
    }
    assert metrics["steps"] == order("boiled_egg").limit
    assert (metrics["delivered"], metrics["tes"], metrics["progress_completeness"]) == (0.0, 0.0, 0.0)


def test_collaboration_is_counted_from_requests_and_plans():
    opening = (
        "plan: wait(5); request('pickup(egg, ingredient_dispenser)'); request('place_obj_on_counter()')\n"
        "say: Please fetch the egg."
    )
    reply = f"{EGG_ASSISTANT}\nsay: [NOTHING]"
    metrics = play(Cooks([opening], replies=[reply])).metrics
    assert (metrics["conversations"], metrics["initiating"], metrics["responding"]) == (1, 1.0, 1.0)
    deaf = play(Cooks([opening], replies=["plan: wait(2)"])).metrics
    assert (deaf["conversations"], deaf["initiating"], deaf["responding"]) == (1, 1.0, 0.0)


# Who hears what.


def test_chef_alone_has_the_recipe():
    cooks = Cooks()
    play(cooks)
    for seat, _, system, _ in cooks.asked:
        assert ("Recipe:" in system) == (seat == "chef")


def test_notebook_and_announcement_are_in_the_system_prompt():
    team = make_team(assistant={"notebook": Notebook(task_notes="Salt last.", partner_notes="He waits.")})
    cooks = Cooks()
    play(cooks, team=placebo(team, "chef").after)
    said = placebo(team, "chef").after.announcement
    for seat, _, system, _ in cooks.asked:
        assert said in system
        assert ("He waits." in system) == (seat == "assistant")
    cooks = Cooks()
    play(cooks, team=team)
    assert not any("Roster change" in system for _, _, system, _ in cooks.asked)


def test_cook_sees_what_was_said_in_order():
    cooks = Cooks(["plan: wait(1)\nsay: Bring an egg."], replies=["plan: wait(1)\nsay: Which one?"])
    play(cooks)
    assert "Transcript:\n[0] chef: Bring an egg.\nYour partner waits" in cooks.prompts("assistant", True)[0]
    assert "Bring an egg.\n[0] assistant: Which one?\nYour" in cooks.prompts("chef", True)[0]


# What ends a conversation.


def spoken(episode, step=0):
    return [(m.sender, m.text) for m in episode.messages if m.step == step]


def test_end_closes_the_conversation():
    cooks = Cooks(["plan: wait(5)\nsay: Bring an egg. [END]"])
    assert spoken(play(cooks)) == [("chef", "Bring an egg.")]
    assert cooks.prompts("assistant", True) == []


def test_nothing_ends_the_conversation_and_is_no_message():
    cooks = Cooks(["plan: wait(5)\nsay: Bring an egg."], replies=["plan:\nsay: [NOTHING]"])
    assert spoken(play(cooks)) == [("chef", "Bring an egg.")]


def test_cap_on_turns_ends_the_conversation():
    lines = [
        f"plan:\nsay: {word} {word}ing." for word in ("one", "two", "three", "four", "five", "six", "seven")
    ]
    for cap in (1, 2, TURN_CAP):
        cooks = Cooks(["plan: wait(5)\nsay: Start."], replies=lines)
        assert len(spoken(play(cooks, turn_cap=cap))) == cap


def test_cook_that_repeats_itself_ends_the_conversation():
    cooks = Cooks(
        ["plan: wait(5)\nsay: Bring an egg."],
        replies=["plan:\nsay: Which egg?", "plan:\nsay: bring an EGG!", "plan:\nsay: more"],
    )
    assert [text for _, text in spoken(play(cooks))] == ["Bring an egg.", "Which egg?", "bring an EGG!"]


def test_each_message_has_sender_step_and_kind():
    cooks = Cooks(
        ["plan: wait(3)\nsay: Please fetch the egg."], replies=["plan: wait(3)\nsay: What does egg mean?"]
    )
    messages = play(cooks).messages
    assert [(m.sender, m.step, m.kind) for m in messages[:2]] == [
        ("chef", 0, "request"),
        ("assistant", 0, "clarification"),
    ]


def test_reply_replaces_the_queue_and_an_empty_plan_keeps_it():
    cooks = Cooks(
        ["plan: wait(5)\nsay: Bring an egg."],
        ["plan: wait(5); wait(4)"],
        replies=["plan: wait(2)", "plan:\nsay: [NOTHING]"],
    )
    # The assistant has no queue when the chef speaks; the reply gives it one.
    play(cooks)
    assert len(cooks.prompts("assistant", True)) == 1
    assert "Step 2 of" in cooks.prompts("assistant")[0]


# What is refused, and what a cook is told.


def test_refused_plan_gets_one_correction_with_the_reason():
    cooks = Cooks(["plan: pickup(egg, ingredient_dispenser)", "plan: wait(5)"])
    play(cooks)
    first, second = cooks.prompts("chef")[:2]
    assert "Feedback:" not in first
    assert "Feedback: pickup(egg, ingredient_dispenser) did not work. The chef cannot reach" in second
    assert "Step 0 of" in second


def test_second_refusal_waits_one_step():
    cooks = Cooks(["plan: deliver_soup()", "plan: deliver_soup()", "plan: wait(5)"])
    episode = play(cooks)
    assert [prompt.split(" of")[0] for prompt in cooks.prompts("chef")[:3]] == ["Step 0", "Step 0", "Step 1"]
    assert sum("chef: deliver_soup() did not work" in event for event in episode.events) == 2


@pytest.mark.parametrize(
    ("turn", "feedback"),
    [
        ("I would rather talk.", "The turn has no line 'plan: ...'."),
        ("plan: fly(home)", "fly(home): Unknown action: accepted are pickup"),
        ("plan: wait(99)", "wait(99): wait() must have a whole number of steps from 1 to 5."),
    ],
)
def test_unreadable_turn_is_told_back(turn, feedback):
    cooks = Cooks([turn])
    play(cooks)
    assert f"Feedback: The plan did not work. {feedback}" in cooks.prompts("chef")[1]


def test_words_of_a_refused_turn_are_spoken_only_when_it_stands():
    cooks = Cooks(["plan: fly()\nsay: One egg.", "plan: fly()\nsay: Two eggs."])
    assert [text for _, text in spoken(play(cooks))] == ["Two eggs."]


def test_unreadable_reply_leaves_the_queue_and_is_told_at_the_next_turn():
    cooks = Cooks(["plan: wait(5)\nsay: Hello."], replies=["plan: fly()\nsay: Hm."])
    play(cooks)
    assert "Feedback: The plan did not work. fly(): Unknown" in cooks.prompts("assistant")[0]


def test_action_that_waits_for_the_partner_is_given_back_after_patience():
    cooks = Cooks(["plan: pickup(egg, counter); wait(5)"])
    episode = play(cooks)
    first, second = cooks.prompts("chef")[:2]
    assert f"Step {PATIENCE + 1} of" in second
    assert "Feedback: pickup(egg, counter) did not work. There is no egg on a counter" in second
    assert any("chef: pickup(egg, counter) did not work" in event for event in episode.events)
    assert "Your queue: empty" in second
    assert first != second


def test_partner_that_is_in_time_ends_the_wait():
    late = "plan: wait(1); pickup(egg, ingredient_dispenser); place_obj_on_counter()"
    cooks = Cooks(["plan: wait(4); pickup(egg, counter)"], [late])
    episode = play(cooks)
    assert episode.subtasks == 3
    assert not any("did not work" in event for event in episode.events)


def test_deliberate_wait_is_no_blocked_action():
    cooks = Cooks(["plan: wait(5); wait(5); wait(5)"])
    episode = play(cooks)
    assert cooks.prompts("chef")[1].startswith("Step 15 of")
    assert not any("did not work" in event for event in episode.events)


def test_action_that_fails_midway_empties_the_queue_and_is_told():
    cooks = Cooks([], ["plan: pickup(egg, ingredient_dispenser); put_obj_in_utensil(pot0); wait(5)"])
    play(cooks)
    second = cooks.prompts("assistant")[1]
    assert "Feedback: put_obj_in_utensil(pot0) did not work. The assistant cannot reach pot0" in second
    assert "Your queue: empty" in second


def test_thrown_away_food_is_noticed_by_both():
    spoiled = "plan: pickup(apple, ingredient_dispenser); put_obj_in_utensil(blender0); stir(blender0)"
    cooks = Cooks(["plan: wait(1)"] * 30, [spoiled, "plan: wait(1)"])
    episode = play(cooks)
    lost = "apple in blender0 match no recipe and were thrown away."
    assert any(lost in event for event in episode.events)
    for seat in ("chef", "assistant"):
        assert any(f"Notice: {lost}" in prompt for prompt in cooks.prompts(seat))


def test_model_failure_passes_through_to_the_runner():
    cooks = Cooks([ModelError("gone", failure=FailureClass.AGENT)])
    registry = ModelRegistry()
    registry.add(cooks)
    stage = Stage(KitchenEnvironment(), registry)
    episode = anyio.run(play_episode, stage, make_team(), stage.environment.tasks("held_out")[0], 0)
    assert (episode.score, episode.failure, episode.counts) == (0.0, FailureClass.AGENT, True)


def test_activity_is_read_from_partner_notes():
    assert not play(Cooks()).active
    assert play(Cooks(), team=make_team(chef={"notebook": Notebook(partner_notes="x")})).active
    assert not play(Cooks(), team=make_team(chef={"notebook": Notebook(task_notes="x")})).active


# Levels.


@pytest.mark.parametrize(("formation", "held_out"), [(1, 2), (5, 6), (3, 4)])
def test_levels_are_selectable(formation, held_out):
    environment = KitchenEnvironment(formation_level=formation, held_out_level=held_out)
    for split, level in (("formation", formation), ("held_out", held_out)):
        tasks = environment.tasks(split)
        assert len(tasks) == 5
        assert all(task.split == split and task.data == {"level": level} for task in tasks)
        assert all(order(task.id).level == level for task in tasks)


def test_high_coupling_is_the_default():
    assert [t.data["level"] for t in KitchenEnvironment().tasks("formation")] == [5] * 5
    assert [t.data["level"] for t in KitchenEnvironment().tasks("held_out")] == [6] * 5


@pytest.mark.parametrize("argument", ["formation_level", "held_out_level"])
@pytest.mark.parametrize("value", [0, 7, "5", True, 5.0, None])
def test_level_that_is_none_is_refused_by_name(argument, value):
    with pytest.raises(ValueError, match=rf"{argument}={value!r}: accepted is a whole number from 1 to 6"):
        KitchenEnvironment(**{argument: value})


@pytest.mark.parametrize("value", [0, -1, True, 2.5, "6"])
def test_bad_turn_cap_is_refused(value):
    with pytest.raises(ValueError, match="turn_cap"):
        KitchenEnvironment(turn_cap=value)
