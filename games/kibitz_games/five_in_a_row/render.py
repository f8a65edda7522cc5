"""The drawing of a view: intersections with stones, coordinates, the last stone, the winning row.

Column a is on the left and row 1 at the top, as in the rows of a view. While a player has to choose
a color, there are two buttons beside the board.
"""

from __future__ import annotations

import functools

from kibitz_games.core.scene import Cell, Label, Mark, PieceColour, Scene, seat_name
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_games.five_in_a_row.models import COLOURS, View

_STONES = "xo"
_COLOUR_OF: dict[str, PieceColour] = {"x": "black", "o": "white"}


def scene(view: View) -> Scene:
    """Return the scene of a view.

    The owner of a stone is the seat with its color; before colors are chosen, stones have no owner.
    """
    size, owners = view.options.size, _owners(view)
    cells = [
        _cell(x, y, owners.get(stone), _COLOUR_OF.get(stone))
        for y, row in enumerate(view.board)
        for x, stone in enumerate(row)
    ]
    if choosing(view):
        cells += _buttons(size)
    colours = tuple(view.colours or ())
    return Scene("square", tuple(cells), _marks(view), _text(view), _labels(size), colours)


def choosing(view: View) -> bool:
    """Return whether the seat to act has to choose a color."""
    return view.to_act >= 0 and view.colours is None and view.to_act != view.opener


def _owners(view: View) -> dict[str, int]:
    """Return the seat of each stone; empty before colors are chosen."""
    if view.colours is None:
        return {}
    return {"x": view.colours.index("black"), "o": view.colours.index("white")}


def _seat(view: View, stone: str) -> int:
    """Return the seat that has a color; the opener has black if no color has been chosen."""
    black = view.opener if view.colours is None else view.colours.index("black")
    return black if stone == "x" else 1 - black


@functools.cache
def _cell(x: int, y: int, owner: int | None, colour: PieceColour | None) -> Cell:
    return Cell(geo.name(x, y), x, y, kind="point", owner=owner, colour=colour)


@functools.cache
def _buttons(size: int) -> tuple[Cell, ...]:
    """Return a button for each color, next to the middle of the board."""
    middle = (size - 1) // 2
    return tuple(
        Cell(colour, size + 1, middle + 2 * i, kind="button", glyph=colour[0].upper())
        for i, colour in enumerate(COLOURS)
    )


@functools.cache
def _labels(size: int) -> tuple[Label, ...]:
    columns = (Label(chr(ord("a") + x), x, -1) for x in range(size))
    rows = (Label(str(y + 1), -1, y) for y in range(size))
    return (*columns, *rows)


def _marks(view: View) -> tuple[Mark, ...]:
    marks = []
    if view.line:
        marks.append(Mark("win", tuple(geo.name(*at) for at in view.line), view.winner))
    if len(view.moves) > view.opening:
        x, y = view.moves[-1]
        marks.append(Mark("to", (geo.name(x, y),), _owners(view).get(view.board[y][x])))
    return tuple(marks)


def _text(view: View) -> tuple[str, ...]:
    if view.colours is None and view.over is None:
        return (_swap_line(view), *(_count(view, colour) for colour in COLOURS))
    return tuple(_line(view, colour) for colour in COLOURS)


def _swap_line(view: View) -> str:
    """Return the status line for a swap opening."""
    if choosing(view):
        return f"{seat_name(view.to_act)} chooses black or white (white moves next)"
    left = 3 - len(view.moves)
    opener = seat_name(view.to_act)
    return f"{opener} places both colors (stones left: {left}), then the other chooses"


def _count(view: View, colour: str) -> str:
    stone = _STONES[COLOURS.index("white") if colour == "white" else 0]
    number = sum(row.count(stone) for row in view.board)
    return f"{colour}: {number} stone{'' if number == 1 else 's'}"


def _line(view: View, colour: str) -> str:
    """Return the line for a color: its number of stones, player and status."""
    seat = _seat(view, "x" if colour == "black" else "o")
    doing = ", to move" if view.to_act == seat else _result(view, seat)
    return f"{_count(view, colour)}, {seat_name(seat)}{doing}"


def _result(view: View, seat: int) -> str:
    if view.over is None:
        return ""
    if view.winner is None:
        return ", draw"
    if view.winner != seat:
        return ", out" if view.over == "dropped" else ", lost"
    return ", wins"
