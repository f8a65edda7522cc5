"""Arrays of states of one type, and threads that work on slices of them.

`VectorGame` and the trainers use them to play many matches at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Self

import numpy as np

from kibitz_games.compiled import records


class Slices:
    """Threads for kernels that release the interpreter's lock.

    The caller's thread is one of them. Kernels must not access data outside their slice, so that
    results do not depend on the number of threads.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def run(self, work: Callable[..., Any], count: int, *arguments: Any) -> None:
        """Call ``work(*arguments, first, end)`` in parallel for slices that cover 0 to `count`.

        Returns when all slices are done; if one of them raised, raises its error afterwards.
        """
        if self._pool is None or count < 2:
            work(*arguments, 0, count)
            return
        ends = np.linspace(0, count, min(self._threads, count) + 1).astype(int).tolist()
        own, *others = itertools.pairwise(ends)
        slices = [self._pool.submit(work, *arguments, *bounds) for bounds in others]
        try:
            work(*arguments, *own)
        finally:
            wait(slices)
        for each in slices:
            each.result()

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def new_states(dtype: np.dtype[Any], count: int) -> tuple[Any, np.ndarray[Any, np.dtype[np.uint8]]]:
    """Return `count` zeroed states for kernels, and their bytes, one state per row."""
    states = np.zeros(count, dtype)
    return records.batch(states), states.view(np.uint8).reshape(count, dtype.itemsize)
