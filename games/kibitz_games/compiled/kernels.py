"""The compile layer: one source for rules and searches, run by numba or by plain Python.

A *kernel* is a function over numpy records, arrays and numbers, decorated with `@kernel`. In
``compiled`` mode numba turns it into machine code; in ``plain`` mode the decorator gives the
function back unchanged. A process has one mode (see `mode`), settled by the first kernel that is
decorated, that is by the first import of a game's rules, and never changed afterwards.

Importing this module costs nothing: numba is imported when compiled mode is settled. A program that
draws or spectates calls ``set_mode("plain")`` first and never pays for numba; one that plays or
hosts leaves the default. For a server of Chinese Checkers, compiled rules cost 0.4 s of CPU and 107
MB once, with a warm cache. A ply (decode, play, legal actions, view) takes 16-30 us instead of 230,
so they pay for themselves after 2,000 plies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from kibitz_games.compiled import cache
from kibitz_games.compiled.cache import cache_directory as cache_directory
from kibitz_games.compiled.cache import compile_seconds as compile_seconds
from kibitz_games.compiled.mode import Mode as Mode
from kibitz_games.compiled.mode import compiled as compiled
from kibitz_games.compiled.mode import get_mode as get_mode
from kibitz_games.compiled.mode import set_mode as set_mode
from kibitz_games.compiled.records import RecordReader as RecordReader
from kibitz_games.compiled.records import StateRecord as StateRecord
from kibitz_games.compiled.records import as_array as as_array
from kibitz_games.compiled.records import kernel_array as kernel_array
from kibitz_games.compiled.records import new as new
from kibitz_games.compiled.records import plain_proxy as plain_proxy
from kibitz_games.compiled.records import record_type as record_type

Int: TypeAlias = "int | np.integer[Any]"
"""An integer inside a kernel: numpy's or Python's in plain mode, a machine word when compiled."""
Function = TypeVar("Function", bound=Callable[..., Any])

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""The compiler flags of all kernels: other threads run meanwhile, division never raises."""


def int64_cast() -> Callable[[Any], int]:
    """Return the conversion to a machine word: ``i64 = int64_cast()`` at the top of a module.

    That is ``np.int64`` where it matters, in machine code, and ``int`` in plain mode, where
    numpy's integers would only be slow.
    """
    return cast(Callable[[Any], int], np.int64 if compiled() else int)


def kernel(function: Function) -> Function:
    """Make `function` a kernel: machine code in compiled mode, itself in plain mode."""
    if not compiled():
        return function
    import numba

    from kibitz_games.compiled.numba_cache import KernelCache

    dispatcher: Any = numba.njit(**FLAGS)(function)
    dispatcher._cache = KernelCache(function)  # type: ignore[no-untyped-call]
    dispatcher.compile = cache.compile_locked(dispatcher)
    return dispatcher  # type: ignore[no-any-return]
