"""Text written by kernels equals Python's text for the same values."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kibitz_games.compiled.calls import StateArray
from kibitz_games.compiled.kernels import Int, kernel, kernel_array, new, record_type
from kibitz_games.compiled.text import (
    Text,
    choice,
    constant,
    put,
    put_int,
    put_ints,
    put_one,
    text_of,
)

POINT = record_type("point", [("x", np.int32), ("y", np.int32)], source=__file__)
OPEN, BETWEEN, CLOSE = constant(b'{"x":'), constant(b',"y":'), constant(b"}")
WORDS = ("", "black", "white", "a-long-one")
CHARS, STARTS = choice([word.encode() for word in WORDS])


@kernel
def write_point(states: StateArray, out: Text) -> Int:
    point = states[0]
    at = put_int(out, put(out, 0, OPEN), point.x)
    return put(out, put_int(out, put(out, at, BETWEEN), point.y), CLOSE)


def room() -> np.ndarray:
    return np.zeros(4096, np.uint8)


def text(out: np.ndarray, end: Int) -> str:
    assert not out[end:].any(), "nothing is written behind the end"
    return out[:end].tobytes().decode("ascii")


@given(st.integers(-(2**31), 2**31 - 1))
def test_a_number_is_written_as_python_writes_it(number: int) -> None:
    out = room()
    assert text(out, put_int(kernel_array(out), 0, number)) == str(number)


@given(st.lists(st.integers(0, 2**31 - 1), max_size=40), st.integers(0, 40))
def test_the_first_of_some_numbers_are_written_with_commas(numbers: list[int], count: int) -> None:
    out, first = room(), min(count, len(numbers))
    values = kernel_array(np.array(numbers or [0], np.int32))
    end = put_ints(kernel_array(out), 0, values, first)
    assert json.loads(f"[{text(out, end)}]") == numbers[:first]


def test_each_text_of_a_choice_is_found_by_its_number() -> None:
    for index, word in enumerate(WORDS):
        out = room()
        assert text(out, put_one(kernel_array(out), 0, CHARS, STARTS, index)) == word


def test_what_a_kernel_writes_of_a_state_is_cut_to_its_length() -> None:
    state = new(POINT)
    state["x"], state["y"] = -7, 2_000_000_000
    assert json.loads(text_of(write_point, state, 40)) == {"x": -7, "y": 2_000_000_000}


def test_a_longer_text_follows_a_shorter_one() -> None:
    state = new(POINT)
    state["x"] = 3
    assert text_of(write_point, state, 14) == b'{"x":3,"y":0}'
    state["y"] = -2_000_000_000
    assert text_of(write_point, state, 4096) == b'{"x":3,"y":-2000000000}'
    state["y"] = 4
    assert text_of(write_point, state, 14) == b'{"x":3,"y":4}'


def test_threads_write_on_arrays_of_their_own() -> None:
    state, other = new(POINT), new(POINT)
    other["x"] = 8

    def interrupted(states: StateArray, out: Text) -> int:
        end = write_point(states, out)
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(text_of, write_point, other, 40).result()
        assert written == b'{"x":8,"y":0}'
        return int(end)

    assert text_of(interrupted, state, 40) == b'{"x":0,"y":0}'
