"""Limit searches by CPU time, so that other load on the machine does not affect results."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.cancellation import CancelToken

LEAST = 0.0002
"""The minimum interval between two readings of the clock, in seconds."""


def of_this_thread() -> Callable[[], float]:
    """Return the CPU clock of the calling thread; any thread may read it."""
    clock = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(clock)


@contextlib.contextmanager
def limits(
    seconds: float, seed: int | str, clock: Callable[[], float] | None = None
) -> Iterator[SearchLimits]:
    """Provide limits that cancel a search after `seconds` of `clock`, counted from this call.

    The default clock is the CPU time of the calling thread, which must be the thread that searches.
    """
    now = clock or of_this_thread()
    end, spent, done = now() + seconds, CancelToken(), threading.Event()

    def watch() -> None:
        while (left := end - now()) > 0:
            if done.wait(max(left, LEAST)):
                return
        spent.set()

    thread = threading.Thread(target=watch, name="processor time", daemon=True)
    thread.start()
    try:
        yield SearchLimits(seed=seed, cancelled=spent)
    finally:
        done.set()
        thread.join()
