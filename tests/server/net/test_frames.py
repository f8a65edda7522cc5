"""Splitting bytes into frames: the fast path yields the same results as the general one."""

from __future__ import annotations

import pytest
from websockets.frames import Frame, Opcode

from kibitz_protocol.wire.values import MAX_FRAME
from kibitz_server.net.frames import FrameReader, Kind
from tests.server.fakes import client_frame

SIZES = (2, 3, 124, 125, 126, 127, 128, 255, 256, 4000, MAX_FRAME)


@pytest.mark.parametrize("size", SIZES)
def test_a_message_that_comes_alone_is_taken_at_once(size: int) -> None:
    payload = bytes(97 + index % 26 for index in range(size))
    quick, general = FrameReader(), FrameReader()
    assert quick.whole_text(client_frame(payload)) == payload
    assert general.next(client_frame(payload)) == (Kind.TEXT, payload)
    assert quick.next() is None


def long_form(payload: bytes) -> bytes:
    """Return a masked text frame with an eight-byte length."""
    return bytes((0x81, 0xFF)) + len(payload).to_bytes(8, "big") + bytes(4) + payload


OTHERS = {
    "nothing": b"",
    "one byte": b"\x81",
    "an empty message": client_frame(b""),
    "half a message": client_frame(b"x" * 200)[:-1],
    "half a header": client_frame(b"x" * 200)[:3],
    "two messages": client_frame(b"one") + client_frame(b"two"),
    "a message and a half": client_frame(b"one") + client_frame(b"two")[:4],
    "a ping": client_frame(b"ping", Opcode.PING),
    "a pong": client_frame(b"pong", Opcode.PONG),
    "binary": client_frame(b"bytes", Opcode.BINARY),
    "a fragment": Frame(Opcode.TEXT, b"frag", fin=False).serialize(mask=True),
    "not masked": Frame(Opcode.TEXT, b"unmasked text").serialize(mask=False),
    "eight bytes of length": long_form(b"x" * 127),
    "too long": client_frame(b"x" * (MAX_FRAME + 1)),
}


@pytest.mark.parametrize("data", OTHERS.values(), ids=OTHERS)
def test_whatever_else_comes_is_left_as_it_is(data: bytes) -> None:
    asked, other = FrameReader(), FrameReader()
    assert asked.whole_text(data) is None
    assert asked.next(data) == other.next(data)


def test_what_has_come_in_part_is_not_overtaken() -> None:
    reader = FrameReader()
    whole = client_frame(b"the first message")
    assert reader.next(whole[:5]) is None
    assert reader.whole_text(client_frame(b"another one")) is None
    assert reader.next(whole[5:]) == (Kind.TEXT, b"the first message")


def test_a_message_between_two_fragments_is_no_message() -> None:
    reader = FrameReader()
    found = reader.next(Frame(Opcode.TEXT, b"frag", fin=False).serialize(mask=True))
    assert found is not None
    assert reader.receive_other(found[1]) == []
    assert reader.whole_text(client_frame(b"not a fragment")) is None
