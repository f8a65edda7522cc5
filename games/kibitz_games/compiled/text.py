"""JSON written by kernels for the wire, without a Python object for each part of the state.

A kernel writes into an array of bytes from a place on, and returns the place after what it wrote.
No bounds are checked: `text_of` has an array that the longest text fits into. ::

    OPEN, CLOSE = constant(b'{"ply":'), constant(b"}")

    @kernel
    def write_view(states: StateArray, out: Text) -> Int:
        return put(out, put_int(out, put(out, 0, OPEN), states[0].ply), CLOSE)

    text = text_of(write_view, state, 20)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from kibitz_games.compiled.kernels import Int, as_array, int64_cast, kernel, kernel_array

i64 = int64_cast()

Text: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"
"""Bytes of a text, to read or to write."""
_ZERO, _MINUS, _COMMA = ord("0"), ord("-"), ord(",")


def constant(text: bytes) -> Any:
    """Return a text for kernels to `put`."""
    return kernel_array(np.frombuffer(text, np.uint8).copy())


def choice(texts: Sequence[bytes]) -> tuple[Any, Any]:
    """Return texts for `put_one` to choose from: all of their bytes, and where each begins."""
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return constant(b"".join(texts)), kernel_array(starts)


class _Scratch(threading.local):
    """The text buffer of one thread, which each call of a kernel overwrites."""

    def __init__(self) -> None:
        self.grow(0)

    def grow(self, size: int) -> None:
        """Have room for `size` bytes."""
        array = np.empty(size, np.uint8)
        self.out = kernel_array(array)
        self.text = memoryview(cast(Any, array))
        """The same bytes, a part of which is read in less time."""


_SCRATCH = _Scratch()


def text_of(write: Callable[[Any, Any], Any], state: np.record, size: int) -> bytes:
    """Return the text that a kernel writes of a state; `size` is its maximum length."""
    scratch = _SCRATCH
    if len(scratch.text) < size:
        scratch.grow(size)
    return scratch.text[: write(as_array(state), scratch.out)].tobytes()


@kernel
def put(out: Text, at: Int, text: Text) -> Int:
    """Write a text."""
    for i in range(len(text)):
        out[at + i] = text[i]
    return at + len(text)


@kernel
def put_one(out: Text, at: Int, texts: Text, starts: Any, index: Int) -> Int:
    """Write the text of number `index` of a `choice`."""
    first, last = i64(starts[index]), i64(starts[index + 1])
    for i in range(first, last):
        out[at + i - first] = texts[i]
    return at + last - first


@kernel
def put_int(out: Text, at: Int, value: Int) -> Int:
    """Write a number in decimal."""
    rest = i64(value)
    if rest < 0:
        out[at] = _MINUS
        at += 1
        rest = -rest
    end = at + 1
    bound = i64(10)
    while rest >= bound:
        bound *= 10
        end += 1
    for place in range(end - at):
        out[end - 1 - place] = _ZERO + rest % 10
        rest //= 10
    return end


@kernel
def put_ints(out: Text, at: Int, values: Any, count: Int) -> Int:
    """Write the first `count` of some numbers, with commas between them."""
    for i in range(count):
        if i > 0:
            out[at] = _COMMA
            at += 1
        at = put_int(out, at, values[i])
    return at
