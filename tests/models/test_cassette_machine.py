"""Cassettes against a plain model of VCR's modes: any sequence of runs, requests, faults, crashes and retries."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from cassette_samples import messages
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pytest_swapgate.models.cassette import MODES, CassetteError, Tape, fold
from pytest_swapgate.models.cassette_file import Answer
from pytest_swapgate.models.cassette_parts import load
from pytest_swapgate.models.cassette_request import Request
from pytest_swapgate.models.cassette_tape import Turn

REQUESTS = [
    Request.of("m", messages(text), seed=None, temperature=None, max_tokens=None) for text in ("a", "b")
]
KEYS = [request.key for request in REQUESTS]


class Cassettes(RuleBasedStateMachine):
    """``kept`` is what must be on disk; ``run`` what this run still has to replay, and has asked."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "cassette.json"
        self.kept: dict[str, list[str]] = {key: [] for key in KEYS}
        self.exists = False
        self.tape: Tape | None = None
        self.said = 0

    def teardown(self) -> None:
        if self.tape is not None:
            self.tape.close()
        shutil.rmtree(self.folder)

    @precondition(lambda self: self.tape is None)
    @rule(mode=st.sampled_from(MODES))
    def start(self, mode: str) -> None:
        self.tape = Tape(self.path, mode)
        self.may_ask = mode in ("new_episodes", "all") or (mode == "once" and not self.exists)
        self.base = {key: [] if mode == "all" else list(kept) for key, kept in self.kept.items()}
        self.before = {key: [] if mode == "all" else list(kept) for key, kept in self.kept.items()}
        self.touched: set[str] = set()
        self.turns: list[tuple[Turn, str]] = []
        self.new: dict[str, list[str]] = {key: [] for key in KEYS}

    def ask(self, request: Request) -> Turn | None:
        assert self.tape is not None
        key = request.key
        expected = self.base[key].pop(0) if self.base[key] else None
        if expected is None and not self.may_ask:
            with pytest.raises(CassetteError):
                self.tape.turn(request)
            return None
        turn = self.tape.turn(request)
        assert (turn.answer.text if turn.answer else None) == expected
        if turn.answer is not None:
            self.turns.append((turn, turn.answer.text))
        return turn

    @precondition(lambda self: self.tape is not None)
    @rule(request=st.sampled_from(REQUESTS))
    def answered(self, request: Request) -> None:
        turn = self.ask(request)
        if turn is not None and turn.answer is None:
            assert self.tape is not None
            self.said += 1
            self.tape.record(turn, Answer(text=str(self.said)))
            self.turns.append((turn, str(self.said)))
            self.new[request.key].append(str(self.said))
            self.keep(request.key)

    @precondition(lambda self: self.tape is not None)
    @rule(request=st.sampled_from(REQUESTS))
    def failed(self, request: Request) -> None:
        turn = self.ask(request)
        if turn is not None and turn.answer is None:
            assert self.tape is not None
            self.tape.take_back(turn)

    @precondition(lambda self: self.tape is not None and self.turns)
    @rule()
    def again(self) -> None:
        """Take the whole run back: replays come again in the same order, recordings are gone."""
        assert self.tape is not None
        for turn, text in reversed(self.turns):
            self.tape.take_back(turn)
            if turn.answer is None:
                self.new[turn.request.key].remove(text)
                self.keep(turn.request.key)
            else:
                self.base[turn.request.key].insert(0, text)
        self.turns = []

    def keep(self, key: str) -> None:
        self.kept[key] = self.before[key] + self.new[key]

    @precondition(lambda self: self.tape is not None)
    @rule(killed=st.booleans(), folded=st.booleans())
    def end(self, killed: bool, folded: bool) -> None:
        assert self.tape is not None
        wrote = self.tape._part.is_open
        if killed:
            self.tape._part.close()  # as the system does
        else:
            self.tape.close()
            self.exists |= wrote
        if killed and folded and fold(self.path):
            self.exists = True
        self.tape = None
        assert self.exists == self.path.exists()

    @invariant()
    def what_was_answered_is_on_disk(self) -> None:
        if self.tape is None:
            on_disk = {r.key: [answer.text for answer in r.answers] for r in load(self.path)}
            assert on_disk == {key: kept for key, kept in self.kept.items() if kept}


Cassettes.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
test_any_sequence_of_runs_keeps_what_the_modes_promise = Cassettes.TestCase
