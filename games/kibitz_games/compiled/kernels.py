"""The compile layer: the same source of rules and searches runs in numba or plain Python.

A *kernel* is a function over numpy records, arrays and numbers, decorated with `@kernel`. In
``compiled`` mode, numba compiles it to machine code; in ``plain`` mode, the decorator returns the
function unchanged. The mode (see `mode`) is fixed for the whole process when the first kernel is
decorated, which is the first import of a game's rules.

Importing this module is cheap: numba is imported only once compiled mode is fixed. Programs that
only draw or spectate call ``set_mode("plain")`` first to avoid the cost of numba; programs that
play or host keep the default. For a server of Chinese Checkers with a warm cache, compiled rules
cost 0.4 s of CPU time at startup and 107 MB of memory. A ply (decode, play, legal actions, view)
takes 16-30 us instead of 230 us, so the CPU time is recovered after 2,000 plies.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

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
"""An integer inside a kernel: from numpy or Python in plain mode, a machine word if compiled."""
Function = TypeVar("Function", bound=Callable[..., Any])

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""The compiler flags of all kernels: release the GIL, and do not raise on division by zero."""


def int64_cast() -> Callable[[Any], int]:
    """Return the conversion to a machine word: ``i64 = int64_cast()`` at the top of a module.

    This is ``np.int64`` in compiled mode, and ``int`` in plain mode, where numpy integers would
    only be slower.
    """
    return cast(Callable[[Any], int], np.int64 if compiled() else int)


def index_cast() -> Callable[[Any], int]:
    """Return the conversion to an index that is not negative: ``index = index_cast()``.

    numba adds the length of an array to a negative index, as Python does, and tests every signed
    index for this. The tests take a fifth of the time in Chinese Checkers and in the patterns of
    five in a row. Use the result only as an index, as in ``moves[index(n)]``: numba converts sums
    of signed and unsigned numbers to floating point.
    """
    return cast(Callable[[Any], int], np.uint64 if compiled() else int)


def kernel(function: Function) -> Function:
    """Turn `function` into a kernel; in plain mode, return it unchanged."""
    return _compiled(function, inlined=True)


def shared_kernel(function: Function) -> Function:
    """Turn `function` into a kernel that is never copied into its callers.

    Use it for a kernel that others call in many places: a copy in each place makes their machine
    code large and slow to compile. A call takes about 2 ns.
    """
    return _compiled(function, inlined=False)


def _compiled(function: Function, *, inlined: bool) -> Function:
    if not compiled():
        return function
    from kibitz_games.compiled.numba_kernel import Entry

    return cast(Function, Entry(cast(Any, function), FLAGS, inlined=inlined))


def bound(function: Callable[..., Any], *first: Any, integers: int = 0) -> Callable[..., Any]:
    """Return a kernel with its first arguments fixed, to be called with `integers` more arguments.

    numba determines the type of each argument in each call, which takes longer than a short kernel.
    Here it does so once. The other arguments must be Python integers of at most 64 bits.
    """
    if compiled():
        import numba

        entry: Any = function
        types = (*map(numba.typeof, first), *[numba.int64] * integers)
        function = entry.compile(types)
    return functools.partial(function, *first)
