"""Progress display: a single updated line on a terminal, an occasional line elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TextIO

from kibitz_arena.report.formatting import clock_time
from kibitz_arena.runner.concurrency import ConcurrencyLimit
from kibitz_arena.tournament_state import TournamentState
from kibitz_protocol import printable
from kibitz_protocol.wire.records import Cause

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

LINE_SECONDS: Final = 10.0
"""The interval between lines without a terminal, in seconds."""
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
    """Return the text after the progress bar: rate, remaining time, concurrency, drop-outs."""
    left = progress.planned - progress.played
    parts = [f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min"]
    if rate and left:
        parts.append(f"{clock_time(left / rate)} left")
    # A worker holds whole blocks, so not all of its outstanding games are running.
    running = min(len(progress.outstanding), width.current)
    parts.append(f"{running} of {width.current} at once")
    if width.p95:
        parts.append(f"p95 {width.p95:.0f} ms")
    if faults:
        parts.append(faults)
    return "  ".join(parts)


class ProgressDisplay:
    """Displays a tournament's progress on `stream`.

    Call `close` at the end. With `loud` every game is reported; with `quiet` only messages passed
    to `say` are shown.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        loud: bool = False,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._loud = loud
        self._quiet = quiet
        self._clock = clock
        self._begun: tuple[float, int] | None = None
        """When progress was first shown, and the number of games played until then."""
        self._told = float("-inf")
        self._bar: Bar | None = None
        self._terminal = stream.isatty() and not quiet

    def say(self, line: str) -> None:
        """Print a message."""
        line = printable.lines(line)
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=self._stream, flush=True)

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
        if self._terminal:
            self._draw(progress, printable.line(text))
        elif not self._quiet and now >= self._told + LINE_SECONDS:
            self._told = now
            self.say(f"{progress.played} of {progress.planned} games  {text}")

    def _draw(self, progress: TournamentState, text: str) -> None:
        if self._bar is None:
            self._bar = _make_bar(self._stream)
            self._bar.add_task(
                printable.line(progress.tournament.name), total=progress.planned, facts=text
            )
            self._bar.start()
        task = self._bar.task_ids[0]
        self._bar.update(task, completed=progress.played, facts=text)

    def close(self) -> None:
        """End the progress line."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _make_bar(stream: TextIO) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}", markup=False),
        console=Console(file=stream),
        refresh_per_second=4,
    )
