"""Memory for the tables of searches: many MiB that are allocated without a delay.

Memory that numpy frees stays with the process and must be zeroed before its next use. For a table
that takes a fiftieth of a second, in which the stop timer cannot fire. Memory mapped from the
operating system is zeroed already, takes up pages only once they are used, and is returned as soon
as the search is freed.
"""

from __future__ import annotations

import contextlib
import mmap
from typing import Any

import numpy as np

LARGE = 1 << 20
"""The size in bytes from which an array gets its own mapping."""


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
