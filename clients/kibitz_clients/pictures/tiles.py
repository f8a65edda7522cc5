"""Tiles side by side, squares or hexagons, with vehicles and what is left of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kibitz_clients.palette import mix
from kibitz_clients.pictures import ink
from kibitz_clients.pictures.ink import INK, Point, marble, n
from kibitz_clients.pictures.plan import UNIT, Plan
from kibitz_games.scene import Cell, Ground, Mark

_TONES: Final[Mapping[Ground, str]] = {
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
_HALF: Final = UNIT - 0.75
"""Half the side of a square tile, the seam left out."""
_ROUND: Final = (UNIT - 1.2) / math.cos(math.pi / 6)
"""From the middle of a hexagonal tile to its corners."""
_BOULDER: Final = (
    *((-0.82, 0.1), (-0.55, -0.62), (0.05, -0.8), (0.62, -0.55)),
    *((0.84, 0.12), (0.58, 0.68), (-0.12, 0.8), (-0.66, 0.6)),
)
_FACET: Final = ((-0.55, -0.62), (0.05, -0.8), (0.62, -0.55), (0.1, -0.2))
"""A rock, and the side of it that is in the light; in half tiles."""


class Tiles:
    """Floors, fog, rocks, wrecks, and tiles that are gone."""

    def __init__(self, plan: Plan, cells: Sequence[Cell]) -> None:
        self.plan = plan
        self.cells = cells
        self.names = {cell.name for cell in cells}

    def definitions(self, seats: Sequence[int]) -> Iterator[str]:
        yield from ink.marbles(seats)
        if any(cell.ground == "fog" for cell in self.cells):
            yield ink.gradient("fog", ((0, "#b8b5ae"), (1, "#9c9990")), "linear")

    # ------------------------------------------------------------------------------- the tiles

    def ground(self) -> Iterator[str]:
        if not self.plan.hexagonal:
            yield from self._tray()
        for cell in self.cells:
            at = self.plan.points[cell.name]
            yield self._tile(at, self._looks(cell))
            if cell.ground == "rock":
                yield from _rock(at, 0.92 if self.plan.hexagonal else 1.0)
            elif cell.ground == "wreck":
                yield from _wreck(at)
            elif cell.ground == "gone":
                yield from _crossed(cell, at)
            elif cell.glyph and cell.owner is None:
                yield ink.text(at[0], at[1] + 6, cell.glyph, 18, anchor="middle")

    def _tray(self) -> Iterator[str]:
        points = [self.plan.points[cell.name] for cell in self.cells]
        left, right = min(x for x, _ in points), max(x for x, _ in points)
        top, bottom = min(y for _, y in points), max(y for _, y in points)
        half = (right - left) / 2 + UNIT + 4, (bottom - top) / 2 + UNIT + 4
        middle = (left + right) / 2, (top + bottom) / 2
        yield ink.rectangle((middle[0], middle[1] + 4), half, 7, f'fill="{INK}" opacity="0.22"')
        yield ink.rectangle(middle, half, 6, 'fill="#9b8a68"')

    def _looks(self, cell: Cell) -> str:
        tone = _TONES.get(cell.ground, _TONES["floor"])
        if cell.tint is not None:
            tone = mix(tone, marble(cell.tint), 0.10 if cell.ground == "gone" else 0.24)
        if cell.ground == "gone":
            return f'fill="{tone}" stroke="{_SEAM}" stroke-dasharray="4 4"'
        fill = "url(#fog)" if cell.ground == "fog" else tone
        if self.plan.hexagonal:
            return f'fill="{fill}" stroke="#a8946a" stroke-width="1.6" stroke-linejoin="round"'
        return f'fill="{fill}"'

    def _tile(self, at: Point, looks: str, shrink: float = 0.0) -> str:
        """Draw the shape of a tile, `shrink` pixels smaller on every side."""
        if not self.plan.hexagonal:
            half = _HALF - shrink
            return ink.rectangle(at, (half, half), 1, looks)
        turns = (math.pi / 6 + i * math.pi / 3 for i in range(6))
        return ink.polygon((ink.turn(at, a, _ROUND - shrink) for a in turns), looks)

    # ----------------------------------------------------------------- what happened, and who

    def marks(self) -> Iterator[str]:
        for mark in self.plan.scene.marks:
            for name in mark.cells:
                if name in self.names:
                    yield from self._mark(mark, self.plan.points[name])

    def _mark(self, mark: Mark, at: Point) -> Iterator[str]:
        colour = INK if mark.seat is None else mix(marble(mark.seat), "#000000", 0.15)
        hollow = f'fill="none" stroke="{colour}"'
        match mark.kind:
            case "vision":
                yield self._tile(at, f'fill="{colour}" opacity="0.20"')
            case "from":
                yield self._tile(at, f'{hollow} stroke-width="2" stroke-dasharray="5 4"', 3)
            case "to":
                yield self._tile(at, f'{hollow} stroke-width="3"', 1.5)
            case "win":
                yield self._tile(at, f'fill="{colour}" opacity="0.30"')
                yield self._tile(at, f'{hollow} stroke-width="4"', 2)
            case "path":
                pass

    def ways(self) -> Iterator[str]:
        for mark in self.plan.scene.marks:
            stops = [self.plan.points[name] for name in mark.cells if name in self.names]
            if mark.kind == "path" and len(stops) > 1:
                way = "M" + "L".join(f"{n(x)} {n(y)}" for x, y in stops)
                colour = INK if mark.seat is None else mix(marble(mark.seat), "#000000", 0.15)
                looks = 'fill="none" stroke-linecap="round" stroke-linejoin="round"'
                yield f'<path d="{way}" {looks} stroke="{colour}" stroke-width="4" opacity="0.8"/>'

    # ------------------------------------------------------------------------------ the pieces

    def pieces(self) -> Iterator[str]:
        for cell in self.cells:
            if cell.owner is None:
                continue
            x, y = self.plan.points[cell.name]
            if self._drives:
                yield from vehicle(cell.owner, x, y, cell.heading)
            else:
                yield from ink.ball(cell.owner, x, y, 14, marked=not cell.glyph)
                if cell.glyph:
                    yield ink.text(x, y + 6, cell.glyph, 17, anchor="middle", weight="bold")

    @property
    def _drives(self) -> bool:
        """Whether pieces face somewhere here, if not all of them where the viewer can tell."""
        return any(cell.heading is not None or cell.ground == "wreck" for cell in self.cells)

    def token(self, seat: int, x: float, y: float) -> Iterator[str]:
        if self._drives:
            yield from vehicle(seat, x, y, 0, 0.82)
        else:
            yield from ink.ball(seat, x, y, 12)


def vehicle(seat: int, x: float, y: float, heading: int | None, size: float = 1.0) -> Iterator[str]:
    """Draw a hull on tracks with its gun ahead; only the turret where the heading is not known."""
    dark = mix(marble(seat), "#000000", 0.55)
    scale = "" if size == 1.0 else f" scale({n(size)})"
    turned = f" rotate({heading})" if heading else ""
    yield f'<g transform="translate({n(x)} {n(y)}){turned}{scale}">'
    if heading is not None:
        tracks = 'fill="#3d3a36" stroke="#262422" stroke-width="0.8"'
        yield ink.rectangle((-11.5, 1.0), (3.5, 15.0), 2.5, tracks)
        yield ink.rectangle((11.5, 1.0), (3.5, 15.0), 2.5, tracks)
        hull = f'fill="{marble(seat)}" stroke="{dark}" stroke-width="1"'
        yield ink.rectangle((0.0, 1.5), (9.5, 13.0), 3, hull)
        yield ink.rectangle((0.0, -11.0), (2.3, 9.0), 1, f'fill="{dark}"')
    else:
        yield f'<circle cx="0" cy="1.5" r="12" fill="{marble(seat)}" stroke="{dark}"/>'
    yield (
        f'<circle cx="0" cy="1.5" r="8" fill="{mix(marble(seat), "#ffffff", 0.25)}" '
        f'stroke="{dark}" stroke-width="1.2"/>'
    )
    yield "</g>"
    yield ink.emblem(seat, *_turret(x, y, heading, size), 3.8 * size, dark)


def _turret(x: float, y: float, heading: int | None, size: float) -> Point:
    """Return the middle of the turret, which its emblem stands upright on."""
    return ink.turn((x, y), math.radians((heading or 0) + 90), 1.5 * size)


def _rock(at: Point, size: float) -> Iterator[str]:
    half = (UNIT - 3) * size

    def spread(shape: Sequence[Point]) -> Iterator[Point]:
        return ((at[0] + half * x, at[1] + half * y) for x, y in shape)

    yield ink.polygon(spread(_BOULDER), f'fill="{_STONE}" stroke="#655f54" stroke-linejoin="round"')
    yield ink.polygon(spread(_FACET), 'fill="#aba493"')


def _wreck(at: Point) -> Iterator[str]:
    """Draw a burnt hull, askew on its scorched tile."""
    x, y = at
    yield f'<circle cx="{n(x)}" cy="{n(y)}" r="17.5" fill="#6b4a35" opacity="0.45"/>'
    yield f'<g transform="translate({n(x)} {n(y)}) rotate(24)">'
    yield ink.rectangle((-9.5, 0.0), (3.2, 13.0), 2, f'fill="#2b2521" stroke="{_SOOT}"')
    yield ink.rectangle((9.5, 2.0), (3.2, 13.0), 2, f'fill="#2b2521" stroke="{_SOOT}"')
    yield ink.rectangle((0.0, 1.0), (8.0, 11.0), 2, f'fill="{_SOOT}" stroke="#241d19"')
    yield '<circle cx="1" cy="0" r="5.5" fill="#2b2521" stroke="#8a4b2a" stroke-width="1.4"/>'
    yield '<path d="M-4 -4L6 5M6 -4L-4 5" stroke="#c4622c" stroke-width="1.6" opacity="0.8"/>'
    yield "</g>"


def _crossed(cell: Cell, at: Point) -> Iterator[str]:
    """Cross a tile out, in the colour of the seat that did it."""
    colour = "#b7a883" if cell.tint is None else mix(marble(cell.tint), "#000000", 0.1)
    x, y = at
    looks = f'fill="none" stroke="{colour}" stroke-width="4" stroke-linecap="round"'
    if cell.glyph == "o":
        yield f'<circle cx="{n(x)}" cy="{n(y)}" r="9" {looks}/>'
    else:
        yield f'<path d="M{n(x - 8)} {n(y - 8)}l16 16m0 -16l-16 16" {looks}/>'
