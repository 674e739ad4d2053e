"""Who pays for a change: which seats send the candidate's extra messages, and what these do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_swapgate.studies.paired import Cell


@dataclass(frozen=True)
class WhoPays:
    """Where the extra messages of the candidate come from.

    Attributes
    ----------
    extra
        Messages of the candidate minus those of the baseline; > 0.
    incumbents
        Share of them that the seats that stayed sent; it leaves [0, 1] where one side sends fewer.
    kinds
        Kind -> share of what is said more often than before, largest first.
    """

    extra: int
    incumbents: float
    kinds: tuple[tuple[str, float], ...]


def who_pays(cells: Iterable[Cell]) -> WhoPays | None:
    """Count the messages of both arms over valid pairs; None if the candidate sends no more, or nobody changed."""
    staying, kinds, extra, changed = 0, Counter[str](), 0, False
    for cell in cells:
        changed = changed or bool(cell.seat)
        for sign, index in ((1, 1), (-1, 0)):
            for pair in cell.valid:
                for message in pair[index].messages:
                    extra += sign
                    kinds[message.kind or "other"] += sign
                    staying += sign * (message.sender != cell.seat)
    if extra <= 0 or not changed:
        return None
    grown = sum(n for n in kinds.values() if n > 0)
    shares = tuple((kind, n / grown) for kind, n in kinds.most_common() if n > 0)
    return WhoPays(extra=extra, incumbents=staying / extra, kinds=shares)
