"""A scene as terminal cells: characters with colours, and where each place of the board is.

The board is laid like bricks. A place is a brick of `Scale.columns` by `Scale.rows` terminal
cells; on a hexagonal lattice every second row is shifted by half a brick, so bricks tile the
board without holes and their ground colours show its shape. The character of a place stands
in the middle of its brick; brackets beside it show what has just happened or is being
chosen, so a board reads without colour too:

    ``(●)`` has just moved there    ``○`` came from there    ``•`` on its way
    ``[●]`` the cursor              ``◎`` may be chosen next
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from kibitz_clients import palette
from kibitz_games.scene import Cell, Ground, Lattice, Mark, Scene

_GROUND_GLYPHS: Final[dict[Ground, str]] = {
    "hole": "·",
    "home": "·",
    "goal": "·",
    "floor": "·",
    "fog": "░",
    "seen": " ",
    "rock": "▓",
    "wreck": "✕",
    "gone": " ",
    "number": " ",
}
Shape: TypeAlias = Literal["", "peg", "hole", "dot", "ring"]
_SHAPES: Final[dict[Shape, tuple[str, str]]] = {
    "peg": ("▗███▖", "▝███▘"),
    "hole": (" ▗▄▖ ", " ▝▀▘ "),
    "dot": (" ▗▄▖ ", " ▝▀▘ "),
    "ring": (" ╭─╮ ", " ╰─╯ "),
}
"""Places on bricks two rows high and at least five columns wide."""
_ARROWS: Final = "↑↗→↘↓↙←↖"


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of a brick, in terminal cells."""

    columns: int
    rows: int


HEX_SCALES: Final = (Scale(6, 2), Scale(4, 1), Scale(2, 1))
SQUARE_SCALES: Final = (Scale(6, 3), Scale(4, 2), Scale(3, 1), Scale(2, 1))
"""From the largest to the smallest; the last one is used where none fits."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """What the person at the terminal is doing, drawn over the scene."""

    cursor: str | None = None
    picked: tuple[str, ...] = ()
    targets: frozenset[str] = frozenset()
    names: bool = False
    """Whether places show their names, for typing them."""


NOTHING: Final = Overlay()


@dataclass(slots=True)
class _Look:
    """How one brick is drawn."""

    ground: str
    text: str
    ink: str
    left: str = " "
    right: str = " "
    bold: bool = False
    shape: Shape = ""
    """How it is drawn where bricks are two rows high; as its text when empty."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn board: rows of (character, style), and which place each cell belongs to."""

    rows: list[list[tuple[str, Style]]]
    places: dict[tuple[int, int], str] = field(repr=False)

    @property
    def width(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    @property
    def height(self) -> int:
        return len(self.rows)

    def at(self, column: int, row: int) -> str | None:
        """Return the name of the place drawn at a terminal cell."""
        return self.places.get((column, row))

    def segments(self, row: int) -> list[Segment]:
        """Return a row with neighbouring cells of one style joined."""
        joined: list[Segment] = []
        for text, style in self.rows[row]:
            if joined and joined[-1].style is style:
                joined[-1] = Segment(joined[-1].text + text, style)
            else:
                joined.append(Segment(text, style))
        return joined

    def text(self) -> Text:
        """Return the picture for a rich console."""
        lines = []
        for row in range(self.height):
            line = Text()
            for segment in self.segments(row):
                line.append(segment.text, segment.style)
            lines.append(line)
        return Text("\n").join(lines)

    def plain(self) -> str:
        """Return the picture as characters only."""
        return "\n".join("".join(text for text, _ in row).rstrip() for row in self.rows)


def size(scene: Scene, scale: Scale) -> tuple[int, int]:
    """Return the columns and rows that `scene` takes at `scale`."""
    if not scene.cells:
        return 0, 0
    layout = _Layout(scene, scale)
    return layout.width, layout.height


def fit(scene: Scene, width: int, height: int) -> Scale:
    """Return the largest scale at which `scene` fits, or the smallest of all."""
    scales = HEX_SCALES if scene.lattice == "hex" else SQUARE_SCALES
    for scale in scales:
        columns, rows = size(scene, scale)
        if columns <= width and rows <= height:
            return scale
    return scales[-1]


def draw(scene: Scene, scale: Scale, overlay: Overlay = NOTHING) -> Picture:
    """Draw `scene` with bricks of `scale`, and `overlay` over it."""
    if not scene.cells:
        return Picture([], {})
    layout = _Layout(scene, scale)
    looks = _looks(scene, overlay, scale)
    canvas = _Canvas(layout)
    for cell in scene.cells:
        canvas.brick(cell, looks[cell.name])
    canvas.mortar(scene.cells)
    return canvas.picture()


class _Layout:
    """Where bricks go."""

    def __init__(self, scene: Scene, scale: Scale) -> None:
        self.scale = scale
        self.inner = max(1, scale.columns - 1)
        self.unit = scale.columns / 2 if scene.lattice == "hex" else float(scale.columns)
        self.lattice: Lattice = scene.lattice
        self.left = min(cell.x for cell in scene.cells)
        self.top = min(cell.y for cell in scene.cells)
        right = max(cell.x for cell in scene.cells)
        bottom = max(cell.y for cell in scene.cells)
        self.width = round((right - self.left) * self.unit) + self.inner
        self.height = round((bottom - self.top) * scale.rows) + scale.rows

    def corner(self, cell: Cell) -> tuple[int, int]:
        """Return the column and row of the brick's upper left corner."""
        column = round((cell.x - self.left) * self.unit)
        return column, round((cell.y - self.top) * self.scale.rows)


class _Canvas:
    """Terminal cells that bricks are painted on."""

    def __init__(self, layout: _Layout) -> None:
        self.layout = layout
        blank = _style(palette.DIM, palette.BACKDROP)
        self.grid = [[(" ", blank)] * layout.width for _ in range(layout.height)]
        self.places: dict[tuple[int, int], str] = {}

    def brick(self, cell: Cell, look: _Look) -> None:
        column, row = self.layout.corner(cell)
        for down in range(self.layout.scale.rows):
            for across in range(self.layout.inner):
                self.places[column + across, row + down] = cell.name
        rows, inner = self.layout.scale.rows, self.layout.inner
        blank = _style(look.ink, look.ground)
        for down in range(rows):
            self._write(column, row + down, " " * inner, blank)
        if rows == 2 and inner >= 5 and look.shape:
            self._shape(column + (inner - 5) // 2, row, look)
            return
        middle = row + (rows - 1) // 2
        self._write(column, middle, _line(look, inner), _style(look.ink, look.ground, look.bold))
        if inner == 3 and look.left != " " and cell_len(look.text) == 1:
            edge = _style(palette.CURSOR, look.ground, bold=True)
            self._write(column, middle, look.left, edge)
            self._write(column + 2, middle, look.right, edge)

    def _shape(self, column: int, row: int, look: _Look) -> None:
        """Draw a place two rows high, so that it sits in the middle of its brick."""
        body = _style(look.ink, look.ground, look.bold)
        for down, text in enumerate(_SHAPES[look.shape]):
            self._write(column, row + down, text, body)
            if look.left != " ":
                edge = _style(palette.CURSOR, look.ground, bold=True)
                self._write(column, row + down, look.left, edge)
                self._write(column + 4, row + down, look.right, edge)
        if look.shape == "peg":
            cut = _style(palette.BACKDROP, look.ink, bold=True)
            self._write(column + 2, row, look.text, cut)

    def mortar(self, cells: Sequence[Cell]) -> None:
        """Colour the column between neighbours, so that the board has no stripes."""
        step = 2 if self.layout.lattice == "hex" else 1
        at = {(cell.x, cell.y): cell for cell in cells}
        for cell in cells:
            if (cell.x + step, cell.y) not in at:
                continue
            column, row = self.layout.corner(cell)
            style = _style(palette.DIM, palette.ground(cell))
            for down in range(self.layout.scale.rows):
                self._write(column + self.layout.inner, row + down, " ", style)

    def _write(self, column: int, row: int, text: str, style: Style) -> None:
        for character in text:
            self.grid[row][column] = (character, style)
            column += 1
            for _ in range(cell_len(character) - 1):
                self.grid[row][column] = ("", style)
                column += 1

    def picture(self) -> Picture:
        return Picture(self.grid, self.places)


_STYLES: dict[tuple[str, str, bool], Style] = {}


def _style(ink: str, ground: str, bold: bool = False) -> Style:
    """Return one style object for each look, so that rows join into few segments."""
    key = (ink, ground, bold)
    if key not in _STYLES:
        _STYLES[key] = Style(color=ink, bgcolor=ground, bold=bold)
    return _STYLES[key]


def _line(look: _Look, inner: int) -> str:
    """Centre the text of a brick between its brackets."""
    room = inner - 2 if inner > 2 else inner
    text = look.text if cell_len(look.text) <= inner else look.text[:inner]
    if inner < 3 or cell_len(text) > room:
        space = inner - cell_len(text)
        return " " * (space // 2) + text + " " * (space - space // 2)
    space = room - cell_len(text)
    before = space // 2
    return look.left + " " * before + text + " " * (space - before) + look.right


def _looks(scene: Scene, overlay: Overlay, scale: Scale) -> dict[str, _Look]:
    cells = {cell.name: cell for cell in scene.cells}
    looks = {name: _look(cell) for name, cell in cells.items()}
    for mark in scene.marks:
        _mark(looks, cells, mark)
    if overlay.names and scale.columns > 3:
        _show_names(looks, scale.columns - 1)
    for name in overlay.targets & looks.keys():
        _target(looks[name], free=cells[name].owner is None, named=overlay.names)
    for name in overlay.picked:
        if name in looks:
            _bracket(looks[name], "[]", palette.HINT)
    if overlay.cursor in looks:
        _bracket(looks[overlay.cursor], "[]", palette.CURSOR)
    return looks


def _look(cell: Cell) -> _Look:
    ground = palette.ground(cell)
    if cell.owner is not None:
        text = _piece(cell)
        shape: Shape = "peg" if cell_len(text) == 1 else ""
        return _Look(ground, text, palette.colour(cell.owner), bold=True, shape=shape)
    text = cell.glyph or _GROUND_GLYPHS[cell.ground]
    return _Look(
        ground,
        text,
        palette.mix(ground, palette.TEXT, 0.3 if text == "·" else 0.6),
        shape="hole" if text == "·" else "",
    )


def _piece(cell: Cell) -> str:
    if cell.heading is None:
        return cell.glyph or palette.glyph(cell.owner or 0)
    return cell.glyph + _ARROWS[round(cell.heading / 45) % 8]


def _mark(looks: dict[str, _Look], cells: dict[str, Cell], mark: Mark) -> None:
    ink = palette.TEXT if mark.seat is None else palette.colour(mark.seat)
    for name in mark.cells:
        if name not in looks:
            continue
        look, free = looks[name], cells[name].owner is None
        match mark.kind:
            case "from" if free:
                look.text, look.ink, look.shape = "○", ink, "ring"
            case "path" if free and look.text != "○":
                look.text, look.ink, look.shape = "•", ink, "dot"
            case "to":
                look.ground = palette.mix(look.ground, ink, 0.30)
                look.left, look.right = "(", ")"
            case "win":
                look.ground = palette.mix(look.ground, ink, 0.45)
                look.left, look.right = "(", ")"
            case "vision":
                look.ground = palette.mix(look.ground, ink, 0.12)
            case _:
                pass


def _show_names(looks: dict[str, _Look], room: int) -> None:
    for name, look in looks.items():
        if cell_len(name) <= room:
            look.text, look.shape = name, ""
            look.ink = palette.mix(look.ink, palette.TEXT, 0.4)


def _target(look: _Look, free: bool, named: bool) -> None:
    look.ink, look.bold = palette.HINT, True
    look.ground = palette.mix(look.ground, palette.HINT, 0.16)
    if free and not named:
        look.text, look.shape = "◎", "ring"


def _bracket(look: _Look, pair: str, ink: str) -> None:
    look.left, look.right = pair[0], pair[1]
    look.ground = palette.mix(look.ground, ink, 0.30)
