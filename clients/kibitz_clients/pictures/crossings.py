"""A board of lines with stones on their crossings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from kibitz_clients.palette import mix
from kibitz_clients.pictures import ink
from kibitz_clients.pictures.ink import Point, marble, n
from kibitz_clients.pictures.plan import Plan
from kibitz_games.scene import Cell, Mark, PieceColour

Stone: TypeAlias = PieceColour | int
"""What a stone looks like: black, white, or as the seat does that it belongs to."""

_STONES: Final[Mapping[PieceColour, str]] = {"black": "#33353c", "white": "#f7f3ea"}
_USUAL: Final[Sequence[PieceColour]] = ("black", "white")
"""What the first two seats have where the game says no colours; further seats have their own."""
_LINE: Final = "#7d5c2e"
_ACCENT: Final = "#c8321e"
_RADIUS: Final = 18.5
_MARGIN: Final = 30.0
"""Pixels of wood around the outermost lines; more where coordinates stand on it."""
_DOTTED: Final = 9
"""The smallest side of a board that has dots on some of its crossings."""


class Crossings:
    """Points and the lines between neighbours."""

    def __init__(self, plan: Plan, cells: Sequence[Cell]) -> None:
        self.plan = plan
        self.cells = cells
        self.at = {(cell.x, cell.y): cell.name for cell in cells}
        self.names = {cell.name for cell in cells}

    def definitions(self, seats: Sequence[int]) -> Iterator[str]:
        yield ink.gradient("plank", ((0, "#f3ddae"), (1, "#e3c184")), "linear")
        colours = {cell.colour for cell in self.cells} | {*self.plan.scene.colours}
        stones: set[Stone] = {self._of(seat) for seat in seats}
        stones |= {colour for colour in colours if colour is not None}
        for stone in sorted(stones, key=str):
            base, black = _base(stone), stone == "black"
            stops = (
                (0.0, mix(base, "#ffffff", 0.42 if black else 0.9)),
                (0.55, base),
                (1.0, mix(base, "#000000", 0.45 if black else 0.22)),
            )
            yield ink.gradient(f"stone-{stone}", stops, "ball")

    def _of(self, seat: int) -> Stone:
        """Return what the stones of a seat look like."""
        colours = self.plan.scene.colours or _USUAL
        return colours[seat] if seat < len(colours) else seat

    def ground(self) -> Iterator[str]:
        yield from self._plank()
        yield f'<path d="{self._lines()}" stroke="{_LINE}" stroke-width="1.4" fill="none"/>'
        for name in self._dots():
            x, y = self.plan.points[name]
            yield f'<circle cx="{n(x)}" cy="{n(y)}" r="4" fill="{_LINE}"/>'

    def _plank(self) -> Iterator[str]:
        xs = [x for x, _ in self._places()]
        ys = [y for _, y in self._places()]
        margin = self.plan.edge - 12 if self.plan.scene.labels else _MARGIN
        half = (max(xs) - min(xs)) / 2 + margin, (max(ys) - min(ys)) / 2 + margin
        middle = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
        below = middle[0], middle[1] + 4
        yield ink.rectangle(below, half, 9, 'fill="#a67c43" opacity="0.55"')
        yield ink.rectangle(middle, half, 9, 'fill="url(#plank)" stroke="#b98d55"')

    def _places(self) -> list[Point]:
        return [self.plan.points[cell.name] for cell in self.cells]

    def _lines(self) -> str:
        """Return a path along all lines, each row and each column as long as it goes."""
        parts = []
        for step in ((1, 0), (0, 1)):
            for x, y in self.at:
                if (x - step[0], y - step[1]) in self.at:
                    continue
                end = x, y
                while (end[0] + step[0], end[1] + step[1]) in self.at:
                    end = end[0] + step[0], end[1] + step[1]
                if end != (x, y):
                    (a, b), (c, d) = self.plan.place(x, y), self.plan.place(*end)
                    parts.append(f"M{n(a)} {n(b)}L{n(c)} {n(d)}")
        return "".join(parts)

    def _dots(self) -> list[str]:
        """Return the crossings that carry a dot: near the corners, and the one in the middle."""
        wide = round(self.plan.right - self.plan.left) + 1
        high = round(self.plan.bottom - self.plan.top) + 1
        if min(wide, high) < _DOTTED:
            return []
        inset = 2 if min(wide, high) < 13 else 3
        left, top = self.plan.left, self.plan.top
        corners = [(x, y) for y in (inset, high - 1 - inset) for x in (inset, wide - 1 - inset)]
        middle = [((wide - 1) / 2, (high - 1) / 2)]
        places = [(left + x, top + y) for x, y in corners + middle]
        return [self.at[place] for place in places if place in self.at]

    def marks(self) -> Iterator[str]:
        for mark in self.plan.scene.marks:
            for name in mark.cells:
                if name in self.names:
                    yield from self._mark(mark, self.plan.points[name])

    def _mark(self, mark: Mark, at: Point) -> Iterator[str]:
        circle = f'<circle cx="{n(at[0])}" cy="{n(at[1])}"'
        match mark.kind:
            case "from":
                yield f'{circle} r="9" fill="none" stroke="{_ACCENT}" stroke-width="2.5"/>'
            case "path":
                yield f'{circle} r="5" fill="{_ACCENT}"/>'
            case "vision":
                yield f'{circle} r="20" fill="{_tone(mark)}" opacity="0.18"/>'
            case "to" | "win":
                pass

    def pieces(self) -> Iterator[str]:
        for cell in self.cells:
            x, y = self.plan.points[cell.name]
            stone = cell.colour or (None if cell.owner is None else self._of(cell.owner))
            if stone is not None:
                yield from _draw(stone, None if cell.glyph else cell.owner, x, y, _RADIUS)
            if cell.glyph:
                fill = "#ffffff" if stone == "black" else ink.INK
                yield ink.text(x, y + 6, cell.glyph, 17, anchor="middle", fill=fill, weight="bold")

    def ways(self) -> Iterator[str]:
        """Draw the winning line through its stones, and a ring on the last one."""
        for mark in self.plan.scene.marks:
            places = [self.plan.points[name] for name in mark.cells if name in self.names]
            if mark.kind == "win" and len(places) > 1:
                (a, b), (c, d) = min(places), max(places)
                line = f'd="M{n(a)} {n(b)}L{n(c)} {n(d)}" stroke-linecap="round"'
                yield f'<path {line} stroke="#fffaf0" stroke-width="9" opacity="0.75"/>'
                yield f'<path {line} stroke="{_ACCENT}" stroke-width="4.5"/>'
            elif mark.kind == "to":
                for x, y in places:
                    yield (
                        f'<circle cx="{n(x)}" cy="{n(y)}" r="12.5" fill="none" '
                        f'stroke="{_ACCENT}" stroke-width="2.8"/>'
                    )

    def token(self, seat: int, x: float, y: float) -> Iterator[str]:
        open_yet = not self.plan.scene.colours and any(cell.colour for cell in self.cells)
        if open_yet:
            yield ink.emblem(seat, x, y, 13 * 0.5, marble(seat))
        else:
            yield from _draw(self._of(seat), seat, x, y, 13)


def _base(stone: Stone) -> str:
    return marble(stone) if isinstance(stone, int) else _STONES[stone]


def _tone(mark: Mark) -> str:
    return _ACCENT if mark.seat is None else marble(mark.seat)


def _draw(stone: Stone, seat: int | None, x: float, y: float, radius: float) -> Iterator[str]:
    """Draw a stone with the emblem of a seat, or with none."""
    edge = mix(_base(stone), "#000000", 0.4)
    yield ink.shadow(x, y, radius)
    yield (
        f'<circle cx="{n(x)}" cy="{n(y)}" r="{n(radius)}" fill="url(#stone-{stone})" '
        f'stroke="{edge}" stroke-width="0.7"/>'
    )
    if seat is not None:
        yield ink.emblem(seat, x, y, radius * 0.34, marble(seat))
