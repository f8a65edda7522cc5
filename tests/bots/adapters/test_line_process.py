"""Lines of external programs, with any line ending and fragmentation."""

from __future__ import annotations

import os
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_bots.adapters.line_process import MAX_LINE, LineSplitter, read_lines

ENDS = (b"\n", b"\r\n", b"\r")


def split(*chunks: bytes) -> list[str]:
    splitter = LineSplitter()
    return [*(line for chunk in chunks for line in splitter.feed(chunk)), *splitter.end()]


@pytest.mark.parametrize("end", ENDS)
@given(lines=st.lists(st.text("ab,é", max_size=5), min_size=1), cuts=st.lists(st.integers(0, 99)))
def test_lines_are_the_same_however_they_end_and_arrive(
    end: bytes, lines: list[str], cuts: list[int]
) -> None:
    stream = b"".join(line.encode() + end for line in lines)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    assert split(*(stream[a:b] for a, b in pairwise(places))) == lines


def test_a_line_that_ends_in_cr_is_there_at_once() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"4,5\r") == ["4,5"]
    assert splitter.feed(b"\n\n6,7\n") == ["", "6,7"]


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert split(b"INFO folder /t\xe9st\n") == ["INFO folder /t\N{REPLACEMENT CHARACTER}st"]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_that_is_too_long_is_several(end: bytes) -> None:
    lines = split(*[b"x" * 1000] * 200, end)
    assert max(map(len, lines)) == MAX_LINE
    assert sum(map(len, lines)) == 200_000


def test_the_lines_of_a_pipe_come_before_its_end() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as stream:
        lines = read_lines(stream)
        os.write(writing, b"one\rtw")
        assert next(lines) == "one"
        os.write(writing, b"o")
        os.close(writing)
        assert list(lines) == ["two"]
