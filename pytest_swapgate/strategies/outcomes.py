"""Strategies for paired binary outcomes: the same tasks under two arms."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from pytest_swapgate.strategies.structures import check_range


class PairedTable(NamedTuple):
    """A 2 x 2 table of pairs.

    Attributes
    ----------
    both, neither
        Pairs in which both arms succeeded, or none.
    harm, benefit
        Discordant pairs: only the baseline succeeded, or only the candidate.
    """

    both: int
    harm: int
    benefit: int
    neither: int

    @property
    def pairs(self) -> int:
        """All pairs."""
        return sum(self)


@st.composite
def paired_tables(draw: DrawFn, min_pairs: int = 1, max_pairs: int = 200) -> PairedTable:
    """Generate 2 x 2 tables of paired outcomes; shrinks to few pairs, all of them successes.

    Parameters
    ----------
    min_pairs, max_pairs
        Limits of the number of pairs, >= 0.
    """
    check_range("pairs", min_pairs, max_pairs, 0, None)
    pairs = draw(st.integers(min_pairs, max_pairs))
    harm = draw(st.integers(0, pairs))
    benefit = draw(st.integers(0, pairs - harm))
    neither = draw(st.integers(0, pairs - harm - benefit))
    return PairedTable(pairs - harm - benefit - neither, harm, benefit, neither)


def paired_outcomes(min_pairs: int = 1, max_pairs: int = 50) -> SearchStrategy[list[tuple[int, int]]]:
    """Generate paired outcomes in task order: (baseline, candidate), each 0 or 1.

    Parameters
    ----------
    min_pairs, max_pairs
        Limits of the number of pairs, >= 0.
    """
    check_range("pairs", min_pairs, max_pairs, 0, None)
    outcome = st.integers(0, 1)
    return st.lists(st.tuples(outcome, outcome), min_size=min_pairs, max_size=max_pairs)
