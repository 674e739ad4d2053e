"""``swapgate plan``: pairs or teams, detectable effect, exact power, expected pairs, money."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

from pytest_swapgate.stats import (
    VerdictRates,
    deciding_multiplier,
    deciding_pairs,
    deciding_units,
    detectable_effect_pairs,
    family_alpha,
    plan_looks,
    sequential_rates,
    unit_verdict_rates,
    verdict_rates,
)

ARMS = 2

_MOST_PAIRS = 30_000
"""Exact rates of a larger plan take minutes and gigabytes."""
_TRUTHS = {"0": 0.0, "M/2": 0.5, "M": 1.0, "2M": 2.0}
"""True harms that a plan is shown at, in tolerances."""


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "plan",
        help="size a gate before anything is spent",
        description=(
            "Size a gate. With --discordance the outcome is a success of two arms, paired by task; with --sd it is a "
            "mean per independent unit (swap pair), of the score or, with --metric cost, of the log cost ratio."
        ),
    )
    parser.add_argument(
        "--tolerance", type=float, required=True, help="drop of score (0.05) or relative rise of cost (0.2)"
    )
    spread = parser.add_mutually_exclusive_group(required=True)
    spread.add_argument("--discordance", type=float, help="share of pairs in which exactly one arm succeeds")
    spread.add_argument("--sd", type=float, help="standard deviation of a unit's harm")
    parser.add_argument(
        "--metric", choices=("score", "cost"), default="score", help="what the tolerance is about"
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, help="one-sided level of the family (default 0.05)"
    )
    parser.add_argument("--power", type=float, default=0.9, help="planned power (default 0.9)")
    parser.add_argument(
        "--family", type=int, default=1, help="gates decided together: seats x metrics (default 1)"
    )
    parser.add_argument("--looks", type=int, default=5, help="looks of a sequential gate (default 5)")
    parser.add_argument("--price", type=float, default=None, help="USD an episode")
    parser.add_argument("--formation", type=int, default=10, help="formation episodes a team (default 10)")
    parser.add_argument("--trials", type=int, default=10, help="episodes a team and arm (default 10)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the plan."""
    if options.price is not None and not (math.isfinite(options.price) and options.price >= 0):
        raise ValueError(f"--price {options.price!r}: accepted is a number of USD >= 0")
    for name in ("formation", "trials"):
        if getattr(options, name) < (name == "trials"):
            raise ValueError(
                f"--{name} {getattr(options, name)}: accepted is a whole number >= {int(name == 'trials')}"
            )
    most = None if options.metric == "cost" else 1.0
    if not (math.isfinite(options.tolerance) and 0 < options.tolerance <= (most or math.inf)):
        accepted = "a rise > 0, such as 0.2 for 20 %" if most is None else "a drop in (0, 1], such as 0.05"
        raise ValueError(f"--tolerance {options.tolerance:g}: accepted is {accepted}")
    if options.discordance is not None and options.metric == "cost":
        raise ValueError("--metric cost goes with --sd: a cost has no discordant pairs")
    found = _pairs(options) if options.discordance is not None else _teams(options)
    if options.price is not None:
        found["usd"] = found["episodes"] * options.price
    print(json.dumps(found) if options.json else _text(options, found))
    return 0


def _pairs(options: argparse.Namespace) -> dict[str, Any]:
    tolerance, discordance, power = options.tolerance, options.discordance, options.power
    level = family_alpha(options.alpha, options.family)
    n = deciding_pairs(tolerance, discordance=discordance, alpha=options.alpha, fail_alpha=level, power=power)
    if n > _MOST_PAIRS:
        raise ValueError(
            f"--tolerance {tolerance:g}: {n:,} pairs would be needed, and exact rates are computed for at most "
            f"{_MOST_PAIRS:,}: accepted is a larger tolerance"
        )

    def rates(harm: float) -> dict[str, float]:
        return _rounded(
            verdict_rates(
                n,
                harm=harm,
                discordance=discordance,
                tolerance=tolerance,
                alpha=options.alpha,
                fail_alpha=level,
            )
        )

    looks = plan_looks(tolerance, discordance=discordance, alpha=level, power=power, looks=options.looks)
    # No harm can exceed the discordance.
    truths = {name: share * tolerance for name, share in _TRUTHS.items() if share * tolerance <= discordance}
    return {
        "pairs": n,
        "episodes": ARMS * n,
        "alpha": level,
        "mde": detectable_effect_pairs(n, discordance=discordance, alpha=level, power=power),
        "exact_rates": {name: rates(harm) for name, harm in truths.items()},
        "sequential": {
            "looks": list(looks.sizes),
            "bounds": [round(bound, 4) for bound in looks.bounds],
            "expected_pairs": {
                name: round(sequential_rates(looks, harm=harm, discordance=discordance).expected_pairs, 1)
                for name, harm in truths.items()
            },
        },
    }


def _teams(options: argparse.Namespace) -> dict[str, Any]:
    margin = math.log1p(options.tolerance) if options.metric == "cost" else options.tolerance
    level = family_alpha(options.alpha, options.family)
    units = deciding_units(margin, sd=options.sd, alpha=options.alpha, fail_alpha=level, power=options.power)
    able = options.sd * deciding_multiplier(units, alpha=options.alpha, fail_alpha=level, power=options.power)
    teams = 2 * units

    def rates(harm: float) -> dict[str, float]:
        return _rounded(
            unit_verdict_rates(
                units, harm=harm, sd=options.sd, tolerance=margin, alpha=options.alpha, fail_alpha=level
            )
        )

    return {
        "swap_pairs": units,
        "teams": teams,
        "episodes": teams * (options.formation + (ARMS + 1) * options.trials),
        "alpha": level,
        "mde": math.expm1(able) if options.metric == "cost" else able,
        "exact_rates": {name: rates(share * margin) for name, share in _TRUTHS.items()},
    }


def _rounded(rates: VerdictRates) -> dict[str, float]:
    return {
        "pass": round(rates.passed, 4),
        "fail": round(rates.failed, 4),
        "inconclusive": round(rates.inconclusive, 4),
    }


def _text(options: argparse.Namespace, found: dict[str, Any]) -> str:
    unit = "%" if options.metric == "cost" else "pp"
    lines = [
        f"tolerance {100 * options.tolerance:g} {unit}, level {found['alpha']:.4g} one-sided, power {options.power:g}"
    ]
    if "pairs" in found:
        lines.append(f"pairs            {found['pairs']:,} at {100 * options.discordance:g} % discordance")
        lines.append(f"detectable       {100 * found['mde']:.2f} pp")
        lines += _rates(found["exact_rates"])
        sequential = found["sequential"]
        lines.append(f"sequential       looks at {', '.join(f'{n:,}' for n in sequential['looks'])} pairs")
        expected = ", ".join(
            f"{pairs:,.0f} at harm {name}" for name, pairs in sequential["expected_pairs"].items()
        )
        lines.append(f"expected pairs   {expected}")
        lines.append(f"episodes         {found['episodes']:,} (two arms), without stopping early")
    else:
        lines.append(f"swap pairs       {found['swap_pairs']} ({found['teams']} teams)")
        lines.append(f"detectable       {100 * found['mde']:.2f} {unit}")
        lines += _rates(found["exact_rates"])
        lines.append(
            f"episodes         {found['episodes']:,} (a team: formation {options.formation}, baseline twice for the "
            f"noise floor and candidate, {options.trials} each)"
        )
    if "usd" in found:
        lines.append(f"money            USD {found['usd']:,.2f} at USD {options.price:g} an episode")
    return "\n".join(lines)


def _rates(exact: dict[str, dict[str, float]]) -> list[str]:
    return [
        "exact verdicts   harm      pass    fail    inconclusive",
        *(
            f"                 {name:<8}{rates['pass']:>6.3f}{rates['fail']:>8.3f}{rates['inconclusive']:>12.3f}"
            for name, rates in exact.items()
        ),
    ]
