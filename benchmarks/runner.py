"""What the runner adds: to a model call, to an episode, to memory, and what resuming costs.

Run: ``python benchmarks/runner.py [--folder FOLDER] [--quick]``. Every figure but those of memory and resume is a
ratio or a difference taken in this one run, in alternating rounds, against a server in a process of its own. Exit
code 1 if a floor of the design's section 11 is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from pytest_swapgate.evidence import EvidenceStore, content_key
from pytest_swapgate.models.litellm_model import LiteLLMModel, load_litellm
from pytest_swapgate.models.playing import PlayingTeam
from pytest_swapgate.models.registry import ModelRegistry
from pytest_swapgate.runner import Chain, Purse, Stage, play_chains
from pytest_swapgate.teams import Agent, Episode, Message, Task, Team, Usage

CALL_RATIO = 1.1
EPISODE_MS = 1.0
RESUME_S = 1.0
GROWTH_MB = 8.0
ASKED = [{"role": "user", "content": "Say yes."}]
PRICE = (1e-6, 2e-6)
ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "served",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
}


async def serve(delay: float) -> None:
    """Answer every request alike, after a delay, until killed."""
    body = json.dumps(ANSWER).encode()
    reply = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
                if delay:
                    await asyncio.sleep(delay)
                writer.write(reply)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def at_once(call: Callable[[], Awaitable[Any]], calls: int, concurrency: int) -> tuple[float, float]:
    """Make calls, so many at once; return the seconds by the clock and of the processor."""
    left = iter(range(calls))

    async def caller() -> None:
        for _ in left:
            await call()

    started, used = time.perf_counter(), time.process_time()
    async with anyio.create_task_group() as group:
        for _ in range(concurrency):
            group.start_soon(caller)
    return time.perf_counter() - started, time.process_time() - used


async def call_ratio(url: str, concurrency: int, calls: int, rounds: int) -> tuple[float, float, float]:
    """Return bare litellm's milliseconds a call, and the median ratios of ours to it: processor time, and clock.

    A call is all processor at 0 ms; with a latency, its share in the clock's ratio is smaller. The ratio of
    processor times is the stricter one, and the steadier where a machine has other work too.
    """
    litellm = load_litellm()
    options = {"api_base": url, "api_key": "sk-x"}
    model = LiteLLMModel("openai/served", options=options, price=PRICE)
    registry = ModelRegistry()
    registry.add(model)
    team = Team(id="t", agents=tuple(Agent(seat=seat, model=model.name) for seat in ("one", "two")))
    purse = Purse(usd=1e6)

    class Meter:
        def before(self) -> None:
            purse.check()

        def after(self, usage: Usage) -> None:
            purse.spend(usage)

    async def bare() -> None:
        await litellm.acompletion(
            model="openai/served",
            messages=ASKED,
            num_retries=0,
            max_retries=0,
            timeout=120.0,
            input_cost_per_token=PRICE[0],
            output_cost_per_token=PRICE[1],
            **options,
        )

    async def ours() -> None:
        await PlayingTeam(team, registry, meter=Meter()).ask("one", ASKED)  # type: ignore[arg-type]

    for warm in (bare, ours):
        await at_once(warm, 2 * concurrency, concurrency)
    # A collection of litellm's whole heap takes longer than a round, and hits either side by chance.
    gc.collect()
    gc.freeze()
    busy, clock, times = [], [], []
    for turn in range(rounds):
        found = {}
        for call in (bare, ours) if turn % 2 else (ours, bare):
            gc.collect()
            found[call] = await at_once(call, calls, concurrency)
        clock.append(found[ours][0] / found[bare][0])
        busy.append(found[ours][1] / found[bare][1])
        times.append(found[bare][0] / calls * 1e3)
    return statistics.median(times), statistics.median(busy), statistics.median(clock)


class Nothing:
    """Plays at once: what is left is the runner's own cost."""

    seats = ("one", "two")
    writes_notebooks = False
    digest = "nothing"

    def tasks(self, split: str) -> list[Task]:
        """Return one task."""
        return [Task(id=f"{split}-0")]

    async def play(self, team: object, task: Task, seed: int) -> Episode:  # noqa: ARG002
        """Return what a team of cooks may have said, without asking anybody."""
        said = tuple(
            Message(sender=self.seats[i % 2], text="Hand me the bowl, then wait.") for i in range(10)
        )
        return Episode(score=1.0, messages=said, subtasks=4, usage=Usage(calls=20, prompt_tokens=9, usd=0.01))


def chains(first: int, teams: int, trials: int) -> list[list[Chain]]:
    task = Task(id="held_out-0")
    return [
        [
            Chain(
                Team(id=str(t), agents=tuple(Agent(seat=seat, model="m") for seat in Nothing.seats)),
                tuple((task, first + t * trials + r) for r in range(trials)),
                study="swap",
                arm="placebo",
            )
        ]
        for t in range(teams)
    ]


def episodes(store: EvidenceStore, first: int, count: int) -> float:
    """Play so many episodes; return the milliseconds of each."""
    purse = Purse(usd=1e9, store=store, run="r")
    stage = Stage(Nothing(), ModelRegistry(), store=store, run="r", purse=purse)
    started = time.perf_counter()
    anyio.run(play_chains, stage, chains(first, 20, count // 20))
    return (time.perf_counter() - started) / count * 1e3


def megabytes() -> float:
    """Return the memory of this process now."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def line(what: str, nominal: str, measured: str, good: bool) -> bool:
    print(f"{what:<46} {nominal:>16} {measured:>34}   {'ok' if good else 'SHORT'}", flush=True)
    return good


def calls(quick: bool) -> bool:
    good = True
    for delay in (0, 20):
        command = [sys.executable, __file__, "--serve", str(delay / 1e3)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
                for concurrency in (1, 16, 64):
                    number = max(concurrency, 60 if delay and concurrency == 1 else 192)
                    bare, busy, clock = anyio.run(call_ratio, url, concurrency, number, 3 if quick else 9)
                    good &= line(
                        f"call, {delay} ms away, {concurrency} at once",
                        f"<= {CALL_RATIO} x bare",
                        f"{busy:.3f} x (clock {clock:.3f} x {bare:.2f} ms)",
                        busy <= CALL_RATIO,
                    )
            finally:
                server.kill()
    return good


def runs(folder: Path, quick: bool) -> bool:
    good = True
    with EvidenceStore.open(folder / "runs.db") as store:
        episodes(store, 0, 1000)
        found = [episodes(store, 10_000 * (i + 1), 1000) for i in range(3 if quick else 9)]
        cost = statistics.median(found)
        good &= line(
            "runner's own cost of an episode", f"<= {EPISODE_MS:g} ms", f"{cost:.3f} ms", cost <= EPISODE_MS
        )
        total, early = (10_000, 5_000) if quick else (50_000, 10_000)
        for first in range(0, early, 1000):
            episodes(store, 1_000_000 + first, 1000)
        before = megabytes()
        for first in range(early, total, 1000):
            episodes(store, 1_000_000 + first, 1000)
        grown = megabytes() - before
        what = f"memory grown, episodes {early:,} to {total:,}"
        good &= line(what, f"<= {GROWTH_MB:g} MB", f"{grown:+.1f} MB", grown <= GROWTH_MB)
    return good


def resume(folder: Path, quick: bool) -> bool:
    number = 10_000 if quick else 100_000
    with EvidenceStore.open(folder / "resume.db") as store:
        kept = anyio.run(Nothing().play, None, Task(id="x"), 0)
        keys = [content_key(trial=i) for i in range(number)]
        for key in keys:
            store.put(key, kept, study="swap", unit="t", arm="placebo", run="r")
        started = time.perf_counter()
        found = store.known(keys)
        seconds = time.perf_counter() - started
        started = time.perf_counter()
        outcomes = store.outcomes(keys)
        outcome_s = time.perf_counter() - started
        assert len(found) == len(outcomes) == number
        read = 2_000
        episodes(store, 0, read)
        again = episodes(store, 0, read)
    good = line(
        f"{number:,} episodes found again", f"<= {RESUME_S:g} s", f"{seconds:.3f} s", seconds <= RESUME_S
    )
    print(f"  their outcomes {outcome_s:.3f} s; a whole episode read again by the runner {again:.3f} ms")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="where to write; default: the system's temporary folder")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and episodes")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        asyncio.run(serve(options.serve))
        return 0
    print(f"{'what':<46} {'nominal':>16} {'measured':>34}")
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        good = runs(folder, options.quick)
        good &= resume(folder, options.quick)
    good &= calls(options.quick)
    print("all floors reached" if good else "A FLOOR WAS MISSED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
