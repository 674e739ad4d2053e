"""Notebooks: two headed sections, a token budget, whatever a model wrote."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_swapgate.teams import Notebook, count_tokens
from pytest_swapgate.teams.notebook import BUDGET, PARTNER_HEADING, TASK_HEADING, split_sentences

_TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=300)
_LIKELY = st.lists(
    st.sampled_from(
        ["word", "don't", ".", "!", "\n", "  ", "Task notes:", "## Partner notes", "été", "7.5", "\t", "_a_"]
    ),
    max_size=60,
).map("".join)
_PLAIN = st.lists(
    st.lists(st.sampled_from(["pot", "salt", "é", "12", "never"]), min_size=1, max_size=6).map(
        lambda words: " ".join(words) + "."
    ),
    max_size=6,
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("one", 1),
        ("one two", 2),
        ("one, two.", 4),
        ("snake_case7", 1),
        ("don't", 3),
        ("...", 3),
        ("été 水", 2),
        ("a-b", 3),
    ],
)
def test_token_rule_is_words_and_single_marks(text, tokens):
    assert count_tokens(text) == tokens


@given(_TEXT | _LIKELY, _TEXT | _LIKELY, st.integers(1, 40))
@settings(deadline=None, max_examples=150)
def test_budget_is_never_exceeded_and_the_cut_is_recorded(task, partner, budget):
    notebook = Notebook.write(task, partner, budget=budget)
    assert notebook.tokens <= budget
    before = count_tokens(task) + count_tokens(partner)
    assert notebook.cut == before - notebook.tokens
    if before <= budget:
        assert notebook.cut == 0


@given(_TEXT | _LIKELY, st.integers(1, 40))
@settings(deadline=None, max_examples=150)
def test_a_parsed_notebook_never_exceeds_its_budget(text, budget):
    assert Notebook.parse(text, budget=budget).tokens <= budget


@given(_TEXT | _LIKELY)
@settings(deadline=None, max_examples=100)
def test_parsing_loses_no_words_but_headings_within_the_budget(text):
    notebook = Notebook.parse(text, budget=10_000)
    kept = (notebook.task_notes + notebook.partner_notes).lower()
    assert notebook.cut == 0
    assert kept.count("word") == text.lower().count("word")


@given(_PLAIN, _PLAIN)
@settings(deadline=None, max_examples=80)
def test_what_is_rendered_is_read_back(task, partner):
    notebook = Notebook.write(task, partner)
    again = Notebook.parse(notebook.render())
    assert (again.task_notes, again.partner_notes) == (notebook.task_notes, notebook.partner_notes)


@given(_TEXT | _LIKELY, _TEXT | _LIKELY)
@settings(deadline=None, max_examples=80)
def test_writing_again_changes_nothing(task, partner):
    once = Notebook.write(task, partner, budget=25)
    again = Notebook.write(once.task_notes, once.partner_notes, budget=25)
    assert (again.task_notes, again.partner_notes, again.cut) == (once.task_notes, once.partner_notes, 0)


def test_default_budget_is_the_papers_200_tokens():
    assert BUDGET == 200
    assert Notebook.write("word. " * 300, "").tokens == 200


def test_cut_falls_at_a_sentence_of_the_longer_section():
    notebook = Notebook.write("One two three. Four five six. Seven eight.", "Short one.", budget=12)
    assert notebook.task_notes == "One two three. Four five six."
    assert notebook.partner_notes == "Short one."
    assert notebook.cut == 3


def test_cut_takes_from_the_partner_notes_where_they_are_longer():
    notebook = Notebook.write("Salt last.", "He waits. She asks. They nod.", budget=9)
    assert notebook.task_notes == "Salt last."
    assert notebook.partner_notes == "He waits. She asks."


def test_single_sentence_over_the_budget_is_cut_at_a_word():
    notebook = Notebook.write("alpha beta gamma delta", "", budget=3)
    assert notebook.task_notes == "alpha beta gamma"
    assert notebook.cut == 1


def test_two_endless_sentences_leave_neither_section_empty():
    notebook = Notebook.write("task " * 300, "partner " * 300, budget=200)
    assert count_tokens(notebook.task_notes) == 100
    assert count_tokens(notebook.partner_notes) == 100


def test_short_section_is_not_cut_for_an_endless_one():
    notebook = Notebook.write("task " * 300, "He waits.", budget=200)
    assert count_tokens(notebook.task_notes) == 197
    assert notebook.partner_notes == "He waits."


def test_lines_and_marks_end_a_sentence():
    assert split_sentences("One. Two!\nThree\n\n four? Five") == ["One.", "Two!", "Three", "four?", "Five"]
    assert split_sentences("1.5 cups") == ["1.5 cups"]


@pytest.mark.parametrize("budget", [0, -1, True, 1.5, "200", None])
def test_bad_budget_is_refused_by_name(budget):
    with pytest.raises(ValueError, match=r"budget must be an int >= 1, got"):
        Notebook.write("a", "b", budget=budget)


@pytest.mark.parametrize(
    ("task_heading", "partner_heading"),
    [
        ("## Task notes", "## Partner notes"),
        ("# TASK NOTES", "# PARTNER NOTES"),
        ("**Task notes**", "**Partner notes**"),
        ("**Task Notes:**", "**Partner Notes:**"),
        ("Task notes:", "Partner notes:"),
        ("task_notes:", "partner_notes:"),
        ("### Task-notes ###", "### Partner-notes ###"),
        ("1. Task notes", "2. Partner notes"),
        ("- **Task notes**:", "- **Partner notes**:"),
        ("> ## Task notes", "> ## Partner notes"),
        ("<task_notes>", "<partner_notes>"),
        ("[Task notes]", "[Partner notes]"),
        ("`## Task notes`", "`## Partner notes`"),
        ("## Task notes (true with any partner)", "## Partner notes (this teammate)"),
        ("   ## Task notes  ", "\t## Partner notes\t"),
    ],
)
def test_headings_are_found_in_the_markup_of_models(task_heading, partner_heading):
    text = f"{task_heading}\nSalt last.\n{partner_heading}\nHe waits."
    notebook = Notebook.parse(text)
    assert (notebook.task_notes, notebook.partner_notes) == ("Salt last.", "He waits.")


def test_sections_may_stand_in_either_order_and_on_the_heading_line():
    notebook = Notebook.parse("Partner notes: He waits.\nTask notes: Salt last.")
    assert (notebook.task_notes, notebook.partner_notes) == ("Salt last.", "He waits.")


def test_lines_of_a_list_stay_sentences_of_their_own():
    written = "## Task notes\n- Salt last\n- Wait 3 steps\n\n## Partner notes\n- He waits\n- Say 'up'"
    notebook = Notebook.parse(written)
    assert notebook.task_notes == "- Salt last\n- Wait 3 steps"
    again = Notebook.parse(notebook.render())
    assert again == notebook
    # The cut of a later write falls between them still.
    cut = Notebook.write(again.task_notes, again.partner_notes, budget=8)
    assert (cut.task_notes, cut.partner_notes) == ("- Salt last", "- He waits")


def test_fences_of_code_are_no_notes():
    notebook = Notebook.parse("```markdown\n## Task notes\nSalt last.\n## Partner notes\nHe waits.\n```\n")
    assert (notebook.task_notes, notebook.partner_notes) == ("Salt last.", "He waits.")


def test_repeated_headings_are_joined():
    notebook = Notebook.parse("## Task notes\nA.\n## Partner notes\nB.\n## Task notes\nC.")
    assert (notebook.task_notes, notebook.partner_notes) == ("A. C.", "B.")


@pytest.mark.parametrize(
    "sentence", ["Task notes are good.", "My partner notes everything.", "Partner notes say wait."]
)
def test_a_sentence_about_notes_is_no_heading(sentence):
    assert Notebook.parse(f"## Task notes\n{sentence}").task_notes == sentence


def test_text_without_a_heading_is_filed_under_task_notes():
    assert Notebook.parse("Sure! Here it is.\n## Partner notes\nHe waits.") == Notebook(
        task_notes="Sure! Here it is.", partner_notes="He waits."
    )
    assert Notebook.parse("Salt last.").task_notes == "Salt last."
    assert Notebook.parse("").empty


def test_cleared_notebook_keeps_the_task_notes_alone():
    cleared = Notebook(task_notes="Salt last.", partner_notes="He waits.", cut=4).without_partner_notes()
    assert cleared == Notebook(task_notes="Salt last.")
    assert not cleared.empty
    assert Notebook(partner_notes="x").without_partner_notes().empty


def test_rendered_notebook_shows_both_headings_even_when_empty():
    assert Notebook().render() == f"{TASK_HEADING}\n\n{PARTNER_HEADING}\n"


def test_notebook_is_frozen_and_closed():
    with pytest.raises(ValueError, match="frozen"):
        Notebook().task_notes = "x"
    with pytest.raises(ValueError, match="Extra inputs"):
        Notebook(notes="x")
