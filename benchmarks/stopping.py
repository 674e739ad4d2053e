"""How long a stopped run takes to end: from Ctrl-C, or from a failure under -x, to the exit of pytest.

    python benchmarks/stopping.py             # every case three times
    python benchmarks/stopping.py --rounds 1 --only teams

A gate of 480 episodes is under way, some of which would take a minute. Every case must end within a second, and the
evidence must then hold every episode that had finished. Ctrl-C goes to the process group, as a terminal sends it, and
in the cases named "alone" to the first process only, as a CI service does. Prints the longest of the rounds. Exit
code 1 if a case takes longer than a second, or lost an episode.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

from pytest_swapgate.evidence import EvidenceStore

REACH = 1.0
LOG = """
import asyncio, os, time
import pytest

def finished():
    with open(os.environ["FINISHED"], "a") as log:  # outside of the project
        log.write("x\\n")
"""
FUNCTIONS = (
    LOG
    + """
async def waits(task, seed):
    await asyncio.sleep(60 if task % 8 == 7 else 0)
    finished()
    return True

async def waits_too(task, seed):
    return await waits(task, seed)

def blocks(task, seed):
    time.sleep(60 if task == 40 else 0)
    finished()
    return True

def blocks_too(task, seed):
    return blocks(task, seed)

@pytest.mark.swap_penalty(score=0.1)
def test_gate(paired_runner):
    paired_runner(ARM, ARM_too, range(240))
"""
)
TEAMS = (
    LOG
    + """
import anyio, random
from pytest_swapgate import Completion, Episode, Notebook, Task, Usage

played = []

class Clerk:
    def __init__(self, name):
        self.name = name

    async def complete(self, messages, *, seed=None, temperature=None, max_tokens=None):
        return Completion("yes", Usage(calls=1, prompt_tokens=20, completion_tokens=1), self.name)

class Desk:
    seats = ("front", "back")

    def tasks(self, split):
        return [Task(id=f"{split}-{n}", split=split) for n in range(4)]

    def simulated(self, name):
        return Clerk(name)

    def _episode(self, seed):
        finished()
        return Episode(score=random.Random(seed).random() / 2, messages=[], subtasks=1, notebooks={
            seat: Notebook(task_notes=f"{seat} {seed}", partner_notes="mine") for seat in self.seats})

class Async(Desk):
    async def play(self, team, task, seed):
        await team.ask("front", [{"role": "user", "content": team.notebook("front").render()}], seed=seed)
        played.append(seed)
        await asyncio.sleep(60 if len(played) > 100 and seed % 4 == 0 else 0)
        return self._episode(seed)

class Served(Desk):
    async def play(self, team, task, seed):
        await team.ask("front", [{"role": "user", "content": team.notebook("front").render()}], seed=seed)
        return self._episode(seed)

class Plain(Desk):
    def play(self, team, task, seed):
        anyio.from_thread.run(team.ask, "front", [{"role": "user", "content": team.notebook("front").render()}])
        played.append(seed)
        time.sleep(60 if len(played) > 100 and seed % 4 == 0 else 0)
        return self._episode(seed)

@pytest.fixture(scope="session")
def swapgate_environment():
    return ENVIRONMENT()

@pytest.mark.swap_penalty(score=0.4)
def test_gate(placebo_baseline, formed_teams, paired_runner):
    paired_runner(placebo_baseline, formed_teams.swap())
"""
)
ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "served",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
}
FAILING = """
import os, time

def test_that_fails():
    time.sleep(1.5)
    with open(os.environ["FINISHED"] + ".failed", "w") as log:
        log.write(str(time.time()))
    assert False
"""
INI = "[pytest]\nswapgate_teams = 12\nswapgate_formation = 2\nswapgate_trials = 4\n"


@dataclass(frozen=True)
class Case:
    """A project, the arguments of its run, and who is told to stop: the group, the first process, or nobody (-x)."""

    name: str
    body: str
    arguments: tuple[str, ...] = ()
    told: str = "group"


WORKERS = ("-n", "2", "--dist", "load")
ASYNC, PLAIN = FUNCTIONS.replace("ARM", "waits"), FUNCTIONS.replace("ARM", "blocks")
SERVED = ("--swapgate-model", "openai/served")
SERVED_TEAMS = TEAMS.replace("ENVIRONMENT", "Served")
ASYNC_TEAMS, PLAIN_TEAMS = TEAMS.replace("ENVIRONMENT", "Async"), TEAMS.replace("ENVIRONMENT", "Plain")
CASES = [
    Case("async functions", ASYNC),
    Case("plain functions", PLAIN),
    Case("teams, async play", ASYNC_TEAMS),
    Case("teams, plain play", PLAIN_TEAMS),
    Case("teams, a served model", SERVED_TEAMS, SERVED),
    Case("async functions, -n 2", ASYNC, WORKERS),
    Case("async functions, -n 2, alone", ASYNC, WORKERS, "alone"),
    Case("teams, async play, -n 2", ASYNC_TEAMS, WORKERS),
    Case("teams, async play, -n 2, alone", ASYNC_TEAMS, WORKERS, "alone"),
    Case("teams, plain play, -n 2", PLAIN_TEAMS, WORKERS),
    Case("teams, a served model, -n 2", SERVED_TEAMS, (*WORKERS, *SERVED)),
    Case("plain functions, -n 2, alone", PLAIN, WORKERS, "alone"),
    Case("plain functions, -n 2 -x", PLAIN, (*WORKERS, "-x"), "nobody"),
    Case("async functions, -n 2 -x", ASYNC, (*WORKERS, "-x"), "nobody"),
    Case("teams, async play, -n 2 -x", ASYNC_TEAMS, (*WORKERS, "-x"), "nobody"),
    Case("teams, plain play, -n 2 -x", PLAIN_TEAMS, (*WORKERS, "-x"), "nobody"),
]


class Provider(BaseHTTPRequestHandler):
    """Answers a hundred calls like a provider, and keeps the others waiting."""

    protocol_version = "HTTP/1.1"
    asked = count()

    def do_POST(self) -> None:
        """Answer, or keep waiting."""
        self.rfile.read(int(self.headers["content-length"]))
        if next(self.asked) >= 100:
            time.sleep(60)
        body = json.dumps(ANSWER).encode()
        with suppress(ConnectionError):
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def provider() -> Iterator[str]:
    """Serve on loopback; the address."""
    Provider.asked = count()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.socket.close()


def stopped(case: Case, scratch: Path) -> tuple[float, int, int, str]:
    """Run a case, stop it when nothing finishes any more; return seconds, episodes finished and kept, the output."""
    folder, finished = scratch / "project", scratch / "finished.txt"
    folder.mkdir()
    (folder / "pytest.ini").write_text(INI)
    (folder / "test_gate.py").write_text(case.body)
    if case.told == "nobody":
        (folder / "test_other.py").write_text(FAILING)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", *case.arguments]
    with (scratch / "out.txt").open("w") as out, provider() as address:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"FINISHED": str(finished), "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            if case.told == "nobody":
                process.wait(120)
                told, ended = float(Path(f"{finished}.failed").read_text()), time.time()
            else:
                settle(finished, process)
                if process.poll() is not None:
                    raise SystemExit(f"{case.name}: it ended by itself\n{(folder / 'out.txt').read_text()}")
                told = time.time()
                (os.killpg if case.told == "group" else os.kill)(process.pid, signal.SIGINT)
                process.wait(120)
                ended = time.time()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    done = finished.read_text().count("x")
    with EvidenceStore.read(folder / ".swapgate" / "evidence.db") as store:
        kept = len(list(store.episodes()))
    return ended - told, done, kept, (scratch / "out.txt").read_text()


def settle(file: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until a file is there and has stopped growing, or the process has ended."""
    size, since = 0, time.monotonic()
    while process.poll() is None and (size == 0 or time.monotonic() - since < 1):
        now = file.stat().st_size if file.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        time.sleep(0.05)


def main() -> int:
    """Run every case and print its line."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--only", default="", help="cases whose name contains this")
    arguments.add_argument("--show", action="store_true", help="print what pytest said")
    chosen = arguments.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; floor {REACH:g} s")
    short = 0
    for case in [case for case in CASES if chosen.only in case.name]:
        seconds, lost = 0.0, 0
        for _ in range(chosen.rounds):
            with tempfile.TemporaryDirectory() as folder:
                took, done, kept, out = stopped(case, Path(folder))
            seconds, lost = max(seconds, took), max(lost, done - kept)
            if chosen.show:
                print(out)
        ok = seconds <= REACH and lost == 0
        short += not ok
        print(
            f"{case.name:32} {seconds:6.2f} s   {done:4} finished, {lost} lost   {'ok' if ok else 'short'}",
            flush=True,
        )
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
