"""Memory for large search tables, allocated without delay.

numpy reuses memory that the process has freed, and must zero it first. For a table this takes 20
ms, during which the stop timer cannot run. Memory mapped from the operating system is already
zeroed. It occupies pages only when they are used, and is returned when the search is freed.
"""

from __future__ import annotations

import contextlib
import mmap
from typing import Any

import numpy as np

LARGE = 1 << 20
"""The minimum size in bytes of an array with its own mapping."""


def zeros(count: int, dtype: np.dtype[Any] | type[np.generic]) -> np.ndarray[Any, Any]:
    """Return an array of `count` zeroed entries.

    Raises `MemoryError` if it cannot be allocated.
    """
    size = count * np.dtype(dtype).itemsize
    if size < LARGE or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(count, dtype)
    try:
        room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"cannot allocate a table of {size >> 20} MiB") from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # the system does not support huge pages
            room.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(room, dtype)
