"""Colors of the themes, and glyphs of the seats.

People with any common color blindness can distinguish the six colors of seats. They follow Okabe
and Ito's set, lightened on dark and darkened on light backgrounds. Ivory or gray replaces their two
blues, which look alike at the size of a character. Every seat also has its own glyph, so that a
board is readable without color.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kibitz_games.core.scene import Cell, CellKind, PieceColour

SEAT_GLYPHS: Final = tuple("●▲■◆★✚○△□◇☆✖◉▼▣◈")

TRAIL_GLYPHS: Final = "◦▵▫⋄⋆+"
"""Small versions of the seats' glyphs, for tiles that only one seat has visited."""
PIECE_GLYPHS: Final[dict[PieceColour, str]] = {"black": "●", "white": "○"}
"""The glyphs of pieces with fixed colors; their text color shows the seat."""
PIECE_TEXT_COLOURS: Final[dict[PieceColour, str]] = {"black": "#101216", "white": "#ffffff"}
"""Text colors of these pieces when they are drawn large, on a disc in the seat's color."""


@dataclass(frozen=True, kw_only=True)
class Palette:
    """The colors of a theme, as ``#rrggbb``."""

    seats: Sequence[str]
    background: str
    """The background of the screen and around boards."""
    surface: str
    """The background of title and status lines, and dialogs."""
    panel: str
    """The background of tile headings and of the input line."""
    selected: str
    """The selected row of a list."""
    text: str
    dim: str
    hint: str
    """Legal targets and available actions."""
    cursor: str
    warning: str
    error: str
    accent: str
    viewpoint: str
    """The name of the current viewpoint."""
    cells: Mapping[CellKind, str]
    """The background of cells."""
    grid_lines: str
    """The lines of a board with crossings."""

    def seat(self, seat: int) -> str:
        """Return the color of `seat`."""
        return self.seats[seat % len(self.seats)]

    def cell_background(self, cell: Cell) -> str:
        """Return the background color of `cell`."""
        plain = self.cells[cell.kind]
        return plain if cell.tint is None else blend(plain, self.seat(cell.tint), 0.26)


DARK: Final = Palette(
    seats=("#f4692f", "#4fb3f0", "#f2de4b", "#2cc295", "#d98ac6", "#f3eee2"),
    background="#14171d",
    surface="#1d222b",
    panel="#242a35",
    selected="#39414f",
    text="#d5dae3",
    dim="#6f7a8c",
    hint="#b8f28b",
    cursor="#ffffff",
    warning="#ffb86b",
    error="#ff6b6b",
    accent="#f2de4b",
    viewpoint="#b7a5ff",
    cells={
        **dict.fromkeys(("hole", "home", "goal"), "#262b36"),
        "floor": "#2b3038",
        "fog": "#191c22",
        "seen": "#3a4350",
        "rock": "#4d545f",
        "wreck": "#45302a",
        "gone": "#1b1f26",
        "number": "#39424f",
        "button": "#465061",
        "point": "#3b3427",
    },
    grid_lines="#7d7050",
)
LIGHT: Final = Palette(
    seats=("#c2410c", "#0369a1", "#8a6d00", "#047857", "#a21caf", "#57534e"),
    background="#f6f6f3",
    surface="#e9e9e4",
    panel="#dcdcd5",
    selected="#c9d7e6",
    text="#23272e",
    dim="#5f6672",
    hint="#2f6b12",
    cursor="#000000",
    warning="#9a4b00",
    error="#b91c1c",
    accent="#8a6d00",
    viewpoint="#5b3fd6",
    cells={
        **dict.fromkeys(("hole", "home", "goal"), "#e4e2da"),
        "floor": "#e7e9ec",
        "fog": "#c4c8ce",
        "seen": "#d3d9e0",
        "rock": "#b0b6bf",
        "wreck": "#d9c3ba",
        "gone": "#f2f2ee",
        "number": "#d5dbe3",
        "button": "#c3ccd8",
        "point": "#ecdfc0",
    },
    grid_lines="#8f7f56",
)


def seat_glyph(seat: int) -> str:
    """Return the character that stands for `seat`."""
    return SEAT_GLYPHS[seat % len(SEAT_GLYPHS)]


def trail_glyph(seat: int) -> str:
    """Return the small character that marks the tiles that `seat` has visited."""
    return TRAIL_GLYPHS[seat % len(TRAIL_GLYPHS)]


def piece_glyph(seat: int, colours: Sequence[PieceColour] = ()) -> str:
    """Return the glyph of `seat`, or of its stones if the pieces of the board have `colours`."""
    return PIECE_GLYPHS[colours[seat]] if seat < len(colours) else seat_glyph(seat)


def blend(first: str, second: str, share: float) -> str:
    """Blend two ``#rrggbb`` colors; `share` 0 is all `first`, 1 all `second`."""
    ones, twos = _channels(first), _channels(second)
    return "#" + "".join(
        f"{round(a + (b - a) * share):02x}" for a, b in zip(ones, twos, strict=True)
    )


def _channels(text: str) -> tuple[int, int, int]:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
