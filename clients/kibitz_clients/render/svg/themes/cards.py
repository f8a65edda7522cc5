"""Numbers on cards, in rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kibitz_clients.palette import blend
from kibitz_clients.render.svg import primitives
from kibitz_clients.render.svg.layout import CARD_PITCH
from kibitz_clients.render.svg.primitives import Point, piece_colour, rectangle, round_piece
from kibitz_clients.render.svg.theme import Board, MarkStyle, Theme, darkened
from kibitz_games.core.scene import Cell

_HALF: Final = (CARD_PITCH[0] / 2 - 4, 33.0)
_FONT_SIZES: Final = {1: 34, 2: 32, 3: 25}
"""Font sizes by the number of digits; longer numbers are smaller still."""


def _definitions(board: Board, seats: Sequence[int]) -> Iterator[str]:
    yield primitives.gradient("card", ((0, "#ffffff"), (1, "#f6ecd6")), "linear")
    yield from primitives.piece_gradients(seats)


def _card(board: Board, cell: Cell, at: Point) -> Iterator[str]:
    yield rectangle((at[0] + 1.5, at[1] + 3), _HALF, 8, 'fill="#3a2508" opacity="0.22"')
    fill = "url(#card)" if cell.tint is None else blend("#fffaf0", piece_colour(cell.tint), 0.3)
    yield rectangle(at, _HALF, 8, f'fill="{fill}" stroke="#c9a872" stroke-width="1.2"')


def _outline(board: Board, at: Point, attributes: str, shrink: float) -> str:
    return rectangle(at, (_HALF[0] - shrink, _HALF[1] - shrink), 8, attributes)


def _number(board: Board, cell: Cell, at: Point) -> Iterator[str]:
    x, y = at
    size = _FONT_SIZES.get(len(cell.glyph), 20)
    yield primitives.text(x, y + size * 0.35, cell.glyph, size, anchor="middle", weight="bold")
    if cell.owner is not None:
        yield from round_piece(cell.owner, x + _HALF[0] - 9, y - _HALF[1] + 9, 7)


def _legend_piece(board: Board, seat: int, at: Point) -> Iterator[str]:
    yield from round_piece(seat, *at, 12)


_FILLED: Final = MarkStyle("cell", 0, 'fill="{colour}" opacity="0.16"')
_SOLID: Final = MarkStyle("cell", 0, 'fill="none" stroke="{colour}" stroke-width="3.2"')
_DASHED: Final = MarkStyle(
    "cell", 0, 'fill="none" stroke="{colour}" stroke-width="3.2" stroke-dasharray="6 4"'
)

CARDS: Final = Theme(
    kinds=frozenset({"number"}),
    definitions=_definitions,
    cell=_card,
    cell_shape=_outline,
    marks={
        "from": (_FILLED, _DASHED),
        "path": (_FILLED, _DASHED),
        "to": (_FILLED, _SOLID),
        "win": (_FILLED, _SOLID),
    },
    mark_colour=darkened(0.1),
    piece=_number,
    legend_piece=_legend_piece,
    paths={},
)
