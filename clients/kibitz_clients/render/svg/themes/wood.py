"""A wooden board with hollows, and marbles in them.

The board's outline, tinted corners and lines are derived from the neighborhood of cells, so any
lattice works without further data.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kibitz_clients.palette import blend
from kibitz_clients.render.svg import primitives
from kibitz_clients.render.svg.primitives import (
    INK,
    Point,
    circle,
    number,
    piece_colour,
    polar_offset,
    polygon,
    round_piece,
)
from kibitz_clients.render.svg.theme import Board, MarkStyle, Theme, darkened
from kibitz_games.core.scene import Cell

_WOOD: Final = "#ecd6ae"
_RIM: Final = "#b98d55"
_GRAIN: Final = "#c9a872"


def _definitions(board: Board, seats: Sequence[int]) -> Iterator[str]:
    yield primitives.gradient("wood", ((0, blend(_WOOD, "#ffffff", 0.30)), (1, _WOOD)), "linear")
    yield primitives.gradient("hole", ((0, "#5d4425"), (0.75, "#8a693d"), (1, "#c09a63")), "hole")
    yield from primitives.piece_gradients(seats)
    outline = _outline(board, board.cells)
    yield f'<path id="board" d="{outline}" stroke-linejoin="round" stroke-linecap="round"/>'


# --- the board ----------------------------------------------------------------------------


def _backdrop(board: Board) -> Iterator[str]:
    yield (
        f'<use href="#board" transform="translate(0 5)" fill="{_RIM}" stroke="{_RIM}" '
        'stroke-width="56" opacity="0.35"/>'
    )
    yield f'<use href="#board" fill="{_RIM}" stroke="{_RIM}" stroke-width="55"/>'
    yield f'<use href="#board" fill="{_WOOD}" stroke="{_WOOD}" stroke-width="50"/>'
    for seat, cells in sorted(_cells_by_tint(board.cells).items()):
        tint = blend(_WOOD, piece_colour(seat), 0.42)
        yield (
            f'<path d="{_outline(board, cells)}" fill="{tint}" stroke="{tint}" '
            'stroke-width="36" stroke-linejoin="round" stroke-linecap="round"/>'
        )
    yield f'<use href="#board" fill="none" stroke="{_GRAIN}" stroke-width="1.1"/>'


def _outline(board: Board, cells: Iterable[Cell]) -> str:
    """Return a path over `cells`: triangles or squares of neighbors, and lines."""
    names = {(cell.x, cell.y): cell.name for cell in cells}
    points = board.layout.points
    parts = []
    for at in names:
        linked = False
        for corners in _cliques(board.layout.hexagonal, at):
            if all(corner in names for corner in corners):
                linked = True
                around = (points[names[corner]] for corner in corners)
                parts.append("M" + "L".join(f"{number(x)} {number(y)}" for x, y in around) + "Z")
        if not linked:
            x, y = points[names[at]]
            parts.append(f"M{number(x)} {number(y)}h0.01")
    return "".join(parts)


def _cliques(hexagonal: bool, at: Point) -> tuple[tuple[Point, ...], ...]:
    """Return the triangles (or squares) and pairs of neighbors with `at` as a corner.

    Each triangle, square or pair is returned for only one of its corners.
    """
    x, y = at
    if hexagonal:
        around = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))
        ring = [(x + a, y + b) for a, b in around]
        pairs = [(ring[i], ring[(i + 1) % 6]) for i in range(6)]
        owned = [(at, *pair) for pair in pairs[:2]]
        return (*owned, *(((at, corner)) for corner in ring[:3]))
    corners = (at, (x + 1, y), (x + 1, y + 1), (x, y + 1))
    return (corners, (at, corners[1]), (at, corners[3]))


def _cells_by_tint(cells: Iterable[Cell]) -> dict[int, list[Cell]]:
    groups: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.tint is not None:
            groups.setdefault(cell.tint, []).append(cell)
    return groups


def _hollow(board: Board, cell: Cell, at: Point) -> Iterator[str]:
    if cell.owner is None:
        yield circle(at, 8.5, 'fill="url(#hole)"')
        if cell.glyph:
            yield primitives.text(at[0], at[1] + 6, cell.glyph, 18, anchor="middle")


# --- marbles and arrows -------------------------------------------------------------------


def _piece(board: Board, cell: Cell, at: Point) -> Iterator[str]:
    if cell.owner is None:
        return
    x, y = at
    yield from round_piece(cell.owner, x, y, 16, marked=not cell.glyph)
    if cell.glyph:
        yield primitives.text(x, y + 6, cell.glyph, 17, anchor="middle", weight="bold")
    if cell.heading is not None:
        angle = math.radians(cell.heading - 90)
        tip = polar_offset(at, angle, 23)
        corners = (tip, polar_offset(tip, angle + 2.5, 11), polar_offset(tip, angle - 2.5, 11))
        yield polygon(corners, f'fill="{INK}"')


def _legend_piece(board: Board, seat: int, at: Point) -> Iterator[str]:
    yield from round_piece(seat, *at, 12)


def _arrow(stops: Sequence[Point], colour: str) -> Iterator[str]:
    """Draw the path of a piece over the pieces: an arc per hop, and a head at the last cell."""
    if len(stops) < 2:
        return
    arcs = [_arc(start, end) for start, end in itertools.pairwise(stops)]
    control, end = arcs[-1]
    angle = math.atan2(end[1] - control[1], end[0] - control[0])
    tip = (end[0] - 20 * math.cos(angle), end[1] - 20 * math.sin(angle))
    neck = (tip[0] - 9 * math.cos(angle), tip[1] - 9 * math.sin(angle))
    arcs[-1] = (control, neck)
    way = f"M{number(stops[0][0])} {number(stops[0][1])}" + "".join(
        f"Q{number(bend[0])} {number(bend[1])} {number(stop[0])} {number(stop[1])}"
        for bend, stop in arcs
    )
    head = (tip, *(polar_offset(tip, angle + a, 14) for a in (2.6, -2.6)))
    line = f'<path d="{way}" fill="none" stroke-linecap="round" stroke-linejoin="round"'
    yield f'{line} stroke="#fffaf0" stroke-width="7.5" opacity="0.85"/>'
    yield polygon(head, f'fill="{colour}" stroke="#fffaf0" stroke-width="1.5"')
    yield f'{line} stroke="{colour}" stroke-width="3.8"/>'
    for x, y in stops[:-1]:
        yield circle((x, y), 5, f'fill="{colour}" stroke="#fffaf0"')


def _arc(start: Point, end: Point) -> tuple[Point, Point]:
    """Return the control point and the end of a bend between two cells."""
    along, up = end[0] - start[0], end[1] - start[1]
    side = 0.2 if along >= 0 else -0.2
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    return (middle[0] + up * side, middle[1] - along * side), end


_RING: Final = 'fill="none" stroke="{colour}" stroke-width="2.6"'

WOOD: Final = Theme(
    kinds=frozenset({"hole", "home", "goal"}),
    definitions=_definitions,
    backdrop=_backdrop,
    cell=_hollow,
    marks={
        "from": (MarkStyle("circle", 13, f'{_RING} stroke-dasharray="5 4"'),),
        "to": (MarkStyle("circle", 20.5, _RING),),
        "win": (MarkStyle("circle", 20.5, _RING),),
        "vision": (MarkStyle("circle", 17, f'{_RING} opacity="0.35"'),),
    },
    mark_colour=darkened(0.25),
    piece=_piece,
    paths={"path": _arrow},
    legend_piece=_legend_piece,
)
