"""The board: a scene at the largest scale that fits, centered, with its text below."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from kibitz_clients import palette
from kibitz_clients.palette import Palette
from kibitz_clients.render.terminal import canvas
from kibitz_clients.render.terminal.canvas import DrawnBoard
from kibitz_clients.render.terminal.cell_style import NO_OVERLAY, Overlay
from kibitz_games.core.scene import Scene


class Board(Widget):
    """Draws a scene; a click on a cell posts `Board.Clicked`."""

    DEFAULT_CSS = "Board { width: 1fr; height: 1fr; }"

    class Clicked(Message):
        """A cell was clicked."""

        def __init__(self, place: str) -> None:
            super().__init__()
            self.place = place

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.scene = Scene("square", ())
        self._colors = palette.DARK
        self._overlay = NO_OVERLAY
        self._drawn_board = DrawnBoard([], {})
        self._lines: list[str] = []

    @property
    def drawn_board(self) -> DrawnBoard:
        """The current drawing of the board."""
        return self._drawn_board

    def show(self, scene: Scene, colors: Palette, overlay: Overlay = NO_OVERLAY) -> None:
        """Draw `scene` in `colors`, with `overlay` on top."""
        shown = self.scene, self._colors, self._overlay
        if (scene, colors, overlay) != shown or not self._drawn_board.rows:
            self.scene, self._colors, self._overlay = scene, colors, overlay
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def on_click(self, event: events.Click) -> None:
        left, top = self._corner()
        place = self._drawn_board.at(event.x - left, event.y - top)
        if place is not None:
            self.post_message(self.Clicked(place))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        left, top = self._corner()
        row = y - top
        if 0 <= row < self._drawn_board.height:
            drawn = [Segment(" " * left, self._ground), *self._drawn_board.segments(row)]
            return Strip(drawn).crop_extend(0, width, self._ground)
        line = row - self._drawn_board.height - self._gap()
        if 0 <= line < len(self._lines):
            return self._text(self._lines[line])
        return Strip.blank(width, self._ground)

    def _draw(self) -> None:
        width, height = self.size
        if width and height:
            self._drawn_board = canvas.draw(
                self.scene,
                canvas.fit_tile_size(self.scene, width, height),
                self._overlay,
                self._colors,
            )
            room = height - self._drawn_board.height
            lines = list(self.scene.text)
            if len(lines) > room or any(len(line) > width for line in lines):
                packed = min(width, max(50, self._drawn_board.width))
                lines = list(pack_lines(self.scene.text, packed))
            # Omit text that does not fit instead of cutting it.
            self._lines = lines if len(lines) <= room else []
            self.refresh()

    def _text(self, line: str) -> Strip:
        """Return a line of the text, which is centered as a block."""
        left = max(0, (self.size.width - max(map(len, self._lines))) // 2)
        return Strip([Segment(" " * left + line, self._ground)]).crop_extend(
            0, self.size.width, self._ground
        )

    @property
    def _ground(self) -> Style:
        return Style(color=self._colors.dim, bgcolor=self._colors.background)

    def _gap(self) -> int:
        """The number of empty lines before the text, if there is room."""
        room = self.size.height - self._drawn_board.height
        return 1 if self._lines and room > len(self._lines) else 0

    def _corner(self) -> tuple[int, int]:
        used = self._drawn_board.height + self._gap() + len(self._lines)
        left = max(0, (self.size.width - self._drawn_board.width) // 2)
        return left, max(0, (self.size.height - used) // 2)


def pack_lines(texts: Iterable[str], width: int) -> Iterable[str]:
    """Pack short texts into lines of at most `width` characters."""
    line = ""
    for text in texts:
        joined = f"{line}   {text}" if line else text
        if line and len(joined) > width:
            yield line
            line = text
        else:
            line = joined
    if line:
        yield line
