"""The terminal theme of boards: the look of each cell of a scene, as data.

`_KINDS` and `_MARKS` are the tables of cells and highlights; `Overlay` is added while a user picks
a move. Every kind of cell is recognizable without color:

    ``·`` floor    `` `` seen    ``░`` fog    ``▓`` rock    ``▒✕▒`` wreck    ``×`` gone
    ``┼`` point    ``▏↑▕`` button             ``:`` floor and ``.`` seen that are in sight

and so are pieces, by the glyph of their seat, or by their color if the game sets one:

    ``●`` black              ``○`` white

and the highlights, by the brackets around a cell:

    ``(●)`` has just moved there    ``○`` came from there    ``•`` on its way
    ``<●>`` acted from there
    ``[●]`` the cursor              ``◎`` may be chosen next
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rich.cells import cell_len

from kibitz_clients import palette
from kibitz_clients.palette import Palette
from kibitz_games.core.scene import Cell, CellKind, Mark, MarkKind, Scene

Shape: TypeAlias = Literal["", "peg", "hole", "dot", "ring", "hull"]
"""The drawing of a cell that is larger than one character."""
Sides: TypeAlias = tuple[bool, bool, bool, bool]
"""Whether there are lines up, right, down and left."""


@dataclass(frozen=True, slots=True)
class _KindStyle:
    """The look of an empty cell of a kind."""

    text: str = ""
    fill: str = " "
    shape: Shape = ""
    box: bool = False


_KINDS: Final[Mapping[CellKind, _KindStyle]] = {
    "hole": _KindStyle("·", shape="hole"),
    "home": _KindStyle("·", shape="hole"),
    "goal": _KindStyle("·", shape="hole"),
    "floor": _KindStyle("·"),
    "fog": _KindStyle(fill="░"),
    "seen": _KindStyle(),
    "rock": _KindStyle(fill="▓"),
    "wreck": _KindStyle("✕", fill="▒"),
    "gone": _KindStyle("×"),
    "point": _KindStyle(),
    "number": _KindStyle(box=True),
    "button": _KindStyle(box=True),
}


@dataclass(frozen=True, slots=True)
class _MarkStyle:
    """The effect of a highlight on a cell: another text if the cell is free, or edges and color."""

    text: str = ""
    shape: Shape = ""
    edges: tuple[str, str] | None = None
    tint: float = 0.0
    """The share of the seat's color in the background."""


_MARKS: Final[Mapping[MarkKind, _MarkStyle]] = {
    "from": _MarkStyle("○", "ring", ("<", ">"), 0.22),
    "path": _MarkStyle("•", "dot"),
    "to": _MarkStyle(edges=("(", ")"), tint=0.30),
    "win": _MarkStyle(edges=("(", ")"), tint=0.38),
    "vision": _MarkStyle(tint=0.14),
}
_VISIBLE_TEXTS: Final[Mapping[str, str]] = {"·": ":", "": "."}
"""The texts of free cells that a seat sees, by the text of the same cell out of sight."""
_ARROWS: Final = "↑↗→↘↓↙←↖"
_CROSSINGS: Final = "·╵╶└╷│┌├╴┘─┴┐┤┬┼"
"""Line characters by the sum of 1 for a line up, 2 right, 4 down, 8 left."""
_DIRECTIONS: Final = ((0, -1), (1, 0), (0, 1), (-1, 0))


@dataclass(frozen=True, slots=True)
class Overlay:
    """The user's current input, drawn over the scene."""

    cursor: str | None = None
    picked: tuple[str, ...] = ()
    targets: frozenset[str] = frozenset()
    names: bool = False
    """Whether cells show their names, for typing."""


NO_OVERLAY: Final = Overlay()


@dataclass(slots=True)
class CellStyle:
    """The style of one cell."""

    background: str
    text: str
    foreground: str
    fill_foreground: str
    """The color of the fill."""
    emblem_color: str
    """The color of text on a piece larger than one character."""
    left_edge: str = " "
    right_edge: str = " "
    bold: bool = False
    shape: Shape = ""
    fill: str = " "
    """The character that fills the rest of the cell."""
    lines: Sides | None = None
    """The lines that meet here, on a board of crossings."""
    box: bool = False
    """Whether the cell is separated from its neighbors: a card or a button."""
    key: bool = False
    """Whether the cell is a button."""
    heading: int | None = None

    @property
    def highlighted(self) -> bool:
        return self.left_edge in "([<"


def text_width(cell: Cell) -> int:
    """Return the number of columns that a cell's text needs.

    Buttons and the optional texts of empty cells count as one column: buttons reserve their own
    space, and optional texts are omitted if there is no room.
    """
    if _has_piece(cell):
        return cell_len(_piece_text(cell))
    optional = cell.kind == "button" or _KINDS[cell.kind].text
    return 1 if optional else max(1, cell_len(cell.glyph))


def cell_styles(
    scene: Scene, overlay: Overlay, room: int, colors: Palette = palette.DARK
) -> dict[str, CellStyle]:
    """Return the style of every cell; `room` is the number of columns for its text."""
    cells = {cell.name: cell for cell in scene.cells}
    points = {(cell.x, cell.y) for cell in scene.cells if cell.kind == "point"}
    styles = {name: _base_style(cell, points, room, colors) for name, cell in cells.items()}
    for mark in scene.marks:
        for name in mark.cells:
            if name in styles:
                _apply_mark(styles[name], cells[name], mark, colors)
    if overlay.names and room >= 3:
        _show_names(styles, cells, room, colors)
    for name in overlay.targets & styles.keys():
        _apply_target(styles[name], cells[name], colors, named=overlay.names)
    for name in overlay.picked:
        if name in styles:
            _apply_highlight(styles[name], colors.hint)
    if overlay.cursor in styles:
        _apply_highlight(styles[overlay.cursor], colors.cursor)
    return styles


def _base_style(
    cell: Cell, points: Collection[tuple[float, float]], room: int, colors: Palette
) -> CellStyle:
    kind, background = _KINDS[cell.kind], colors.cell_background(cell)
    text = kind.text if kind.text and cell_len(cell.glyph) > room else cell.glyph or kind.text
    fill_foreground = palette.blend(background, colors.text, 0.45 if kind.box else 0.16)
    style = CellStyle(
        background, text, colors.cursor, fill_foreground, colors.background, fill=kind.fill
    )
    if kind.box:
        style.box = style.bold = True
        style.key = cell.kind == "button"
        style.text = style.text or (cell.name if style.key else "")
    elif cell.kind == "point":
        style.lines = _grid_lines(cell, points)
        style.text = style.text or _crossing(style.lines)
        style.foreground, style.fill_foreground = colors.grid_lines, colors.dim
    else:
        faint = style.text == "·"
        style.foreground = palette.blend(background, colors.text, 0.3 if faint else 0.6)
        style.shape = kind.shape if faint else ""
    if cell.tint is not None and cell.kind in {"gone", "floor"}:
        trail = cell.kind == "floor" and not cell.glyph
        style.text = palette.trail_glyph(cell.tint) if trail else style.text
        colour = colors.seat(cell.tint)
        style.foreground = palette.blend(colour, background, 0.45 if trail else 0.25)
    if _has_piece(cell):
        _put_piece(style, cell, colors)
    return style


def _grid_lines(cell: Cell, points: Collection[tuple[float, float]]) -> Sides:
    up, right, down, left = ((cell.x + x, cell.y + y) in points for x, y in _DIRECTIONS)
    return up, right, down, left


def _crossing(lines: Sides) -> str:
    return _CROSSINGS[sum(1 << side for side, there in enumerate(lines) if there)]


def _has_piece(cell: Cell) -> bool:
    """Return whether a cell has a piece, even one without an owner."""
    return cell.owner is not None or cell.colour is not None


def _put_piece(style: CellStyle, cell: Cell, colors: Palette) -> None:
    """Show the piece on a cell, in the color of its seat."""
    style.text, style.bold = _piece_text(cell), True
    style.foreground = colors.text if cell.owner is None else colors.seat(cell.owner)
    style.heading = cell.heading
    if cell.colour is not None:
        style.emblem_color = palette.PIECE_TEXT_COLOURS[cell.colour]
    if cell.heading is not None:
        style.background = palette.blend(style.background, style.foreground, 0.28)
        style.shape = "hull"
    elif cell_len(style.text) == 1:
        style.shape = "peg"


def _piece_text(cell: Cell) -> str:
    own = palette.seat_glyph(cell.owner or 0)
    if cell.colour is not None:
        own = palette.PIECE_GLYPHS[cell.colour]
    glyph = cell.glyph or own
    return glyph if cell.heading is None else glyph + heading_arrow(cell.heading)


def heading_arrow(heading: int) -> str:
    """Return the arrow that points to `heading`, in degrees clockwise from north."""
    return _ARROWS[round(heading / 45) % 8]


def _apply_mark(style: CellStyle, cell: Cell, mark: Mark, colors: Palette) -> None:
    colour = colors.text if mark.seat is None else colors.seat(mark.seat)
    drawn = _MARKS[mark.kind]
    if drawn.text and _may_replace_text(cell):
        # The start of a move keeps its mark even if the path crosses it again.
        if mark.kind == "from" or style.text != _MARKS["from"].text:
            style.text, style.foreground, style.shape = drawn.text, colour, drawn.shape
        return
    if drawn.tint:
        style.background = palette.blend(style.background, colour, drawn.tint)
    if drawn.edges is not None:
        style.left_edge, style.right_edge = drawn.edges
    if mark.kind == "vision" and style.fill == " ":
        style.text = _VISIBLE_TEXTS.get(style.text, style.text)


def _may_replace_text(cell: Cell) -> bool:
    """Return whether a highlight may replace the text of a cell."""
    return not _has_piece(cell) and not cell.glyph and cell.kind not in {"gone", "rock", "wreck"}


def _show_names(
    styles: Mapping[str, CellStyle], cells: Mapping[str, Cell], room: int, colors: Palette
) -> None:
    for name, style in styles.items():
        if cell_len(name) <= room and cells[name].kind not in {"button", "rock"}:
            style.text, style.shape = name, ""
            style.foreground = palette.blend(style.foreground, colors.text, 0.4)


def _apply_target(style: CellStyle, cell: Cell, colors: Palette, *, named: bool) -> None:
    style.foreground, style.bold = colors.hint, True
    style.background = palette.blend(style.background, colors.hint, 0.16)
    if _may_replace_text(cell) and not named:
        style.text, style.shape = "◎", "ring"


def _apply_highlight(style: CellStyle, colour: str) -> None:
    style.left_edge, style.right_edge = "[", "]"
    style.background = palette.blend(style.background, colour, 0.30)
