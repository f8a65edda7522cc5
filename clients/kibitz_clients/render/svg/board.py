"""The board of a scene, drawn in layers: ground, highlights, pieces, and the last move on top.

The kind of a cell determines its ground: hollows and crossings on a wooden board, tiles, or cards
with numbers. Everything else has the same look in all games.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from kibitz_clients.palette import blend
from kibitz_clients.render.svg import primitives
from kibitz_clients.render.svg.layout import CARD_PITCH, HALF_PITCH, BoardLayout
from kibitz_clients.render.svg.primitives import (
    INK,
    Point,
    circle,
    emblem,
    number,
    piece_colour,
    polar_offset,
    polygon,
    rectangle,
)
from kibitz_games.core.scene import Cell, Mark, MarkKind, PieceColour

Stone: TypeAlias = PieceColour | int
"""A piece's own color, or the seat that it belongs to."""

HOLLOWS: Final = frozenset({"hole", "home", "goal"})
WOODEN: Final = HOLLOWS | {"point"}
_STONE_COLOURS: Final[Mapping[PieceColour, str]] = {"black": "#33353c", "white": "#f7f3ea"}
_TILE_COLOURS: Final[Mapping[str, str]] = {
    "seen": "#e2d3b0",
    "fog": "#a9a69f",
    "rock": "#d8ccb0",
    "wreck": "#d3bd9a",
    "gone": "#faf5ea",
    "number": "#fffaf0",
}
_FLOOR: Final = "#efe6cf"
_SEAM: Final = "#a8946a"
_WOOD: Final = "#ecd6ae"
_RIM: Final = "#b98d55"
_ACCENT: Final = "#c8321e"
"""The color of highlights that belong to no seat."""
_TILE_HALF: Final = HALF_PITCH - 0.75
_HEXAGON_RADIUS: Final = (HALF_PITCH - 1.2) / math.cos(math.pi / 6)
_CARD_HALF: Final = (CARD_PITCH[0] / 2 - 4, 33.0)
_RING_RADIUS: Final = 20.5
_PIECE_RADIUS: Final = 16.0
_LEGEND_RADIUS: Final = 12.0
_GLYPH_SIZES: Final = {1: 34, 2: 32, 3: 25}
"""The font size of a card's number by its length."""
_OUTLINE: Final = 'fill="none" stroke="{colour}" stroke-width="3"'
_UNDER: Final[Mapping[MarkKind, str]] = {
    "vision": 'fill="{colour}" opacity="0.2"',
    "win": 'fill="{colour}" opacity="0.3"',
}
"""The highlights below the pieces."""
_OVER: Final[Mapping[MarkKind, str]] = {
    "from": f'{_OUTLINE} stroke-dasharray="5 4"',
    "to": _OUTLINE,
    "win": _OUTLINE,
}
"""The highlights around the pieces."""


class Board:
    """The layers of a board, from back to front; `layout` has the places of its cells."""

    def __init__(self, layout: BoardLayout) -> None:
        self._layout = layout
        self._scene = layout.scene
        self._on_points = any(cell.kind == "point" for cell in layout.cells)
        self._has_vehicles = any(cell.heading is not None for cell in layout.cells)

    def definitions(self, seats: Iterable[int]) -> Iterator[str]:
        """Define the gradients of hollows and of the pieces of `seats`."""
        hole = ((0, "#5d4425"), (0.75, "#8a693d"), (1, "#c09a63"))
        yield primitives.gradient("hole", hole, "hole")
        stones = {self._stone(seat) for seat in seats} | {*self._scene.colours}
        stones |= {cell.colour for cell in self._layout.cells if cell.colour is not None}
        for stone in sorted(stones, key=str):
            base = _base_colour(stone)
            stops = (
                (0, blend(base, "#ffffff", 0.7)),
                (0.6, base),
                (1, blend(base, "#000000", 0.4)),
            )
            yield primitives.gradient(f"piece-{stone}", stops, "ball")

    # The ground

    def ground(self) -> Iterator[str]:
        """Yield the board without pieces."""
        yield from self._wood([cell for cell in self._layout.cells if cell.kind in WOODEN])
        for cell in self._layout.cells:
            yield from self._cell(cell, self._layout.points[cell.name])

    def _wood(self, cells: Sequence[Cell]) -> Iterator[str]:
        """Yield a wooden board around hollows and crossings, with the lines between them."""
        if not cells:
            return
        whole = self._lines(cells)
        yield _stroke(whole, _RIM, 56)
        yield _stroke(whole, _WOOD, 51)
        for seat in sorted({cell.tint for cell in cells if cell.tint is not None}):
            tinted = [cell for cell in cells if cell.tint == seat]
            yield _stroke(self._lines(tinted), blend(_WOOD, piece_colour(seat), 0.42), 36)
        yield _stroke(whole, "#7d5c2e" if self._on_points else "#c9a872", 1.3)

    def _lines(self, cells: Sequence[Cell]) -> str:
        """Return the data of a path from each cell to its neighbors on the right and below."""
        at = {(cell.x, cell.y): self._layout.points[cell.name] for cell in cells}
        steps = ((2, 0), (1, 1), (-1, 1)) if self._layout.hexagonal else ((1, 0), (0, 1))
        parts = [f"M{_pair(here)}h0.01" for here in at.values()]
        for (x, y), here in at.items():
            ends = (at[x + a, y + b] for a, b in steps if (x + a, y + b) in at)
            parts += [f"M{_pair(here)}L{_pair(end)}" for end in ends]
        return "".join(parts)

    def _cell(self, cell: Cell, at: Point) -> Iterator[str]:
        if cell.kind not in WOODEN:
            yield self._shape(cell, at, self._tile_attributes(cell))
        elif cell.kind in HOLLOWS and cell.owner is None:
            yield circle(at, 8.5, 'fill="url(#hole)"')
        match cell.kind:
            case "rock":
                yield polygon(_around(at, 16, 7), 'fill="#8d8678" stroke="#655f54"')
                yield polygon(_around((at[0] - 2, at[1] - 4), 8, 5), 'fill="#aba493"')
            case "wreck":
                yield polygon(_around(at, 15, 4), 'fill="#4a3a30" stroke="#241d19"')
                yield _cross(at, 6, 'stroke="#c4622c" stroke-width="2"')
            case "gone":
                yield _crossed_out(cell, at)
            case "number":
                size = _GLYPH_SIZES.get(len(cell.glyph), 20)
                yield _letter(cell, at, size, INK)
            case _ if cell.glyph and cell.owner is None and cell.colour is None:
                yield _letter(cell, at, 18, INK)
            case "floor" if cell.tint is not None and cell.owner is None:
                yield emblem(cell.tint, *at, 3.2, blend(piece_colour(cell.tint), INK, 0.2))

    def _tile_attributes(self, cell: Cell) -> str:
        colour = _TILE_COLOURS.get(cell.kind, _FLOOR)
        if cell.tint is not None:
            share = 0.1 if cell.kind == "gone" else 0.26
            colour = blend(colour, piece_colour(cell.tint), share)
        dashes = ' stroke-dasharray="4 4"' if cell.kind == "gone" else ""
        return f'fill="{colour}" stroke="{_SEAM}" stroke-linejoin="round"{dashes}'

    def _shape(self, cell: Cell, at: Point, attributes: str) -> str:
        """Return the shape of a cell: a ring, a card, a hexagon or a square."""
        if cell.kind in WOODEN:
            return circle(at, _RING_RADIUS, attributes)
        if cell.kind == "number":
            return rectangle(at, _CARD_HALF, 8, attributes)
        if self._layout.hexagonal:
            return polygon(_around(at, _HEXAGON_RADIUS, 6), attributes)
        return rectangle(at, (_TILE_HALF, _TILE_HALF), 1, attributes)

    # Pieces

    def pieces(self) -> Iterator[str]:
        """Yield the pieces."""
        for cell in self._layout.cells:
            stone = cell.colour or (None if cell.owner is None else self._stone(cell.owner))
            if stone is None:
                continue
            x, y = self._layout.points[cell.name]
            if cell.heading is not None:
                yield from _vehicle(stone, cell.heading, x, y)
            elif cell.kind == "number":  # in the corner, beside the number
                yield from _disc(stone, cell.owner, x + _CARD_HALF[0] - 9, y - _CARD_HALF[1] + 9, 7)
            else:
                yield from _disc(stone, None if cell.glyph else cell.owner, x, y, _PIECE_RADIUS)
                fill = "#ffffff" if stone == "black" else INK
                yield from [_letter(cell, (x, y), 17, fill)] if cell.glyph else []

    def legend_piece(self, seat: int, at: Point) -> Iterator[str]:
        """Yield a small piece of a seat; only its emblem while the seats' colors are undecided."""
        if not self._scene.colours and any(cell.colour for cell in self._layout.cells):
            yield emblem(seat, *at, _LEGEND_RADIUS * 0.5, piece_colour(seat))
        elif self._has_vehicles:
            yield from _vehicle(self._stone(seat), 0, *at)
        else:
            yield from _disc(self._stone(seat), seat, *at, _LEGEND_RADIUS)

    def _stone(self, seat: int) -> Stone:
        """Return the look of a seat's pieces; without colors, stones on points are black first."""
        colours = self._scene.colours or (("black", "white") if self._on_points else ())
        return colours[seat] if seat < len(colours) else seat

    # Highlights

    def highlights(self) -> Iterator[str]:
        """Yield the highlights below the pieces."""
        return self._outlines(_UNDER)

    def last_move(self) -> Iterator[str]:
        """Yield the highlights on top: outlines, and an arrow along the path of the last move."""
        for mark in self._scene.marks:
            points = [at for name in mark.cells if (at := self._layout.points.get(name))]
            if mark.kind == "path" and len(points) > 1:
                yield from _arrow(points, _colour(mark))
        yield from self._outlines(_OVER)

    def _outlines(self, styles: Mapping[MarkKind, str]) -> Iterator[str]:
        cells = {cell.name: cell for cell in self._layout.cells}
        for mark in self._scene.marks:
            for name in mark.cells if mark.kind in styles else ():
                if name in cells:
                    style = styles[mark.kind].format(colour=_colour(mark))
                    yield self._shape(cells[name], self._layout.points[name], style)


def _colour(mark: Mark) -> str:
    return _ACCENT if mark.seat is None else blend(piece_colour(mark.seat), "#000000", 0.2)


def _base_colour(stone: Stone) -> str:
    return piece_colour(stone) if isinstance(stone, int) else _STONE_COLOURS[stone]


def _disc(stone: Stone, seat: int | None, x: float, y: float, radius: float) -> Iterator[str]:
    """Yield a round piece with its shadow, and the emblem of `seat` if given."""
    edge = blend(_base_colour(stone), "#000000", 0.5)
    yield circle((x + 1.5, y + 3), radius, 'fill="#3a2508" opacity="0.3"')
    yield circle((x, y), radius, f'fill="url(#piece-{stone})" stroke="{edge}" stroke-width="0.7"')
    if seat is not None:
        mark = edge if isinstance(stone, int) else piece_colour(seat)
        yield emblem(seat, x, y, radius * 0.36, mark)


def _vehicle(stone: Stone, heading: int, x: float, y: float) -> Iterator[str]:
    """Yield a tank that faces `heading`."""
    colour = _base_colour(stone)
    dark = blend(colour, "#000000", 0.55)
    yield f'<g transform="translate({number(x)} {number(y)}) rotate({heading})">'
    yield rectangle((0, 1), (14.5, 14), 3, 'fill="#3d3a36"')
    yield rectangle((0, 1), (9.5, 13), 2, f'fill="{colour}" stroke="{dark}"')
    yield rectangle((0, -11), (2.3, 9), 1, f'fill="{dark}"')
    yield "</g>"
    yield circle((x, y), 8, f'fill="url(#piece-{stone})" stroke="{dark}"')
    yield from [emblem(stone, x, y, 3.8, dark)] if isinstance(stone, int) else []


def _crossed_out(cell: Cell, at: Point) -> str:
    """Return the cross or the ring on a tile that was removed."""
    colour = "#b7a883" if cell.tint is None else blend(piece_colour(cell.tint), "#000000", 0.1)
    attributes = f'fill="none" stroke="{colour}" stroke-width="4" stroke-linecap="round"'
    return circle(at, 9, attributes) if cell.glyph == "o" else _cross(at, 8, attributes)


def _cross(at: Point, half: int, attributes: str) -> str:
    start, across = _pair((at[0] - half, at[1] - half)), 2 * half
    return f'<path d="M{start}l{across} {across}m0 -{across}l-{across} {across}" {attributes}/>'


def _letter(cell: Cell, at: Point, size: int, fill: str) -> str:
    weight = "bold" if size > 18 else "normal"
    place = at[0], at[1] + size * 0.35
    return primitives.text(*place, cell.glyph, size, anchor="middle", fill=fill, weight=weight)


def _arrow(stops: Sequence[Point], colour: str) -> Iterator[str]:
    """Yield an arrow along the stops of a move."""
    before, (x, y) = stops[-2:]
    angle = math.atan2(y - before[1], x - before[0])
    neck = polar_offset((x, y), angle, -14)
    head = [polar_offset(neck, angle + turn, 9) for turn in (0, 2.4, -2.4)]
    way = "M" + "L".join(map(_pair, [*stops[:-1], neck]))
    for tone, width in (("#fffaf0", 7), (colour, 3.6)):
        yield _stroke(way, tone, width)
    yield polygon(head, f'fill="{colour}" stroke="{colour}"')
    for stop in itertools.islice(stops, len(stops) - 1):
        yield circle(stop, 4.5, f'fill="{colour}" stroke="#fffaf0"')


def _around(at: Point, radius: float, corners: int) -> Iterator[Point]:
    """Yield the corners of a regular polygon; a hexagon stands on a corner."""
    turns = (math.pi / 6 + i * 2 * math.pi / corners for i in range(corners))
    return (polar_offset(at, turn, radius) for turn in turns)


def _stroke(way: str, colour: str, width: float) -> str:
    joints = 'fill="none" stroke-linecap="round" stroke-linejoin="round"'
    return f'<path d="{way}" {joints} stroke="{colour}" stroke-width="{number(width)}"/>'


def _pair(point: Point) -> str:
    return f"{number(point[0])} {number(point[1])}"
