"""A scene as a self-contained SVG picture: marbles on a wooden board.

The board's outline, its tinted corners and its lines follow from which places are neighbours,
so any lattice of places draws itself. The text is the same for the same scene, byte for byte:
no fonts are embedded, no times, no random identifiers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from kibitz_clients.palette import mix
from kibitz_games.scene import Cell, Ground, Mark, Scene

MARBLES: Final = ("#e4531d", "#2f86d4", "#f2c51d", "#149a70", "#b7609f", "#f8f4ea")
"""Colours of the seats on wood: the terminal's, a little deeper."""
WOOD: Final = "#ecd6ae"
RIM: Final = "#b98d55"
GRAIN: Final = "#c9a872"
INK: Final = "#3a2c1c"
PAPER: Final = "#fbf6ec"
UNIT: Final = 22.0
"""Pixels of half the distance between neighbours on a hexagonal lattice."""
EDGE: Final = 44.0
"""Pixels between the outermost places and the edge of the drawing."""
HEADER: Final = 62.0
LEGEND_ROW: Final = 34.0
_GROUNDS: Final[dict[Ground, str]] = {
    "fog": "#8d8674",
    "rock": "#6c6254",
    "wreck": "#7d4a35",
    "seen": "#f6e8cb",
    "number": "#dcc59a",
}
_SHAPES: Final = (
    (),
    ((0.0, -1.0), (0.87, 0.5), (-0.87, 0.5)),
    ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),
    ((0.0, -1.1), (0.85, 0.0), (0.0, 1.1), (-0.85, 0.0)),
    tuple(
        (
            (1.15 if i % 2 == 0 else 0.48) * math.sin(i * math.pi / 5),
            (-1.15 if i % 2 == 0 else -0.48) * math.cos(i * math.pi / 5),
        )
        for i in range(10)
    ),
    tuple(
        (x / 3, y / 3)
        for x, y in (
            *((-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1)),
            *((1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1)),
        )
    ),
)
"""Emblems of the first six seats, the shapes of `palette.GLYPHS`; the first is a disc."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Caption:
    """The words around the board. `players` are in seat order; `notes` stand after them."""

    title: str = ""
    subtitle: str = ""
    players: Sequence[str] = ()
    notes: Sequence[str] = ()


def render(scene: Scene, caption: Caption | None = None) -> str:
    """Return `scene` as the text of an SVG file."""
    drawing = _Drawing(scene, caption or Caption())
    return "\n".join(drawing.lines()) + "\n"


class _Drawing:
    """Where everything is on the page, and the elements from back to front."""

    def __init__(self, scene: Scene, caption: Caption) -> None:
        self.scene = scene
        self.caption = caption
        hexagonal = scene.lattice == "hex"
        self.across = UNIT if hexagonal else 2 * UNIT
        self.down = UNIT * math.sqrt(3) if hexagonal else 2 * UNIT
        self.left = min((cell.x for cell in scene.cells), default=0)
        self.top = min((cell.y for cell in scene.cells), default=0)
        wide = max((cell.x for cell in scene.cells), default=0) - self.left
        high = max((cell.y for cell in scene.cells), default=0) - self.top
        self.board_width = wide * self.across + 2 * EDGE
        self.width = max(self.board_width, 420.0)
        self.inset = (self.width - self.board_width) / 2
        self.header = HEADER if caption.title or caption.subtitle else 0.0
        self.columns = max(1, min(len(caption.players), int((self.width - 48) // 180), 3))
        rows = math.ceil(len(caption.players) / self.columns)
        legend = rows * LEGEND_ROW + 22 if rows else 0.0
        self.legend = self.header + high * self.down + 2 * EDGE
        self.height = self.legend + legend
        self.points = {cell.name: self._point(cell) for cell in scene.cells}

    def _point(self, cell: Cell) -> Point:
        x = self.inset + EDGE + (cell.x - self.left) * self.across
        return x, self.header + EDGE + (cell.y - self.top) * self.down

    def lines(self) -> Iterator[str]:
        width, height = _n(self.width), _n(self.height)
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="Georgia, \'Times New Roman\', serif">'
        )
        if self.caption.title:
            yield f"<title>{escape(self.caption.title)}</title>"
        yield from self._definitions()
        yield f'<rect width="{width}" height="{height}" rx="18" fill="url(#paper)"/>'
        yield from self._words()
        yield from self._ground()
        yield from self._places()
        yield from self._marks()
        yield from self._pieces()
        yield from self._ways()
        yield from self._legend()
        yield "</svg>"

    # ------------------------------------------------------------------- colours and outlines

    def _definitions(self) -> Iterator[str]:
        yield "<defs>"
        yield _gradient("paper", ((0, "#fffdf8"), (1, "#f3ead8")), "linear")
        yield _gradient("wood", ((0, mix(WOOD, "#ffffff", 0.30)), (1, WOOD)), "linear")
        yield _gradient("hole", ((0, "#5d4425"), (0.75, "#8a693d"), (1, "#c09a63")), "hole")
        for seat in sorted(self._seats()):
            base = marble(seat)
            stops = (
                (0.0, mix(base, "#ffffff", 0.85)),
                (0.22, mix(base, "#ffffff", 0.28)),
                (0.62, base),
                (1.0, mix(base, "#000000", 0.42)),
            )
            yield _gradient(f"seat{seat}", stops, "ball")
        outline = self._outline(self.scene.cells)
        yield f'<path id="board" d="{outline}" stroke-linejoin="round" stroke-linecap="round"/>'
        yield "</defs>"

    def _seats(self) -> set[int]:
        owners = {cell.owner for cell in self.scene.cells if cell.owner is not None}
        return owners | set(range(len(self.caption.players)))

    def _outline(self, cells: Iterable[Cell]) -> str:
        """Return a path over `cells`: their neighbourhoods as triangles or squares and lines."""
        names = {(cell.x, cell.y): cell.name for cell in cells if cell.ground != "gone"}
        parts = []
        for at in names:
            linked = False
            for shape in _cliques(self.scene.lattice == "hex", at):
                if all(corner in names for corner in shape):
                    linked = True
                    parts.append(self._polygon(names[corner] for corner in shape))
            if not linked:
                x, y = self.points[names[at]]
                parts.append(f"M{_n(x)} {_n(y)}h0.01")
        return "".join(parts)

    def _polygon(self, names: Iterable[str]) -> str:
        corners = (f"{_n(x)} {_n(y)}" for x, y in (self.points[name] for name in names))
        return "M" + "L".join(corners) + "Z"

    # ------------------------------------------------------------------------------ the board

    def _ground(self) -> Iterator[str]:
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

    def _tinted(self) -> dict[int, list[Cell]]:
        groups: dict[int, list[Cell]] = {}
        for cell in self.scene.cells:
            if cell.tint is not None:
                groups.setdefault(cell.tint, []).append(cell)
        return groups

    def _places(self) -> Iterator[str]:
        for cell in self.scene.cells:
            if cell.ground == "gone":
                continue
            x, y = self.points[cell.name]
            if cell.ground in _GROUNDS:
                yield (
                    f'<rect x="{_n(x - 18)}" y="{_n(y - 18)}" width="36" height="36" rx="6" '
                    f'fill="{_GROUNDS[cell.ground]}"/>'
                )
            elif cell.owner is None:
                yield f'<circle cx="{_n(x)}" cy="{_n(y)}" r="8.5" fill="url(#hole)"/>'
            if cell.owner is None and cell.glyph:
                yield _text(x, y + 6, cell.glyph, 18, anchor="middle")

    # ------------------------------------------------------------------ what happened, and who

    def _marks(self) -> Iterator[str]:
        for mark in self.scene.marks:
            ink = _mark_ink(mark)
            match mark.kind:
                case "from":
                    yield from self._rings(mark, 13, ink, ' stroke-dasharray="5 4"')
                case "to" | "win":
                    yield from self._rings(mark, 20.5, ink, "")
                case "vision":
                    yield from self._rings(mark, 17, ink, ' opacity="0.35"')
                case "path":
                    pass

    def _ways(self) -> Iterator[str]:
        """Draw the arrows over the pieces: a hop passes above what it hops over."""
        for mark in self.scene.marks:
            if mark.kind == "path":
                yield from self._arrow(mark, _mark_ink(mark))

    def _rings(self, mark: Mark, radius: float, ink: str, more: str) -> Iterator[str]:
        for name in mark.cells:
            if name in self.points:
                x, y = self.points[name]
                yield (
                    f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" fill="none" '
                    f'stroke="{ink}" stroke-width="2.6"{more}/>'
                )

    def _arrow(self, mark: Mark, ink: str) -> Iterator[str]:
        """Draw the way of a piece: an arc for every hop, and a head before the last place."""
        stops = [self.points[name] for name in mark.cells if name in self.points]
        if len(stops) < 2:
            return
        arcs = [_arc(start, end) for start, end in itertools.pairwise(stops)]
        control, end = arcs[-1]
        angle = math.atan2(end[1] - control[1], end[0] - control[0])
        tip = (end[0] - 20 * math.cos(angle), end[1] - 20 * math.sin(angle))
        neck = (tip[0] - 9 * math.cos(angle), tip[1] - 9 * math.sin(angle))
        arcs[-1] = (control, neck)
        way = f"M{_n(stops[0][0])} {_n(stops[0][1])}" + "".join(
            f"Q{_n(bend[0])} {_n(bend[1])} {_n(stop[0])} {_n(stop[1])}" for bend, stop in arcs
        )
        head = " ".join(
            f"{_n(x)},{_n(y)}" for x, y in (tip, *(_turn(tip, angle + a, 14) for a in (2.6, -2.6)))
        )
        line = f'<path d="{way}" fill="none" stroke-linecap="round" stroke-linejoin="round"'
        yield f'{line} stroke="#fffaf0" stroke-width="7.5" opacity="0.85"/>'
        yield f'<polygon points="{head}" fill="{ink}" stroke="#fffaf0" stroke-width="1.5"/>'
        yield f'{line} stroke="{ink}" stroke-width="3.8"/>'
        for x, y in stops[:-1]:
            yield f'<circle cx="{_n(x)}" cy="{_n(y)}" r="5" fill="{ink}" stroke="#fffaf0"/>'

    def _pieces(self) -> Iterator[str]:
        for cell in self.scene.cells:
            if cell.owner is not None:
                yield from _piece(cell, *self.points[cell.name])

    # ------------------------------------------------------------------------------- the words

    def _words(self) -> Iterator[str]:
        if self.caption.title:
            yield _text(26, 34, self.caption.title, 21, weight="bold")
        if self.caption.subtitle:
            yield _text(26, 55, self.caption.subtitle, 14, fill="#7a6546", style="italic")

    def _legend(self) -> Iterator[str]:
        column = (self.width - 48) / self.columns
        for seat, name in enumerate(self.caption.players):
            x = 24 + (seat % self.columns) * column
            y = self.legend + 14 + (seat // self.columns) * LEGEND_ROW
            yield from _ball(seat, x + 14, y, 12)
            note = self.caption.notes[seat] if seat < len(self.caption.notes) else ""
            yield _text(x + 34, y + (0 if note else 5), _short(name, 22), 15, weight="bold")
            if note:
                yield _text(x + 34, y + 14, _short(note, 30), 12, fill="#7a6546")


def marble(seat: int) -> str:
    """Return the colour of a seat's pieces on wood."""
    return MARBLES[seat % len(MARBLES)]


def _mark_ink(mark: Mark) -> str:
    return INK if mark.seat is None else mix(marble(mark.seat), "#000000", 0.25)


def _piece(cell: Cell, x: float, y: float) -> Iterator[str]:
    owner = cell.owner or 0
    yield from _ball(owner, x, y, 16, emblem=not cell.glyph)
    if cell.glyph:
        yield _text(x, y + 6, cell.glyph, 17, anchor="middle", weight="bold")
    if cell.heading is not None:
        angle = math.radians(cell.heading - 90)
        tip = _turn((x, y), angle, 23)
        points = (tip, _turn(tip, angle + 2.5, 11), _turn(tip, angle - 2.5, 11))
        corners = " ".join(f"{_n(a)},{_n(b)}" for a, b in points)
        yield f'<polygon points="{corners}" fill="{INK}"/>'


def _ball(seat: int, x: float, y: float, radius: float, emblem: bool = True) -> Iterator[str]:
    dark = mix(marble(seat), "#000000", 0.55)
    cx, cy = _n(x), _n(y)
    shade = _n(y + radius * 0.22)
    yield (
        f'<ellipse cx="{_n(x + 1.5)}" cy="{shade}" rx="{_n(radius * 1.04)}" '
        f'ry="{_n(radius)}" fill="#3a2508" opacity="0.30"/>'
    )
    yield (
        f'<circle cx="{cx}" cy="{cy}" r="{_n(radius)}" fill="url(#seat{seat})" '
        f'stroke="{dark}" stroke-width="0.7"/>'
    )
    if emblem:
        yield _emblem(seat, x, y, radius * 0.36, dark)


def _emblem(seat: int, x: float, y: float, size: float, ink: str) -> str:
    shape = _SHAPES[seat % len(_SHAPES)]
    if not shape:
        radius = _n(size * 0.85)
        return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{radius}" fill="{ink}" opacity="0.55"/>'
    points = " ".join(f"{_n(x + size * a)},{_n(y + size * b)}" for a, b in shape)
    return f'<polygon points="{points}" fill="{ink}" opacity="0.55"/>'


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


def _turn(at: Point, angle: float, length: float) -> Point:
    return at[0] + length * math.cos(angle), at[1] + length * math.sin(angle)


_DIRECTIONS: Final[Mapping[str, str]] = {
    "linear": 'linearGradient id="{0}" x1="0" y1="0" x2="0" y2="1"',
    "ball": 'radialGradient id="{0}" cx="0.36" cy="0.30" r="0.72"',
    "hole": 'radialGradient id="{0}" cx="0.5" cy="0.35" r="0.65"',
}


def _gradient(name: str, stops: Iterable[tuple[float, str]], kind: str) -> str:
    opening = _DIRECTIONS[kind].format(name)
    inner = "".join(f'<stop offset="{_n(at)}" stop-color="{tone}"/>' for at, tone in stops)
    return f"<{opening}>{inner}</{opening.split(' ', 1)[0]}>"


def _text(
    x: float,
    y: float,
    words: str,
    size: int,
    *,
    fill: str = INK,
    anchor: str = "start",
    weight: str = "normal",
    style: str = "normal",
) -> str:
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" '
        f'font-weight="{weight}" font-style="{style}">{escape(words)}</text>'
    )


def _short(words: str, length: int) -> str:
    return words if len(words) <= length else words[: length - 1] + "…"


def _n(value: float) -> str:
    """Write a number with at most two digits behind the point."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
