"""The progress of a tournament as a line of text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Final, Protocol

from kibitz_arena.runner.concurrency import ConcurrencyLimit
from kibitz_arena.tournament_state import TournamentState
from kibitz_protocol.wire.records import Cause

_FAULT_LABELS: Final = {
    Cause.TIME: "flag",
    Cause.ILLEGAL: "illegal",
    Cause.CRASH: "crash",
    Cause.DISCONNECT: "disconnect",
    Cause.ABANDONED: "abandoned",
    Cause.TAKEOVER: "taken over",
    Cause.KICKED: "kicked",
    Cause.ABORTED: "aborted",
}
"""Labels for abnormal causes."""


def drop_outs(progress: TournamentState) -> str:
    """Return the drop-outs so far like ``2 flag, 1 crash``; empty if there were none."""
    seats = (seat for game in progress.ended.values() for seat in game.result.seats)
    counts = Counter(seat.cause for seat in seats if seat.cause in _FAULT_LABELS)
    return ", ".join(f"{n} {_FAULT_LABELS[cause]}" for cause, n in counts.items() if cause)


def status_line(
    progress: TournamentState, width: ConcurrencyLimit, rate: float, faults: str
) -> str:
    """Return the text of a progress display: name, rate, concurrency, drop-outs."""
    parts = [progress.tournament.name, f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min"]
    # A worker holds whole blocks, so not all of its outstanding games are running.
    running = min(len(progress.outstanding), width.current)
    parts.append(f"{running} of {width.current} at once")
    if width.p95:
        parts.append(f"p95 {width.p95:.0f} ms")
    if faults:
        parts.append(faults)
    return "  ".join(parts)


class Reporter(Protocol):
    """An interface that displays progress and messages."""

    def progress(self, done: int, total: int, text: str) -> None:
        """Show the progress in a line that replaces the previous one."""

    def say(self, text: str) -> None:
        """Print a permanent line."""


class ProgressDisplay:
    """Displays a tournament's progress and messages; with `loud`, also a message for each game."""

    def __init__(
        self,
        reporter: Reporter,
        *,
        loud: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.say = reporter.say
        self._progress = reporter.progress
        self._loud = loud
        self._clock = clock
        self._begun: tuple[float, int] | None = None
        """When progress was first shown, and the number of games played until then."""

    def say_game(self, line: str) -> None:
        """Print a message about a game if `loud`."""
        if self._loud:
            self.say(line)

    def show(self, progress: TournamentState, width: ConcurrencyLimit) -> None:
        """Show the tournament's progress."""
        now = self._clock()
        began, before = self._begun = self._begun or (now, progress.played)
        rate = (progress.played - before) / (now - began) if now > began else 0.0
        text = status_line(progress, width, rate, drop_outs(progress))
        self._progress(progress.played, progress.planned, text)
