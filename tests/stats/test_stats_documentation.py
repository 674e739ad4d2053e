"""What docs/statistics.md says is what the shipped functions give."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from pytest_swapgate import stats
from pytest_swapgate.stats import Verdict, deciding_multiplier, verdict_rates

TEXT = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")


def test_the_code_block_runs_and_says_what_its_comments_say():
    (block,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    names = {}
    exec(block, names)  # our own documentation
    assert names["required_pairs"](0.10, discordance=0.30) == 254
    assert names["harm"].interval == pytest.approx((-0.013, 0.113), abs=5e-4)
    assert names["decide"](names["harm"].interval, 0.10) is Verdict.INCONCLUSIVE


def test_the_table_of_verdicts():
    rows = re.findall(r"^\| ([\d.]+)[^|]*\| (\.\d+) \| (\.\d+) \| (\.\d+) \|$", TEXT, flags=re.MULTILINE)
    assert len(rows) == 5
    for points, *shown in rows:
        rates = verdict_rates(254, harm=float(points) / 100, discordance=0.3, tolerance=0.10)
        assert [float(s) for s in shown] == pytest.approx(list(rates), abs=6e-4)


def test_the_table_of_detectable_effects():
    header, values = re.search(r"\| pairs J \|(.*)\|\n\|[-|]+\n\| detectable \|(.*)\|", TEXT).groups()
    for units, shown in zip(header.split("|"), values.split("|"), strict=True):
        assert deciding_multiplier(int(units)) == pytest.approx(float(shown), abs=0.006)


PUBLIC = [name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_function_states_its_domain_its_errors_and_its_source(name):
    function = getattr(stats, name)
    parts = re.split(r"^(\w+)\n-{4,}\n", inspect.getdoc(function), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert re.search(r"\(\d{4}\)|arXiv|own (rule|simulation)", sections["References"])
    arguments = set(inspect.signature(function).parameters)
    if arguments:
        assert "ValueError" in sections["Raises"]
        heads = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", sections["Parameters"], flags=re.MULTILINE)
        assert arguments == {argument for head in heads for argument in head.split(", ")}
