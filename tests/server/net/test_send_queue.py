"""What waits for a peer, and what becomes of it when it reads too slowly."""

from __future__ import annotations

import pytest
from websockets.frames import Frame, Opcode

from kibitz_protocol.wire.frames import text_frame
from kibitz_server.net.send_limits import SendLimits
from kibitz_server.net.send_queue import SendQueue, WriteBatcher
from tests.server.fakes import FakeLoop, FakeTransport


class FakeSource:
    """A source of news."""

    def __init__(self) -> None:
        self.caught_up = 0

    def send_snapshot(self, outbox: SendQueue) -> None:
        self.caught_up += 1
        outbox.caught_up(self)
        outbox.send(b"snapshot;")


class Scenario:
    def __init__(self) -> None:
        self.loop = FakeLoop()
        self.wire = FakeTransport()
        self.overflows = 0
        self.outbox = SendQueue(
            self.wire, WriteBatcher(self.loop.loop), SendLimits(frames_bytes=100), self._overflow
        )

    def _overflow(self) -> None:
        self.overflows += 1

    def sent(self) -> bytes:
        self.loop.advance()
        data, self.wire.written = self.wire.written, b""
        return data


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 70000])
def test_a_frame_is_the_one_that_the_library_writes(size: int) -> None:
    payload = b"x" * size
    assert text_frame(payload) == Frame(Opcode.TEXT, payload).serialize(mask=False)


def test_frames_of_one_turn_are_written_at_once() -> None:
    desk = Scenario()
    for frame in (b"a", b"b", b"c"):
        desk.outbox.send(frame)
    assert desk.wire.writes == 0
    assert desk.sent() == b"abc"
    assert desk.wire.writes == 1


def test_one_callback_serves_all_outboxes() -> None:
    loop = FakeLoop()
    cork = WriteBatcher(loop.loop)
    wires = [FakeTransport() for _ in range(5)]
    for wire in wires:
        SendQueue(wire, cork, SendLimits(), lambda: None).send(b"x")
    assert loop.armed == 1
    loop.advance()
    assert [wire.written for wire in wires] == [b"x"] * 5


def test_a_paused_player_gets_everything_later_and_in_order() -> None:
    desk = Scenario()
    desk.outbox.send(b"a")
    desk.outbox.pause()
    desk.outbox.send(b"b")
    assert desk.sent() == b""
    desk.outbox.resume()
    assert desk.sent() == b"ab"


def test_a_player_who_reads_too_slowly_overflows() -> None:
    desk = Scenario()
    desk.outbox.pause()
    desk.outbox.send(b"x" * 100)
    assert desk.overflows == 0
    desk.outbox.send(b"x")
    assert desk.overflows == 1


def test_a_paused_spectator_gets_one_snapshot_instead_of_what_it_missed() -> None:
    desk, match = Scenario(), FakeSource()
    desk.outbox.pause()
    for _ in range(1000):
        desk.outbox.send_droppable(b"event;", match)
    assert desk.overflows == 0
    desk.outbox.resume()
    assert desk.sent() == b"snapshot;"
    desk.outbox.send_droppable(b"event;", match)
    assert desk.sent() == b"event;"


def test_nothing_comes_between_what_was_missed_and_the_snapshot() -> None:
    class Slow(FakeSource):
        """A match whose present state waits for the disk."""

        def send_snapshot(self, outbox: SendQueue) -> None:
            self.caught_up += 1

    desk, slow = Scenario(), Slow()
    desk.outbox.pause()
    desk.outbox.send_droppable(b"event;", slow)
    desk.outbox.resume()
    desk.outbox.send_droppable(b"too early;", slow)
    assert (desk.sent(), slow.caught_up) == (b"", 1)
    FakeSource.send_snapshot(slow, desk.outbox)
    desk.outbox.send_droppable(b"event;", slow)
    assert desk.sent() == b"snapshot;event;"


def test_newer_news_of_a_lobby_replaces_older() -> None:
    desk = Scenario()
    desk.outbox.pause()
    for frame, lobby in ((b"1", "x"), (b"2", "y"), (b"3", "x")):
        desk.outbox.send_replacing(frame, lobby)
    desk.outbox.resume()
    assert desk.sent() == b"32"


def test_a_closed_outbox_sends_and_keeps_nothing() -> None:
    desk, match = Scenario(), FakeSource()
    desk.outbox.send(b"a")
    desk.outbox.close()
    desk.outbox.send(b"b")
    desk.outbox.send_droppable(b"c", match)
    desk.outbox.send_replacing(b"d", "x")
    assert desk.sent() == b""


class ClosedTransport(FakeTransport):
    def write(self, data: bytes | bytearray | memoryview) -> None:
        raise RuntimeError("closed for writing")


def test_an_outbox_that_cannot_be_written_to_takes_nothing_from_the_others() -> None:
    loop = FakeLoop()
    cork = WriteBatcher(loop.loop)
    wires = [ClosedTransport(), FakeTransport()]
    boxes = [SendQueue(wire, cork, SendLimits(), lambda: None) for wire in wires]
    for outbox in boxes:
        outbox.send(b"news;")
    loop.advance()
    assert wires[1].written == b"news;"
    assert boxes[0].closed
    assert not boxes[1].closed
