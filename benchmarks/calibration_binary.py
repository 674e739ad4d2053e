"""Calibration of paired binary gates: intervals, verdicts, drift, families, re-estimation."""

from __future__ import annotations

import math

import numpy as np
from calibration_base import Row, at_least, at_most, between, rate, row, share
from numpy.random import Generator

from pytest_swapgate.stats import (
    Verdict,
    assessed_drift,
    binary_harm,
    conditional_wilson_interval,
    deciding_pairs,
    exact_test_power,
    family_alpha,
    first_stage_pairs,
    holm,
    midp_mcnemar,
    reestimated_pairs,
    required_pairs,
    tango_interval,
    verdict_rates,
)
from pytest_swapgate.stats.exact_power import tables
from pytest_swapgate.stats.harm import gate_limits

GRID = [(pd, h) for pd in (0.1, 0.2, 0.3, 0.4, 0.5) for h in (0.0, 0.05, 0.1, 0.15, 0.2) if h < pd]


def outcome(pd: float, harm: float) -> tuple[float, float, float]:
    return (pd + harm) / 2, (pd - harm) / 2, 1 - pd


def decide_tables(b: np.ndarray, c: np.ndarray, n: int, margin: float, **settings: float) -> np.ndarray:
    """Verdict of the shipped gate for every simulated table, each distinct table decided once."""
    pairs, where = np.unique(np.stack([b, c], axis=-1).reshape(-1, 2), axis=0, return_inverse=True)
    found = np.array(
        [binary_harm(int(x), int(y), n, margin=margin, **settings).verdict(margin) for x, y in pairs]
    )
    return found[where].reshape(b.shape)


def intervals(_rng: Generator, _runs: int) -> list[Row]:
    section = "Intervals of a paired binary harm (every table enumerated)"
    rows = []
    for n in (10, 20, 30, 50, 100):
        least, alone, worst, known = 1.0, 0.0, 0.0, 1.0
        for pd, h in GRID:
            b, c, weight = tables(n, outcome(pd, h))
            wide, gate = tango_interval(b, c, n, confidence=0.95), tango_interval(b, c, n, confidence=0.9)
            least = min(least, float(weight[(wide.low <= h) & (h <= wide.high)].sum()))
            alone = max(alone, float(weight[gate.high < h].sum()))
            # the upper end that a gate with this tolerance decides from; at H = 0 by symmetry its lower end
            ends = gate_limits(b, c, n, alpha=0.05, fail_alpha=0.05, margin=h or 1.0)
            crossed = ends.high < h if h else ends.low > 0
            worst = max(worst, float(weight[crossed].sum()))
            if n in (30, 100):
                ends = np.array(
                    [conditional_wilson_interval(int(x), int(y), n) for x, y in zip(b, c, strict=True)]
                )
                known = min(known, float(weight[(ends[:, 0] <= h) & (h <= ends[:, 1])].sum()))
        rows.append(row(section, f"Tango 95 %, lowest coverage on the grid, n = {n}", at_least(0.94), least))
        what = f"interval of the gate 90 %, largest P(U < H) on the grid, n = {n}"
        rows.append(row(section, what, at_most(0.055), worst))
        if n >= 30:
            what = f"Tango 90 % alone, largest P(U < H) on the grid, n = {n}"
            rows.append(row(section, what, at_most(0.055), alone))
        else:
            what = f"Tango 90 % alone (a gate raises its critical value), largest P(U < H), n = {n}"
            rows.append(row(section, what, at_least(0.055, shown="known bad, > .055"), alone))
        if n in (30, 100):
            what = f"conditional Wilson 95 % (not used), lowest coverage, n = {n}"
            rows.append(row(section, what, at_most(0.9, shown="known bad, < .9"), known))
    size = max(
        exact_test_power(n, harm=0.0, discordance=pd, test="midp")
        for n in (20, 50, 100, 200)
        for pd in (0.1, 0.2, 0.3, 0.5)
    )
    rows.append(row(section, "mid-p McNemar, largest size at .05", at_most(0.05), size))
    return rows


def worst_errors(n: int, margin: float) -> tuple[float, float]:
    """Largest exact P(FAIL) at H = 0 and P(PASS) at H = M of a gate, whatever the discordance really is."""
    table = np.mgrid[0 : n + 1, 0 : n + 1].reshape(2, -1)
    b, c = table[:, table.sum(axis=0) <= n]
    limits = gate_limits(b, c, n, alpha=0.05, fail_alpha=0.05, margin=margin)
    fails, passes = (np.zeros((n + 1, n + 1), bool) for _ in range(2))
    fails[b, c], passes[b, c] = limits.low > 0, limits.high < margin
    alarm = green = 0.0
    for pd in np.linspace(0.01, 1.0, 34):
        b, c, weight = tables(n, outcome(pd, 0.0))
        alarm = max(alarm, float(weight[fails[b, c]].sum()))
        if pd >= margin:
            b, c, weight = tables(n, outcome(pd, margin))
            green = max(green, float(weight[passes[b, c]].sum()))
    return alarm, green


def planned(rng: Generator, runs: int) -> list[Row]:
    section = "Verdicts of a planned binary gate"
    rows = []
    for pd, margin, power in ((0.3, 0.10, 0.9), (0.3, 0.15, 0.9), (0.32, 0.10, 0.8), (0.15, 0.05, 0.9)):
        n = required_pairs(margin, discordance=pd, power=power)
        name = f"pd {pd:g}, M {margin:g}, power {power:g}, n {n}"
        rates = {}
        for factor in (0.0, 0.5, 1.0, 2.0):
            harm = factor * margin
            if harm > pd:
                continue
            counts = rng.multinomial(n, outcome(pd, harm), size=runs)
            found = decide_tables(counts[:, 0], counts[:, 1], n, margin)
            rates[factor] = {v: float((found == v).mean()) for v in Verdict}
            exact = verdict_rates(n, harm=harm, discordance=pd, tolerance=margin)
            rows.append(
                share(
                    section,
                    f"{name}: FAIL at H = {factor:g} M",
                    {
                        0.0: at_most(0.05),
                        0.5: between(0.3, 0.47),
                        1.0: at_least(power - 0.02),
                        2.0: at_least(0.995),
                    }[factor],
                    rates[factor][Verdict.FAIL],
                    runs,
                )
            )
            rows.append(
                share(
                    section,
                    f"{name}: PASS at H = {factor:g} M",
                    {
                        0.0: at_least(power - 0.05),
                        0.5: between(0.3, 0.47),
                        1.0: at_most(0.05),
                        2.0: at_most(0.001),
                    }[factor],
                    rates[factor][Verdict.PASS],
                    runs,
                )
            )
            judge = f"{exact.failed:.4f} enumerated", lambda x, e, p=exact.failed: abs(x - p) <= 3 * e
            what = f"{name}: FAIL at H = {factor:g} M, simulated against enumerated"
            rows.append(share(section, what, judge, rates[factor][Verdict.FAIL], runs))
        limits = (0.05, 0.085) if power == 0.9 else (0.1, 0.18)
        rows.append(
            share(
                section,
                f"{name}: INCONCLUSIVE at H = 0",
                between(*limits),
                rates[0.0][Verdict.INCONCLUSIVE],
                runs,
            )
        )
    plans = 0
    few = {"false alarm": 0.0, "false PASS": 0.0, "power": 1.0}
    for pd in (0.3, 0.5, 0.8, 1.0):
        for margin in (0.2, 0.3, 0.4, 0.5, 0.75):
            if margin > pd:
                continue
            n = deciding_pairs(margin, discordance=pd)
            plans += 1
            alarm, green = worst_errors(n, margin)
            few["false alarm"] = max(few["false alarm"], alarm)
            few["false PASS"] = max(few["false PASS"], green)
            full = verdict_rates(n, harm=margin, discordance=pd, tolerance=margin)
            few["power"] = min(few["power"], full.failed)
    name = f"{plans} plans of few pairs (M .2 to .75), worst of every discordance"
    rows.append(row(section, f"{name}: FAIL at H = 0", at_most(0.055), few["false alarm"]))
    rows.append(row(section, f"{name}: PASS at H = M", at_most(0.055), few["false PASS"]))
    rows.append(
        row(section, f"{plans} plans of few pairs: FAIL at H = M (planned .9)", at_least(0.9), few["power"])
    )
    worst = {"false alarm": 0.0, "false PASS": 0.0, "power": 1.0}
    for pd in (0.1, 0.2, 0.3, 0.4, 0.5):
        for margin in (0.05, 0.10, 0.15, 0.20):
            if margin > pd / 1.5:
                continue
            n = required_pairs(margin, discordance=pd)
            none = verdict_rates(n, harm=0.0, discordance=pd, tolerance=margin)
            full = verdict_rates(n, harm=margin, discordance=pd, tolerance=margin)
            worst["false alarm"] = max(worst["false alarm"], none.failed)
            worst["false PASS"] = max(worst["false PASS"], full.passed)
            worst["power"] = min(worst["power"], full.failed)
    rows.append(row(section, "worst of 14 plans: FAIL at H = 0", at_most(0.055), worst["false alarm"]))
    rows.append(row(section, "worst of 14 plans: PASS at H = M", at_most(0.055), worst["false PASS"]))
    rows.append(row(section, "worst of 14 plans: FAIL at H = M (planned .9)", at_least(0.88), worst["power"]))
    once = verdict_rates(254, harm=0.1, discordance=0.3, tolerance=0.1).passed
    for reruns, known in ((1, 0.095), (2, 0.139)):
        what = f"green at H = M after up to {reruns} rerun(s): why reruns are refused"
        rows.append(row(section, what, between(known - 0.004, known + 0.004), 1 - (1 - once) ** (reruns + 1)))
    return rows


def with_drift(rng: Generator, runs: int) -> list[Row]:
    section = "Session drift (binary gate, pd .3, M .10, n 254, tau 4.6 pp)"
    pd, margin, tau, n = 0.3, 0.10, 0.046, 254
    rows = []
    for sessions in (2, 6):
        sizes = np.full(sessions, n // sessions)
        sizes[: n - sizes.sum()] += 1
        for harm, verdict, what in (
            (0.0, Verdict.FAIL, "FAIL at H = 0"),
            (margin, Verdict.PASS, "PASS at H = M"),
        ):
            true = np.clip(harm + tau * rng.standard_normal((runs, sessions)), -pd, pd)
            p = np.stack([(pd + true) / 2, (pd - true) / 2, np.full_like(true, 1 - pd)], axis=-1)
            counts = rng.multinomial(sizes, p).sum(axis=1)
            name = f"{sessions} sessions, {what}"
            known = decide_tables(counts[:, 0], counts[:, 1], n, margin, tau2=tau**2, sessions=sessions)
            rows.append(rate(section, f"{name}, tau known", at_most(0.05), known == verdict))
            if sessions == 2:
                blind = decide_tables(counts[:, 0], counts[:, 1], n, margin)
                judge = at_least(0.08)
                rows.append(rate(section, f"{name}, drift ignored (for comparison)", judge, blind == verdict))
    # tau estimated from a separate run of A/A sessions of 200 pairs each
    few = max(runs // 4, 400)
    for measured in (6, 12):
        true = np.clip(tau * rng.standard_normal((few, measured)), -pd, pd)
        p = np.stack([(pd + true) / 2, (pd - true) / 2, np.full_like(true, 1 - pd)], axis=-1)
        aa = rng.multinomial(200, p)
        gaps = (aa[..., 0] - aa[..., 1]) / 200
        variances = ((aa[..., 0] + aa[..., 1]) / 200 - gaps**2) / 200
        found = np.array([assessed_drift(g, v) for g, v in zip(gaps, variances, strict=True)], dtype=float)
        true = np.clip(tau * rng.standard_normal((few, 6)), -pd, pd)
        p = np.stack([(pd + true) / 2, (pd - true) / 2, np.full_like(true, 1 - pd)], axis=-1)
        sizes = np.array([43, 43, 42, 42, 42, 42])
        counts = rng.multinomial(sizes, p).sum(axis=1)
        alarms = [
            binary_harm(int(b), int(c), n, margin=margin, tau2=float(t), sessions=6).verdict(margin)
            is Verdict.FAIL
            for (b, c, _), t in zip(counts, found, strict=True)
        ]
        judge = at_most(0.06)
        rows.append(
            rate(section, f"6 sessions, FAIL at H = 0, tau from {measured} A/A sessions", judge, alarms)
        )
    return rows


def families(rng: Generator, runs: int) -> list[Row]:
    section = "Families of gates (pd .3, M .10 each)"
    rows = []
    for m in (4, 12):
        alpha = family_alpha(0.05, m)
        n = required_pairs(0.10, discordance=0.3, alpha=alpha)
        cycles = max(runs // 4, 500)
        counts = rng.multinomial(n, outcome(0.3, 0.0), size=(cycles, m))
        found = decide_tables(counts[..., 0], counts[..., 1], n, 0.10, alpha=alpha)
        name = f"m = {m}, n = {n}, independent"
        rows.append(
            rate(section, f"{name}: any FAIL at H = 0", at_most(0.05), (found == Verdict.FAIL).any(axis=1))
        )
        one = rng.multinomial(n, outcome(0.3, 0.10), size=cycles)
        harmed = decide_tables(one[:, 0], one[:, 1], n, 0.10, alpha=alpha)
        green = (harmed == Verdict.PASS) & (found[:, 1:] == Verdict.PASS).all(axis=1)
        rows.append(rate(section, f"{name}: all PASS with one gate at H = M", at_most(0.05), green))
        rows.append(rate(section, f"{name}: that gate FAILs (power)", at_least(0.88), harmed == Verdict.FAIL))
        # one common factor makes the gates of a release depend on each other
        few = max(runs // 40, 200)
        alarm = np.zeros(few, dtype=bool)
        rejected = np.zeros(few, dtype=bool)
        cut = 1.0364333894937898  # normal quantile of 1 - .15: each sign discordant with probability .15
        for i in range(few):
            z = math.sqrt(0.5) * rng.standard_normal((n, 1)) + math.sqrt(0.5) * rng.standard_normal((n, m))
            b, c = (z > cut).sum(axis=0), (z < -cut).sum(axis=0)
            verdicts = decide_tables(b, c, n, 0.10, alpha=alpha)
            alarm[i] = bool((verdicts == Verdict.FAIL).any())
            p = holm([midp_mcnemar(int(x), int(y), alternative="greater") for x, y in zip(b, c, strict=True)])
            rejected[i] = bool((p <= 0.05).any())
        rows.append(rate(section, f"m = {m}, correlated .5: any FAIL at H = 0", at_most(0.05), alarm))
        rows.append(rate(section, f"m = {m}, correlated .5: any Holm p <= .05", at_most(0.05), rejected))
    return rows


def reestimation(rng: Generator, runs: int) -> list[Row]:
    section = "Blinded re-estimation (planned for pd .3, M .10, power .8)"
    rows = []
    guess = required_pairs(0.10, discordance=0.3, power=0.8)
    n1 = first_stage_pairs(guess)
    for pd in (0.2, 0.3, 0.45):
        for harm, name in ((0.0, "H = 0"), (0.10, "H = M")):
            first = rng.multinomial(n1, outcome(pd, harm), size=runs)
            m = first[:, 0] + first[:, 1]
            sizes = {
                int(k): reestimated_pairs(int(k), n1, planned=guess, tolerance=0.10, power=0.8)
                for k in np.unique(m)
            }
            n = np.array([sizes[int(k)] for k in m])
            total = first + rng.multinomial(n - n1, outcome(pd, harm))
            found = np.empty(runs, dtype=object)
            for size in np.unique(n):
                at = n == size
                found[at] = decide_tables(total[at, 0], total[at, 1], int(size), 0.10)
            if harm == 0.0:
                rows.append(
                    rate(section, f"true pd {pd:g}: FAIL at {name}", at_most(0.055), found == Verdict.FAIL)
                )
            else:
                rows.append(
                    rate(section, f"true pd {pd:g}: PASS at {name}", at_most(0.055), found == Verdict.PASS)
                )
                judge = between(0.78, 0.83)
                rows.append(
                    rate(section, f"true pd {pd:g}: FAIL at {name} (power)", judge, found == Verdict.FAIL)
                )
    return rows
