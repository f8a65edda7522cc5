"""The progress of `kibitz train`: a bar on a terminal, and occasional lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kibitz.output import echo
from kibitz_protocol import printable

if TYPE_CHECKING:
    from kibitz_training.experiment import Reporter

SECONDS = 10.0
"""Seconds between two lines without a terminal."""


@contextmanager
def shown() -> Iterator[Reporter]:
    """Yield a progress display on standard error."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    bar = Bar()
    try:
        yield bar
    finally:
        bar.stop()


class Lines:
    """Prints a line every `SECONDS`, and a final one."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next = now() + SECONDS

    def progress(self, done: int, total: int, text: str) -> None:
        """Print the progress, unless it was printed less than `SECONDS` ago."""
        now = self._now()
        if now >= self._next or done == total:
            self._next = now + SECONDS
            echo(f"{done} of {total}: {text}", err=True)

    def say(self, text: str) -> None:
        """Print a line."""
        echo(text)


class Bar:
    """A progress bar in the last line of a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        columns = (
            *(BarColumn(bar_width=24), MofNCompleteColumn(), Remaining(compact=True)),
            TextColumn("{task.description}", markup=False),
        )
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
        echo(text)

    def stop(self) -> None:
        """Remove the bar."""
        self._bar.stop()
