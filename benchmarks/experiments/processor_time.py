"""A limit of searches by processor time: what else the machine has to do decides no match."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.cancellation import CancelToken

LEAST = 0.0002
"""Seconds that are waited at least before the clock is looked at again."""


def of_this_thread() -> Callable[[], float]:
    """Return the clock of the calling thread, which others may read too."""
    clock = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(clock)


@contextlib.contextmanager
def limits(
    seconds: float, seed: int | str, clock: Callable[[], float] | None = None
) -> Iterator[SearchLimits]:
    """Cancel a search after it has had so much time of a clock, counted from here on.

    Without one it is the processor time of the calling thread, which has to be the one that
    searches.
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
