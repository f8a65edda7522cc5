"""The players: one line per seat with glyph, name, and clock or result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.widgets import Static

from kibitz_clients import palette
from kibitz_clients.matches.timeline import Frame, Timeline
from kibitz_clients.palette import Palette
from kibitz_clients.wording import descriptions, short_names
from kibitz_games.core.scene import PieceColour

ONE_LINE: Final = 19
"""The columns that a name and a clock need side by side."""


class Seats(Static):
    """The players of a match at a frame."""

    DEFAULT_CSS = "Seats { height: auto; padding: 0 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = Text()

    def show(
        self,
        timeline: Timeline,
        frame: Frame,
        now: int,
        colors: Palette,
        colours: Sequence[PieceColour] = (),
    ) -> None:
        """Draw the lines; if `frame` is the newest, its clocks show the time left at `now`.

        `colours` are the pieces' colors by seat, if the game sets them.
        """
        text = render(timeline, frame, now, max(20, self.size.width), colors, colours)
        if text != self._text:
            taller = text.plain.count("\n") != self._text.plain.count("\n") or not self._text
            self._text = text
            self.update(text, layout=taller)


def render(
    timeline: Timeline,
    frame: Frame,
    now: int,
    width: int,
    colors: Palette,
    colours: Sequence[PieceColour] = (),
) -> Text:
    """Return the lines, `width` columns wide."""
    newest = frame.seq == timeline.newest.seq
    lines = []
    for seat in range(len(timeline.info.seats)):
        lines.append(seat_line(timeline, frame, seat, now, width, colors, colours))
        if newest and seat in timeline.away and not timeline.over:
            lines.append(_away(timeline.away[seat], now, colors))
    return Text("\n").join(lines)


def compact_lines(
    timeline: Timeline,
    frame: Frame,
    now: int,
    width: int,
    height: int,
    colors: Palette,
    colours: Sequence[PieceColour] = (),
) -> list[Text]:
    """Return the players in at most `height` lines, with clocks below the names if necessary.

    If only the names fit, show just the clock of the seat to move.
    """
    players = range(len(timeline.info.seats))
    if width >= ONE_LINE:
        return [seat_line(timeline, frame, seat, now, width, colors, colours) for seat in players][
            :height
        ]
    lines = []
    for seat in players:
        lines.append(
            seat_line(timeline, frame, seat, now, width, colors, colours, shows_clock=False)
        )
        aside, low = _right(timeline, frame, seat, now)
        if aside and (2 * len(players) <= height or _acts(timeline, frame, seat)):
            lines.append(Text(f"   {aside}", f"bold {colors.error}" if low else colors.dim))
    return lines[:height]


def seat_line(
    timeline: Timeline,
    frame: Frame,
    seat: int,
    now: int,
    width: int,
    colors: Palette,
    colours: Sequence[PieceColour] = (),
    *,
    shows_clock: bool = True,
) -> Text:
    """Return one player: glyph, name, and the clock or result of the seat."""
    facts = timeline.info
    acts = _acts(timeline, frame, seat)
    right, low = _right(timeline, frame, seat, now) if shows_clock else ("", False)
    player = facts.seats[seat]
    full_name = short_names.shown_name(player.name, player.kind)
    full_name += " (you)" if facts.you == seat else ""
    room = max(1, width - 3 - (cell_len(right) + 2 if right else 0))
    name = set_cell_size(short_names.shorten(full_name, room), room)
    ink = colors.seat(seat)
    line = Text("▸" if acts else " ", style=f"bold {colors.cursor}")
    line.append(f"{palette.piece_glyph(seat, colours)} ", style=f"bold {ink}")
    line.append(name, style="bold" if acts else colors.text)
    style = f"bold {colors.error}" if low else ("bold" if acts else colors.dim)
    return line.append(f" {right}", style=style) if right else line


def _acts(timeline: Timeline, frame: Frame, seat: int) -> bool:
    return seat == frame.to_act and not (timeline.over and frame.seq == timeline.newest.seq)


def _right(timeline: Timeline, frame: Frame, seat: int, now: int) -> tuple[str, bool]:
    """Return the rank or the clock of a seat, and whether its time is running out."""
    if rank := _rank(timeline, frame, seat):
        return rank, False
    readings = timeline.clock_readings(now, frame)
    reading = readings[seat] if seat < len(readings) else None
    if reading is None:
        return "", False
    return reading.text, reading.low and seat == frame.to_act


def _rank(timeline: Timeline, frame: Frame, seat: int) -> str:
    result = timeline.result
    if result is None or frame.seq != timeline.newest.seq or seat >= len(result.seats):
        return ""
    ended = result.seats[seat]
    points = descriptions.points_text(ended)
    parts = [points, descriptions.ordinal(ended.rank), ended.cause or ""]
    return " ".join(part for part in parts if part)


def _away(until: int | None, now: int, colors: Palette) -> Text:
    if until is None:
        return Text("   away", style=f"italic {colors.warning}")
    left = max(0, until - now) // 1000
    return Text(f"   disconnected, {left} s to return", style=f"italic {colors.warning}")
