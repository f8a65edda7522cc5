"""Ending a search in time: a thread that writes the workspace's stop word, and a count of nodes.

Kernels release the interpreter's lock while they run, so the thread wakes up beside them; they
look at the word at every node, which ends them within a fraction of a millisecond.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_search.cancellation import CancelToken


class ThinkingTime:
    """The time of one search, which begins now and is used up by the thread that made this.

    Compiling and loading machine code does not count. The first search of a process may have to do
    so, for many seconds, and would else answer after its first look.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._compiled = kernels.compile_seconds()

    @property
    def deadline(self) -> float:
        """The reading of `time.monotonic` when the time is up, as far as is known by now."""
        return self._end + kernels.compile_seconds() - self._compiled

    @property
    def left(self) -> float:
        """Seconds until the deadline; never below 0."""
        return max(0.0, self.deadline - time.monotonic())


@kernel
def count_nodes(ws: Record, count: Int) -> None:
    """Count positions that were looked at, and stop the search at its limit of them."""
    ws.nodes += count
    if 0 < ws.most <= ws.nodes:
        ws.stop = 1


@contextlib.contextmanager
def stop_timer(ws: Record, deadline: float, cancelled: CancelToken) -> Iterator[None]:
    """Set ``ws.stop`` when `time.monotonic` reaches `deadline` or `cancelled` is set.

    `deadline` is in seconds and may be infinite. ``ws.stop`` is 0 at the beginning; when the block
    is left nothing sets it any more.
    """
    ws.stop = 0
    wake = threading.Event()

    def watch() -> None:
        left = max(0.0, deadline - time.monotonic())
        wake.wait(min(left, threading.TIMEOUT_MAX))  # a deadline may be infinite
        ws.stop = 1

    thread = threading.Thread(target=watch, name="stop timer", daemon=True)
    thread.start()
    with cancelled.notifying(wake.set):
        try:
            yield
        finally:
            wake.set()
            thread.join()  # or it might stop the next search on this workspace
