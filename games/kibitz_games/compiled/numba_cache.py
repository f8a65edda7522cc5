"""numba's cache of one function, placed and keyed by `cache` instead of by the function's file.

numba names a cache entry after the line of the function and discards it when the file's bytes or
time change. The directory name already covers all relevant source code, so here an entry is named
after the function's content, which distinguishes two functions of one name in one module.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

from numba.core import caching

from kibitz_games.compiled.cache import module_directory


class _Locator(caching._CacheLocator):
    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file  # numba's warnings name it
        self._directory = module_directory(Path(file).resolve())
        content = repr(_content(function.__code__, function.__doc__))
        self._disambiguator = hashlib.sha256(content.encode()).hexdigest()[:8]

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        return str(self._directory)

    def get_source_stamp(self) -> None:
        """Return the same for every file: a changed source has another directory."""

    def get_disambiguator(self) -> str:
        return self._disambiguator


def _content(code: CodeType, docstring: str | None = None) -> tuple[Any, ...]:
    """Return what a function does, without its place in the file."""
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
