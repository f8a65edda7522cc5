"""A scene in as few terminal cells as possible: two rows of the board on each line.

For boards that do not fit at any tile size of `canvas`. A board cell is the upper or lower half of
a terminal cell, in the color of its kind. A piece is the glyph of its seat, so that pieces can be
distinguished without color. Labels and texts are omitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.style import Style

from kibitz_clients import palette
from kibitz_clients.palette import Palette
from kibitz_clients.render.terminal.canvas import DrawnBoard
from kibitz_clients.render.terminal.cell_style import (
    NO_OVERLAY,
    CellStyle,
    cell_styles,
    text_width,
)
from kibitz_games.core.scene import Scene

_UPPER_HALF: Final = "▀"
_ROOM: Final = 1
"""The number of columns for the text of a cell."""


def suits(scene: Scene) -> bool:
    """Return whether pieces and colors suffice to show a scene: it has no numbered cards."""
    return all(cell.owner is not None or text_width(cell) == 1 for cell in scene.cells)


def size(scene: Scene) -> tuple[int, int]:
    """Return the columns and lines of the miniature of `scene`."""
    if not scene.cells:
        return 0, 0
    columns = [round(cell.x) for cell in scene.cells]
    rows = [round(cell.y) for cell in scene.cells]
    return max(columns) - min(columns) + 1, (max(rows) - min(rows)) // 2 + 1


def draw(scene: Scene, colors: Palette = palette.DARK) -> DrawnBoard:
    """Draw the miniature of `scene`."""
    if not scene.cells:
        return DrawnBoard([], {})
    made = cell_styles(scene, NO_OVERLAY, _ROOM, colors)
    left = min(round(cell.x) for cell in scene.cells)
    top = min(round(cell.y) for cell in scene.cells)
    at = {(round(cell.x) - left, round(cell.y) - top): cell.name for cell in scene.cells}
    pieces = {cell.name for cell in scene.cells if cell.owner is not None}
    columns, lines = size(scene)
    rows = [
        [
            _drawn(made, pieces, places, colors.background)
            for column in range(columns)
            for places in [(at.get((column, 2 * line)), at.get((column, 2 * line + 1)))]
        ]
        for line in range(lines)
    ]
    return DrawnBoard(rows, {(x, y // 2): name for (x, y), name in at.items()})


def _drawn(
    made: Mapping[str, CellStyle],
    pieces: set[str],
    places: tuple[str | None, str | None],
    background: str,
) -> tuple[str, Style]:
    """Draw two cells, one above the other, as one character."""
    standing = [name for name in places if name in pieces]
    if len(standing) == 1:
        style = made[standing[0]]
        return style.text[:1], Style(color=style.foreground, bgcolor=style.background, bold=True)
    upper, lower = (background if name is None else _color(made, pieces, name) for name in places)
    return _UPPER_HALF, Style(color=upper, bgcolor=lower)


def _color(made: Mapping[str, CellStyle], pieces: set[str], name: str) -> str:
    return made[name].foreground if name in pieces else made[name].background
