"""Calibration of sequential looks, the e-process, monitors and the divergence floor."""

from __future__ import annotations

import numpy as np
from calibration_base import Row, at_least, at_most, between, mean, near, rate, row
from calibration_binary import outcome
from numpy.random import Generator

from pytest_swapgate.stats import (
    CollisionState,
    CusumBaseline,
    Verdict,
    betting_e_process,
    binary_harm,
    collision_state,
    cusum,
    cusum_run_length,
    divergence_floor,
    injection_alarm,
    injection_baseline,
    jensen_shannon,
    plan_looks,
    required_pairs,
    sequential_rates,
    take_look,
)

PD, MARGIN = 0.32, 0.10


def play(rng: Generator, plan, harm: float, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Run a sequential gate to its end: verdict and pairs of every run, each distinct look taken once."""
    verdict = np.full(runs, None, dtype=object)
    pairs = np.zeros(runs, dtype=int)
    b, c = np.zeros(runs, dtype=int), np.zeros(runs, dtype=int)
    before = 0
    for number, n in enumerate(plan.sizes, start=1):
        going = np.equal(verdict, None)
        step = rng.multinomial(n - before, outcome(PD, harm), size=runs)
        b += step[:, 0]
        c += step[:, 1]
        before = n
        pairs[going] = n
        looked, where = np.unique(np.stack([b, c], axis=1)[going], axis=0, return_inverse=True)
        found = np.array([take_look(plan, number, int(x), int(y)).verdict for x, y in looked], dtype=object)
        verdict[going] = found[where]
    return verdict, pairs


def looks(rng: Generator, runs: int) -> list[Row]:
    fixed = required_pairs(MARGIN, discordance=PD, power=0.8)
    section = f"Sequential gate: five O'Brien-Fleming looks, pd .32, M .10, power .8, fixed n = {fixed}"
    plan = plan_looks(MARGIN, discordance=PD, power=0.8)
    rows = []
    for factor in (0.0, 1.0, 2.0):
        harm = factor * MARGIN
        verdict, pairs = play(rng, plan, harm, runs)
        exact = sequential_rates(plan, harm=harm, discordance=PD)
        fail = {0.0: at_most(0.052), 1.0: at_least(0.78), 2.0: at_least(0.99)}[factor]
        rows.append(rate(section, f"FAIL at H = {factor:g} M, simulated", fail, verdict == Verdict.FAIL))
        rows.append(row(section, f"FAIL at H = {factor:g} M, enumerated", fail, exact.failed))
        if factor == 1.0:
            rows.append(rate(section, "PASS at H = M, simulated", at_most(0.052), verdict == Verdict.PASS))
            rows.append(row(section, "PASS at H = M, enumerated", at_most(0.052), exact.passed))
        limit = {0.0: at_most(0.82), 1.0: at_most(0.82), 2.0: at_most(0.52)}[factor]
        rows.append(mean(section, f"pairs / fixed n at H = {factor:g} M, simulated", limit, pairs / fixed))
        rows.append(
            row(
                section,
                f"pairs / fixed n at H = {factor:g} M, enumerated",
                limit,
                exact.expected_pairs / fixed,
            )
        )
    for name, looks_, alpha, spending in (
        ("3 looks, alpha .05", 3, 0.05, "obrien-fleming"),
        ("10 looks, alpha .05", 10, 0.05, "obrien-fleming"),
        ("5 looks, alpha .0125", 5, 0.0125, "obrien-fleming"),
        ("5 Pocock looks, alpha .05", 5, 0.05, "pocock"),
    ):
        other = plan_looks(MARGIN, discordance=PD, looks=looks_, alpha=alpha, spending=spending)
        none = sequential_rates(other, harm=0.0, discordance=PD)
        full = sequential_rates(other, harm=MARGIN, discordance=PD)
        slack = 1.08 if spending == "obrien-fleming" else 1.15  # Pocock looks at few pairs
        rows.append(row(section, f"{name}: FAIL at H = 0, enumerated", at_most(slack * alpha), none.failed))
        rows.append(row(section, f"{name}: PASS at H = M, enumerated", at_most(slack * alpha), full.passed))
        rows.append(
            row(section, f"{name}: FAIL at H = M, enumerated (planned .9)", at_least(0.88), full.failed)
        )
    small = "Sequential gate of few pairs: five looks, the worst of 30 values of pd"
    for margin, alpha in ((0.2, 0.05), (0.35, 0.05), (0.5, 0.05), (0.75, 0.05), (0.35, 0.0125)):
        few = plan_looks(margin, discordance=max(0.3, margin), alpha=alpha)
        name = f"M {margin:g}, alpha {alpha:g}, {few.sizes[-1]} pairs"
        alarm = max(sequential_rates(few, harm=0.0, discordance=d).failed for d in np.linspace(0.02, 1.0, 30))
        missed = max(
            sequential_rates(few, harm=margin, discordance=d).passed for d in np.linspace(margin, 1.0, 30)
        )
        rows.append(row(small, f"{name}: FAIL at H = 0", at_most(1.1 * alpha), alarm))
        rows.append(row(small, f"{name}: PASS at H = M", at_most(1.1 * alpha), missed))
    seen = np.cumsum(rng.multinomial(40, outcome(PD, 0.0), size=(runs, 5)), axis=1)
    alarm = np.zeros(runs, dtype=bool)
    for k in range(5):
        found, where = np.unique(seen[:, k, :2], axis=0, return_inverse=True)
        above = np.array([binary_harm(int(b), int(c), 40 * (k + 1)).interval.low > 0 for b, c in found])
        alarm |= above[where]
    rows.append(
        rate(section, "five looks at the fixed limit (not used): false alarms", between(0.12, 0.15), alarm)
    )
    return rows


def bets(rng: Generator, runs: int) -> list[Row]:
    section = "Betting e-process, looked at after every pair, pd .32, M .10"
    rows = []
    few = max(runs // 20, 300)
    for factor, name, judge, pairs in (
        (0.0, "FAIL at H = 0", at_most(0.05), near(205, 0.05)),
        (1.0, "PASS at H = M", at_most(0.05), near(202, 0.05)),
        (2.0, "PASS at H = 2 M", at_most(0.002), near(58, 0.05)),
    ):
        d = rng.choice([1.0, -1.0, 0.0], p=outcome(PD, factor * MARGIN), size=(few, 2500))
        found = [betting_e_process(x, tolerance=MARGIN) for x in d]
        wrong = Verdict.FAIL if factor == 0 else Verdict.PASS
        rows.append(rate(section, name, judge, [f.verdict is wrong for f in found]))
        used = np.array([f.pairs or 2500 for f in found])
        rows.append(mean(section, f"pairs to a verdict at H = {factor:g} M", pairs, used))
    return rows


def monitors(rng: Generator, runs: int) -> list[Row]:
    section = "Monitors after a release"
    rows = [
        row(
            section, "R1 run length without a change, integral equation", near(9008, 0.05), cusum_run_length()
        ),
        row(
            section,
            "R1 run length, both sides, integral equation",
            near(4504, 0.05),
            cusum_run_length(two_sided=True),
        ),
        row(
            section,
            "R1 delay at a fall of 1.5 sigma, integral equation",
            near(7.4, 0.05),
            cusum_run_length(1.5),
        ),
    ]
    streams = max(runs // 5, 400)
    baseline = CusumBaseline(mean=0.5, variance=0.25, tau2=0.0)
    lengths = first_alarms(rng, baseline, 0.0, streams)
    rows.append(mean(section, "R1 run length without a change, simulated", near(9008, 0.05), lengths[0]))
    rows.append(mean(section, "R1 run length, both sides, simulated", near(4504, 0.05), lengths[1]))
    delays = first_alarms(rng, baseline, 1.5, max(runs, 4000))[0]
    rows.append(mean(section, "R1 delay at a fall of 1.5 sigma, simulated", near(7.4, 0.05), delays))
    few = max(runs // 10, 300)
    base = injection_baseline(rng.negative_binomial(2, 0.5, size=4000))
    same = [injection_alarm(rng.negative_binomial(2, 0.5, size=100), base) for _ in range(few)]
    more = [injection_alarm(2 * rng.negative_binomial(2, 0.5, size=100), base) for _ in range(few)]
    rows.append(rate(section, "R2 alarm on a full window without a change", at_most(0.05), same))
    rows.append(rate(section, "R2 alarm when every count doubles", at_least(0.9), more))
    for keys in (600, 2000):
        seen = [collision_state(int(k), keys) for k in rng.binomial(keys, 0.005, size=few)]
        for state in (CollisionState.ALARM, CollisionState.FINE):
            what = f"R3 {state} at the limit itself, {keys} keys"
            rows.append(rate(section, what, at_most(0.05), [s is state for s in seen]))
    section = "Divergence of signatures (K = 20, N = 100)"
    values, over = [], []
    p = np.full(20, 0.05)
    for _ in range(few):
        a, b = rng.multinomial(100, p), rng.multinomial(100, p)
        d = jensen_shannon(a, b)
        values.append(d)
        over.append(d > divergence_floor(a, b, rng=rng, splits=200).quantile)
    rows.append(mean(section, "mean between identical distributions", near(0.075, 0.03), np.array(values)))
    rows.append(rate(section, "above its own 95 % floor, identical distributions", at_most(0.055), over))
    return rows


def first_alarms(
    rng: Generator, baseline: CusumBaseline, shift: float, streams: int
) -> tuple[np.ndarray, np.ndarray]:
    """Count runs until the first alarm of a fall, and of either side, over parallel streams of normal rates."""
    sigma = 0.05  # 100 tasks a run
    fall = np.zeros(streams)
    either = np.zeros(streams)
    start_low, start_high = np.zeros(streams), np.zeros(streams)
    done = 0
    block = 2000
    sizes = np.full(block + 1, 100)
    while (fall == 0).any() or (either == 0).any():
        # the first row carries the state over: from 0, a fall by S + k sigmas leads to S
        noise = rng.standard_normal((block, streams))
        carry_low = np.where(start_low > 0, start_low + 0.75, 0.0)
        carry_high = np.where(start_high > 0, start_high + 0.75, 0.0)
        low = cusum(np.vstack([0.5 - sigma * carry_low, 0.5 + sigma * (noise - shift)]), sizes, baseline)
        high = cusum(np.vstack([0.5 + sigma * carry_high, 0.5 + sigma * (noise - shift)]), sizes, baseline)
        hit_low, hit_high = low.low[1:] > 5.0, high.high[1:] > 5.0
        for target, hits in ((fall, hit_low), (either, hit_low | hit_high)):
            new = (target == 0) & hits.any(axis=0)
            target[new] = done + hits.argmax(axis=0)[new] + 1
        start_low = np.where(low.low[-1] > 5.0, 0.0, low.low[-1])
        start_high = np.where(high.high[-1] > 5.0, 0.0, high.high[-1])
        done += block
    return fall, either
