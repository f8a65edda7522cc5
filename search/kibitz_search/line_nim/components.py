"""Connected components of a position, their canonical names, and misere theory.

A sum of components is the same game wherever its components are and however they are rotated. The
name of a component is therefore a number shared by all of its images under translation and the
twelve symmetries of the hexagonal grid (six rotations, each with and without reflection). In each
image, each cell has a random number that depends on its position relative to the image's corner.
These numbers are combined, and the smallest of the twelve results is the name. Names have 63 bits,
so collisions are negligible for the millions of components in a search.

The name of a position is the sum of its components' names. An odd number of isolated cells counts
as one component and an even number as none, because two of them cancel in any sum.

Components of up to `PART_CELLS` cells are analyzed completely (see
`kibitz_search.line_nim.evaluation`), once for all images. A single component is lost for the mover
if its misere value is 0. A sum of tame components is lost if the nim values combine to 0 and at
least one component is firm, or if they combine to 1 and all are fickle: E. R. Berlekamp, J. H.
Conway, R. K. Guy, "Winning Ways" (1982), chapter 13. Sums with wild components must be searched; T.
E. Plambeck, A. N. Siegel, "Misere quotients for impartial games" (2008), explain why no such rule
can hold for all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.line_nim import geometry as geo
from kibitz_search.line_nim.bitboard import MAX_CELLS, CellBitboard
from kibitz_search.line_nim.evaluation import MAX_LINES, PART_CELLS, TAME, summary
from kibitz_search.line_nim.retrograde import PLACE, PRIME

SYMMETRIES = 12
WIDTH = 32
"""An upper bound on the width and height of the board's images."""
LINES = 7 * MAX_CELLS
"""An upper bound on the number of lines: from each cell, one single cell and two in each of three
directions."""
CACHE_SIZE = 1 << 14
"""The cache size for analyzed small components. There are 1,897 of them up to symmetry."""
UNKNOWN, WON, LOST = -1, 0, 1

Words = np.ndarray[Any, np.dtype[np.uint64]]

CHART = kernels.record_type(
    "line_nim_chart",
    [
        ("verdict", np.int64),  # of the last analysis: UNKNOWN, or WON or LOST for the mover
        ("largest", np.int64),  # cells in its largest component
        ("size", np.int64),  # number of cells
        ("count", np.int64),  # number of lines
        ("lines", np.uint64, (LINES,)),
        ("near", np.uint64, (MAX_CELLS,)),  # the neighbors of each cell
        ("across", np.int64, (SYMMETRIES, MAX_CELLS)),  # the position of each cell in each image
        ("down", np.int64, (SYMMETRIES, MAX_CELLS)),
        ("cells", np.int64, (MAX_CELLS,)),  # of the current component
        ("small", np.int64, (MAX_LINES,)),  # its lines, as masks of its own cells
        ("names", np.uint64, (CACHE_SIZE,)),  # of the analyzed components
        ("summaries", np.int16, (CACHE_SIZE,)),  # their summaries
    ],
    source=__file__,
)


def _numbers() -> np.ndarray[Any, np.dtype[np.uint64]]:
    source = np.random.Generator(np.random.PCG64(12))
    return source.integers(0, 2**63, size=WIDTH * WIDTH, dtype=np.uint64)


NUMBER = _numbers()
SINGLE = np.uint64(0x2545F4914F6CDD1D)
LOW63 = np.uint64(2**63 - 1)


def images(cell: int) -> list[tuple[int, int]]:
    """Return the position of a cell of the board in each of the twelve images."""
    y, x = divmod(cell, geo.SIDE)
    q, r = x - (y - y % 2) // 2, y
    places = []
    for _ in range(6):
        q, r = -r, q + r  # rotate by 60 degrees
        places += [(q, r), (r, q)]
    return places


def write_chart(chart: Record, island: CellBitboard) -> None:
    """Fill a chart with a set of cells."""
    chart.size, chart.count = island.size, len(island.lines)
    chart.lines[: len(island.lines)] = island.lines
    places = {cell: place for place, cell in enumerate(island.cells)}
    for cell, place in places.items():
        near = [places[beside] for beside in geo.neighbours(cell) if beside in places]
        chart.near[place] = sum(1 << neighbor for neighbor in near)
        chart.across[:, place], chart.down[:, place] = zip(*images(cell), strict=True)


@kernel
def _place(bit: Any) -> Int:
    return np.int64(PLACE[np.int64(bit % np.uint64(PRIME))])


@kernel
def component(ch: Record, mask: Any) -> Any:
    """Return the component of the lowest cell in `mask`, and write its cells to ``ch.cells``."""
    one = np.uint64(1)
    part = mask & (~mask + one)
    edge, count = part, np.int64(0)
    while edge != np.uint64(0):
        bit = edge & (~edge + one)
        place = _place(bit)
        ch.cells[count] = place
        count += 1
        fresh = ch.near[place] & mask & ~part
        part |= fresh
        edge = (edge ^ bit) | fresh
    return part


@kernel
def popcount(mask: Any) -> Int:
    """Return the number of set bits."""
    count = np.int64(0)
    while mask != np.uint64(0):
        mask &= mask - np.uint64(1)
        count += 1
    return count


@kernel
def canonical_name(ch: Record, count: Int) -> Any:
    """Return the name of the component with the first `count` of ``ch.cells``."""
    least = LOW63
    for image in range(SYMMETRIES):
        left, top = np.int64(WIDTH), np.int64(WIDTH)
        for i in range(count):
            left = min(left, np.int64(ch.across[image, ch.cells[i]]))
            top = min(top, np.int64(ch.down[image, ch.cells[i]]))
        number = np.uint64(0)
        for i in range(count):
            place = np.int64(ch.cells[i])
            across, down = np.int64(ch.across[image, place]), np.int64(ch.down[image, place])
            number ^= NUMBER[(across - left) * WIDTH + down - top]
        least = min(least, number)
    return least


@kernel
def _solve_component(ch: Record, part: Any, count: Int) -> Int:
    """Analyze the small component with the first `count` of ``ch.cells``."""
    lines = np.int64(0)
    for k in range(ch.count):
        line = ch.lines[k]
        if line & ~part == np.uint64(0):
            ch.small[lines] = 0
            for i in range(count):
                if (line >> np.uint64(ch.cells[i])) & np.uint64(1):
                    ch.small[lines] |= np.int64(1) << i
            lines += 1
    return summary(ch.small, lines, count)


@kernel
def _cached_summary(ch: Record, part: Any, count: Int, named: Any) -> Int:
    """Return the summary of a small component, analyzing it if it is not cached."""
    slot = np.int64(named & np.uint64(CACHE_SIZE - 1))
    if ch.names[slot] != named:
        ch.names[slot] = named
        ch.summaries[slot] = _solve_component(ch, part, count)
    return np.int64(ch.summaries[slot])


@kernel
def analyse(ch: Record, mask: Any) -> Any:
    """Return the name of a position; set ``ch.verdict`` according to misere theory."""
    named, rest = np.uint64(0), mask
    parts, singles, large = np.int64(0), np.int64(0), np.int64(0)
    wild, firm, total, alone = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    ch.largest = 0
    while rest != np.uint64(0):
        part = component(ch, rest)
        rest ^= part
        count = popcount(part)
        ch.largest = max(np.int64(ch.largest), count)
        if count == 1:
            singles += 1
            continue
        parts += 1
        own = canonical_name(ch, count)
        named = (named + own) & LOW63
        if count > PART_CELLS:
            large += 1
            continue
        known = _cached_summary(ch, part, count, own)
        normal, alone = np.int64(known & 15), np.int64((known >> 4) & 15)
        total ^= normal
        tame = known & TAME
        wild += np.int64(tame == 0)
        firm += np.int64(tame == 0 or normal == alone)
    ch.verdict = UNKNOWN
    if singles & 1:
        named = (named + SINGLE) & LOW63
        total ^= 1
    if large == 0 and wild == 0:
        ch.verdict = np.int64(total == (0 if firm > 0 else 1))
    elif large == 0 and parts == 1 and singles & 1 == 0:
        ch.verdict = np.int64(alone == 0)
    return named
