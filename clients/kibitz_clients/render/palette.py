"""Colours and glyphs of the seats, and of the ground they stand on.

The first six colours are told apart by people with any common colour blindness: they follow
Okabe and Ito's set, lightened for a dark ground, with ivory in place of their two blues that
look alike at the size of a character. Every seat has a glyph of its own besides, so that a
board reads without any colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kibitz_games.core.scene import Cell, CellKind, PieceColour

SEAT_COLOURS: Final = ("#f4692f", "#4fb3f0", "#f2de4b", "#2cc295", "#d98ac6", "#f3eee2")
SEAT_GLYPHS: Final = tuple("●▲■◆★✚○△□◇☆✖◉▼▣◈")

TRAIL_GLYPHS: Final = "◦▵▫⋄⋆+"
"""What seats leave on tiles where they were alone, small: the shapes of their glyphs."""
PIECE_GLYPHS: Final[dict[PieceColour, str]] = {"black": "●", "white": "○"}
"""Pieces with a colour of their own; what they are drawn with then tells whose they are."""
PIECE_TEXT_COLOURS: Final[dict[PieceColour, str]] = {"black": "#101216", "white": "#ffffff"}
"""The same on the disc of a large piece, which is in the colour of its seat."""

BOARD: Final = "#262b36"
"""The board itself, in a terminal."""
BACKDROP: Final = "#14171d"
"""Around the board, in a terminal."""
DIM: Final = "#6f7a8c"
TEXT: Final = "#d5dae3"
HINT: Final = "#b8f28b"
"""Legal targets."""
CURSOR: Final = "#ffffff"

CELL_BACKGROUNDS: Final[dict[CellKind, str]] = {
    "hole": BOARD,
    "home": BOARD,
    "goal": BOARD,
    "floor": "#2b3038",
    "fog": "#191c22",
    "seen": "#3a4350",
    "rock": "#4d545f",
    "wreck": "#45302a",
    "gone": "#1b1f26",
    "number": "#39424f",
    "button": "#465061",
    "point": "#3b3427",
}
GRID_LINES: Final = "#7d7050"
"""The lines of a board of crossings."""


def seat_colour(seat: int) -> str:
    """Return the colour of `seat` as ``#rrggbb``."""
    return SEAT_COLOURS[seat % len(SEAT_COLOURS)]


def seat_glyph(seat: int) -> str:
    """Return the character that stands for `seat`."""
    return SEAT_GLYPHS[seat % len(SEAT_GLYPHS)]


def trail_glyph(seat: int) -> str:
    """Return the small character that stands for `seat` on the tiles that it has been on."""
    return TRAIL_GLYPHS[seat % len(TRAIL_GLYPHS)]


def piece_glyph(seat: int, colours: Sequence[PieceColour] = ()) -> str:
    """Return the character that stands for `seat` beside a board whose pieces have `colours`."""
    return PIECE_GLYPHS[colours[seat]] if seat < len(colours) else seat_glyph(seat)


def blend(first: str, second: str, share: float) -> str:
    """Blend two ``#rrggbb`` colours; `share` 0 is all `first`, 1 all `second`."""
    ones, twos = _channels(first), _channels(second)
    return "#" + "".join(
        f"{round(a + (b - a) * share):02x}" for a, b in zip(ones, twos, strict=True)
    )


def cell_background(cell: Cell) -> str:
    """Return the colour of the ground under `cell`."""
    plain = CELL_BACKGROUNDS[cell.kind]
    return plain if cell.tint is None else blend(plain, seat_colour(cell.tint), 0.26)


def _channels(text: str) -> tuple[int, int, int]:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
