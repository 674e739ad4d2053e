"""What the evidence store reaches: appends a second, look-ups, many processes, memory.

Run: ``python benchmarks/evidence.py [--folder FOLDER] [--quick]``. Exit code 1 if a floor of the
design's section 11 is missed (5,000 appended episodes/s, 100,000 keys found in <= 1 s).
"""

from __future__ import annotations

import argparse
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pytest_swapgate.evidence import EvidenceStore, content_key, export
from pytest_swapgate.teams import Episode, Message, Notebook, Usage

APPENDED = 5_000.0
FOUND = 1.0


def sample(number: int) -> Episode:
    """Make an episode of 20 messages and two notebooks, about 4 kB."""
    said = "Please hand me the bowl with the chopped mushroom over the counter, then wait. "
    messages = tuple(
        Message(sender=("chef", "assistant")[i % 2], text=f"{said}({number}, {i})", kind="request", step=i)
        for i in range(20)
    )
    notebook = Notebook(task_notes="Chop before cooking. " * 10, partner_notes="Says ready when done. " * 10)
    return Episode(
        score=(number % 10) / 10,
        messages=messages,
        subtasks=4,
        task_id="mushroom_soup",
        seed=number,
        usage=Usage(calls=20, prompt_tokens=20_000, completion_tokens=700, usd=0.01),
        notebooks={"chef": notebook, "assistant": notebook},
        metrics={"tes": 0.5},
    )


def append(store: EvidenceStore, keys: list[str], played: list[Episode]) -> float:
    started = time.perf_counter()
    for i, key in enumerate(keys):
        store.put(
            key, played[i % len(played)], study="swap", unit=f"team-{i % 12:02}", arm="placebo", run="r"
        )
    return len(keys) / (time.perf_counter() - started)


def bare(path: Path, keys: list[str], played: list[Episode]) -> float:
    """Append the same texts through sqlite3 alone, each committed: no store can be quicker."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE episodes (id INTEGER PRIMARY KEY, key TEXT UNIQUE, episode TEXT)")
    started = time.perf_counter()
    for i, key in enumerate(keys):
        text = played[i % len(played)].model_dump_json()
        connection.execute("INSERT OR IGNORE INTO episodes (key, episode) VALUES (?, ?)", (key, text))
    rate = len(keys) / (time.perf_counter() - started)
    connection.close()
    return rate


def seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def worker(path: str, name: str, count: int) -> None:
    """Append as one of several processes; print the rate."""
    played = [sample(i) for i in range(100)]
    with EvidenceStore.open(path) as store:
        print(append(store, [content_key(worker=name, i=i) for i in range(count)], played))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="where to write; default: the system's temporary folder")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        path, name, count = options.worker
        worker(path, name, int(count))
        return 0
    rows = 10_000 if options.quick else 100_000
    played = [sample(i) for i in range(500)]
    keys = [content_key(environment="kitchen", trial=i) for i in range(rows)]
    batch = rows // 20
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "evidence.db"
        with EvidenceStore.open(path) as store:
            ratios, rates = [], []
            before, busy = megabytes(), 0.0
            for start in range(0, rows, batch):
                used = time.process_time()
                rates.append(append(store, keys[start : start + batch], played))
                busy += time.process_time() - used
                if start < 5 * batch:
                    ratios.append(
                        bare(Path(folder) / f"bare-{start}.db", keys[start : start + batch], played)
                        / rates[-1]
                    )
            grown = megabytes() - before
            found = seconds(lambda: store.known(keys))
            outcomes = seconds(lambda: store.outcomes(keys))
            several = seconds(lambda: store.get_many(keys[:1_000]))
            summary = seconds(store.summary)
        opened = seconds(lambda: EvidenceStore.open(path).close())
        with EvidenceStore.read(path) as store:
            checked = seconds(store.check)
            exported = seconds(lambda: export(store, Path(folder) / "out.jsonl", "jsonl"))
        crowd = Path(folder) / "crowd.db"
        count = rows // 10
        command = [sys.executable, __file__, "--worker", str(crowd)]
        started = time.perf_counter()
        workers = [
            subprocess.Popen([*command, f"w{n}", str(count)], stdout=subprocess.DEVNULL) for n in range(4)
        ]
        codes = [process.wait() for process in workers]
        together = 4 * count / (time.perf_counter() - started)
        with EvidenceStore.read(crowd) as store:
            lost = 4 * count - sum(each.episodes for each in store.summary())
        size = path.stat().st_size / rows
    rate = statistics.median(rates)
    print(
        f"episode                        {len(played[0].model_dump_json()):>10,} bytes of JSON, {size:,.0f} in the file"
    )
    print(
        f"append, each committed         {rate:>10,.0f} /s    floor {APPENDED:,.0f}; slowest batch {min(rates):,.0f}"
    )
    print(
        f"  processor time of each       {busy / rows * 1e6:>10.0f} us    the wall clock has other work too"
    )
    print(f"  time against bare sqlite3    {statistics.median(ratios):>10.2f} x")
    print(f"  memory grown over {rows:>9,}  {grown:>10.1f} MB")
    print(f"four processes at once         {together:>10,.0f} /s    with their start-up; {lost} rows lost")
    print(f"find {rows:>9,} keys            {found:>10.3f} s    floor {FOUND:g} for 100,000")
    print(f"their outcomes, each checked   {outcomes:>10.3f} s")
    print(f"read 1,000 whole episodes      {several:>10.3f} s")
    print(f"summary                        {summary:>10.3f} s")
    print(f"open and close                 {opened * 1e3:>10.1f} ms")
    print(f"full check                     {checked:>10.3f} s")
    print(f"export to JSON lines           {exported:>10.3f} s")
    reached = rate >= APPENDED and found <= FOUND and lost == 0 and not any(codes)
    print("all floors reached" if reached else "A FLOOR WAS MISSED")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
