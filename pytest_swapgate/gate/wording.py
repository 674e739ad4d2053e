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


def stopped_reason(result: PairedResult, rows: list[Row]) -> str:
    """Return one line that says why a gate ended before its plan, and what it had."""
    if not result.planned:
        return result.stopped
    estimates = [f"{row.metric} {share(row, row.harm, sign=True)} {bounds(row)}" for row in rows]
    figures = f": {', '.join(estimates)}; no verdict is taken from them" if rows else ""
    return f"{result.stopped}; by then {_played(result)}{figures}"


def stopped_lines(
    tolerance: Tolerance, result: PairedResult, rows: list[Row], missing: list[str]
) -> tuple[str, ...]:
    """Return the lines of a gate that ended before its plan: what its figures are worth, then those of any gate."""
    made = list(missing)
    if rows:
        whose = "the rest" if _waiting(result) else "those"
        made[:0] = [
            result.stopped,
            f"by then {_played(result)}: the figures are of {whose}, and no verdict is taken from them",
        ]
    if result.looks:
        made.append(_looks(result))
    return (*made, *lines(tolerance, result, rows, metrics=len(rows) + len(missing)))


def _played(result: PairedResult) -> str:
    """Say how many of the planned pairs there are, and which of them give no figure yet."""
    waiting = _waiting(result)
    pairs = result.valid + waiting
    if not pairs:
        counts = " and counts" if result.finished else ""
        return f"none of the {result.planned} planned pairs was played in both arms{counts}"
    text = f"{pairs} of {result.planned} planned pairs {'was' if pairs == 1 else 'were'} played"
    if pairs < result.finished:
        text += f" and count{'s' if pairs == 1 else ''}"
    if waiting:
        which = "all" if waiting == pairs else f"{waiting} of them"
        text += f", {which} left out until the other team of their swap pair has one too"
    return text


def _waiting(result: PairedResult) -> int:
    """Return how many pairs that count are left out: only one team of their swap pair has any."""
    return sum(len(cell.valid) for unit in result.left_out for cell in unit.cells)


def _looks(result: PairedResult) -> str:
    """Say which look of a sequential gate was the last one, and that none was taken since."""
    looks = len(result.looks)
    if not result.look or result.look_interval is None:
        return f"no look was taken: the first of {looks} is due at {result.looks[0]} pairs"
    low, high = (100 * limit for limit in result.look_interval)
    return (
        f"look {result.look} of {looks}, at {result.looks[result.look - 1]} pairs, was undecided at "
        f"[{low:+.1f}, {high:+.1f}] pp; the next one is due at {result.looks[result.look]} pairs, and the interval "
        "above is no look"
    )


def lines(
    tolerance: Tolerance, result: PairedResult, rows: list[Row], *, metrics: int | None = None
) -> tuple[str, ...]:
    """Return the lines under the rows: sizes, who pays, power and money.

    Parameters
    ----------
    metrics
        How many metrics alpha was split over; None for one a row.
    """
    if not result.units and not result.losses:
        return (_money(result),)
    made = [_sizes(result)]
    if not rows:
        return (*made, _money(result))
    made.append(_means(result))
    if isinstance(tolerance, SwapPenalty) and tolerance.cost is not None and not result.measures_cost:
        made.append("cost not measured: the arms exchange no messages")
    if isinstance(tolerance, ActivePassK):
        made.append(_active(tolerance, result))
    pays = result.who_pays
    if pays is not None:
        made.append(_who_pays(result))
    made.extend(f"{row.metric}: {row.note}" for row in rows if row.note)
    word = "intervals" if result.stopped else "decided"
    made.append(_decided(tolerance, rows, word, metrics or len(rows)))
    made.append(_money(result))
    return tuple(made)


def _sizes(result: PairedResult) -> str:
    count, word = len(result.units), result.unit_word
    head = many(count, word)
    if word == "swap pair":
        head = f"{many(len(result.cells), 'team')} ({head})"
    episodes = 2 * result.finished
    lost = sum(result.losses.values())
    floor = "" if result.floor is not None else ", noise floor not measured"
    return (
        f"{head}, {many(result.valid, 'pair')} of episodes, {100 * lost / episodes:.1f} % of trials infra errors"
        f"{_played_again(result)}{floor}, session drift not assessed"
    )


def _played_again(result: PairedResult) -> str:
    """Say how often episodes of each arm were lost and played again."""
    again = [
        sum(episode.lost_attempts for episode in episodes)
        for episodes in (
            [e for cell in result.cells for e in cell.baseline],
            [e for cell in result.cells for e in cell.candidate],
        )
    ]
    return f" (lost and played again: baseline {again[0]}, candidate {again[1]})" if any(again) else ""


def _means(result: PairedResult) -> str:
    """Say what each arm scored, and what it cost."""
    before, after = result.mean_score("baseline"), result.mean_score("candidate")
    text = f"mean score: baseline {100 * before:.1f} %, candidate {100 * after:.1f} %"
    if not result.measures_cost:
        return text
    try:
        costs = result.mean_cost("baseline"), result.mean_cost("candidate")
    except ValueError:
        return text
    return f"{text}; messages per sub-task: {costs[0]:.2f}, {costs[1]:.2f}"


def many(count: int, word: str) -> str:
    """Write a number of things, one or several."""
    return f"{count:,} {word}{'s' if count != 1 else ''}"


def _active(tolerance: ActivePassK, result: PairedResult) -> str:
    return (
        f"T_{tolerance.k}: {common_size(result, tolerance.k)} coordination-active tasks common to both arms"
    )


def _who_pays(result: PairedResult) -> str:
    pays = result.who_pays
    assert pays is not None
    if 0 <= pays.incumbents <= 1:
        text = f"who pays: incumbent {100 * pays.incumbents:.0f} % of the {pays.extra} extra messages"
    else:  # one side sends more and the other fewer: a share would say nothing
        staying = round(pays.incumbents * pays.extra)
        text = f"who pays: incumbent {staying:+d} messages, newcomer {pays.extra - staying:+d}"
    kinds = dict(pays.kinds)
    if kinds.get("correction"):
        return (
            f"{text}; {100 * kinds['correction']:.0f} % of what is said more often corrects a failed hand-off"
        )
    if pays.kinds and pays.kinds[0][0] != "other":
        name, part = pays.kinds[0]
        return f"{text}; {100 * part:.0f} % of what is said more often is of the kind '{name}'"
    return text


def _decided(tolerance: Tolerance, rows: list[Row], word: str, metrics: int) -> str:
    found = [f"{share(row, row.detectable)} of {row.metric}" for row in rows if row.detectable is not None]
    able = f"; this sample detects {' and '.join(found)}" if found else ""
    parts = tolerance.family * metrics
    level = f"alpha {tolerance.alpha:g}" + (f" / {parts} on the fail side" if parts > 1 else "")
    return f"{word} at {level}, power {100 * tolerance.power:.0f} %{able}"


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
    return f"{many(total, 'episode')}{read}{spent}{seconds}{models}{simulated}"


def _tokens(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1e6:.1f} M"
    return f"{count / 1e3:.0f} k" if count >= 1_000 else str(count)
