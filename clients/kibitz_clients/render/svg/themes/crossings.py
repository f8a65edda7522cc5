"""A board of lines with stones on their crossings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from kibitz_clients.palette import blend
from kibitz_clients.render.svg import primitives
from kibitz_clients.render.svg.layout import BoardLayout
from kibitz_clients.render.svg.primitives import INK, Point, circle, number, piece_colour
from kibitz_clients.render.svg.theme import Board, MarkStyle, Theme
from kibitz_games.core.scene import Cell, Mark, PieceColour

Stone: TypeAlias = PieceColour | int
"""The look of a stone: black, white, or the color of its seat."""

_STONE_COLOURS: Final[Mapping[PieceColour, str]] = {"black": "#33353c", "white": "#f7f3ea"}
_DEFAULT_STONES: Final[Sequence[PieceColour]] = ("black", "white")
"""Stones of the first two seats if the game sets no colors; other seats use their own colors."""
_LINE: Final = "#7d5c2e"
_ACCENT: Final = "#c8321e"
_RADIUS: Final = 18.5
_LEGEND_RADIUS: Final = 13
_MARGIN: Final = 30.0
"""Pixels of wood around the outermost lines, excluding the space for coordinates."""
_MIN_DOTTED_SIDE: Final = 9
"""The minimum side of a board with dots on some crossings."""


def _definitions(board: Board, seats: Sequence[int]) -> Iterator[str]:
    yield primitives.gradient("plank", ((0, "#f3ddae"), (1, "#e3c184")), "linear")
    colours = {cell.colour for cell in board.cells} | {*board.layout.scene.colours}
    stones: set[Stone] = {_stone_of(board, seat) for seat in seats}
    stones |= {colour for colour in colours if colour is not None}
    for stone in sorted(stones, key=str):
        base, black = _base_colour(stone), stone == "black"
        stops = (
            (0.0, blend(base, "#ffffff", 0.42 if black else 0.9)),
            (0.55, base),
            (1.0, blend(base, "#000000", 0.45 if black else 0.22)),
        )
        yield primitives.gradient(f"stone-{stone}", stops, "ball")


def _stone_of(board: Board, seat: int) -> Stone:
    """Return the look of a seat's stones."""
    colours = board.layout.scene.colours or _DEFAULT_STONES
    return colours[seat] if seat < len(colours) else seat


def _base_colour(stone: Stone) -> str:
    return piece_colour(stone) if isinstance(stone, int) else _STONE_COLOURS[stone]


# --- the board ----------------------------------------------------------------------------


def _backdrop(board: Board) -> Iterator[str]:
    yield from _plank(board)
    at = {(cell.x, cell.y): cell.name for cell in board.cells}
    yield f'<path d="{_lines(board.layout, at)}" stroke="{_LINE}" stroke-width="1.4" fill="none"/>'
    for name in _dotted(board.layout, at):
        yield circle(board.layout.points[name], 4, f'fill="{_LINE}"')


def _plank(board: Board) -> Iterator[str]:
    layout = board.layout
    xs, ys = zip(*board.points.values(), strict=True)
    margin = layout.edge - 12 if layout.scene.labels else _MARGIN
    half = (max(xs) - min(xs)) / 2 + margin, (max(ys) - min(ys)) / 2 + margin
    middle = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    below = middle[0], middle[1] + 4
    yield primitives.rectangle(below, half, 9, 'fill="#a67c43" opacity="0.55"')
    yield primitives.rectangle(middle, half, 9, 'fill="url(#plank)" stroke="#b98d55"')


def _lines(layout: BoardLayout, at: Mapping[Point, str]) -> str:
    """Return a path that traces the grid lines of all rows and columns."""
    parts = []
    for step in ((1, 0), (0, 1)):
        for x, y in at:
            if (x - step[0], y - step[1]) in at:
                continue
            end = x, y
            while (end[0] + step[0], end[1] + step[1]) in at:
                end = end[0] + step[0], end[1] + step[1]
            if end != (x, y):
                (a, b), (c, d) = layout.point_at(x, y), layout.point_at(*end)
                parts.append(f"M{number(a)} {number(b)}L{number(c)} {number(d)}")
    return "".join(parts)


def _dotted(layout: BoardLayout, at: Mapping[Point, str]) -> list[str]:
    """Return the crossings with a dot: near the corners and in the center."""
    wide = round(layout.right - layout.left) + 1
    high = round(layout.bottom - layout.top) + 1
    if min(wide, high) < _MIN_DOTTED_SIDE:
        return []
    inset = 2 if min(wide, high) < 13 else 3
    corners = [(x, y) for y in (inset, high - 1 - inset) for x in (inset, wide - 1 - inset)]
    middle = [((wide - 1) / 2, (high - 1) / 2)]
    places = [(layout.left + x, layout.top + y) for x, y in corners + middle]
    return [at[place] for place in places if place in at]


# --- stones and highlights ----------------------------------------------------------------


def _stone(board: Board, cell: Cell, at: Point) -> Iterator[str]:
    x, y = at
    stone = cell.colour or (None if cell.owner is None else _stone_of(board, cell.owner))
    if stone is not None:
        yield from _draw_stone(stone, None if cell.glyph else cell.owner, x, y, _RADIUS)
    if cell.glyph:
        fill = "#ffffff" if stone == "black" else INK
        yield primitives.text(x, y + 6, cell.glyph, 17, anchor="middle", fill=fill, weight="bold")


def _draw_stone(stone: Stone, seat: int | None, x: float, y: float, radius: float) -> Iterator[str]:
    """Draw a stone, with or without the emblem of a seat."""
    edge = blend(_base_colour(stone), "#000000", 0.4)
    yield primitives.shadow(x, y, radius)
    yield circle((x, y), radius, f'fill="url(#stone-{stone})" stroke="{edge}" stroke-width="0.7"')
    if seat is not None:
        yield primitives.emblem(seat, x, y, radius * 0.34, piece_colour(seat))


def _legend_piece(board: Board, seat: int, at: Point) -> Iterator[str]:
    """Draw the stone of a seat, or only its emblem until colors are chosen."""
    undecided = not board.layout.scene.colours and any(cell.colour for cell in board.cells)
    if undecided:
        yield primitives.emblem(seat, *at, _LEGEND_RADIUS * 0.5, piece_colour(seat))
    else:
        yield from _draw_stone(_stone_of(board, seat), seat, *at, _LEGEND_RADIUS)


def _winning_line(points: Sequence[Point], colour: str) -> Iterator[str]:
    if len(points) > 1:
        (a, b), (c, d) = min(points), max(points)
        line = f'd="M{number(a)} {number(b)}L{number(c)} {number(d)}" stroke-linecap="round"'
        yield f'<path {line} stroke="#fffaf0" stroke-width="9" opacity="0.75"/>'
        yield f'<path {line} stroke="{_ACCENT}" stroke-width="4.5"/>'


def _ring_on_stone(points: Sequence[Point], colour: str) -> Iterator[str]:
    for x, y in points:
        yield circle((x, y), 12.5, f'fill="none" stroke="{_ACCENT}" stroke-width="2.8"')


def _mark_colour(mark: Mark) -> str:
    return _ACCENT if mark.seat is None else piece_colour(mark.seat)


CROSSINGS: Final = Theme(
    kinds=frozenset({"point"}),
    definitions=_definitions,
    backdrop=_backdrop,
    marks={
        "from": (MarkStyle("circle", 9, f'fill="none" stroke="{_ACCENT}" stroke-width="2.5"'),),
        "path": (MarkStyle("circle", 5, f'fill="{_ACCENT}"'),),
        "vision": (MarkStyle("circle", 20, 'fill="{colour}" opacity="0.18"'),),
    },
    mark_colour=_mark_colour,
    piece=_stone,
    paths={"win": _winning_line, "to": _ring_on_stone},
    legend_piece=_legend_piece,
)
