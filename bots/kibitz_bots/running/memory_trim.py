"""Release LLVM's pages after the warm-up (madvise), which saves about 50 MB per process.

Numba initializes all of LLVM to load machine code from its cache, which leaves 50 MB of library
code in memory that the process no longer needs. These pages are backed by a file and are read again
if something is compiled later, so releasing them is free.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from pathlib import Path

PROC_MAPS = Path("/proc/self/maps")
"""Linux's list of the process's mappings; on other systems no memory is released."""
LIBRARY = "libllvmlite"
"""The prefix of the name of the library that contains LLVM."""
CODE_PERMISSIONS = "r-xp"
"""The permissions of read-only executable mappings, whose contents equal the file."""


def release_llvm_pages() -> None:
    """Release the pages of the compiler's code if this process has loaded it."""
    if "llvmlite" not in sys.modules or not PROC_MAPS.exists():
        return
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for start, size in code_segments(LIBRARY, PROC_MAPS.read_text()):
        advise(start, size, mmap.MADV_DONTNEED)


def code_segments(library: str, maps: str) -> list[tuple[int, int]]:
    """Return the address and size of each code mapping of files with the prefix `library`."""
    mappings = []
    for line in maps.splitlines():
        # address, permissions, offset, device, inode, path; see proc_pid_maps(5)
        span, rights, _, _, _, *path = line.split(maxsplit=5)
        if rights == CODE_PERMISSIONS and path and Path(path[0]).name.startswith(library):
            start, end = (int(address, 16) for address in span.split("-"))
            mappings.append((start, end - start))
    return mappings
