"""Which verdicts of a file stand: those that no later run of the same gate has replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_swapgate.evidence import bookkeeping, ledger
from pytest_swapgate.evidence.ledger import VerdictRecord
from pytest_swapgate.evidence.skips import SKIPPED
from pytest_swapgate.evidence.store import EvidenceStore

_HARMLESS = "pass"


@dataclass(frozen=True, slots=True)
class _State:
    """What a run left of a gate: verdict words without skips, when the last one came, whether it was skipped."""

    words: frozenset[str] = frozenset()
    at: str = ""
    skipped: bool = False

    @property
    def only_skipped(self) -> bool:
        return self.skipped and not self.words

    def replaces(self, earlier: _State) -> bool:
        """Whether this state, of a later run, makes an earlier one void.

        A skip decides nothing: it makes a pass old news, and takes nothing back that was red.
        """
        if self.only_skipped:
            return earlier.only_skipped or earlier.words == {_HARMLESS}
        if not self.words or not earlier.words:
            return True
        return self.at >= earlier.at  # else the earlier run, side by side with this one, was decided after it


def standing(store: EvidenceStore, verdicts: Sequence[VerdictRecord]) -> list[tuple[str, str]]:
    """Return run and gate of what stands, by gate in the order in which they were first started.

    A gate has several such runs where shards have decided it each for itself.

    Parameters
    ----------
    verdicts
        All that the store has, oldest first.
    """
    database = store.database
    runs: dict[str, dict[str, None]] = {}
    for run, gate, _ in ledger.all_attempts(database):
        runs.setdefault(gate, {})[run] = None
    states: dict[tuple[str, str], _State] = {}
    for record in verdicts:
        runs.setdefault(record.gate, {})[record.run] = None
        key = (record.run, record.gate)
        states[key] = _with(states.get(key, _State()), record)
    followers = bookkeeping.followers(database)
    found = []
    for gate, of_gate in runs.items():
        mine = {run: states.get((run, gate), _State()) for run in of_gate}
        left = [run for run in mine if not _replaced(run, gate, mine, followers)] or list(mine)
        asked = [run for run in left if not mine[run].only_skipped]
        found += [(run, gate) for run in asked or left]
    return found


def _with(state: _State, record: VerdictRecord) -> _State:
    if record.verdict == SKIPPED:
        return _State(state.words, state.at, skipped=True)
    return _State(state.words | {record.verdict}, max(state.at, record.at), state.skipped)


def _replaced(
    run: str, gate: str, states: Mapping[str, _State], followers: Mapping[tuple[str, str], set[str]]
) -> bool:
    waiting, seen = [run], {run}
    while waiting:
        for later in followers.get((waiting.pop(), gate), set()) - seen:
            if later in states and states[later].replaces(states[run]):
                return True
            seen.add(later)
            waiting.append(later)
    return False
