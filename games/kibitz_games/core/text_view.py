"""A scene as compact text: for language models, screen readers and terminals without graphics.

It has four parts; a game without a board omits the two in the middle::

    black: 3 stones, ada, to move            the lines of the scene's text
    white: 2 stones, bob
      a1  . . . . .                          the board: a symbol for each cell, rows from the top,
      a2  . 1 2 . .                          each after the name of its first cell
    . free; 1 ada, black; 2 bob, white       the symbols that occur
    ada: b2 ...                              where each seat's pieces are, as moves name the cells
    last move to b2 by ada                   the marks

A cell shows the seat number of its piece, otherwise its ground. A cell whose glyph is its name or a
number shows the glyph.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from kibitz_games.core.scene import Cell, CellKind, Mark, MarkKind, Scene, seat_name, with_names

_GROUNDS: Final[dict[CellKind, tuple[str, str]]] = {
    "hole": (".", "free"),
    "home": (".", "free"),
    "goal": (".", "free"),
    "point": (".", "free"),
    "floor": (".", "free"),
    "fog": ("?", "unknown"),
    "seen": (",", "free, visited"),
    "rock": ("#", "rock"),
    "wreck": ("%", "wreck"),
    "gone": ("-", "gone"),
    "number": ("0", "a number"),
}
"""The symbol for each kind of ground, and its meaning. Buttons are not on the board."""
_TINTED: Final[dict[CellKind, str]] = {
    "home": "free, home of {}",
    "goal": "free, goal of {}",
    "gone": "crossed out by {}",
    "floor": "free, visited by {}",
}
_MARKS: Final[dict[MarkKind, str]] = {
    "from": "last move from {cells}{by}",
    "to": "last move to {cells}{by}",
    "path": "its path: {cells}{by}",
    "win": "winning line: {cells}{by}",
    "vision": "in sight{of}: {cells}",
}
_HEADINGS: Final = ("north", "east", "south", "west")
_Name = Callable[[int], str]


def scene_text(scene: Scene, names: Sequence[str] = ()) -> str:
    """Return a scene as text, with the players' `names` by seat in place of ``seat 1``."""

    def name(seat: int) -> str:
        return names[seat] if seat < len(names) else seat_name(seat)

    cells = [cell for cell in scene.cells if cell.kind != "button"]
    buttons = [cell.name for cell in scene.cells if cell.kind == "button"]
    lines = [*with_names(scene, names).text]
    if cells:
        legend = "; ".join(_legend(scene, cells, name))
        lines += [*_board(scene, cells), *([legend] if legend else []), *_pieces(cells, name)]
    lines += [_mark_line(mark, name) for mark in scene.marks]
    lines += [f"other choices: {' '.join(buttons)}"] if buttons else []
    return "\n".join(lines)


def symbol(cell: Cell) -> str:
    """Return the symbol of a cell: its piece, or its ground if it is empty."""
    if cell.owner is not None:
        return str(cell.owner + 1)
    if cell.colour is not None:
        return cell.colour[0]
    if cell.kind == "number" or cell.glyph == cell.name:
        return cell.glyph
    if cell.tint is not None and cell.kind in _TINTED:
        return chr(ord("a") + cell.tint)
    return _GROUNDS[cell.kind][0]


def _board(scene: Scene, cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the rows from the top, each after the name of its first cell."""
    width = max(len(symbol(cell)) for cell in cells) + 1
    left = min(cell.x for cell in cells)
    apart = (width + 1) // 2 if scene.lattice == "hex" else width  # text columns per unit of x
    rows: dict[float, list[Cell]] = defaultdict(list)
    for cell in sorted(cells, key=lambda cell: (cell.y, cell.x)):
        rows[cell.y].append(cell)
    margin = max(len(row[0].name) for row in rows.values())
    for row in rows.values():
        text = ""
        for cell in row:
            text = text.ljust(int((cell.x - left) * apart)) + symbol(cell)
        yield f"{row[0].name:>{margin}}  {text}"


def _legend(scene: Scene, cells: Sequence[Cell], name: _Name) -> Iterator[str]:
    """Yield the meaning of each symbol that occurs, once."""
    meanings = dict.fromkeys((symbol(cell), _meaning(scene, cell, name)) for cell in cells)
    named = any(cell.glyph == cell.name for cell in cells)
    yield from (f"{sign} {text}" for sign, text in sorted(meanings) if text)
    if named:
        yield "a cell's name: free"


def _meaning(scene: Scene, cell: Cell, name: _Name) -> str:
    """Return the meaning of a cell's symbol; empty if the symbol needs no explanation."""
    if cell.owner is not None:
        colour = f", {scene.colours[cell.owner]}" if cell.owner < len(scene.colours) else ""
        return name(cell.owner) + colour
    if cell.colour is not None:
        return f"{cell.colour}, not assigned yet"
    if cell.kind == "number" or cell.glyph == cell.name:
        return ""
    if cell.tint is not None and cell.kind in _TINTED:
        return _TINTED[cell.kind].format(name(cell.tint))
    return _GROUNDS[cell.kind][1]


def _pieces(cells: Sequence[Cell], name: _Name) -> Iterator[str]:
    """Yield a line for each seat with the cells of its pieces, named as in moves."""
    places: dict[int, list[str]] = defaultdict(list)
    for cell in cells:
        if cell.owner is not None:
            places[cell.owner].append(cell.name + _facing(cell))
    for seat, where in sorted(places.items()):
        yield f"{name(seat)}: {' '.join(where)}"


def _facing(cell: Cell) -> str:
    return "" if cell.heading is None else f" facing {_HEADINGS[cell.heading // 90 % 4]}"


def _mark_line(mark: Mark, name: _Name) -> str:
    who = None if mark.seat is None else name(mark.seat)
    return _MARKS[mark.kind].format(
        cells=" ".join(mark.cells),
        by=f" by {who}" if who else "",
        of=f" of {who}" if who else "",
    )
