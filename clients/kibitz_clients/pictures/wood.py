"""A wooden board with hollows, and marbles in them.

The board's outline, its tinted corners and its lines follow from which places are neighbours,
so any lattice of places draws itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kibitz_clients.palette import mix
from kibitz_clients.pictures import ink
from kibitz_clients.pictures.ink import INK, Point, marble, n
from kibitz_clients.pictures.plan import Plan
from kibitz_games.scene import Cell, Mark

WOOD: Final = "#ecd6ae"
RIM: Final = "#b98d55"
GRAIN: Final = "#c9a872"


class Wood:
    """Hollows, homes and goals."""

    def __init__(self, plan: Plan, cells: Sequence[Cell]) -> None:
        self.plan = plan
        self.cells = cells
        self.names = {cell.name for cell in cells}

    def definitions(self, seats: Sequence[int]) -> Iterator[str]:
        yield ink.gradient("wood", ((0, mix(WOOD, "#ffffff", 0.30)), (1, WOOD)), "linear")
        yield ink.gradient("hole", ((0, "#5d4425"), (0.75, "#8a693d"), (1, "#c09a63")), "hole")
        yield from ink.marbles(seats)
        outline = self._outline(self.cells)
        yield f'<path id="board" d="{outline}" stroke-linejoin="round" stroke-linecap="round"/>'

    def _outline(self, cells: Iterable[Cell]) -> str:
        """Return a path over `cells`: their neighbourhoods as triangles or squares and lines."""
        names = {(cell.x, cell.y): cell.name for cell in cells}
        parts = []
        for at in names:
            linked = False
            for shape in _cliques(self.plan.hexagonal, at):
                if all(corner in names for corner in shape):
                    linked = True
                    parts.append(self._polygon(names[corner] for corner in shape))
            if not linked:
                x, y = self.plan.points[names[at]]
                parts.append(f"M{n(x)} {n(y)}h0.01")
        return "".join(parts)

    def _polygon(self, names: Iterable[str]) -> str:
        corners = (f"{n(x)} {n(y)}" for x, y in (self.plan.points[name] for name in names))
        return "M" + "L".join(corners) + "Z"

    def ground(self) -> Iterator[str]:
        yield (
            f'<use href="#board" transform="translate(0 5)" fill="{RIM}" stroke="{RIM}" '
            'stroke-width="56" opacity="0.35"/>'
        )
        yield f'<use href="#board" fill="{RIM}" stroke="{RIM}" stroke-width="55"/>'
        yield f'<use href="#board" fill="{WOOD}" stroke="{WOOD}" stroke-width="50"/>'
        for seat, cells in sorted(self._tinted().items()):
            tint = mix(WOOD, marble(seat), 0.42)
            yield (
                f'<path d="{self._outline(cells)}" fill="{tint}" stroke="{tint}" '
                'stroke-width="36" stroke-linejoin="round" stroke-linecap="round"/>'
            )
        yield f'<use href="#board" fill="none" stroke="{GRAIN}" stroke-width="1.1"/>'
        yield from self._hollows()

    def _tinted(self) -> dict[int, list[Cell]]:
        groups: dict[int, list[Cell]] = {}
        for cell in self.cells:
            if cell.tint is not None:
                groups.setdefault(cell.tint, []).append(cell)
        return groups

    def _hollows(self) -> Iterator[str]:
        for cell in self.cells:
            if cell.owner is None:
                x, y = self.plan.points[cell.name]
                yield f'<circle cx="{n(x)}" cy="{n(y)}" r="8.5" fill="url(#hole)"/>'
                if cell.glyph:
                    yield ink.text(x, y + 6, cell.glyph, 18, anchor="middle")

    def marks(self) -> Iterator[str]:
        for mark in self.plan.scene.marks:
            colour = mark_ink(mark)
            match mark.kind:
                case "from":
                    yield from self._rings(mark, 13, colour, ' stroke-dasharray="5 4"')
                case "to" | "win":
                    yield from self._rings(mark, 20.5, colour, "")
                case "vision":
                    yield from self._rings(mark, 17, colour, ' opacity="0.35"')
                case "path":
                    pass

    def _rings(self, mark: Mark, radius: float, colour: str, more: str) -> Iterator[str]:
        for name in mark.cells:
            if name in self.names:
                yield ring(self.plan.points[name], radius, colour, more)

    def pieces(self) -> Iterator[str]:
        for cell in self.cells:
            if cell.owner is not None:
                yield from _piece(cell, cell.owner, *self.plan.points[cell.name])

    def ways(self) -> Iterator[str]:
        """Draw the arrows over the pieces: a hop passes above what it hops over."""
        for mark in self.plan.scene.marks:
            if mark.kind == "path":
                stops = [self.plan.points[name] for name in mark.cells if name in self.names]
                yield from _arrow(stops, mark_ink(mark))

    def token(self, seat: int, x: float, y: float) -> Iterator[str]:
        yield from ink.ball(seat, x, y, 12)


def mark_ink(mark: Mark) -> str:
    """Return the colour of a highlight."""
    return INK if mark.seat is None else mix(marble(mark.seat), "#000000", 0.25)


def ring(at: Point, radius: float, colour: str, more: str = "") -> str:
    """Draw a circle around a place; `more` are further attributes."""
    return (
        f'<circle cx="{n(at[0])}" cy="{n(at[1])}" r="{n(radius)}" fill="none" '
        f'stroke="{colour}" stroke-width="2.6"{more}/>'
    )


def _piece(cell: Cell, owner: int, x: float, y: float) -> Iterator[str]:
    yield from ink.ball(owner, x, y, 16, marked=not cell.glyph)
    if cell.glyph:
        yield ink.text(x, y + 6, cell.glyph, 17, anchor="middle", weight="bold")
    if cell.heading is not None:
        angle = math.radians(cell.heading - 90)
        tip = ink.turn((x, y), angle, 23)
        corners = (tip, ink.turn(tip, angle + 2.5, 11), ink.turn(tip, angle - 2.5, 11))
        yield ink.polygon(corners, f'fill="{INK}"')


def _arrow(stops: Sequence[Point], colour: str) -> Iterator[str]:
    """Draw the way of a piece: an arc for every hop, and a head before the last place."""
    if len(stops) < 2:
        return
    arcs = [_arc(start, end) for start, end in itertools.pairwise(stops)]
    control, end = arcs[-1]
    angle = math.atan2(end[1] - control[1], end[0] - control[0])
    tip = (end[0] - 20 * math.cos(angle), end[1] - 20 * math.sin(angle))
    neck = (tip[0] - 9 * math.cos(angle), tip[1] - 9 * math.sin(angle))
    arcs[-1] = (control, neck)
    way = f"M{n(stops[0][0])} {n(stops[0][1])}" + "".join(
        f"Q{n(bend[0])} {n(bend[1])} {n(stop[0])} {n(stop[1])}" for bend, stop in arcs
    )
    head = (tip, *(ink.turn(tip, angle + a, 14) for a in (2.6, -2.6)))
    line = f'<path d="{way}" fill="none" stroke-linecap="round" stroke-linejoin="round"'
    yield f'{line} stroke="#fffaf0" stroke-width="7.5" opacity="0.85"/>'
    yield ink.polygon(head, f'fill="{colour}" stroke="#fffaf0" stroke-width="1.5"')
    yield f'{line} stroke="{colour}" stroke-width="3.8"/>'
    for x, y in stops[:-1]:
        yield f'<circle cx="{n(x)}" cy="{n(y)}" r="5" fill="{colour}" stroke="#fffaf0"/>'


def _cliques(hexagonal: bool, at: Point) -> tuple[tuple[Point, ...], ...]:
    """Return the triangles or squares of neighbours that have `at` as a corner of theirs."""
    x, y = at
    if hexagonal:
        around = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))
        ring = [(x + a, y + b) for a, b in around]
        pairs = [(ring[i], ring[(i + 1) % 6]) for i in range(6)]
        owned = [(at, *pair) for pair in pairs[:2]]
        return (*owned, *(((at, corner)) for corner in ring[:3]))
    corners = (at, (x + 1, y), (x + 1, y + 1), (x, y + 1))
    return (corners, (at, corners[1]), (at, corners[3]))


def _arc(start: Point, end: Point) -> tuple[Point, Point]:
    """Return the control point and the end of a bend between two places."""
    along, up = end[0] - start[0], end[1] - start[1]
    side = 0.2 if along >= 0 else -0.2
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    return (middle[0] + up * side, middle[1] - along * side), end
