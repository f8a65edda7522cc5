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
        _declare(dispatch, table, default)
    return dispatch


def _declare(dispatch: Callable[..., Any], table: dict[Any, Any], default: Any) -> None:
    """Make numba resolve calls of `dispatch` to a kernel, by the type of the first argument."""
    from numba.core import types
    from numba.core.typing.templates import AbstractTemplate, infer_global

    class Choice(AbstractTemplate):
        key = dispatch

        def generic(self, args: Any, kws: Any) -> Any:
            chosen = table.get(args[0], default)
            if chosen is None:
                return None
            return self.context.resolve_value_type(chosen).get_call_type(self.context, args, kws)

        def get_impl_key(self, sig: Any) -> Any:
            chosen = table.get(sig.args[0], default)
            return self.context.resolve_value_type(chosen).get_impl_key(sig)

    infer_global(dispatch, types.Function(Choice))


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
