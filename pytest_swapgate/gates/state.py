"""What the plugin keeps of a session and of each gate test."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import pytest

from pytest_swapgate.settings import Settings

if TYPE_CHECKING:
    from pytest_swapgate.evidence import EvidenceStore
    from pytest_swapgate.gates.gate_test import GateTest
    from pytest_swapgate.gates.ledger import Entry
    from pytest_swapgate.gates.stopping import StopWatch
    from pytest_swapgate.identity import Surroundings
    from pytest_swapgate.models import ChatModel
    from pytest_swapgate.models.cassette import RecordedModels
    from pytest_swapgate.models.registry import ModelRegistry
    from pytest_swapgate.runner import Purse
    from pytest_swapgate.runner.progress import Progress
    from pytest_swapgate.runner.sharing import Sharer
    from pytest_swapgate.ticker import Ticker


class SwapgateWarning(pytest.PytestWarning):
    """An inconclusive gate under ``--swapgate-inconclusive warn``."""


@dataclass
class GateSession:
    """State of one pytest session (one per xdist worker).

    Attributes
    ----------
    settings
        Resolved options.
    run
        Name of the run, shared by all workers.
    root
        The project's root folder.
    options
        pytest's parsed options.
    worker
        Name of the xdist worker; empty in the controller and in a run without workers.
    quiet
        Whether nothing may be shown while tests run.
    shared, sign
        Worker: the file that tells the controller how far it is, and the one in which the controller stops it; None
        if nobody wants to know, or the controller shares no folder with it.
    reports
        Controller: node id -> JSON texts of its gates, in order of arrival.
    studies
        Controller: node id -> table of the study that it ran.
    every_worker
        Worker: whether every worker is handed every test.
    tests
        This process: node id and state of every gate test that was started.
    ledger
        Controller: what gate tests came to where they ran, whatever was reported of them.
    outcomes
        Controller: node id of a gate -> how it was reported; ``failed`` if any part of it was.
    skipped
        Controller: node ids of gates of which anything was skipped.
    problems, said
        Controller: what makes the run red beside its tests, and how much of it the summary has said.
    stopped
        Whether somebody has stopped the run: Ctrl-C, or ``pytest.exit``.
    remarks
        What a reader must know beside the gates, each once; workers hand theirs over.
    """

    settings: Settings
    run: str
    root: Path
    options: Mapping[str, Any]
    worker: str = ""
    quiet: bool = False
    shared: Path | None = None
    sign: Path | None = None
    reports: dict[str, list[str]] = field(default_factory=dict)
    studies: dict[str, str] = field(default_factory=dict)
    every_worker: bool = False
    tests: list[tuple[str, GateTest]] = field(default_factory=list)
    ledger: list[Entry] = field(default_factory=list)
    outcomes: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    said: int = 0
    stopped: bool = False
    remarks: list[str] = field(default_factory=list)
    _surroundings: Surroundings | None = None
    _store: EvidenceStore | None = None
    _purse: Purse | None = None
    _recorded: RecordedModels | None = None
    _ticker: Ticker | None = None
    _sharer: Sharer | None = None
    _watch: StopWatch | None = None
    _stderr: TextIO | None = None

    @property
    def store(self) -> EvidenceStore:
        """The evidence file, opened on first use."""
        if self._store is None:
            from pytest_swapgate.evidence import EvidenceStore

            self._store = EvidenceStore.open(self.root / self.settings.evidence)
        return self._store

    def surroundings(self) -> str:
        """Return the identity of what surrounds every function of the project, as of now."""
        if self._surroundings is None:
            from pytest_swapgate.identity import Surroundings

            told = {"swapgate_model": self.settings.model, "swapgate_replace": self.settings.replacements}
            self._surroundings = Surroundings(
                self.root,
                {**self.options, **told},
                run=self.run,
                evidence=self.root / self.settings.evidence,
                cassette=self.root / self.settings.cassette_file,
            )
        return self._surroundings.now()

    def look_back(self) -> None:
        """Remark at the end of a run why what it has played will not be read by the next one, if so."""
        if self._surroundings is not None:
            self.remark(self._surroundings.remarks())

    def remark(self, remarks: Iterable[str]) -> None:
        """Keep remarks, each once."""
        self.remarks += [remark for remark in remarks if remark not in self.remarks]

    @property
    def purse(self) -> Purse:
        """The caps of the run, kept by all its processes together."""
        if self._purse is None:
            from pytest_swapgate.runner import Purse

            self._purse = Purse(
                usd=self.settings.budget,
                tokens=self.settings.max_tokens,
                episodes=self.settings.max_episodes,
                store=self.store,
                run=self.run,
            )
            if self.sign is not None:
                from pytest_swapgate.gates.stopping import StopWatch

                self._watch = StopWatch(self.sign, self._purse)
        return self._purse

    def models(self, simulated: Callable[[str], ChatModel] | None) -> ModelRegistry:
        """Return the models of the session, a cassette around them if one was asked for."""
        from pytest_swapgate.models.registry import ModelRegistry

        registry = ModelRegistry(
            simulated, price=self.settings.price, must_be_priced=self.settings.budget is not None
        )
        if self.settings.cassette is None:
            return registry
        from pytest_swapgate.models.cassette import with_cassette

        path = self.root / self.settings.cassette_file
        self._recorded = with_cassette(registry, path, self.settings.cassette, writer=self.worker)
        return self._recorded

    @cached_property
    def progress(self) -> Progress:
        """How far the session is; shown while tests run, here or by the controller, unless it is quiet."""
        from pytest_swapgate.runner.progress import Progress

        progress = Progress()
        if self.shared is not None:
            from pytest_swapgate.runner.sharing import Sharer

            self._sharer = Sharer(progress, self.shared)
        elif self._stderr is not None:
            from pytest_swapgate.ticker import Ticker

            self._ticker = Ticker(progress, self._stderr, live=self._stderr.isatty())
        return progress

    def prepare_progress(self) -> None:
        """Keep a way to the terminal, before pytest captures it for a test."""
        if self._stderr is None and not self.quiet and not self.worker:
            self._stderr = copy_of_stderr()

    def close(self) -> None:
        """Close the cassette, the evidence file, and the way to the terminal."""
        if self._watch is not None:
            if self._watch.saw:
                from pytest_swapgate.gates.hurry import hurry

                hurry(worker=True)
            self._watch.end()
            self._watch = None
        if self._sharer is not None:
            self._sharer.stop()
            self._sharer = None
        if self._ticker is not None:
            self._ticker.stop()
            self._ticker = self._stderr = None
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None
        if self._recorded is not None:
            self._recorded.close()
            self._recorded = None
        if self.settings.cassette not in (None, "none") and not self.worker:
            from pytest_swapgate.models.cassette import fold

            fold(self.root / self.settings.cassette_file)  # what workers have recorded
        if self._store is not None:
            self._store.close()
            self._store = None


SHARED = "swapgate_progress"
"""Key of a worker's input: the path of its file in which it says how far it is."""
SIGN = "swapgate_sign"
"""Key of a worker's input: the path of the file that says when to stop."""
RUN = "swapgate_run"
"""Key of a worker's input: name of the run, and how tests are distributed in it."""
SESSION = pytest.StashKey[GateSession]()


def new_session(config: pytest.Config, settings: Settings) -> GateSession:
    """Make the state of a session; workers take the name of the run from this plugin in the controller.

    xdist's own name of a run is no name of ours: with ``--testrunuid`` the next run has it again.
    """
    worker = getattr(config, "workerinput", None)
    given = worker.get(RUN, {"name": worker["testrunuid"]}) if worker else {"name": uuid.uuid4().hex}
    return GateSession(
        settings=settings,
        run=given["name"],
        every_worker=given.get("dist") == "each",
        root=config.rootpath,
        options=vars(config.option),
        worker=str(worker["workerid"]) if worker else "",
        quiet=config.get_verbosity() < 0,
        shared=Path(worker[SHARED]) if worker and SHARED in worker else None,
        sign=Path(worker[SIGN]) if worker and SIGN in worker else None,
    )


def copy_of_stderr() -> TextIO | None:
    """Return a stream that reaches standard error whatever pytest captures, or None if there is none."""
    try:
        return os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8", errors="replace")
    except (AttributeError, OSError, ValueError):
        return None


def stop(message: str) -> NoReturn:
    """Fail with a message alone: no traceback, no story of other exceptions."""
    raise pytest.fail.Exception(message, pytrace=False) from None


def is_ours(error: BaseException) -> bool:
    """Whether an error is one of this package, whose message is written for the user."""
    return type(error).__module__.partition(".")[0] == "pytest_swapgate"
