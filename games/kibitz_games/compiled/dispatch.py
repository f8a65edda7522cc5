"""Generic functions, dispatched on the record type of their first argument.

In plain mode, each call looks up the implementation by the argument's dtype. In compiled mode,
numba resolves it at compile time, so a call costs as much as a direct call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kibitz_games.compiled import cache, kernels, records

_tables: dict[str, dict[Any, Callable[..., Any]]] = {}


Check: TypeAlias = Callable[..., None]
"""A check for calls from Python; raises if machine code would write past the end of an argument."""


def operation(function: Callable[..., Any], check: Check | None = None) -> Any:
    """Turn a signature into a generic function without a default implementation."""
    return _dispatched(function, None, check)


def default_operation(function: Callable[..., Any], check: Check | None = None) -> Any:
    """Turn a kernel into a generic function whose default implementation is the kernel's body."""
    return _dispatched(function, kernels.kernel(function), check)


def checked(check: Check, kind: Callable[..., Any]) -> Callable[..., Any]:
    """Return the decorator `kind`, either `operation` or `default_operation`, with this check."""
    return functools.partial(kind, check=check)


def _dispatched(
    function: Callable[..., Any], default: Callable[..., Any] | None, check: Check | None
) -> Any:
    """Return a generic function; types without an implementation use `default`."""
    name = function.__name__
    table = _tables.setdefault(name, {})

    def dispatch(*args: Any) -> Any:
        implementation = table.get(args[0].dtype, default)
        if implementation is None:
            raise missing(name, args[0].dtype)
        if check is not None:
            check(*args)
        return implementation(*args)

    dispatch.__name__ = dispatch.__qualname__ = name
    dispatch.__doc__ = function.__doc__
    if kernels.compiled():
        _overload(dispatch, table, default, function.__code__.co_argcount)
    return dispatch


def _overload(
    dispatch: Callable[..., Any], table: dict[Any, Any], default: Any, arity: int
) -> None:
    """Make numba resolve calls of `dispatch` by the record type of the first argument."""
    from numba.extending import overload

    def one(a: Any) -> Any:
        chosen = table.get(a, default)
        return None if chosen is None else lambda a: chosen(a)

    def two(a: Any, b: Any) -> Any:
        chosen = table.get(a, default)
        return None if chosen is None else lambda a, b: chosen(a, b)

    def three(a: Any, b: Any, c: Any) -> Any:
        chosen = table.get(a, default)
        return None if chosen is None else lambda a, b, c: chosen(a, b, c)

    options: Any = kernels.FLAGS
    overload(dispatch, jit_options=options, strict=False)((one, two, three)[arity - 1])


def names() -> tuple[str, ...]:
    """Return the names of all generic functions."""
    return tuple(_tables)


def set_implementation(name: str, dtype: np.dtype[Any], function: Callable[..., Any]) -> None:
    """Register an implementation of a generic function for records of type `dtype`.

    Raises `TypeError` if the module that declared the type does not import the function's module:
    the type's hash would not cover the function, so stale machine code could run.
    """
    if kernels.compiled():
        import numba

        source = records.source_of(dtype)
        module = Path(function.__code__.co_filename).resolve()
        if not cache.depends_on(source, module):
            raise TypeError(f"{name!r} is in {module}, which {source} does not import")
        _tables[name][numba.from_dtype(dtype)] = function
    _tables[name][dtype] = function


def implementation(name: str, dtype: np.dtype[Any]) -> Callable[..., Any] | None:
    """Return the implementation registered for a type, or None."""
    return _tables[name].get(dtype)


def missing(name: str, dtype: Any) -> TypeError:
    """Return the error for a type without an implementation of `name`."""
    label = dtype.names[-1] if getattr(dtype, "names", None) else dtype
    return TypeError(f"no {name!r} for records of type {label}")
