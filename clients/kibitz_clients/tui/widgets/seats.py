"""Who plays: one line a seat with glyph, name, clock, and what has become of it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.widgets import Static

from kibitz_clients import descriptions
from kibitz_clients.render import palette
from kibitz_clients.timeline import Frame, Timeline
from kibitz_games.core.scene import PieceColour
from kibitz_protocol import printable


class Seats(Static):
    """The players of a match at a frame."""

    DEFAULT_CSS = "Seats { height: auto; padding: 0 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = Text()

    def show(
        self, timeline: Timeline, frame: Frame, now: int, colours: Sequence[PieceColour] = ()
    ) -> None:
        """Draw the lines; clocks of the newest frame tick with `now`.

        `colours` are those of the pieces, by seat, where the game gives them some.
        """
        text = render(timeline, frame, now, max(20, self.size.width), colours)
        if text != self._text:
            taller = text.plain.count("\n") != self._text.plain.count("\n") or not self._text
            self._text = text
            self.update(text, layout=taller)


def render(
    timeline: Timeline,
    frame: Frame,
    now: int,
    width: int,
    colours: Sequence[PieceColour] = (),
) -> Text:
    """Return the lines, `width` columns wide."""
    readings = timeline.clock_readings(now, frame)
    newest = frame.seq == timeline.newest.seq
    lines = []
    for seat in range(len(timeline.info.seats)):
        reading = readings[seat] if seat < len(readings) else None
        clock = reading.text if reading else ""
        low = reading is not None and reading.low and seat == frame.to_act
        glyph = palette.piece_glyph(seat, colours)
        lines.append(_line(timeline, frame, seat, glyph, clock, low, width))
        if newest and seat in timeline.away and not timeline.over:
            lines.append(_away(timeline.away[seat], now))
    return Text("\n").join(lines)


def _line(
    timeline: Timeline, frame: Frame, seat: int, glyph: str, clock: str, low: bool, width: int
) -> Text:
    facts = timeline.info
    acts = seat == frame.to_act and not (timeline.over and frame.seq == timeline.newest.seq)
    right = _rank(timeline, frame, seat) or clock
    mine = " (you)" if seat == facts.you else ""
    name = printable.line(facts.seats[seat].name) + mine
    room = max(1, width - 4 - cell_len(right) - 1)
    ink = palette.seat_colour(seat)
    line = Text("▸" if acts else " ", style=f"bold {palette.CURSOR}")
    line.append(f"{glyph} ", style=f"bold {ink}")
    line.append(set_cell_size(_clipped(name, room), room), style="bold" if acts else palette.TEXT)
    style = "bold #ff6b6b" if low else ("bold" if acts else palette.DIM)
    line.append(" " + right, style=style)
    return line


def _rank(timeline: Timeline, frame: Frame, seat: int) -> str:
    result = timeline.result
    if result is None or frame.seq != timeline.newest.seq or seat >= len(result.seats):
        return ""
    ended = result.seats[seat]
    points = descriptions.points_text(ended)
    parts = [points, descriptions.ordinal(ended.rank), ended.cause or ""]
    return " ".join(part for part in parts if part)


def _away(until: int | None, now: int) -> Text:
    if until is None:
        return Text("   away", style="italic #ffb86b")
    left = max(0, until - now) // 1000
    return Text(f"   away, {left} s to return", style="italic #ffb86b")


def _clipped(name: str, room: int) -> str:
    return name if cell_len(name) <= room else name[: max(1, room - 1)] + "…"
