"""Stopping searches in time: a thread that sets ``ws.stop``, and a node counter.

Kernels release the interpreter's lock, so the thread can run while they do. They check ``ws.stop``
at every node and return within a fraction of a millisecond.
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
    """The time limit of one search, which starts when this object is created.

    Time that the current thread spends compiling or loading machine code does not count. The first
    search of a process may need many seconds for this, and would otherwise return after its first
    depth.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._compiled = kernels.compile_seconds()

    @property
    def deadline(self) -> float:
        """The value of `time.monotonic` at which time is up; compiling postpones it."""
        return self._end + kernels.compile_seconds() - self._compiled

    @property
    def left(self) -> float:
        """The seconds until the deadline, at least 0."""
        return max(0.0, self.deadline - time.monotonic())


@kernel
def count_nodes(ws: Record, count: Int) -> None:
    """Count positions, and stop the search when it reaches its limit."""
    ws.nodes += count
    if 0 < ws.most <= ws.nodes:
        ws.stop = 1


@contextlib.contextmanager
def stop_timer(ws: Record, deadline: float, cancelled: CancelToken) -> Iterator[None]:
    """Set ``ws.stop`` when `time.monotonic` reaches `deadline` or `cancelled` is set.

    `deadline` is in seconds and may be infinite. ``ws.stop`` is cleared at the start of the block,
    and is not set by this timer after the block.
    """
    ws.stop = 0
    wake = threading.Event()

    def watch() -> None:
        left = max(0.0, deadline - time.monotonic())
        wake.wait(min(left, threading.TIMEOUT_MAX))  # the deadline may be infinite
        ws.stop = 1

    thread = threading.Thread(target=watch, name="stop timer", daemon=True)
    thread.start()
    with cancelled.notifying(wake.set):
        try:
            yield
        finally:
            wake.set()
            thread.join()  # otherwise it could stop the next search in this workspace
