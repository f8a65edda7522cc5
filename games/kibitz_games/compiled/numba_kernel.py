"""How numba compiles a kernel: to bitcode for other kernels, and to machine code for Python.

By default, numba compiles every function to machine code, together with a copy of all functions
that it calls, and adds wrappers for callers in Python and C. A chain of calls is then optimized and
emitted once for each of its functions, although Python calls only the first one. Here, a kernel has
two parts:

- its *body*, for calls from other kernels: the type of its result, and the bitcode of the kernel
  and of everything that it calls, without any optimization across functions;
- its *entry*, for calls from Python: machine code, optimized and emitted once, of the body and a
  wrapper.

A kernel that only kernels call has no entry. Both parts are cached (see `numba_cache`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core import compiler, types
from numba.core.dispatcher import _FunctionCompiler
from numba.core.registry import CPUDispatcher

from kibitz_games.compiled import cache
from kibitz_games.compiled.numba_cache import BodyCache, BodyLibrary, EntryCache


def _record_name(record: types.Record) -> tuple[str, tuple[int, ...]]:
    """Return a record type's part of the names of compiled functions, a hash of its fields."""
    digest = hashlib.sha256(str(record).encode()).digest()
    return "Record", (int.from_bytes(digest[:8], "big"),)


# numba numbers record types by process. Code that two processes cached for different types could
# have the same name, and a process that loads both would run the first in place of the second.
types.Record.mangling_args = property(_record_name)


class _BodyCompiler(_FunctionCompiler):
    """Translates a kernel to bitcode."""

    inlined = True
    """Whether the kernel may be copied into its callers."""

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        flags = compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        context = self.targetdescr.target_context
        library = BodyLibrary(context.codegen(), self.py_func.__qualname__)
        result = compiler.compile_extra(
            *(self.targetdescr.typing_context, context, self.py_func, args, return_type),
            flags,
            self.locals,
            library,
        )
        library.finalize()
        if not self.inlined:
            library.get_function(result.fndesc.llvm_func_name).add_function_attribute("noinline")
        context.insert_user_function(library, result.fndesc, [library])
        return result._replace(entry_point=library)


class _EntryCompiler(_FunctionCompiler):
    """Compiles a kernel and all kernels that it calls to machine code."""

    body: Body

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        self.body.compile(args)
        result = self.body.overloads[args]
        context, function = result.target_context, result.fndesc
        context.refresh()  # a cached body is loaded without initializing the compiler
        library = context.codegen().create_library(function.qualname)
        library.enable_object_caching()
        with context.push_code_library(library):
            context.create_cpython_wrapper(
                library, function, result.environment, result.call_helper, release_gil=True
            )
        library.add_linking_library(result.library)
        entry = context.get_executable(library, function, result.environment)
        made = result._replace(library=library, entry_point=entry, type_annotation="", metadata={})
        for environment in made._find_referenced_environments():
            library.codegen.set_env(environment.env_name, environment)
        return made


class _Part(CPUDispatcher):
    """A part of a kernel, which is compiled for each combination of argument types."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: Mapping[str, Any],
        kind: type[_FunctionCompiler],
        cached: EntryCache | BodyCache,
        lock: Path,
    ) -> None:
        super().__init__(function, targetoptions={**options, "nopython": True})
        self._compiler = kind(function, self.targetdescr, self.targetoptions, {}, compiler.Compiler)
        self._cache = cached
        self.compile = cache.compile_locked(self, lock)


class Body(_Part):
    """The part that other kernels call."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the signature for these types; by default, each constant has its own type."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)

    def add_overload(self, result: Any) -> None:
        """Register a signature, without making it available to Python."""
        self.overloads[tuple(result.signature.args)] = result


class Entry(_Part):
    """The part that Python calls; in other kernels, it stands for the body."""

    def __init__(
        self, function: FunctionType, options: Mapping[str, Any], *, inlined: bool = True
    ) -> None:
        entries, bodies = EntryCache(function), BodyCache(function)
        lock = Path(f"{entries._cache_file._index_path}.lock")
        super().__init__(function, options, _EntryCompiler, entries, lock)
        named = _with_unique_name(function, entries.disambiguator)
        self.body = Body(named, options, _BodyCompiler, bodies, lock)
        self._compiler.body, self.body._compiler.inlined = self.body, inlined
        self.typingctx._remove_global(self)  # was the type of this part; see `_numba_type_`

    @property
    def _numba_type_(self) -> types.Dispatcher:
        return types.Dispatcher(self.body)


def _with_unique_name(function: FunctionType, suffix: str) -> FunctionType:
    """Return a copy whose symbols do not have the same names as those of any other kernel.

    numba numbers the functions of a process. Bitcode from two processes can contain two different
    functions with the same number; if they also had the same name, LLVM would drop one of them.
    """
    copy = FunctionType(
        *(function.__code__, function.__globals__, function.__name__),
        *(function.__defaults__, function.__closure__),
    )
    copy.__qualname__ = f"{function.__qualname__}.{suffix}"
    copy.__module__ = function.__module__
    return copy
