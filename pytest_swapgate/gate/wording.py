"""How a decided gate speaks: the reason in one line, and the lines under the rows."""

from __future__ import annotations

from pytest_swapgate.gate.passk import common_size
from pytest_swapgate.gate.tolerances import ActivePassK, SwapPenalty, Tolerance
from pytest_swapgate.gate.verdicts import Row
from pytest_swapgate.models.registry import is_simulated
from pytest_swapgate.stats import Verdict
from pytest_swapgate.studies.paired import PairedResult


def share(row: Row, value: float, *, sign: bool = False) -> str:
    """Write a value of a row in its unit: percentage points, or percent for the cost."""
    plus = "+" if sign else ""
    if row.metric == "cost":
        return f"{100 * value:{plus}.0f} %"
    return f"{100 * value:{plus}.1f} pp"


def bounds(row: Row) -> str:
    """Write the decision interval of a row."""
    digits = 0 if row.metric == "cost" else 1
    return f"[{100 * row.low:+.{digits}f}, {100 * row.high:+.{digits}f}]"


def reason(verdict: Verdict, rows: list[Row]) -> str:
    """Return one line that says why."""
    decisive = [row for row in rows if row.verdict is verdict]
    parts = []
    for row in decisive:
        estimate = f"{row.metric} {share(row, row.harm, sign=True)} {bounds(row)}"
        if verdict is Verdict.FAIL:
            parts.append(f"{estimate}: {_beyond(row)}")
        elif verdict is Verdict.INCONCLUSIVE:
            parts.append(
                f"{estimate}: undecided against {_tolerance(row)}" + (f"; {row.note}" if row.note else "")
            )
        else:
            parts.append(f"{estimate} is below {_tolerance(row)}")
    return "; ".join(parts)


def _beyond(row: Row) -> str:
    """Say of a failed row what its interval shows: harm above the tolerance, or real harm that may be above it."""
    if row.low > row.tolerance:
        return f"harm above the tolerance of {_tolerance(row)}, beyond the noise"
    return f"harm beyond the noise, and not shown to stay below the tolerance of {_tolerance(row)}"


def _tolerance(row: Row) -> str:
    return f"{100 * row.tolerance:g} {'%' if row.metric == 'cost' else 'pp'}"


def lines(tolerance: Tolerance, result: PairedResult, rows: list[Row]) -> tuple[str, ...]:
    """Return the lines under the rows: sizes, who pays, power and money."""
    made = [_sizes(result)]
    if isinstance(tolerance, SwapPenalty) and tolerance.cost is not None and not result.measures_cost:
        made.append("cost not measured: the arms exchange no messages")
    if isinstance(tolerance, ActivePassK):
        made.append(_active(tolerance, result))
    pays = result.who_pays
    if pays is not None:
        made.append(_who_pays(result))
    made.extend(f"{row.metric}: {row.note}" for row in rows if row.note)
    made.append(_decided(tolerance, rows))
    made.append(_money(result))
    return tuple(made)


def _sizes(result: PairedResult) -> str:
    count, word = len(result.units), result.unit_word
    head = f"{len(result.cells)} teams ({count} swap pairs)" if word == "swap pair" else f"{count} {word}s"
    episodes = 2 * result.planned
    lost = sum(result.losses.values())
    floor = "" if result.floor is not None else ", noise floor not measured"
    return (
        f"{head}, {result.valid} pairs of episodes, {100 * lost / episodes:.1f} % of trials infra errors{floor}, "
        "session drift not assessed"
    )


def _active(tolerance: ActivePassK, result: PairedResult) -> str:
    return (
        f"T_{tolerance.k}: {common_size(result, tolerance.k)} coordination-active tasks common to both arms"
    )


def _who_pays(result: PairedResult) -> str:
    pays = result.who_pays
    assert pays is not None
    kinds = dict(pays.kinds)
    text = f"who pays: incumbent {100 * pays.incumbents:.0f} % of the {pays.extra} extra messages"
    if kinds.get("correction"):
        return f"{text}; {100 * kinds['correction']:.0f} % of them correct a failed hand-off"
    if pays.kinds and pays.kinds[0][0] != "other":
        name, part = pays.kinds[0]
        return f"{text}; {100 * part:.0f} % of them are of the kind '{name}'"
    return text


def _decided(tolerance: Tolerance, rows: list[Row]) -> str:
    found = [f"{share(row, row.detectable)} of {row.metric}" for row in rows if row.detectable is not None]
    able = f"; this sample detects {' and '.join(found)}" if found else ""
    parts = tolerance.family * len(rows)
    level = f"alpha {tolerance.alpha:g}" + (f" / {parts} on the fail side" if parts > 1 else "")
    return f"decided at {level}, power {100 * tolerance.power:.0f} %{able}"


def _money(result: PairedResult) -> str:
    total = result.played + result.read
    read = f" ({result.read} read from evidence)" if result.read else ""
    usage = result.usage
    price = "price unknown" if usage.usd is None else f"USD {usage.usd:.2f}"
    spent = f", {_tokens(usage.tokens)} tokens, {price}" if usage.tokens else ""
    seconds = ""
    if result.seconds is not None:
        seconds = f", {result.seconds:.0f} s" if result.seconds >= 1 else ", under 1 s"
    models = f"; model {', '.join(result.models)}" if result.models else ""
    simulated = (
        " (simulated: a stand-in, not a language model)" if any(map(is_simulated, result.models)) else ""
    )
    return f"{total:,} episodes{read}{spent}{seconds}{models}{simulated}"


def _tokens(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1e6:.1f} M"
    return f"{count / 1e3:.0f} k" if count >= 1_000 else str(count)
