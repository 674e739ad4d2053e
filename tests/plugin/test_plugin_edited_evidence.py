"""A gate uses no row that was edited: it breaks with the file, the row and what to do, and plays nothing again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from support.example import Example, Result


def edit(example: Example, statement: str) -> None:
    with closing(sqlite3.connect(example.evidence)) as connection, connection:
        assert connection.execute(statement).rowcount >= 1


def rows(example: Example) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(example.evidence)) as connection:
        return connection.execute("SELECT * FROM episodes ORDER BY id").fetchall()


SOLVED = (
    "UPDATE episodes SET score = 1, success = 1, episode = replace(replace(episode, '\"score\":0.0', '\"score\":1.0'), "
    "'\"success\":false', '\"success\":true') WHERE arm = 'candidate'"
)


@pytest.mark.parametrize("statement", [SOLVED, SOLVED.replace("score = 1, success = 1, ", "")])
def test_scores_that_were_edited_do_not_turn_a_fail_into_a_pass(
    arms: Callable[..., Example], run: Callable[..., Result], statement: str
) -> None:
    example = arms(0.3)
    run(example).assert_ends(1, failed=1).assert_says("swap_penalty FAIL")
    edit(example, statement)
    before = rows(example)
    again = run(example).assert_ends(1, failed=1).assert_no_traceback_of_ours()
    again.assert_line(r"swap_penalty +test_gate.py::test_gate +ERROR")
    again.assert_says(
        f"swapgate error: {example.evidence}: episode '",
        "(study 'test_gate.py::test_gate', arm 'candidate'",
        "was changed after it was written (its checksum does not match); restore the file from a copy, or play anew "
        "into another one (--swapgate-evidence PATH)",
    )
    assert rows(example) == before
    run(example, "--swapgate-evidence", "other.db").assert_ends(1, failed=1).assert_says("swap_penalty FAIL")


def test_a_formation_that_was_edited_is_refused(
    teams: Callable[..., Example], run: Callable[..., Result]
) -> None:
    example = teams("replace('front', model='simulated:twin')")
    run(example).assert_ends(0, passed=1)
    edit(
        example,
        "UPDATE episodes SET episode = replace(episode, 'The word is', 'The Word is') WHERE study = 'formation'",
    )
    before = rows(example)
    again = run(example).assert_no_traceback_of_ours()
    assert again.exit_code == 1
    again.assert_says(f"{example.evidence}: episode '", "(study 'formation', arm 'formation', 'team-0")
    again.assert_says("was changed after it was written")
    assert rows(example) == before
