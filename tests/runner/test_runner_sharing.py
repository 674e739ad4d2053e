"""Progress over many processes: each writes its own, whoever shows it adds them up and trusts no file."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pytest_swapgate.runner.progress import PLAIN_EVERY, Progress, Standing, live_line, plain_line
from pytest_swapgate.runner.sharing import SharedProgress, Sharer, together
from pytest_swapgate.teams import Episode, FailureClass, Usage

PLAYED = Episode(score=1.0, usage=Usage(calls=1, prompt_tokens=90, completion_tokens=10, usd=0.5))


def progress(*, planned: int, played: int = 0, read: int = 0, lost: int = 0, clock=lambda: 0.0) -> Progress:
    made = Progress(clock)
    made.plan(planned)
    for _ in range(played):
        made.finish(PLAYED)
    for _ in range(read):
        made.finish(PLAYED, read=True)
    for _ in range(lost):
        made.lose(Episode(score=0.0, failure=FailureClass.INFRASTRUCTURE))
    return made


def share(folder: Path, **workers: Progress) -> None:
    for name, made in workers.items():
        Sharer(made, folder / f"{name}.json").stop()


def standing(**parts: object) -> Standing:
    nothing = {"done": 0, "planned": 0, "read": 0, "usage": Usage(), "lost": {}, "seconds": 0.0, "left": 0.0}
    return Standing(**{**nothing, "forming": "", **parts})  # type: ignore[arg-type]


def test_what_processes_have_written_is_added_up(tmp_path: Path) -> None:
    share(
        tmp_path,
        gw0=progress(planned=10, played=4, lost=1),
        gw1=progress(planned=1000, played=6, read=20, lost=2),
    )
    whole = SharedProgress(tmp_path).standing()
    assert (whole.done, whole.planned, whole.read, whole.infrastructure) == (30, 1010, 20, 3)
    assert whole.usage == Usage(calls=10, prompt_tokens=900, completion_tokens=100, usd=5.0)
    assert live_line(whole, width=99).startswith(
        "swapgate 30/1,010 episodes  20 read  USD 5.00  3 infra errors"
    )


def test_the_time_left_is_that_of_the_slowest_that_is_busy() -> None:
    fast = standing(done=5, planned=10, left=3.0, seconds=3.0)
    slow = standing(done=1, planned=10, left=90.0, seconds=9.0)
    over = standing(done=7, planned=7, left=None, seconds=5.0)
    assert (together([fast, slow, over]).left, together([fast, slow, over]).seconds) == (90.0, 9.0)
    # One that has no pace yet: nobody knows.
    assert together([fast, standing(planned=3, left=None)]).left is None
    assert together([]).left == 0.0


def test_what_is_forming_is_said_if_it_is_one_thing() -> None:
    one = standing(planned=3, forming="look 1 of 5, undecided")
    other = standing(planned=3, forming="look 2 of 5, undecided")
    over = standing(done=3, planned=3, forming="look 5 of 5, pass")
    assert together([one, over, standing(planned=2)]).forming == "look 1 of 5, undecided"
    assert together([one, other]).forming == ""


def test_an_unknown_price_of_one_makes_the_sum_unknown() -> None:
    both = together([standing(usage=Usage(usd=None, prompt_tokens=7)), standing(usage=Usage(usd=1.0))])
    assert both.usage.usd is None
    assert "7 tokens, price unknown" in plain_line(both)


def test_a_process_that_has_ended_is_not_waited_for(tmp_path: Path) -> None:
    share(tmp_path, gw0=progress(planned=10, played=4), gw1=progress(planned=2, played=2))
    shared = SharedProgress(tmp_path)
    assert shared.standing().left is not None
    shared.end("gw0")
    whole = shared.standing()
    assert (whole.done, whole.planned, whole.left) == (6, 6, 0.0)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"done": "x"}', "\xff"])
def test_a_file_that_cannot_be_read_counts_as_nothing(tmp_path: Path, text: str) -> None:
    share(tmp_path, gw0=progress(planned=3, played=1))
    (tmp_path / "gw1.json").write_bytes(text.encode("latin-1"))
    (tmp_path / "gw2.json-123.new").write_text(text, encoding="utf-8")
    assert SharedProgress(tmp_path).standing().planned == 3


def test_the_folder_may_go_at_any_time(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    share(folder, gw0=progress(planned=3))  # nobody made it
    assert not folder.exists()
    assert SharedProgress(folder).standing() == together([])


def test_nothing_is_written_before_there_is_something_to_do_nor_again_after_it(tmp_path: Path) -> None:
    made = Progress()
    sharer = Sharer(made, tmp_path / "gw0.json")
    sharer.write()
    assert list(tmp_path.iterdir()) == []
    made = progress(planned=1, played=1, clock=time.monotonic)
    other = Sharer(made, tmp_path / "gw1.json")
    other.write()
    os.truncate(tmp_path / "gw1.json", 0)
    other.write()
    assert (tmp_path / "gw1.json").stat().st_size == 0
    made.plan(1)
    other.write()
    assert SharedProgress(tmp_path).standing().planned == 2
    for each in (sharer, other):
        each.stop()


def test_a_plain_line_is_due_every_30_seconds_while_any_process_is_busy(tmp_path: Path) -> None:
    now = [0.0]
    shared = SharedProgress(tmp_path, clock=lambda: now[0])
    due = []

    def look(*moments: int) -> None:
        for now[0] in moments:
            shared.standing()
            if shared.plain_due():
                due.append(now[0])

    look(*range(40))
    assert due == []
    share(tmp_path, gw0=progress(planned=3), gw1=progress(planned=1, played=1))
    look(*range(40, 140))
    assert due == [40 + PLAIN_EVERY, 40 + 2 * PLAIN_EVERY, 40 + 3 * PLAIN_EVERY]
    share(tmp_path, gw0=progress(planned=3, played=3))
    look(*range(140, 240))
    assert len(due) == 3
