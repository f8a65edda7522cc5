"""Boards of square cells: cell names, drawing, and features for learners.

A board is a list of rows from the top, each a string with a character for each cell: ``.`` for an
empty cell, otherwise the character of the seat that owns the piece. Columns have letters from the
left and rows have numbers from the top, so the top left cell is ``a1``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from kibitz_games.core.model import Features
from kibitz_games.core.scene import Cell, CellKind, Label, Mark, Scene, seat_name


def cell_name(row: int, column: int) -> str:
    """Return the name of a cell, such as ``b3`` for row 2 and column 1 (counted from 0)."""
    return f"{chr(ord('a') + column)}{row + 1}"


def cell_names(rows: int, columns: int) -> tuple[str, ...]:
    """Return the names of all cells, row by row: the action names if players choose cells."""
    return tuple(cell_name(row, column) for row in range(rows) for column in range(columns))


def board_scene(
    view: Any,
    symbols: str,
    *,
    kind: CellKind = "hole",
    marks: Sequence[Mark] = (),
    action_names: Sequence[str] = (),
) -> Scene:
    """Return the scene of a view's ``board``, with coordinates and the status below.

    `kind` is the look of a cell, and `marks` are highlights. Actions that are not named after
    cells, such as columns, become buttons above the board.
    """
    rows: list[str] = view.board
    cells = [
        _cell(row, column, kind, symbols.index(character) - 1)
        for row, line in enumerate(rows)
        for column, character in enumerate(line)
    ]
    places = {cell.name for cell in cells}
    buttons = [name for name in action_names if name not in places]
    cells += [Cell(name, x, -1, "button", glyph=name) for x, name in enumerate(buttons)]
    labels = _labels(len(rows), 0 if buttons else len(rows[0]))
    return Scene("square", tuple(cells), tuple(marks), status_lines(view), labels)


@functools.cache
def _cell(row: int, column: int, kind: CellKind, seat: int) -> Cell:
    owner = None if seat < 0 else seat
    return Cell(cell_name(row, column), column, row, kind, owner=owner)


@functools.cache
def _labels(rows: int, columns: int) -> tuple[Label, ...]:
    """Return column letters above the board and row numbers on its left."""
    above = tuple(Label(chr(ord("a") + x), x, -1) for x in range(columns))
    return above + tuple(Label(str(y + 1), -1, y) for y in range(rows))


def status_lines(view: Any) -> tuple[str, ...]:
    """Return a line that says who is to move, or how the match ended."""
    if view.over is None:
        return (f"{seat_name(view.to_act)} to move",)
    if view.winner is None:
        return (f"draw: {view.over}",)
    return (f"{seat_name(view.winner)} wins: {view.over}",)


def board_features(view: Any, symbols: str, seat: int) -> Features:
    """Return a plane for each seat, the viewer's first: float32 [seats, rows, columns]."""
    cells = np.array([list(row) for row in view.board])
    pieces = symbols[1:]
    order = pieces[seat:] + pieces[:seat]
    return np.stack([cells == piece for piece in order]).astype(np.float32)
