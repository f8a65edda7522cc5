"""Whole numbers of foreign types: numpy's, a tensor's, whatever has ``__index__``."""

from __future__ import annotations

import operator
from typing import Any


def integer(value: Any) -> int | None:
    """Return `value` as an `int`, or None if it is not an integer.

    Any object with ``__index__`` is one: numpy's integers, arrays without axes, tensors of one
    element. Booleans of any library are not: a flag in place of a move is a mistake.
    """
    if type(value) is int:
        return value
    if isinstance(value, bool) or "bool" in str(getattr(value, "dtype", "")):
        return None
    try:
        return operator.index(value)
    except TypeError:  # no number, or more than one, as an array with axes
        return None
