"""numba's cache of one function, with the location and key given by `cache`.

By default, numba names a cache entry after the function's line number and discards it when the
file's contents or modification time change. The directory name already covers all relevant source
code, so here an entry is named after the function's bytecode. This distinguishes two functions with
the same name in a module.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

from numba.core import caching
from numba.core.runtime.nrt import rtsys

from kibitz_games.compiled.cache import module_directory


class _Locator(caching._CacheLocator):
    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file  # named in numba's warnings
        self._directory = module_directory(Path(file).resolve())
        content = repr(_content(function.__code__, function.__doc__))
        self._disambiguator = hashlib.sha256(content.encode()).hexdigest()[:8]

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        return str(self._directory)

    def get_source_stamp(self) -> None:
        """Return None, because changed sources have a different directory."""

    def get_disambiguator(self) -> str:
        return self._disambiguator


def _content(code: CodeType, docstring: str | None = None) -> tuple[Any, ...]:
    """Return the bytecode, names and constants of a function, without line numbers."""
    constants = [
        _content(value) if isinstance(value, CodeType) else value
        for value in code.co_consts
        if value is not docstring
    ]
    return code.co_code, code.co_names, constants


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012


class KernelCache(caching.FunctionCache):
    """The cache of a kernel's machine code."""

    _impl_class = _Implementation

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load machine code without initializing numba's compiler.

        By default, numba first registers everything that it can compile, which takes ten times as
        long as loading. Machine code only needs the symbols of numba's runtime. If something has to
        be compiled later, the compiler registers the rest by itself.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
