"""Conversion of other libraries' integers, such as numpy's and one-element tensors, to `int`."""

from __future__ import annotations

import operator
from typing import Any


def integer(value: Any) -> int | None:
    """Return `value` as an `int`, or None if it is not an integer.

    Any object with ``__index__`` is accepted: numpy integers, zero-dimensional arrays, one-element
    tensors. Booleans of any library are refused, since a flag in place of a move is a mistake.
    """
    if type(value) is int:
        return value
    if isinstance(value, bool) or "bool" in str(getattr(value, "dtype", "")):
        return None
    try:
        return operator.index(value)
    except TypeError:  # not a number, or an array with more than one
        return None
