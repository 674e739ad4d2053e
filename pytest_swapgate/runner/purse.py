"""Caps on what a run may spend: money, tokens and episodes, over all its processes."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.evidence.spending import Spending
from pytest_swapgate.models.cassette import Attempt
from pytest_swapgate.models.errors import ModelError
from pytest_swapgate.runner.errors import BudgetReachedError
from pytest_swapgate.teams.episode import Episode, FailureClass, Usage

_KEPT = "what was played is kept and will be read"


class Purse:
    """Counts what was played and refuses to start more than the caps allow.

    What is in flight may finish; once a cap is reached no episode starts, and once that of money or tokens is, no
    model call of an episode that has started. What a cassette replays is not spent.

    Parameters
    ----------
    usd
        Cap in US dollars, > 0; None for no cap.
    tokens
        Cap on tokens, prompt and completion together, >= 1; None for no cap.
    episodes
        Cap on episodes played (not on those read from evidence), >= 1; None for no cap. An episode that is played
        again because it was lost counts again.
    store, run
        The evidence file that keeps the counts of this run, shared by all its processes; without one, a process
        counts for itself.

    Attributes
    ----------
    played, read
        Episodes that this process has played, and read from the evidence file.
    usage
        What the played ones consumed, replayed calls and lost episodes included.
    lost
        Failure class -> how often an episode of this process was played and did not count.
    """

    def __init__(
        self,
        *,
        usd: float | None = None,
        tokens: int | None = None,
        episodes: int | None = None,
        store: EvidenceStore | None = None,
        run: str = "",
    ) -> None:
        if usd is not None and (isinstance(usd, bool) or not (math.isfinite(usd) and usd > 0)):
            raise ValueError(f"budget must be a number of US dollars > 0, got {usd!r}")
        for name, cap in (("max_tokens", tokens), ("max_episodes", episodes)):
            if cap is not None and (isinstance(cap, bool) or not isinstance(cap, int) or cap < 1):
                raise ValueError(f"{name} must be a whole number >= 1, got {cap!r}")
        if store is not None and not run:
            raise ValueError("run must name the run whose spending is counted, got ''")
        self._usd = usd
        self._tokens = tokens
        self._episodes = episodes
        self._store = store
        self._run = run
        self._lock = threading.Lock()
        self._here = Spending()
        self._unwritten = Usage()
        self._closed = ""
        self._at_close: list[Callable[[], None]] = []
        self.played = 0
        self.read = 0
        self.usage = Usage()
        self.lost: Counter[str] = Counter()

    @property
    def spending(self) -> Spending:
        """What the run has started and spent so far, all its processes together."""
        with self._lock:
            return self._spending()

    def start(self) -> None:
        """Ask to start one episode.

        Raises
        ------
        BudgetReachedError
            When a cap is reached, or when a dollar cap meets a price that is not known.
        """
        self.check()
        with self._lock:
            if self._store is not None:
                started = self._store.start_episode(self._run, most=self._episodes)
            else:
                started = self._episodes is None or self._here.started < self._episodes
                self._here = self._here._replace(started=self._here.started + started)
        if not started:
            raise BudgetReachedError(
                f"the cap of {self._episodes} episode{'s' if self._episodes != 1 else ''} is reached: "
                f"raise --swapgate-max-episodes; {_KEPT}"
            )

    def close(self, why: str) -> None:
        """Let nothing start any more, whatever is left, and cut what is in flight; again is harmless.

        Parameters
        ----------
        why
            Whoever is refused is told.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = why
            cuts = tuple(self._at_close)
        for cut in cuts:
            cut()

    @contextmanager
    def at_close(self, cut: Callable[[], None]) -> Iterator[None]:
        """Have something called, in the thread that closes the purse, if that happens inside."""
        with self._lock:
            closed = bool(self._closed)
            self._at_close.append(cut)
        try:
            if closed:
                cut()
            yield
        finally:
            with self._lock:
                self._at_close.remove(cut)

    def check_open(self) -> None:
        """Ask whether the run goes on.

        Raises
        ------
        BudgetReachedError
            When the purse is closed.
        """
        if self._closed:
            raise BudgetReachedError(f"{self._closed}; {_KEPT}")

    def check(self) -> None:
        """Ask whether money and tokens are left.

        Raises
        ------
        BudgetReachedError
            When they are not, when a dollar cap meets a price that is not known, or when the purse is closed.
        """
        self.check_open()
        if self._usd is None and self._tokens is None:
            return
        spent = self.spending
        if self._tokens is not None and spent.tokens >= self._tokens:
            raise BudgetReachedError(
                f"the cap of {self._tokens:,} tokens is reached: raise --swapgate-max-tokens; {_KEPT}"
            )
        if self._usd is None:
            return
        if spent.unpriced:
            raise BudgetReachedError(
                "a model answered without a price, so the budget cannot be kept: use a model that litellm has a "
                "price for, give one with --swapgate-price IN,OUT, or cap with --swapgate-max-episodes"
            )
        if spent.usd >= self._usd:
            raise BudgetReachedError(
                f"the budget of USD {self._usd:g} is reached: raise --swapgate-budget; {_KEPT}"
            )

    @property
    def spent(self) -> Usage:
        """What was spent so far, as one usage; all tokens as prompt tokens."""
        spent = self.spending
        return Usage(calls=spent.calls, prompt_tokens=spent.tokens, usd=None if spent.unpriced else spent.usd)

    def left(self) -> tuple[float | None, int | None]:
        """Return the dollars and the tokens that are left, None where there is no cap."""
        spent = self.spending
        return (
            None if self._usd is None else self._usd - spent.usd,
            None if self._tokens is None else self._tokens - spent.tokens,
        )

    def spend(self, usage: Usage) -> None:
        """Book what was consumed, at once where a cap depends on it, else with the episode."""
        if usage == Usage():
            return
        with self._lock:
            self._unwritten = self._unwritten + usage
            if self._usd is not None or self._tokens is not None:
                self._write()

    def finish(self, usage: Usage, *, spent: Usage | None = None, lost: str = "") -> None:
        """Book a played episode.

        Parameters
        ----------
        usage
            All that it consumed.
        spent
            What of it is not booked with `spend`; None for all.
        lost
            Failure class of one that does not count.
        """
        with self._lock:
            self.played += 1
            self.usage = self.usage + usage
            if lost:
                self.lost[lost] += 1
            self._unwritten = self._unwritten + (usage if spent is None else spent)
            self._write()

    def cut(self, usage: Usage) -> None:
        """Book what an episode consumed that was cut: by a cap, an error, or who stopped the run."""
        with self._lock:
            self.usage = self.usage + usage
            self._write()

    def found(self) -> None:
        """Book an episode that was read instead of played."""
        with self._lock:
            self.read += 1

    def _spending(self) -> Spending:
        return self._here if self._store is None else self._store.spending(self._run)

    def _write(self) -> None:
        usage, self._unwritten = self._unwritten, Usage()
        if usage == Usage():
            return
        if self._store is not None:
            self._store.spend(self._run, usage)
            return
        was = self._here
        self._here = Spending(
            started=was.started,
            calls=was.calls + usage.calls,
            tokens=was.tokens + usage.tokens,
            usd=was.usd + (usage.usd or 0.0),
            unpriced=was.unpriced + (max(1, usage.calls) if usage.usd is None else 0),
        )


class EpisodeMeter:
    """Books the model calls of one episode as they are made; the `Meter` of its playing team.

    Parameters
    ----------
    purse
        Where they are booked.
    tried
        What the episode's models have taken from a cassette.

    Attributes
    ----------
    usage
        What the calls consumed, replayed ones included.
    reached
        Why a call was not let start; the episode is then cut, whatever its environment makes of it.
    """

    def __init__(self, purse: Purse, tried: Attempt) -> None:
        self.usage = Usage()
        self.reached: BudgetReachedError | None = None
        self._purse = purse
        self._tried = tried
        self._turns = 0
        self._over = False

    def before(self) -> None:
        """Let a call start, or raise `BudgetReachedError`; after the episode, `ModelError`."""
        if self._over:  # a plain function that nobody waits for any more
            raise ModelError("the episode is over", failure=FailureClass.INFRASTRUCTURE)
        try:
            self._purse.check()
        except BudgetReachedError as reached:
            self.reached = reached
            raise

    def after(self, usage: Usage) -> None:
        """Book what a call consumed."""
        self.usage = self.usage + usage
        # A recorded model takes its turn in the same step in which it answers: the new one is this call's.
        new = self._tried.turns[self._turns :]
        self._turns = len(self._tried.turns)
        if not new or any(turn.answer is None for _, turn in new):
            self._purse.spend(usage)

    def booked_elsewhere(self, usage: Usage, spent: Usage) -> None:
        """Book what calls in another process consumed, and what of it was spent, not replayed."""
        self.usage = self.usage + usage
        self._purse.spend(spent)

    def finish(self, episode: Episode) -> None:
        """Book the episode, and what it says it consumed beyond the calls that were seen."""
        self._over = True
        own = episode.usage
        if self.usage != Usage():
            own = _beyond(own, self.usage)
        elif self._tried.turns and all(turn.answer is not None for _, turn in self._tried.turns):
            own = Usage()  # a function that asks recorded models itself
        failure = "" if episode.counts or episode.failure is None else episode.failure.value
        self._purse.finish(episode.usage, spent=own, lost=failure)

    def cut(self) -> None:
        """Book an episode that was not played to its end."""
        self._over = True
        self._purse.cut(self.usage)


def _beyond(whole: Usage, seen: Usage) -> Usage:
    if whole == seen:
        return Usage()
    calls = max(0, whole.calls - seen.calls)
    prompt = max(0, whole.prompt_tokens - seen.prompt_tokens)
    completion = max(0, whole.completion_tokens - seen.completion_tokens)
    known = max(0.0, (whole.usd or 0.0) - (seen.usd or 0.0))
    usd = None if whole.usd is None and seen.usd is not None else known
    return Usage(calls=calls, prompt_tokens=prompt, completion_tokens=completion, usd=usd)
