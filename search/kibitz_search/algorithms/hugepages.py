"""Memory for what a search remembers: many MiB that nobody may have to wait for.

What numpy gives back stays with the process, and has to be wiped by whoever is given it next: for a
table that is a fiftieth of a second in which the stop timer cannot fire. What the system gives is
clean, is real only where it is used, and goes back at once when the search is dropped.
"""

from __future__ import annotations

import contextlib
import mmap
from typing import Any

import numpy as np

LARGE = 1 << 20
"""Bytes from which on it is worth a mapping of its own."""


def zeros(count: int, dtype: np.dtype[Any] | type[np.generic]) -> np.ndarray[Any, Any]:
    """Return an array of `count` zeroed entries.

    Raises `MemoryError` where there is no room for them.
    """
    size = count * np.dtype(dtype).itemsize
    if size < LARGE or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(count, dtype)
    try:
        room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no room for a table of {size >> 20} MiB") from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a system without large pages
            room.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(room, dtype)
