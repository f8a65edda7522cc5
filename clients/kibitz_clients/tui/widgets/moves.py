"""The moves of a match: one line per step, scrolled to the current one, which is marked."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kibitz_clients import palette
from kibitz_clients.matches.timeline import Frame, Timeline
from kibitz_clients.palette import Palette
from kibitz_clients.wording import descriptions
from kibitz_games.core.game import Game
from kibitz_games.core.scene import PieceColour
from kibitz_protocol.wire.records import Moved


class Moves(ScrollView):
    """The steps of a timeline; a click on one posts `Moves.Clicked`."""

    DEFAULT_CSS = "Moves { height: 1fr; overflow-x: hidden; scrollbar-size: 1 1; }"
    can_focus = False

    class Clicked(Message):
        """The step with frame number `seq` was clicked."""

        def __init__(self, seq: int) -> None:
            super().__init__()
            self.seq = seq

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._game: Game | None = None
        self._steps: list[Frame] = []
        self._at = 0
        self._colours: Sequence[PieceColour] = ()
        self._colors = palette.DARK

    def show(
        self,
        game: Game | None,
        timeline: Timeline,
        at: int,
        colors: Palette,
        colours: Sequence[PieceColour] = (),
    ) -> None:
        """Show the steps of a timeline, with number `at` marked and visible.

        `colours` are the pieces' colors by seat, if the game sets them.
        """
        self._colours = colours
        recolored = colors is not self._colors
        self._colors = colors
        steps = timeline.steps
        moved = at != self._at or len(steps) != len(self._steps)
        if steps == self._steps and at == self._at and not recolored:
            return
        self._game, self._steps, self._at = game, steps, at
        self.virtual_size = Size(self.size.width, len(steps))
        if moved:
            self._go()
        self.refresh()

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self._steps))
        self._go()

    def _go(self) -> None:
        """Scroll the marked step to the center."""
        top = max(0, self._at - max(1, self.size.height) // 2)
        self.scroll_to(y=top, animate=False, immediate=True)

    def on_click(self, event: events.Click) -> None:
        row = event.y + round(self.scroll_y)
        if 0 <= row < len(self._steps):
            self.post_message(self.Clicked(self._steps[row].seq))

    def render_line(self, y: int) -> Strip:
        row = y + round(self.scroll_y)
        width = self.size.width
        ground = Style(bgcolor=self._colors.background)
        if row >= len(self._steps):
            return Strip.blank(width, ground)
        back = Style(bgcolor=self._colors.selected) if row == self._at else ground
        text = step_line(self._game, self._steps[row], self._colors, self._colours)
        text.truncate(width, overflow="ellipsis", pad=True)
        segments = [
            Segment(segment.text, (segment.style or Style()) + back)
            for segment in text.render(self.app.console, end="")
            if isinstance(segment.style, Style | None)
        ]
        return Strip(segments).crop_extend(0, width, back)


def step_line(
    game: Game | None, frame: Frame, colors: Palette, colours: Sequence[PieceColour] = ()
) -> Text:
    """Format one step: ply, seat, what happened, and the bot's comment."""
    line = Text(no_wrap=True)
    entry = frame.entry
    if entry is None:
        return line.append("    start" if frame.seq == 0 else "    joined here", colors.dim)
    number = str(frame.ply) if frame.is_turn else ""
    line.append(f"{number:>3} ", colors.dim)
    seat = descriptions.acting_seat(frame)
    if seat is not None:
        line.append(f"{palette.piece_glyph(seat, colours)} ", f"bold {colors.seat(seat)}")
    step = descriptions.step_text(game, frame)
    line.append(step, colors.text if isinstance(entry, Moved) else f"italic {colors.text}")
    if frame.comment is not None:
        line.append(
            " " * max(1, 8 - cell_len(step)) + descriptions.comment_text(frame.comment), colors.dim
        )
    return line
