"""How a clock reads while it runs: what is left of it now, and as few characters as tell it.

A turn uses up, in this order, the free time of the move, the main time, the overage bank and
the byo-yomi periods (see `kibitz_protocol.clocks`). The server sends what a seat has at the
start of its next turn; a client only counts down what it was told.
"""

from __future__ import annotations

from dataclasses import dataclass

from kibitz_protocol.clocks import Clock, TimeControl

LOW_MS = 10_000
"""From here on tenths of a second are shown."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is left of a clock: of the part that runs, and until the flag falls."""

    text: str
    left_ms: int

    @property
    def low(self) -> bool:
        return self.left_ms < LOW_MS


def full(control: TimeControl) -> Clock:
    """Return the clock of a seat before its first turn."""
    return Clock(main_ms=control.main_ms, bank_ms=control.bank_ms, periods=control.periods)


def until_flag(control: TimeControl, clock: Clock) -> int:
    """Return the milliseconds that a turn may take in all."""
    return control.move_ms + clock.main_ms + clock.bank_ms + clock.periods * control.period_ms


def spend(control: TimeControl, clock: Clock, charged_ms: int) -> Clock:
    """Return the clock after a move that cost `charged_ms`, its increment included."""
    over = max(0, charged_ms - control.move_ms)
    main = max(0, clock.main_ms - over)
    over -= clock.main_ms - main
    bank = max(0, clock.bank_ms - over)
    over -= clock.bank_ms - bank
    lost = over // control.period_ms if control.period_ms else 0
    return Clock(
        main_ms=main + control.increment_ms, bank_ms=bank, periods=max(0, clock.periods - lost)
    )


def flagged(control: TimeControl) -> Clock:
    """Return the clock after a turn in which the flag fell, where the seat plays on.

    All that the seat had is gone; the increment comes after every turn, this one too.
    """
    return Clock(main_ms=control.increment_ms)


def read(control: TimeControl, clock: Clock, elapsed_ms: int = 0) -> Reading | None:
    """Return how `clock` reads `elapsed_ms` into its turn, or None where there is no clock."""
    if not control.limited:
        return None
    left = max(0, until_flag(control, clock) - max(0, elapsed_ms))
    return Reading(_text(control, clock, max(0, elapsed_ms)), left)


def _text(control: TimeControl, clock: Clock, elapsed: int) -> str:
    """Write the part that runs, and after a plus what is in reserve behind it."""
    parts = [control.move_ms, clock.main_ms, clock.bank_ms]
    for index, part in enumerate(parts):
        taken = min(part, elapsed)
        parts[index], elapsed = part - taken, elapsed - taken
    periods = clock.periods
    if control.period_ms and not any(parts):
        periods = max(0, clock.periods - elapsed // control.period_ms)
        running = control.period_ms - elapsed % control.period_ms if periods else 0
        return f"{duration(running)}×{periods}" if periods else duration(0)
    shown = [part for part in parts if part] or [0]
    reserve = "".join(f"+{duration(part)}" for part in shown[1:])
    return duration(shown[0]) + reserve + (f"+{periods}×" if periods else "")


def duration(millis: int) -> str:
    """Write a time: ``9.4``, ``0:41``, ``12:05``, ``1:02:03``."""
    if millis < LOW_MS:
        return f"{millis // 100 / 10:.1f}"
    seconds = millis // 1000
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
