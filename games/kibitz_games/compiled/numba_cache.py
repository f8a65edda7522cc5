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

import llvmlite.binding as llvm
from numba.core import caching
from numba.core.codegen import Codegen, JITCodeLibrary
from numba.core.compiler import compile_result
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


class BodyLibrary(JITCodeLibrary):
    """The bitcode of a body, which is never optimized as a whole or emitted."""

    @classmethod
    def from_bitcode(cls, codegen: Codegen, name: str, bitcode: bytes) -> BodyLibrary:
        """Return a library with the bitcode of another process."""
        library = cls(codegen, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalized = True
        return library

    def finalize(self) -> None:
        """Link the bodies of the callees."""
        for callee in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(callee._reload_init)
            self._final_module.link_in(callee._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


class _Entries(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012


class _Bodies(_Entries):
    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"{super().get_filename_base(fullname, abiflags)}.body"

    def reduce(self, result: Any) -> Any:
        """Return a body in a form that can be pickled."""
        function, library = result.fndesc, result.library
        function.typemap = function.calltypes = None
        bitcode = library._get_module_for_linking().as_bitcode()
        return library.name, bitcode, function, result.environment, result.signature

    def rebuild(self, context: Any, payload: Any) -> Any:
        """Return a body from its pickled form."""
        name, bitcode, function, environment, signature = payload
        library = BodyLibrary.from_bitcode(context.codegen(), name, bitcode)
        return compile_result(
            typing_context=context.typing_context,
            target_context=context,
            entry_point=library,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=(),
            fndesc=function,
            library=library,
            environment=environment,
        )


class _KernelCache(caching.FunctionCache):
    @property
    def disambiguator(self) -> str:
        """A hash that distinguishes the function from others with the same name in its module."""
        return str(self._impl.locator.get_disambiguator())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load code without initializing numba's compiler.

        By default, numba first registers everything that it can compile, which takes ten times as
        long as loading. Machine code only needs the symbols of numba's runtime. If something has to
        be compiled later, the compiler registers the rest by itself.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class EntryCache(_KernelCache):
    """The cache of a kernel's machine code."""

    _impl_class = _Entries


class BodyCache(_KernelCache):
    """The cache of a kernel's bitcode."""

    _impl_class = _Bodies
