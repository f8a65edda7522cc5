"""Ending a search in time: a thread that writes the workspace's stop word.

Kernels release the interpreter's lock while they run, so the thread wakes up beside them; they
look at the word at every node, which ends them within a fraction of a millisecond.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from kibitz_bots.threads import Flag
from kibitz_games.operations import Record


@contextlib.contextmanager
def alarm(ws: Record, deadline: float, called_off: Flag) -> Iterator[None]:
    """Set ``ws.stop`` when `time.monotonic` reaches `deadline` or `called_off` is set."""
    ws.stop = 0
    wake = threading.Event()

    def watch() -> None:
        left = max(0.0, deadline - time.monotonic())
        wake.wait(min(left, threading.TIMEOUT_MAX))  # a deadline may be infinite
        ws.stop = 1

    thread = threading.Thread(target=watch, name="alarm", daemon=True)
    thread.start()
    with called_off.telling(wake.set):
        try:
            yield
        finally:
            wake.set()
            thread.join()  # or it might stop the next search on this workspace
