"""Release of LLVM's pages after the warm-up (madvise): about 50 MB less in a process's memory.

To load machine code from its cache numba sets up all of LLVM, and leaves 50 MB of that library's
code in the memory of a process that no longer needs it. The code is in a file, which is read again
if something is compiled after all, so releasing it is free.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from pathlib import Path

PROC_MAPS = Path("/proc/self/maps")
"""Linux's list of a process's mappings; on other systems no memory is released."""
LIBRARY = "libllvmlite"
"""How the file with LLVM in it begins."""
CODE_PERMISSIONS = "r-xp"
"""The permissions of mappings that can be read and run but not written, so they equal the file."""


def release_llvm_pages() -> None:
    """Let the pages of the compiler's code go, if this process has loaded it."""
    if "llvmlite" not in sys.modules or not PROC_MAPS.exists():
        return
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for start, size in code_segments(LIBRARY, PROC_MAPS.read_text()):
        advise(start, size, mmap.MADV_DONTNEED)


def code_segments(library: str, maps: str) -> list[tuple[int, int]]:
    """Return address and bytes of each part of `maps` with code of a file that begins so."""
    mappings = []
    for line in maps.splitlines():
        # address, permissions, offset, device, inode, path; see proc_pid_maps(5)
        span, rights, _, _, _, *path = line.split(maxsplit=5)
        if rights == CODE_PERMISSIONS and path and Path(path[0]).name.startswith(library):
            start, end = (int(address, 16) for address in span.split("-"))
            mappings.append((start, end - start))
    return mappings
