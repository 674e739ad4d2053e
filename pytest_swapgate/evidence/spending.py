"""What a run consumes, counted in one place for all its processes, so that a cap holds over all of them."""

from __future__ import annotations

from typing import NamedTuple

from pytest_swapgate.evidence.database import Database
from pytest_swapgate.teams import Usage


class Spending(NamedTuple):
    """What a run has consumed so far.

    Attributes
    ----------
    started
        Episodes that were started (played, not read).
    calls, tokens
        Model calls and their tokens.
    usd
        Price in US dollars of the calls that have one.
    unpriced
        Calls whose price is unknown.
    """

    started: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0


def read(database: Database, run: str) -> Spending:
    """Return the spending of a run."""
    found = database.rows("SELECT started, calls, tokens, usd, unpriced FROM spending WHERE run = ?", (run,))
    return Spending(*found[0]) if found else Spending()


def start(database: Database, run: str, most: int | None) -> bool:
    """Count an episode as started if that many may be."""
    with database.transaction():
        if most is not None and read(database, run).started >= most:
            return False
        database.change(
            "INSERT INTO spending (run, started, calls, tokens, usd, unpriced) VALUES (?, 1, 0, 0, 0, 0) "
            "ON CONFLICT (run) DO UPDATE SET started = started + 1",
            (run,),
        )
        return True


def spend(database: Database, run: str, usage: Usage) -> None:
    """Add a usage."""
    unpriced = max(1, usage.calls) if usage.usd is None else 0
    database.change(
        "INSERT INTO spending (run, started, calls, tokens, usd, unpriced) VALUES (?, 0, ?, ?, ?, ?) "
        "ON CONFLICT (run) DO UPDATE SET calls = calls + excluded.calls, tokens = tokens + excluded.tokens, "
        "usd = usd + excluded.usd, unpriced = unpriced + excluded.unpriced",
        (run, usage.calls, usage.tokens, usage.usd or 0.0, unpriced),
    )
