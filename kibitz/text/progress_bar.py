"""The progress of a long command: a bar on a terminal, and occasional lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from kibitz.output import echo, ignore, tell
from kibitz_protocol import printable

SECONDS = 10.0
"""Seconds between two lines without a terminal."""


@contextmanager
def shown(say: Callable[[str], None] = echo, *, quiet: bool = False) -> Iterator[Lines | Bar]:
    """Yield a progress display on standard error; `say` prints its permanent lines.

    If it is `quiet`, it shows only the permanent lines.
    """
    is_bar = sys.stderr.isatty() and not quiet
    display = Bar(say) if is_bar else Lines(say, ignore if quiet else tell)
    try:
        yield display
    finally:
        display.stop()


class Lines:
    """Prints a line every `SECONDS`, and a final one."""

    def __init__(
        self,
        say: Callable[[str], None],
        tell: Callable[[str], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`say` prints permanent lines, `tell` the progress."""
        self.say = say
        self._tell = tell
        self._now = now
        self._next = now() + SECONDS
        self._began: tuple[float, int] | None = None
        """When progress was first shown, and how much was done until then."""
        self._ended = False

    def progress(self, done: int, total: int, text: str) -> None:
        """Print the progress, unless it was printed less than `SECONDS` ago."""
        now, ended = self._now(), done == total
        began, before = self._began = self._began or (now, done)
        if now >= self._next or (ended and not self._ended):
            self._next, self._ended = now + SECONDS, ended
            left = ""
            if before < done < total:
                seconds = (now - began) / (done - before) * (total - done)
                left = f", {timedelta(seconds=round(seconds))} left"
            self._tell(f"{done} of {total}{left}: {text}")

    def stop(self) -> None:
        """Do nothing; a bar has to be removed."""


class Bar:
    """A progress bar in the last line of a terminal."""

    def __init__(self, say: Callable[[str], None]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        columns = (
            *(BarColumn(bar_width=24), MofNCompleteColumn(), Remaining(compact=True)),
            TextColumn("{task.description}", markup=False),
        )
        self._say = say
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=None)

    def progress(self, done: int, total: int, text: str) -> None:
        """Show the progress."""
        shown = printable.line(text)
        self._bar.update(self._task, completed=done, total=total, description=shown)
        self._bar.start()

    def say(self, text: str) -> None:
        """Print a line after removing the bar, which returns with the next progress."""
        self.stop()
        self._say(text)

    def stop(self) -> None:
        """Remove the bar."""
        self._bar.stop()
