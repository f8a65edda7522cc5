"""Whether this process runs kernels as machine code or as plain Python; fixed once.

1. plain if ``KIBITZ_PLAIN=1``, ``NUMBA_DISABLE_JIT=1``, or numba is missing;
2. otherwise the mode passed to `set_mode` before the first kernel was decorated;
3. otherwise compiled.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Literal

Mode = Literal["compiled", "plain"]

_PLAIN_VARIABLES = ("KIBITZ_PLAIN", "NUMBA_DISABLE_JIT")
_requested_mode: Mode = "compiled"
_fixed_mode: Mode | None = None


def set_mode(requested: Mode) -> Mode:
    """Request a mode, and return the effective one.

    Call it before importing a game. The result differs from `requested` if the environment forbids
    compiling, or if an earlier import has fixed the mode.
    """
    global _requested_mode
    _requested_mode = requested
    return _fixed_mode or _permitted_mode()


def get_mode() -> Mode:
    """Return the mode of this process, and fix it."""
    global _fixed_mode
    if _fixed_mode is None:
        _fixed_mode = _permitted_mode()
    return _fixed_mode


def compiled() -> bool:
    """Return whether this process compiles its kernels; this fixes the mode."""
    return (_fixed_mode or get_mode()) == "compiled"


def can_compile() -> bool:
    """Return whether numba is installed and the environment allows machine code."""
    forbidden = (os.environ.get(name, "0") not in ("", "0") for name in _PLAIN_VARIABLES)
    return not any(forbidden) and importlib.util.find_spec("numba") is not None


def _permitted_mode() -> Mode:
    return _requested_mode if can_compile() else "plain"
