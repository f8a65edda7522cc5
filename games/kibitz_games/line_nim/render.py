"""The drawing of a view: the cells that were free at the start, as an island of hexagons.

Obstacles never change and do not matter for play, so they are omitted to save space. Each free cell
is labeled with its name.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from kibitz_games.core.scene import Cell, Mark, Scene, seat_name
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import models as line_nim_models
from kibitz_games.line_nim.maps import FREE, OBSTACLE
from kibitz_games.line_nim.models import View

GLYPHS = ("x", "o")
"""The marks for cells crossed out by each seat."""


def scene(view: View) -> Scene:
    """Return the scene of a view; cell names are the column's letter and the row's number."""
    drawn = "".join(view.rows)
    area = tuple(cell for cell, mark in enumerate(drawn) if mark != OBSTACLE)
    cells = tuple(_cell(cell, drawn[cell]) for cell in area)
    return Scene("hex", cells, _marks(view), tuple(_text(view, drawn)))


@functools.cache
def _cell(cell: int, mark: str) -> Cell:
    name, (x, y) = geo.NAMES[cell], _place(cell)
    if mark == FREE:
        return Cell(name, x, y, "floor", glyph=name)
    return Cell(name, x, y, "gone", tint=int(mark), glyph=GLYPHS[int(mark)])


def _place(cell: int) -> tuple[int, int]:
    y, x = divmod(cell, geo.SIDE)
    return 2 * x + y % 2, y


def _marks(view: View) -> tuple[Mark, ...]:
    action = None if view.last is None else line_nim_models.line_of_move(view.last)
    if action is None:
        return ()
    crossed = tuple(geo.NAMES[cell] for cell in geo.LINES[action])
    return (Mark("to", crossed, (view.ply - 1) % 2),)


def _text(view: View, drawn: str) -> Iterator[str]:
    if view.loser is not None:
        did = "crossed out the last cell" if view.over == "last cell" else "left"
        yield f"{seat_name(view.loser)} {did}, {seat_name(1 - view.loser)} wins"
    else:
        yield f"{seat_name(view.to_act)} ({GLYPHS[view.to_act]}) to move"
    if view.free:
        parts = geo.components(frozenset(c for c, mark in enumerate(drawn) if mark == FREE))
        noun = "cell" if view.free == 1 else "cells"
        yield f"{view.free} {noun} free{_sizes(parts)}"


def _sizes(parts: list[tuple[int, ...]]) -> str:
    """Return the sizes of the components if there are several; ``3x1`` is three of size 1."""
    if len(parts) < 2:
        return ""
    sizes = [len(part) for part in parts]
    counts = [
        f"{sizes.count(n)}x{n}" if sizes.count(n) > 1 else str(n) for n in dict.fromkeys(sizes)
    ]
    return f" in {len(parts)} parts: {' + '.join(counts)}"
