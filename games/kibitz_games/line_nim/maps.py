"""Start maps: how they grow from a seed, and how a host writes one.

Growing follows the assignment that the game is from. The cell at (6, 6) comes first: it is free
with probability 0.7 and an obstacle otherwise, and it is the frontier. Then a random cell leaves
the frontier, again and again. Its undecided neighbors are decided in the order of directions 3, 4,
1, 2, 5, 6, each free with probability 0.7; free ones join the frontier. The map is done as soon as
it has n free cells. It starts again if the frontier runs dry, or if the free cells are not
connected, which happens around a first cell that is an obstacle. Cells that are never decided are
obstacles.

All random numbers come from a dedicated source seeded with the seed and n; only
``random.Random.random`` is used, which gives the same numbers in every version of Python.
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
    """Draw how many cells are free: `FEWEST` to `MOST`, all as likely."""
    return _below(random.Random(f"line-nim/size/{seed}"), MOST - FEWEST + 1) + FEWEST


def grow(seed: int, n: int) -> tuple[int, ...]:
    """Return the free cells of the map that belongs to a seed and a number of cells."""
    source = random.Random(f"line-nim/map/{seed}/{n}")
    while True:
        free = _attempt(source, n)
        if len(free) == n and len(geo.components(frozenset(free))) == 1:
            return tuple(sorted(free))


def _attempt(source: random.Random, n: int) -> list[int]:
    """Grow until `n` cells are free or the frontier has run dry; return the free cells."""
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
    """Draw a map: twelve strings of twelve characters, a dot for a free cell, # for an obstacle."""
    inside = set(free)
    text = "".join(FREE if cell in inside else OBSTACLE for cell in range(geo.CELLS))
    return [text[at : at + geo.SIDE] for at in range(0, geo.CELLS, geo.SIDE)]


def read_rows(drawn: Sequence[str]) -> tuple[int, ...]:
    """Return the free cells of a map drawn by `rows`."""
    return tuple(cell for cell, mark in enumerate("".join(drawn)) if mark == FREE)


def read(stretches: Iterable[str]) -> tuple[int, ...]:
    """Return the cells of a map that a host wrote: cells and straight rows, ``f7`` or ``f7-k7``.

    Raises `ValueError` with the reason if a stretch is invalid.
    """
    free: set[int] = set()
    for written in stretches:
        cells = geo.parse_row(written)
        if cells is None:
            raise ValueError(
                f"expected cells from a1 to l12, or straight rows of them as in f7-k7,"
                f" not {written!r}"
            )
        free.update(cells)
    if not free:
        raise ValueError("a map has at least one free cell")
    if len(parts := geo.components(frozenset(free))) > 1:
        apart = " and ".join(geo.NAMES[part[0]] for part in parts[:2])
        raise ValueError(f"the free cells must be connected; there is no way between {apart}")
    return tuple(sorted(free))


def write(free: Iterable[int]) -> tuple[str, ...]:
    """Write a map as a host would: the rows from left to right, each run of cells by its ends."""
    runs: list[list[int]] = []
    for cell in sorted(free):
        if runs and cell == runs[-1][-1] + 1 and cell % geo.SIDE:
            runs[-1].append(cell)
        else:
            runs.append([cell])
    return tuple("-".join(geo.NAMES[end] for end in dict.fromkeys((r[0], r[-1]))) for r in runs)
