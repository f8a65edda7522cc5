"""Ending a search in time: a thread that writes the workspace's stop word.

Kernels release the interpreter's lock while they run, so the thread wakes up beside them; they
look at the word at every node, which ends them within a fraction of a millisecond.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from kibitz_games.compiled.operations import Record
from kibitz_search.cancellation import CancelToken


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
