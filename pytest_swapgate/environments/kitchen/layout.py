"""The kitchen's map: who stands where, what each cook reaches, and every walk, worked out once at import.

The two cooks live in separate columns; things cross only over the three counters between them.

References
----------
Collab-Overcooked (YusaeMeow, MIT), layout ``new_env``; its engine descends from overcooked_ai (CHAI, MIT).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

CHEF = 0
ASSISTANT = 1
ROLES = ("chef", "assistant")

MAP = (
    "XXXPX",
    "I X1X",
    "C2X X",
    "D X O",
    "XBXSX",
)
"""Rows from the top; X counter, 1 and 2 where chef and assistant start, a blank is floor."""

_STATIONS = {
    "P": "pot0",
    "O": "oven0",
    "S": "serving",
    "I": "ingredient_dispenser",
    "C": "chopping_board0",
    "B": "blender0",
    "D": "dish_dispenser",
}

UTENSILS = ("pot0", "oven0", "chopping_board0", "blender0")
VERBS: Mapping[str, str] = MappingProxyType(
    {"cook": "pot0", "bake": "oven0", "cut": "chopping_board0", "stir": "blender0"}
)
"""The verb that starts a utensil, and the utensil."""
VERB_OF: Mapping[str, str] = MappingProxyType({utensil: verb for verb, utensil in VERBS.items()})

HERE = -1
"""In a walk table: the cook stands in front of the station and faces it."""

_HEADINGS = ((0, -1), (0, 1), (1, 0), (-1, 0))  # north, south, east, west; all cooks start facing north

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Side:
    """What one cook can do on the map.

    Attributes
    ----------
    cells : tuple of (x, y)
        Floor cells the cook can walk on.
    start : int
        Stance at the beginning. A stance is ``4 * cell index + heading`` (north, south, east, west).
    stations : frozenset of str
        Names of everything in reach, counters included.
    counters : tuple of str
        Counters in reach, row by row from the top left; the shared ones and the cook's own.
    walk : mapping of station to tuple of int
        Per stance: the stance after one step towards the station, or `HERE`.
    cost : mapping of station to tuple of int
        Per stance: steps until the deed is done there, the deed itself included (>= 1).
    """

    cells: tuple[Cell, ...]
    start: int
    stations: frozenset[str]
    counters: tuple[str, ...]
    walk: Mapping[str, tuple[int, ...]]
    cost: Mapping[str, tuple[int, ...]]


def _name_stations() -> dict[Cell, str]:
    """Name every station; counters that nobody can stand beside get no name."""
    names: dict[Cell, str] = {}
    count = 0
    for y, row in enumerate(MAP):
        for x, symbol in enumerate(row):
            if symbol in _STATIONS:
                names[x, y] = _STATIONS[symbol]
            elif symbol == "X" and any(_is_floor((x + dx, y + dy)) for dx, dy in _HEADINGS):
                names[x, y] = f"counter{count}"
                count += 1
    return names


def _is_floor(cell: Cell) -> bool:
    x, y = cell
    return 0 <= y < len(MAP) and 0 <= x < len(MAP[y]) and MAP[y][x] in " 12"


def _region(start: Cell) -> tuple[Cell, ...]:
    seen = {start}
    queue = deque([start])
    while queue:
        x, y = queue.popleft()
        for dx, dy in _HEADINGS:
            cell = (x + dx, y + dy)
            if cell not in seen and _is_floor(cell):
                seen.add(cell)
                queue.append(cell)
    return tuple(sorted(seen, key=lambda cell: (cell[1], cell[0])))


def _moves(cells: tuple[Cell, ...]) -> list[tuple[int, ...]]:
    """Per stance, the four stances after one step: towards floor it walks, towards anything else it turns."""
    index = {cell: i for i, cell in enumerate(cells)}
    table: list[tuple[int, ...]] = []
    for x, y in cells:
        after = tuple(
            4 * index.get((x + dx, y + dy), index[x, y]) + h for h, (dx, dy) in enumerate(_HEADINGS)
        )
        table.extend([after] * 4)
    return table


def _walks(moves: list[tuple[int, ...]], goals: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shortest walks from every stance to the nearest goal stance."""
    far = 10**9
    cost = [1 if stance in goals else far for stance in range(len(moves))]
    walk = [HERE] * len(moves)
    changed = True
    while changed:
        changed = False
        for stance, after in enumerate(moves):
            best = min(after, key=cost.__getitem__)
            if cost[best] + 1 < cost[stance]:
                cost[stance], walk[stance], changed = cost[best] + 1, best, True
    return tuple(walk), tuple(cost)


def _side(symbol: str, names: Mapping[Cell, str]) -> Side:
    start = next((row.index(symbol), y) for y, row in enumerate(MAP) if symbol in row)
    cells = _region(start)
    moves = _moves(cells)
    goals: dict[str, list[int]] = {}
    for cell, name in names.items():
        for i, (x, y) in enumerate(cells):
            for h, (dx, dy) in enumerate(_HEADINGS):
                if (x + dx, y + dy) == cell:
                    goals.setdefault(name, []).append(4 * i + h)
    tables = {name: _walks(moves, stances) for name, stances in goals.items()}
    return Side(
        cells=cells,
        start=4 * cells.index(start),
        stations=frozenset(goals),
        counters=tuple(name for name in names.values() if name in goals and name.startswith("counter")),
        walk=MappingProxyType({name: walk for name, (walk, _) in tables.items()}),
        cost=MappingProxyType({name: cost for name, (_, cost) in tables.items()}),
    )


_NAMES = _name_stations()
SIDES = (_side("1", _NAMES), _side("2", _NAMES))
"""Chef's side and assistant's side."""
SHARED_COUNTERS = tuple(name for name in SIDES[CHEF].counters if name in SIDES[ASSISTANT].stations)
"""The counters both reach, from the top."""
PLACES: tuple[frozenset[str], ...] = tuple(
    frozenset(name for name in side.stations if not name.startswith("counter")) | {"counter"}
    for side in SIDES
)
"""Per cook: the places an action may name."""
DROP_ORDER: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = tuple(
    (SHARED_COUNTERS, tuple(name for name in side.counters if name not in SHARED_COUNTERS)) for side in SIDES
)
"""Per cook: counters tried first and, only when those are full, counters tried next."""
