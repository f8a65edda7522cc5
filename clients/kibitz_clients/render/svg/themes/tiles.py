"""Square or hexagonal tiles, with vehicles and wrecks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kibitz_clients.palette import blend
from kibitz_clients.render.svg import primitives
from kibitz_clients.render.svg.layout import HALF_PITCH
from kibitz_clients.render.svg.primitives import (
    INK,
    Point,
    circle,
    number,
    piece_colour,
    polar_offset,
    polygon,
    rectangle,
    round_piece,
)
from kibitz_clients.render.svg.theme import Board, MarkStyle, Theme, darkened
from kibitz_games.core.scene import Cell, CellKind

_COLOURS: Final[Mapping[CellKind, str]] = {
    "floor": "#efe6cf",
    "seen": "#e2d3b0",
    "fog": "#a9a69f",
    "rock": "#d8ccb0",
    "wreck": "#d3bd9a",
    "gone": "#faf5ea",
}
_SEAM: Final = "#cdbd98"
_STONE: Final = "#8d8678"
_SOOT: Final = "#4a3a30"
_HALF: Final = HALF_PITCH - 0.75
"""Half the side of a square tile, without the seam."""
_HEXAGON_RADIUS: Final = (HALF_PITCH - 1.2) / math.cos(math.pi / 6)
"""The distance from the center of a hexagonal tile to its corners."""
_BOULDER: Final = (
    *((-0.82, 0.1), (-0.55, -0.62), (0.05, -0.8), (0.62, -0.55)),
    *((0.84, 0.12), (0.58, 0.68), (-0.12, 0.8), (-0.66, 0.6)),
)
_FACET: Final = ((-0.55, -0.62), (0.05, -0.8), (0.62, -0.55), (0.1, -0.2))
"""The outline of a rock's lit side, in half tiles."""


def _definitions(board: Board, seats: Sequence[int]) -> Iterator[str]:
    yield from primitives.piece_gradients(seats)
    if any(cell.kind == "fog" for cell in board.cells):
        yield primitives.gradient("fog", ((0, "#b8b5ae"), (1, "#9c9990")), "linear")


# --- the tiles ----------------------------------------------------------------------------


def _tray(board: Board) -> Iterator[str]:
    """Draw the tray that square tiles lie in."""
    if board.layout.hexagonal:
        return
    xs, ys = zip(*board.points.values(), strict=True)
    left, right, top, bottom = min(xs), max(xs), min(ys), max(ys)
    half = (right - left) / 2 + HALF_PITCH + 4, (bottom - top) / 2 + HALF_PITCH + 4
    middle = (left + right) / 2, (top + bottom) / 2
    yield rectangle((middle[0], middle[1] + 4), half, 7, f'fill="{INK}" opacity="0.22"')
    yield rectangle(middle, half, 6, 'fill="#9b8a68"')


def _tile(board: Board, cell: Cell, at: Point) -> Iterator[str]:
    yield _tile_shape(board, at, _tile_attributes(board, cell))
    if cell.kind == "rock":
        yield from _rock(at, 0.92 if board.layout.hexagonal else 1.0)
    elif cell.kind == "wreck":
        yield from _wreck(at)
    elif cell.kind == "gone":
        yield from _cross(cell, at)
    elif cell.glyph and cell.owner is None:
        yield primitives.text(at[0], at[1] + 6, cell.glyph, 18, anchor="middle")
    elif cell.kind == "floor" and cell.tint is not None and cell.owner is None:
        yield primitives.emblem(cell.tint, *at, 3.2, blend(piece_colour(cell.tint), INK, 0.2))


def _tile_shape(board: Board, at: Point, attributes: str, shrink: float = 0.0) -> str:
    if not board.layout.hexagonal:
        half = _HALF - shrink
        return rectangle(at, (half, half), 1, attributes)
    turns = (math.pi / 6 + i * math.pi / 3 for i in range(6))
    return polygon((polar_offset(at, a, _HEXAGON_RADIUS - shrink) for a in turns), attributes)


def _tile_attributes(board: Board, cell: Cell) -> str:
    colour = _COLOURS.get(cell.kind, _COLOURS["floor"])
    if cell.tint is not None:
        colour = blend(colour, piece_colour(cell.tint), 0.10 if cell.kind == "gone" else 0.24)
    if cell.kind == "gone":
        return f'fill="{colour}" stroke="{_SEAM}" stroke-dasharray="4 4"'
    fill = "url(#fog)" if cell.kind == "fog" else colour
    if board.layout.hexagonal:
        return f'fill="{fill}" stroke="#a8946a" stroke-width="1.6" stroke-linejoin="round"'
    return f'fill="{fill}"'


def _rock(at: Point, size: float) -> Iterator[str]:
    half = (HALF_PITCH - 3) * size

    def scaled(shape: Sequence[Point]) -> Iterator[Point]:
        return ((at[0] + half * x, at[1] + half * y) for x, y in shape)

    yield polygon(scaled(_BOULDER), f'fill="{_STONE}" stroke="#655f54" stroke-linejoin="round"')
    yield polygon(scaled(_FACET), 'fill="#aba493"')


def _wreck(at: Point) -> Iterator[str]:
    """Draw a burnt hull, tilted on its scorched tile."""
    x, y = at
    yield circle((x, y), 17.5, 'fill="#6b4a35" opacity="0.45"')
    yield f'<g transform="translate({number(x)} {number(y)}) rotate(24)">'
    yield rectangle((-9.5, 0.0), (3.2, 13.0), 2, f'fill="#2b2521" stroke="{_SOOT}"')
    yield rectangle((9.5, 2.0), (3.2, 13.0), 2, f'fill="#2b2521" stroke="{_SOOT}"')
    yield rectangle((0.0, 1.0), (8.0, 11.0), 2, f'fill="{_SOOT}" stroke="#241d19"')
    yield '<circle cx="1" cy="0" r="5.5" fill="#2b2521" stroke="#8a4b2a" stroke-width="1.4"/>'
    yield '<path d="M-4 -4L6 5M6 -4L-4 5" stroke="#c4622c" stroke-width="1.6" opacity="0.8"/>'
    yield "</g>"


def _cross(cell: Cell, at: Point) -> Iterator[str]:
    """Cross out a tile in the color of its seat."""
    colour = "#b7a883" if cell.tint is None else blend(piece_colour(cell.tint), "#000000", 0.1)
    x, y = at
    attributes = f'fill="none" stroke="{colour}" stroke-width="4" stroke-linecap="round"'
    if cell.glyph == "o":
        yield circle((x, y), 9, attributes)
    else:
        yield f'<path d="M{number(x - 8)} {number(y - 8)}l16 16m0 -16l-16 16" {attributes}/>'


# --- the pieces ---------------------------------------------------------------------------


def _piece(board: Board, cell: Cell, at: Point) -> Iterator[str]:
    if cell.owner is None:
        return
    x, y = at
    if board.has_vehicles:
        yield from _vehicle(cell.owner, x, y, cell.heading)
        return
    yield from round_piece(cell.owner, x, y, 14, marked=not cell.glyph)
    if cell.glyph:
        yield primitives.text(x, y + 6, cell.glyph, 17, anchor="middle", weight="bold")


def _legend_piece(board: Board, seat: int, at: Point) -> Iterator[str]:
    if board.has_vehicles:
        yield from _vehicle(seat, *at, 0, 0.82)
    else:
        yield from round_piece(seat, *at, 12)


def _vehicle(
    seat: int, x: float, y: float, heading: int | None, size: float = 1.0
) -> Iterator[str]:
    """Draw a hull on tracks with its gun ahead; only the turret if the heading is unknown.

    `heading` is in degrees clockwise from north, `size` the scale of the drawing.
    """
    colour = piece_colour(seat)
    dark = blend(colour, "#000000", 0.55)
    scale = "" if size == 1.0 else f" scale({number(size)})"
    turned = f" rotate({heading})" if heading else ""
    yield f'<g transform="translate({number(x)} {number(y)}){turned}{scale}">'
    if heading is not None:
        tracks = 'fill="#3d3a36" stroke="#262422" stroke-width="0.8"'
        yield rectangle((-11.5, 1.0), (3.5, 15.0), 2.5, tracks)
        yield rectangle((11.5, 1.0), (3.5, 15.0), 2.5, tracks)
        hull = f'fill="{colour}" stroke="{dark}" stroke-width="1"'
        yield rectangle((0.0, 1.5), (9.5, 13.0), 3, hull)
        yield rectangle((0.0, -11.0), (2.3, 9.0), 1, f'fill="{dark}"')
    else:
        yield circle((0, 1.5), 12, f'fill="{colour}" stroke="{dark}"')
    turret = blend(colour, "#ffffff", 0.25)
    yield circle((0, 1.5), 8, f'fill="{turret}" stroke="{dark}" stroke-width="1.2"')
    yield "</g>"
    # The emblem is upright at the center of the turret for any heading of the hull.
    middle = polar_offset((x, y), math.radians((heading or 0) + 90), 1.5 * size)
    yield primitives.emblem(seat, *middle, 3.8 * size, dark)


def _polyline(points: Sequence[Point], colour: str) -> Iterator[str]:
    if len(points) > 1:
        way = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)
        attributes = 'fill="none" stroke-linecap="round" stroke-linejoin="round"'
        yield f'<path d="{way}" {attributes} stroke="{colour}" stroke-width="4" opacity="0.8"/>'


_OUTLINE: Final = 'fill="none" stroke="{colour}"'

TILES: Final = Theme(
    kinds=frozenset(_COLOURS),
    definitions=_definitions,
    backdrop=_tray,
    cell=_tile,
    cell_shape=_tile_shape,
    marks={
        "vision": (MarkStyle("cell", 0, 'fill="{colour}" opacity="0.20"'),),
        "from": (MarkStyle("cell", 3, f'{_OUTLINE} stroke-width="2" stroke-dasharray="5 4"'),),
        "to": (MarkStyle("cell", 1.5, f'{_OUTLINE} stroke-width="3"'),),
        "win": (
            MarkStyle("cell", 0, 'fill="{colour}" opacity="0.30"'),
            MarkStyle("cell", 2, f'{_OUTLINE} stroke-width="4"'),
        ),
    },
    mark_colour=darkened(0.15),
    piece=_piece,
    paths={"path": _polyline},
    legend_piece=_legend_piece,
)
