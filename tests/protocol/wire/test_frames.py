"""Frame boundaries, in addition to those that the library writes."""

from __future__ import annotations

import pytest
from websockets.frames import Opcode

from kibitz_protocol.wire.frames import frame_bounds
from tests.server.fakes import client_frame


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 70000])
@pytest.mark.parametrize("start", [0, 3])
def test_a_frame_ends_where_the_library_ends_it(size: int, start: int) -> None:
    frame = client_frame(b"x" * size, Opcode.TEXT)
    data = b"y" * start + frame + b"more"
    assert frame_bounds(data, start) == (start + len(frame) - size, start + len(frame))


@pytest.mark.parametrize(("size", "needed"), [(5, 2), (126, 4), (65536, 10)])
def test_a_header_that_is_not_all_there_says_nothing(size: int, needed: int) -> None:
    frame = client_frame(b"x" * size, Opcode.TEXT)
    assert [frame_bounds(frame[:cut], 0) for cut in range(needed)] == [None] * needed
    assert frame_bounds(frame[:needed], 0) == (len(frame) - size, len(frame))
