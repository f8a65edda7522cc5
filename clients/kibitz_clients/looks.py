"""How each place of a scene looks in a terminal, and what a person's choosing adds to it.

Every ground reads without colour too:

    ``·`` floor    `` `` seen    ``░`` fog    ``▓`` rock    ``▒✕▒`` wreck    ``×`` gone
    ``┼`` point    ``▏↑▕`` button             ``:`` floor and ``.`` seen that are in sight

and so do pieces, by the glyph of their seat, or where the game gives them a colour by that:

    ``●`` black              ``○`` white

and the highlights, by the brackets around a place:

    ``(●)`` has just moved there    ``○`` came from there    ``•`` on its way
    ``<●>`` acted from there
    ``[●]`` the cursor              ``◎`` may be chosen next
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rich.cells import cell_len

from kibitz_clients import palette
from kibitz_games.scene import Cell, Ground, Mark, Scene

Shape: TypeAlias = Literal["", "peg", "hole", "dot", "ring", "hull"]
"""What is drawn where there is room for more than a character."""
Sides: TypeAlias = tuple[bool, bool, bool, bool]
"""Whether there is a line up, right, down, left."""

_GLYPHS: Final[Mapping[Ground, str]] = {
    "hole": "·",
    "home": "·",
    "goal": "·",
    "floor": "·",
    "wreck": "✕",
    "gone": "×",
}
_FILLS: Final[Mapping[Ground, str]] = {"fog": "░", "rock": "▓", "wreck": "▒"}
_IN_SIGHT: Final[Mapping[str, str]] = {"·": ":", "": "."}
_ARROWS: Final = "↑↗→↘↓↙←↖"
_CROSSINGS: Final[Mapping[Sides, str]] = {
    (False, False, False, False): "·",
    (True, False, False, False): "╵",
    (False, True, False, False): "╶",
    (False, False, True, False): "╷",
    (False, False, False, True): "╴",
    (True, False, True, False): "│",
    (False, True, False, True): "─",
    (True, True, False, False): "└",
    (False, True, True, False): "┌",
    (False, False, True, True): "┐",
    (True, False, False, True): "┘",
    (True, True, True, False): "├",
    (True, False, True, True): "┤",
    (False, True, True, True): "┬",
    (True, True, False, True): "┴",
    (True, True, True, True): "┼",
}
_WAYS: Final = ((0, -1), (1, 0), (0, 1), (-1, 0))


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
class Look:
    """How one place is drawn."""

    ground: str
    text: str
    ink: str
    left: str = " "
    right: str = " "
    bold: bool = False
    shape: Shape = ""
    fill: str = " "
    """What the rest of the place is filled with."""
    fill_ink: str = palette.DIM
    lines: Sides | None = None
    """The lines that meet here, on a board of crossings."""
    box: bool = False
    """Whether it stands apart from its neighbours: a card or a key."""
    key: bool = False
    """Whether it is pressed rather than stood on."""
    heading: int | None = None
    emblem: str = palette.BACKDROP
    """What the text is drawn in on a piece that is larger than a character."""

    @property
    def bracketed(self) -> bool:
        return self.left in "([<"


def width(cell: Cell) -> int:
    """Return the columns that the text of a place needs; keys make room for themselves."""
    if cell.ground == "button":
        return 1
    return max(1, cell_len(_piece(cell) if _taken(cell) else cell.glyph))


def looks(scene: Scene, overlay: Overlay, room: int) -> dict[str, Look]:
    """Return the look of every place; names longer than `room` columns are not shown."""
    cells = {cell.name: cell for cell in scene.cells}
    points = {(cell.x, cell.y) for cell in scene.cells if cell.ground == "point"}
    looks = {name: _look(cell, points) for name, cell in cells.items()}
    for mark in scene.marks:
        _mark(looks, cells, mark)
    if overlay.names and room >= 3:
        _show_names(looks, cells, room)
    for name in overlay.targets & looks.keys():
        _target(looks[name], cells[name], named=overlay.names)
    for name in overlay.picked:
        if name in looks:
            _bracket(looks[name], palette.HINT)
    if overlay.cursor in looks:
        _bracket(looks[overlay.cursor], palette.CURSOR)
    return looks


def _look(cell: Cell, points: Iterable[tuple[float, float]]) -> Look:
    ground = palette.ground(cell)
    ink = palette.mix(ground, palette.TEXT, 0.6)
    match cell.ground:
        case "point":
            look = Look(ground, cell.glyph, palette.LINES, lines=_lines(cell, points))
            look.text = look.text or _CROSSINGS[look.lines or (False,) * 4]
        case "number":
            look = Look(ground, cell.glyph, palette.CURSOR, bold=True, box=True)
        case "button":
            look = Look(ground, cell.glyph or cell.name, palette.CURSOR, bold=True, box=True)
            look.key = True
        case _:
            text = cell.glyph or _GLYPHS.get(cell.ground, "")
            hole = cell.ground in {"hole", "home", "goal"} and text == "·"
            faint = palette.mix(ground, palette.TEXT, 0.3)
            fill = _FILLS.get(cell.ground, " ")
            look = Look(ground, text, faint if text == "·" else ink, fill=fill)
            look.shape = "hole" if hole else ""
            look.fill_ink = palette.mix(ground, palette.TEXT, 0.16)
    if look.box:
        look.fill_ink = palette.mix(ground, palette.TEXT, 0.45)
    if cell.ground == "gone" and cell.tint is not None:
        look.ink = palette.mix(palette.colour(cell.tint), ground, 0.25)
    return _occupied(look, cell) if _taken(cell) else look


def _taken(cell: Cell) -> bool:
    """Whether a piece stands on a place, be it nobody's."""
    return cell.owner is not None or cell.colour is not None


def _occupied(look: Look, cell: Cell) -> Look:
    """Put a piece on a place, in the colour of its seat."""
    ink = palette.TEXT if cell.owner is None else palette.colour(cell.owner)
    look.text, look.ink, look.bold = _piece(cell), ink, True
    look.heading = cell.heading
    if cell.colour is not None:
        look.emblem = palette.STONE_INKS[cell.colour]
    if cell.heading is not None:
        look.ground = palette.mix(look.ground, look.ink, 0.28)
        look.shape = "hull"
    elif cell_len(look.text) == 1:
        look.shape = "peg"
    return look


def _piece(cell: Cell) -> str:
    own = palette.glyph(cell.owner or 0) if cell.colour is None else palette.STONES[cell.colour]
    glyph = cell.glyph or own
    return glyph if cell.heading is None else glyph + arrow(cell.heading)


def arrow(heading: int) -> str:
    """Return the arrow that points to `heading`, in degrees clockwise from north."""
    return _ARROWS[round(heading / 45) % 8]


def _lines(cell: Cell, points: Iterable[tuple[float, float]]) -> Sides:
    up, right, down, left = ((cell.x + x, cell.y + y) in points for x, y in _WAYS)
    return up, right, down, left


def _mark(looks: dict[str, Look], cells: dict[str, Cell], mark: Mark) -> None:
    ink = palette.TEXT if mark.seat is None else palette.colour(mark.seat)
    for name in mark.cells:
        if name not in looks:
            continue
        look, free = looks[name], _free(cells[name])
        match mark.kind:
            case "from" if free:
                look.text, look.ink, look.shape = "○", ink, "ring"
            case "from":
                look.ground = palette.mix(look.ground, ink, 0.22)
                look.left, look.right = "<", ">"
            case "path" if free and look.text != "○":
                look.text, look.ink, look.shape = "•", ink, "dot"
            case "to":
                look.ground = palette.mix(look.ground, ink, 0.30)
                look.left, look.right = "(", ")"
            case "win":
                look.ground = palette.mix(look.ground, ink, 0.38)
                look.left, look.right = "(", ")"
            case "vision":
                look.ground = palette.mix(look.ground, ink, 0.14)
                if look.fill == " ":
                    look.text = _IN_SIGHT.get(look.text, look.text)
            case _:
                pass


def _free(cell: Cell) -> bool:
    """Whether a highlight may be drawn in place of what is there."""
    return not _taken(cell) and not cell.glyph and cell.ground not in {"gone", "rock", "wreck"}


def _show_names(looks: dict[str, Look], cells: dict[str, Cell], room: int) -> None:
    for name, look in looks.items():
        if cell_len(name) <= room and cells[name].ground not in {"button", "rock"}:
            look.text, look.shape = name, ""
            look.ink = palette.mix(look.ink, palette.TEXT, 0.4)


def _target(look: Look, cell: Cell, named: bool) -> None:
    look.ink, look.bold = palette.HINT, True
    look.ground = palette.mix(look.ground, palette.HINT, 0.16)
    if _free(cell) and not named:
        look.text, look.shape = "◎", "ring"


def _bracket(look: Look, ink: str) -> None:
    look.left, look.right = "[", "]"
    look.ground = palette.mix(look.ground, ink, 0.30)
