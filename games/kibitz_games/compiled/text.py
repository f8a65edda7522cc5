"""JSON for the wire, written by kernels directly from states, without Python objects.

A kernel writes into an array of bytes at an offset, and returns the offset after the written text.
Bounds are not checked: `text_of` provides an array large enough for the longest text. ::

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

from kibitz_games.compiled.kernels import Int, as_array, int64_cast, kernel_array, shared_kernel

i64 = int64_cast()

Text: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"
"""The bytes of a text."""
_ZERO, _MINUS, _COMMA = ord("0"), ord("-"), ord(",")


def constant(text: bytes) -> Any:
    """Return a constant text for `put`."""
    return kernel_array(np.frombuffer(text, np.uint8).copy())


def choice(texts: Sequence[bytes]) -> tuple[Any, Any]:
    """Return alternative texts for `put_one`: their joined bytes, and the offset of each."""
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return constant(b"".join(texts)), kernel_array(starts)


class _Scratch(threading.local):
    """The text buffer of one thread, overwritten by each call of a kernel."""

    def __init__(self) -> None:
        self.grow(0)

    def grow(self, size: int) -> None:
        """Replace the buffer with one of `size` bytes."""
        array = np.empty(size, np.uint8)
        self.out = kernel_array(array)
        self.text = memoryview(cast(Any, array))
        """A view of the same bytes, which is faster to slice."""


_SCRATCH = _Scratch()


def text_of(write: Callable[[Any, Any], Any], state: np.record, size: int) -> bytes:
    """Return the text that the kernel `write` writes for a state; `size` is its maximum length."""
    scratch = _SCRATCH
    if len(scratch.text) < size:
        scratch.grow(size)
    return scratch.text[: write(as_array(state), scratch.out)].tobytes()


@shared_kernel
def put(out: Text, at: Int, text: Text) -> Int:
    """Write a text; return the offset after it."""
    for i in range(len(text)):
        out[at + i] = text[i]
    return at + len(text)


@shared_kernel
def put_one(out: Text, at: Int, texts: Text, starts: Any, index: Int) -> Int:
    """Write the text with index `index` of a `choice`."""
    first, last = i64(starts[index]), i64(starts[index + 1])
    for i in range(first, last):
        out[at + i - first] = texts[i]
    return at + last - first


@shared_kernel
def put_int(out: Text, at: Int, value: Int) -> Int:
    """Write an integer in decimal."""
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


@shared_kernel
def put_ints(out: Text, at: Int, values: Any, count: Int) -> Int:
    """Write the first `count` integers of an array, separated by commas."""
    for i in range(count):
        if i > 0:
            out[at] = _COMMA
            at += 1
        at = put_int(out, at, values[i])
    return at
