"""A scene as terminal cells: colored characters, and the positions of the board's cells.

Each cell of the board is a tile of `TileSize.columns` by `TileSize.rows` terminal cells. On a
hexagonal lattice every second row is shifted by half a tile, so the tiles fill the board without
holes and their background colors show its shape. The last column of a tile is the gutter to its
neighbor. The text of a cell, from `cell_style`, is centered in its tile. Brackets beside it show
the last move or the current choice, so a board is readable without color.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from kibitz_clients import palette
from kibitz_clients.palette import Palette
from kibitz_clients.render.terminal.cell_style import (
    NO_OVERLAY,
    CellStyle,
    Overlay,
    cell_styles,
    text_width,
)
from kibitz_games.core.scene import Cell, Label, Scene

_TWO_ROW_SHAPES: Final[Mapping[str, tuple[str, ...]]] = {
    "peg": ("▗███▖", "▝███▘"),
    "hole": (" ▗▄▖ ", " ▝▀▘ "),
    "dot": (" ▗▄▖ ", " ▝▀▘ "),
    "ring": (" ╭─╮ ", " ╰─╯ "),
}
"""Pegs, holes and highlights on tiles of five columns and two rows."""
_THREE_ROW_SHAPES: Final[Mapping[str, tuple[str, ...]]] = {
    "peg": ("▗▄▄▄▖", "▐███▌", "▝▀▀▀▘"),
    "dot": ("     ", "  •  ", "     "),
    "ring": ("╭───╮", "│   │", "╰───╯"),
}
"""Pieces and highlights on tiles of five columns and three rows."""
_HULLS: Final = (
    ("  ┃  ", "▗█▀█▖", "▐███▌"),
    ("▄▄▄▄ ", "██ ━━", "▀▀▀▀ "),
    ("▐███▌", "▝█▄█▘", "  ┃  "),
    (" ▄▄▄▄", "━━ ██", " ▀▀▀▀"),
)
"""Pieces that face north, east, south and west, on tiles of that size."""

TILE_KINDS: Final = frozenset({"floor", "fog", "seen", "rock", "wreck", "gone"})
_SEPARATED_KINDS: Final = TILE_KINDS | {"number", "button"}
"""Kinds of cells that are separated from their neighbors by a visible gutter."""
_CARD: Final = ("╭───╮", "│   │", "╰───╯")


@dataclass(frozen=True, slots=True)
class TileSize:
    """The size of a tile, in terminal cells, including its gutter."""

    columns: int
    rows: int

    @property
    def inner(self) -> int:
        """The columns of a tile without its gutter."""
        return max(1, self.columns - 1)


HEX_TILE_SIZES: Final = (TileSize(6, 2), TileSize(4, 1), TileSize(2, 1))
SQUARE_TILE_SIZES: Final = (
    TileSize(6, 3),
    TileSize(4, 2),
    TileSize(4, 1),
    TileSize(3, 1),
    TileSize(2, 1),
)
"""Tile sizes from the largest to the smallest; the last one is used if none fits."""


@dataclass(frozen=True, slots=True)
class DrawnBoard:
    """A drawn board: rows of (character, style), and the board cell shown by each terminal cell."""

    rows: list[list[tuple[str, Style]]]
    places: dict[tuple[int, int], str] = field(repr=False)

    @property
    def width(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    @property
    def height(self) -> int:
        return len(self.rows)

    def at(self, column: int, row: int) -> str | None:
        """Return the name of the board cell drawn at a terminal cell."""
        return self.places.get((column, row))

    def segments(self, row: int) -> list[Segment]:
        """Return a row in segments of the same style."""
        joined: list[Segment] = []
        for text, style in self.rows[row]:
            if joined and joined[-1].style is style:
                joined[-1] = Segment(joined[-1].text + text, style)
            else:
                joined.append(Segment(text, style))
        return joined

    def text(self) -> Text:
        """Return the drawing as rich text."""
        lines = []
        for row in range(self.height):
            line = Text()
            for segment in self.segments(row):
                line.append(segment.text, segment.style)
            lines.append(line)
        return Text("\n").join(lines)

    def plain(self) -> str:
        """Return the drawing as plain characters."""
        return "\n".join("".join(text for text, _ in row).rstrip() for row in self.rows)


def board_size(scene: Scene, scale: TileSize) -> tuple[int, int]:
    """Return the columns and rows that `scene` needs at `scale`, including labels."""
    if not scene.cells:
        return 0, 0
    layout = _Layout(scene, scale)
    return layout.width, layout.height


def fit_tile_size(scene: Scene, width: int, height: int) -> TileSize:
    """Return the largest scale at which `scene` fits without cut text, or the smallest scale."""
    return fitting_tile_size(scene, width, height) or _tile_sizes(scene)[-1]


def fitting_tile_size(scene: Scene, width: int, height: int) -> TileSize | None:
    """Return the largest scale at which `scene` fits without cut text, or None."""
    for scale in _tile_sizes(scene):
        columns, rows = board_size(scene, scale)
        uncut = all(text_width(cell) <= _text_columns(scene, cell, scale) for cell in scene.cells)
        if columns <= width and rows <= height and uncut:
            return scale
    return None


def _tile_sizes(scene: Scene) -> tuple[TileSize, ...]:
    return HEX_TILE_SIZES if scene.lattice == "hex" else SQUARE_TILE_SIZES


def draw(
    scene: Scene,
    scale: TileSize,
    overlay: Overlay = NO_OVERLAY,
    colors: Palette = palette.DARK,
) -> DrawnBoard:
    """Draw `scene` with tiles of `scale`, with `overlay` on top."""
    if not scene.cells:
        return DrawnBoard([], {})
    layout = _Layout(scene, scale)
    made = cell_styles(scene, overlay, scale.inner, colors)
    canvas = _Canvas(scene, layout, colors)
    for label in scene.labels:
        canvas.label(label)
    for cell in scene.cells:
        canvas.tile(cell, made[cell.name])
    canvas.gutters(made)
    for cell in scene.cells:
        canvas.highlight(cell, made[cell.name])
    return canvas.drawn_board()


class _Layout:
    """The positions of tiles and labels.

    Labels outside the board do not use tiles; they share a margin as wide as the longest label.
    """

    def __init__(self, scene: Scene, scale: TileSize) -> None:
        self.scale = scale
        self.hexagonal = scene.lattice == "hex"
        self.unit = scale.columns / 2 if self.hexagonal else float(scale.columns)
        board = [cell for cell in scene.cells if cell.kind != "button"] or scene.cells
        self.left = min(cell.x for cell in scene.cells)
        self.top = min(cell.y for cell in scene.cells)
        self.right = max(cell.x for cell in scene.cells)
        self.bottom = max(cell.y for cell in scene.cells)
        # Buttons on the right are moved this much closer, since a gap of a whole tile is too wide.
        self.beside = max(cell.x for cell in board)
        self.gap = scale.columns - 1 if self.right >= self.beside + 2 else 0
        # Narrow tiles have no room for brackets; those at the edge are drawn beside the board.
        spare = int(any(text_width(c) + 2 > _text_columns(scene, c, scale) for c in scene.cells))
        labels = scene.labels
        step = 2 if self.hexagonal else 1
        # From here on labels are beside the board.
        self.before, self.after = self.left - step, self.right + step
        before = max((cell_len(i.text) + 1 for i in labels if i.x <= self.before), default=spare)
        spare = 0 if self.gap else spare
        after = max((cell_len(i.text) + 1 for i in labels if i.x >= self.after), default=spare)
        self.head = int(any(i.y < self.top for i in labels))
        foot = int(any(i.y > self.bottom for i in labels))
        self.margin = before
        self.board = round((self.right - self.left) * self.unit) + scale.inner - self.gap
        self.whole = any(_fills_tile(scene, cell) for cell in scene.cells)
        if self.whole:
            self.board += scale.columns - scale.inner
        self.rows = round((self.bottom - self.top) * scale.rows) + scale.rows
        self.width = before + self.board + after
        self.height = self.head + self.rows + foot

    def corner(self, x: float, y: float) -> tuple[int, int]:
        """Return the column and row of the upper left corner of a cell's tile."""
        column = self.margin + round((x - self.left) * self.unit)
        column -= self.gap if x >= self.beside + 2 else 0
        return column, self.head + round((y - self.top) * self.scale.rows)

    def middle(self, row: int) -> int:
        """Return the row of a tile's text, given its first row."""
        return row + (self.scale.rows - 1) // 2

    def label(self, label: Label) -> tuple[int, int]:
        """Return the column and row where a label starts."""
        column, row = self.corner(label.x, label.y)
        inner = self.scale.columns if self.whole else self.scale.inner
        column += (inner - cell_len(label.text)) // 2
        row = self.middle(row)
        if label.x <= self.before:
            column = self.margin - 1 - cell_len(label.text)
        elif label.x >= self.after:
            column = self.margin + self.board + 1
        if label.y < self.top:
            row = 0
        elif label.y > self.bottom:
            row = self.height - 1
        return max(0, min(column, self.width - cell_len(label.text))), row


def _fills_tile(scene: Scene, cell: Cell) -> bool:
    """Return whether a cell fills its tile including the gutter, as on the square lattice."""
    return scene.lattice == "square" and cell.kind in TILE_KINDS


def _text_columns(scene: Scene, cell: Cell, scale: TileSize) -> int:
    """Return the columns of a cell's tile; a button has at least three."""
    if cell.kind == "button":
        return max(scale.inner, min(3, scale.columns))
    return scale.columns if _fills_tile(scene, cell) else scale.inner


class _Canvas:
    """The terminal cells that tiles are painted on."""

    def __init__(self, scene: Scene, layout: _Layout, colors: Palette) -> None:
        self.colors = colors
        self.scene = scene
        self.layout = layout
        self.blank = _style(colors.dim, colors.background)
        self.grid = [[(" ", self.blank)] * layout.width for _ in range(layout.height)]
        self.places: dict[tuple[int, int], str] = {}
        # The terminal cells with a bracket that belongs to the board cell on its left.
        self.closing: set[tuple[int, int]] = set()

    def label(self, label: Label) -> None:
        """Write a label, unless it would touch the previous one."""
        column, row = self.layout.label(label)
        if column == 0 or self.grid[row][column - 1][0] == " ":
            self._write(column, row, label.text, self.blank)

    def tile(self, cell: Cell, cell_style: CellStyle) -> None:
        column, row = self.layout.corner(cell.x, cell.y)
        inner, rows = self._tile_columns(cell, cell_style), self.layout.scale.rows
        fill = _style(cell_style.fill_foreground, cell_style.background)
        for down in range(rows):
            for across in range(inner):
                self.places[column + across, row + down] = cell.name
            self._write(column, row + down, cell_style.fill * inner, fill)
        body = _style(cell_style.foreground, cell_style.background, cell_style.bold)
        if cell_style.lines is not None:
            self._grid_lines(column, row, cell_style)
        shape = self._shape(cell_style)
        edge = _style(cell_style.fill_foreground, cell_style.background) if cell_style.box else body
        for down, text in enumerate(shape):
            self._write(column + (inner - 5) // 2, row + down, text, edge)
        if not shape:
            self._write_text(column, row, cell_style, body, inner)
        elif cell_style.text and (cell_style.shape in {"peg", "hull"} or cell_style.box):
            self._emblem(column, row, cell_style, inner)

    def _tile_columns(self, cell: Cell, cell_style: CellStyle) -> int:
        """Return the columns of a tile; a button is at least as wide as its text."""
        room = _text_columns(self.scene, cell, self.layout.scale)
        return max(room, cell_len(cell_style.text)) if cell_style.key else room

    def _shape(self, cell_style: CellStyle) -> tuple[str, ...]:
        """Return the cell's drawing as rows of five columns; empty if it does not fit the tile."""
        inner, rows = self.layout.scale.inner, self.layout.scale.rows
        if inner < 5 or rows < 2:
            return ()
        if cell_style.box and rows == 3 and cell_len(cell_style.text) <= 3:
            return _CARD
        if cell_style.shape == "hull" and cell_style.heading is not None and rows == 3:
            return _HULLS[round(cell_style.heading / 90) % 4]
        return (_THREE_ROW_SHAPES if rows == 3 else _TWO_ROW_SHAPES).get(cell_style.shape, ())

    def _emblem(self, column: int, row: int, cell_style: CellStyle, inner: int) -> None:
        """Draw a shape with the text cut out."""
        solid = cell_style.shape in {"peg", "hull"}
        ground, ink = (
            (cell_style.foreground, cell_style.emblem_color)
            if solid
            else (cell_style.background, cell_style.foreground)
        )
        text = cell_style.text[:1] if cell_style.shape == "hull" else cell_style.text
        at = column + (inner - 5) // 2 + (5 - cell_len(text)) // 2
        self._write(at, self.layout.middle(row), text, _style(ink, ground, bold=True))

    def _write_text(
        self, column: int, row: int, cell_style: CellStyle, style: Style, inner: int
    ) -> None:
        """Write the text of a tile centered, or a placeholder if it does not fit."""
        text = cell_style.text if cell_len(cell_style.text) <= inner else "…"
        at = column + (inner - cell_len(text)) // 2
        self._write(at, self.layout.middle(row), text, style)
        if cell_style.key and cell_len(text) + 2 <= inner:
            edge = _style(cell_style.fill_foreground, cell_style.background)
            self._write(column, self.layout.middle(row), "▏", edge)
            self._write(column + inner - 1, self.layout.middle(row), "▕", edge)

    def _grid_lines(self, column: int, row: int, cell_style: CellStyle) -> None:
        """Draw the lines that meet at a crossing, up to the edge of its tile."""
        inner, rows = self.layout.scale.inner, self.layout.scale.rows
        middle, centre = self.layout.middle(row), column + (inner - 1) // 2
        up, right, down, left = cell_style.lines or (False,) * 4
        style = _style(self.colors.grid_lines, cell_style.background)
        for y in range(row, row + rows):
            if (up and y < middle) or (down and y > middle):
                self._write(centre, y, "│", style)
        for x in range(column, column + inner):
            if (left and x < centre) or (right and x > centre):
                self._write(x, middle, "─", style)

    def gutters(self, made: Mapping[str, CellStyle]) -> None:
        """Fill the column between neighbors, so that the board has no stripes."""
        step = 2 if self.layout.hexagonal else 1
        at = {(cell.x, cell.y): cell for cell in self.scene.cells}
        for (x, y), cell in at.items():
            beyond = at.get((x + step, y))
            if beyond is not None and not {cell.kind, beyond.kind} & _SEPARATED_KINDS:
                self._fill_gutter(cell, made[cell.name], made[beyond.name])

    def _fill_gutter(self, cell: Cell, cell_style: CellStyle, beyond: CellStyle) -> None:
        ground = (
            cell_style.background
            if cell_style.background == beyond.background
            else self.colors.cell_background(cell)
        )
        column, row = self.layout.corner(cell.x, cell.y)
        column += self.layout.scale.inner
        for y in range(row, row + self.layout.scale.rows):
            self._write(column, y, " ", _style(self.colors.dim, ground))
        if cell_style.lines is not None and beyond.lines is not None:
            style = _style(self.colors.grid_lines, ground)
            self._write(column, self.layout.middle(row), "─", style)

    def highlight(self, cell: Cell, cell_style: CellStyle) -> None:
        """Write the brackets of a cell, in the gutter on narrow tiles."""
        if not cell_style.highlighted:
            return
        column, row = self.layout.corner(cell.x, cell.y)
        inner = self._tile_columns(cell, cell_style)
        middle = self.layout.middle(row)
        rows = (
            range(row, row + 2) if len(self._shape(cell_style)) == 2 else range(middle, middle + 1)
        )
        text = min(cell_len(cell_style.text), inner)
        before = (inner - text) // 2
        left = column if before else column - 1
        right = column + max(inner - 1, before + text)
        for y in rows:
            self._highlight_edge(left, y, cell_style.left_edge, cell_style.background)
            self._highlight_edge(right, y, cell_style.right_edge, cell_style.background)
            self.closing.add((right, y))

    def _highlight_edge(self, column: int, row: int, text: str, ground: str) -> None:
        if 0 <= column < self.layout.width:
            # Two neighbors with a common gutter column share a bracket.
            text = "|" if (column, row) in self.closing else text
            self._write(column, row, text, _style(self.colors.cursor, ground, bold=True))

    def _write(self, column: int, row: int, text: str, style: Style) -> None:
        for character in text:
            if not 0 <= column < self.layout.width:
                return
            self.grid[row][column] = (character, style)
            column += 1
            for _ in range(cell_len(character) - 1):
                self.grid[row][column] = ("", style)
                column += 1

    def drawn_board(self) -> DrawnBoard:
        return DrawnBoard(self.grid, self.places)


_STYLES: dict[tuple[str, str, bool], Style] = {}


def _style(ink: str, ground: str, bold: bool = False) -> Style:
    """Return the same style object for each combination, so that rows form few segments."""
    key = (ink, ground, bold)
    if key not in _STYLES:
        _STYLES[key] = Style(color=ink, bgcolor=ground, bold=bold)
    return _STYLES[key]
