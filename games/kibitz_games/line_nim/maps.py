"""Start maps: generated from a seed, or written by the host.

The generator follows the university assignment that introduced the game. The first cell is (6, 6):
it is free with probability 0.7, otherwise an obstacle, and forms the initial frontier. Then the
generator repeatedly removes a random cell from the frontier. It decides the cell's undecided
neighbors in the order of directions 3, 4, 1, 2, 5, 6: each is free with probability 0.7, and free
ones join the frontier. The map is complete once it has n free cells. The generator starts over if
the frontier becomes empty, or if the free cells are not connected, which can happen if the first
cell is an obstacle. Undecided cells become obstacles.

All random numbers come from one generator seeded with the seed and n. It uses only
``random.Random.random``, which returns the same numbers in every version of Python.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Final

from kibitz_games.line_nim import geometry as geo

FEWEST: Final = 12
MOST: Final = 33
FREE: Final = "."
OBSTACLE: Final = "#"

_SEED_CELL: Final = 6 * geo.SIDE + 6
_LUCK: Final = 0.7
_ORDER: Final = (3, 4, 1, 2, 5, 6)


def size(seed: int) -> int:
    """Draw the number of free cells uniformly from `FEWEST` to `MOST`."""
    return _below(random.Random(f"line-nim/size/{seed}"), MOST - FEWEST + 1) + FEWEST


def grow(seed: int, n: int) -> tuple[int, ...]:
    """Generate the map for a seed and a number of free cells; return the free cells."""
    source = random.Random(f"line-nim/map/{seed}/{n}")
    while True:
        free = _attempt(source, n)
        if len(free) == n and len(geo.components(frozenset(free))) == 1:
            return tuple(sorted(free))


def _attempt(source: random.Random, n: int) -> list[int]:
    """Grow until `n` cells are free or the frontier is empty; return the free cells."""
    decided, frontier = {_SEED_CELL}, [_SEED_CELL]
    free = [_SEED_CELL] if source.random() < _LUCK else []
    while frontier and len(free) < n:
        here = frontier.pop(_below(source, len(frontier)))
        for direction in _ORDER:
            cell = geo.neighbour(here, direction)
            if cell is None or cell in decided or len(free) == n:
                continue
            decided.add(cell)
            if source.random() < _LUCK:
                free.append(cell)
                frontier.append(cell)
    return free


def _below(source: random.Random, limit: int) -> int:
    return int(source.random() * limit)


def rows(free: Iterable[int]) -> list[str]:
    """Return a map as twelve strings of twelve characters: dots for free cells, # for obstacles."""
    inside = set(free)
    text = "".join(FREE if cell in inside else OBSTACLE for cell in range(geo.CELLS))
    return [text[at : at + geo.SIDE] for at in range(0, geo.CELLS, geo.SIDE)]


def read_rows(drawn: Sequence[str]) -> tuple[int, ...]:
    """Return the free cells of a map given in the format of `rows`."""
    return tuple(cell for cell, mark in enumerate("".join(drawn)) if mark == FREE)


def read(stretches: Iterable[str]) -> tuple[int, ...]:
    """Parse a map written by a host: cells such as ``f7`` and straight rows such as ``f7-k7``.

    Returns the free cells; raises `ValueError` with the reason if the map is invalid.
    """
    free: set[int] = set()
    for written in stretches:
        cells = geo.parse_row(written)
        if cells is None:
            raise ValueError(
                f"expected cells from a1 to l12, or straight rows of cells such as f7-k7,"
                f" not {written!r}"
            )
        free.update(cells)
    if not free:
        raise ValueError("a map needs at least one free cell")
    if len(parts := geo.components(frozenset(free))) > 1:
        apart = " and ".join(geo.NAMES[part[0]] for part in parts[:2])
        raise ValueError(f"the free cells must be connected, but there is no path between {apart}")
    return tuple(sorted(free))


def write(free: Iterable[int]) -> tuple[str, ...]:
    """Return a map in the notation of `read`: each horizontal run of free cells by its ends."""
    runs: list[list[int]] = []
    for cell in sorted(free):
        if runs and cell == runs[-1][-1] + 1 and cell % geo.SIDE:
            runs[-1].append(cell)
        else:
            runs.append([cell])
    return tuple("-".join(geo.NAMES[end] for end in dict.fromkeys((r[0], r[-1]))) for r in runs)
