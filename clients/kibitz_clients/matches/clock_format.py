"""Running clocks as short text.

A turn uses up, in this order, the free time of the move, the main time, the overage bank and
the byo-yomi periods (see `kibitz_protocol.wire.clocks`). The server sends a seat's clock at the
start of its next turn; a client only counts it down.
"""

from __future__ import annotations

from dataclasses import dataclass

from kibitz_protocol.wire.clocks import Clock, TimeControl, until_flag

LOW_TIME_MS = 10_000
"""The time below which tenths of a second are shown."""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """The time left on a clock: in the running part, and until the flag falls."""

    text: str
    left_ms: int

    @property
    def low(self) -> bool:
        return self.left_ms < LOW_TIME_MS


def read_clock(control: TimeControl, clock: Clock, elapsed_ms: int = 0) -> ClockReading | None:
    """Return the reading of `clock` after `elapsed_ms` of its turn, or None without a clock."""
    if not control.limited:
        return None
    left = max(0, until_flag(control, clock) - max(0, elapsed_ms))
    return ClockReading(_text(control, clock, max(0, elapsed_ms)), left)


def _text(control: TimeControl, clock: Clock, elapsed: int) -> str:
    """Format the part that is running, followed by ``+`` and the reserve."""
    parts = [control.move_ms, clock.main_ms, clock.bank_ms]
    for index, part in enumerate(parts):
        taken = min(part, elapsed)
        parts[index], elapsed = part - taken, elapsed - taken
    periods = clock.periods
    if control.period_ms and not any(parts):
        periods = max(0, clock.periods - elapsed // control.period_ms)
        running = control.period_ms - elapsed % control.period_ms if periods else 0
        return f"{format_duration(running)}×{periods}" if periods else format_duration(0)
    shown = [part for part in parts if part] or [0]
    reserve = "".join(f"+{format_duration(part)}" for part in shown[1:])
    return format_duration(shown[0]) + reserve + (f"+{periods}×" if periods else "")


def format_duration(millis: int) -> str:
    """Format a duration: ``9.4``, ``0:41``, ``12:05``, ``1:02:03``."""
    if millis < LOW_TIME_MS:
        return f"{millis // 100 / 10:.1f}"
    seconds = millis // 1000
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
