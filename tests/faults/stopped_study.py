"""A study in a process of its own, to be stopped from outside: ``stopped_study.py EVIDENCE URL KIND``.

Prints ``playing`` when the first episode is under way; at the end the outcomes as JSON, or ``stopped``.
"""

from __future__ import annotations

import json
import sys
import threading
import time

import anyio
from fault_samples import Quiz, make_quick_stage, make_stage, outcomes, run_gate

from pytest_swapgate.evidence import EvidenceStore
from pytest_swapgate.runner import Purse


class Announced(Quiz):
    def __init__(self, sleep=0.0):
        self.sleep = sleep
        self.said = False

    def say(self):
        if not self.said:
            self.said = True
            print("playing", flush=True)

    async def play(self, team, task, seed):
        episode = await super().play(team, task, seed)
        self.say()
        if seed % 3 == 0:
            await anyio.sleep(self.sleep)
        return episode


class Plain(Announced):
    def play(self, team, task, seed):
        episode = anyio.from_thread.run(Quiz.play, self, team, task, seed)
        if seed % 3 == 0:
            self.say()
            time.sleep(self.sleep)
        return episode


def main(evidence, url, kind):
    environment = {"async": Announced(60), "plain": Plain(60), "quick": Announced(), "locked": Announced()}[
        kind
    ]
    with EvidenceStore.open(evidence) as store:
        stage = (make_stage if kind == "async" else make_quick_stage)(
            url,
            environment=environment,
            store=store,
            run="r",
            purse=Purse(store=store, run="r"),
            concurrency=8,
        )
        if kind == "locked":  # another one plays
            from pytest_swapgate.runner.locking import locked

            entered, over = threading.Event(), threading.Event()

            async def hold():
                async with locked(stage, ["formation"]):
                    entered.set()
                    await anyio.to_thread.run_sync(over.wait)

            holder = threading.Thread(target=anyio.run, args=(hold,))
            holder.start()
            entered.wait()
            print("playing", flush=True)
        try:
            result, report = run_gate(stage, teams=20, trials=10)
        except KeyboardInterrupt:
            print("stopped", len(list(store.episodes())), stage.purse.played, flush=True)
            if kind == "locked":
                over.set()
                holder.join()
            return
        print(json.dumps([report.verdict.value, outcomes(result)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
