"""A scene as a self-contained SVG picture: a board on a page, with text around it.

`board` draws the board. The output is deterministic: it has no embedded fonts, times or random
identifiers.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from kibitz_clients.render.svg import primitives
from kibitz_clients.render.svg.board import Board
from kibitz_clients.render.svg.layout import BoardLayout
from kibitz_clients.render.svg.primitives import FAINT_INK, number
from kibitz_games.core.scene import Scene
from kibitz_protocol import printable

FONTS: Final = "Georgia, 'Times New Roman', 'Liberation Serif', 'DejaVu Serif', serif"
"""Explicit font names, because rasterizers cannot resolve the system's serif font."""
HEADER: Final = 62.0
LEGEND_ROW: Final = 34.0
TEXT_ROW: Final = 20.0
LETTER_WIDTH: Final = 7.2
"""The average width of a letter in pixels, for line breaking."""
MIN_WIDTH: Final = 420.0
"""The minimum width in pixels, for the text."""


@dataclass(frozen=True, slots=True)
class Caption:
    """The text around the board. `players` are in seat order, followed by `notes`."""

    title: str = ""
    subtitle: str = ""
    players: Sequence[str] = ()
    notes: Sequence[str] = ()


def render_svg(scene: Scene, caption: Caption | None = None) -> str:
    """Return `scene` as the text of an SVG file."""
    page = _Page(scene, caption or Caption())
    return "\n".join(page.lines()) + "\n"


class _Page:
    """The layout of the page, and its elements from back to front."""

    def __init__(self, scene: Scene, caption: Caption) -> None:
        self.scene = scene
        self.caption = caption
        self.layout = layout = BoardLayout(scene)
        self.width = max(layout.board_width, MIN_WIDTH)
        self.header = HEADER if caption.title or caption.subtitle else 0.0
        most = max(1, min(len(caption.players), int((self.width - 48) // 180), 3))
        rows = math.ceil(len(caption.players) / most)
        # Use no more columns than these rows need: four players form two rows of two.
        self.columns = math.ceil(len(caption.players) / max(1, rows)) or 1
        legend = rows * LEGEND_ROW + 22 if rows else 0.0
        room = int((self.width - 52) / LETTER_WIDTH)
        self.text_lines = [line for text in scene.text for line in textwrap.wrap(text, room)]
        self.below = self.header + layout.board_height
        self.legend = self.below + (
            len(self.text_lines) * TEXT_ROW + 24 if self.text_lines else 0.0
        )
        self.height = self.legend + legend
        layout.place_at((self.width - layout.board_width) / 2, self.header)
        self.board = Board(layout)

    def lines(self) -> Iterator[str]:
        width, height = number(self.width), number(self.height)
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="{FONTS}">'
        )
        if self.caption.title:
            yield f"<title>{escape(printable.line(self.caption.title))}</title>"
        yield from self._definitions()
        yield f'<rect width="{width}" height="{height}" rx="18" fill="url(#paper)"/>'
        yield from self._heading()
        yield from self.board.ground()
        yield from self._labels()
        yield from self.board.highlights()
        yield from self.board.pieces()
        yield from self.board.last_move()
        yield from self._scene_text()
        yield from self._legend()
        yield "</svg>"

    def _definitions(self) -> Iterator[str]:
        yield "<defs>"
        yield primitives.gradient("paper", ((0, "#fffdf8"), (1, "#f3ead8")), "linear")
        yield from self.board.definitions(self._seats())
        yield "</defs>"

    def _seats(self) -> list[int]:
        owners = {cell.owner for cell in self.layout.cells if cell.owner is not None}
        return sorted(owners | set(range(len(self.caption.players))))

    def _heading(self) -> Iterator[str]:
        if self.caption.title:
            yield primitives.text(26, 34, self.caption.title, 21, weight="bold")
        if self.caption.subtitle:
            yield primitives.text(26, 55, self.caption.subtitle, 14, fill=FAINT_INK, style="italic")

    def _labels(self) -> Iterator[str]:
        for label in self.scene.labels:
            x, y = self.layout.label_point(label)
            yield primitives.text(x, y + 5, label.text, 14, fill=FAINT_INK, anchor="middle")

    def _scene_text(self) -> Iterator[str]:
        for row, line in enumerate(self.text_lines):
            yield primitives.text(26, self.below + 16 + row * TEXT_ROW, line, 14)

    def _note(self, seat: int) -> str:
        """Return the line below a player's name: the color of the pieces and the caption's note."""
        colours, notes = self.scene.colours, self.caption.notes
        parts = [colours[seat] if seat < len(colours) else "", *notes[seat : seat + 1]]
        return ", ".join(part for part in parts if part)

    def _legend(self) -> Iterator[str]:
        column = (self.width - 48) / self.columns
        for seat, name in enumerate(self.caption.players):
            x = 24 + (seat % self.columns) * column
            y = self.legend + 14 + (seat // self.columns) * LEGEND_ROW
            yield from self.board.legend_piece(seat, (x + 14, y))
            note = self._note(seat)
            yield primitives.text(
                x + 34, y + (0 if note else 5), _truncated(name, 22), 15, weight="bold"
            )
            if note:
                yield primitives.text(x + 34, y + 14, _truncated(note, 30), 12, fill=FAINT_INK)


def _truncated(words: str, length: int) -> str:
    return words if len(words) <= length else words[: length - 1] + "…"
