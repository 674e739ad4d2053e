"""Disjoint role-matched pairs of teams, with the traded seat drawn at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_swapgate.teams.team import Team


def role_matched_pairs(
    teams: Sequence[Team], *, rng: np.random.Generator, seat: str | None = None
) -> tuple[tuple[int, int, str], ...]:
    """Pair teams at random and name the seat that each pair trades.

    Parameters
    ----------
    teams
        An even number, at least two, with the same seats.
    rng
        Source of the pairing and of the drawn seats.
    seat
        Trade this seat in every pair; None draws one a pair.

    Returns
    -------
    tuple of (int, int, str)
        Indices of the two teams and the traded seat; every team appears once.

    Raises
    ------
    ValueError
        For one team, an odd number, differing seats, or a seat that no team has.
    """
    if len(teams) < 2 or len(teams) % 2:
        raise ValueError(f"swap pairs need an even number of teams >= 2, got {len(teams)}")
    seats = teams[0].seats
    for team in teams:
        if team.seats != seats:
            raise ValueError(f"paired teams must have the same seats, got {seats} and {team.seats}")
    if seat is not None and seat not in seats:
        raise ValueError(f"seat must be one of {', '.join(seats)}, got {seat!r}")
    order = [int(i) for i in rng.permutation(len(teams))]
    drawn = [seats[int(i)] for i in rng.integers(len(seats), size=len(teams) // 2)]
    traded = drawn if seat is None else [seat] * len(drawn)
    return tuple((order[2 * p], order[2 * p + 1], traded[p]) for p in range(len(traded)))
