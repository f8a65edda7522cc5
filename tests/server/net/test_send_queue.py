"""The send queue of a peer, and its limits when the peer reads too slowly."""

from __future__ import annotations

import pytest
from websockets.frames import Frame, Opcode

from kibitz_protocol.wire.frames import text_frame
from kibitz_server.net.send_queue import (
    MAX_AWAITED,
    PATIENT_AT_ONCE,
    SendLimits,
    SendQueue,
    WriteBatcher,
)
from tests.server.fakes import FakeLoop, FakeTransport


class FakeSource:
    """A source of news."""

    def __init__(self) -> None:
        self.caught_up = 0

    def send_snapshot(self, queue: SendQueue) -> None:
        self.caught_up += 1
        queue.caught_up(self)
        queue.send(b"snapshot;")


class Scenario:
    def __init__(self) -> None:
        self.loop = FakeLoop()
        self.wire = FakeTransport()
        self.overflows = 0
        self.queue = SendQueue(
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
    scenario = Scenario()
    for frame in (b"a", b"b", b"c"):
        scenario.queue.send(frame)
    assert scenario.wire.writes == 0
    assert scenario.sent() == b"abc"
    assert scenario.wire.writes == 1


def test_one_callback_serves_all_queues() -> None:
    loop = FakeLoop()
    cork = WriteBatcher(loop.loop)
    wires = [FakeTransport() for _ in range(5)]
    for wire in wires:
        SendQueue(wire, cork, SendLimits(), lambda: None).send(b"x")
    assert loop.armed == 1
    loop.advance()
    assert [wire.written for wire in wires] == [b"x"] * 5


class Crowd:
    """The queues of spectators of one match, and a player's."""

    def __init__(self, size: int) -> None:
        self.loop, self.match = FakeLoop(), FakeSource()
        batcher = WriteBatcher(self.loop.loop)
        self.wires = [FakeTransport() for _ in range(size)]
        self.queues = [SendQueue(wire, batcher, SendLimits(), lambda: None) for wire in self.wires]
        self.wire = FakeTransport()
        self.player = SendQueue(self.wire, batcher, SendLimits(), lambda: None)

    def tell(self, frame: bytes) -> None:
        for queue in self.queues:
            queue.send_droppable(frame, self.match)

    @property
    def writes(self) -> int:
        return sum(wire.writes for wire in self.wires)


def test_a_crowd_is_written_over_several_turns_and_a_player_does_not_wait_for_it() -> None:
    crowd = Crowd(2 * PATIENT_AT_ONCE + 1)
    crowd.tell(b"event;")
    crowd.player.send(b"turn;")
    crowd.loop.run_turn()
    assert crowd.wire.written == b"turn;"
    assert crowd.writes == PATIENT_AT_ONCE
    crowd.player.send(b"answer;")
    crowd.queues[-1].send(b"answer;")
    crowd.loop.run_turn()
    assert crowd.wire.written == b"turn;answer;"
    assert crowd.wires[-1].written == b"event;answer;"
    assert crowd.writes == 2 * PATIENT_AT_ONCE + 1
    crowd.loop.run_turn()
    assert [wire.written for wire in crowd.wires[:-1]] == [b"event;"] * (len(crowd.wires) - 1)
    assert crowd.loop.armed == 0


def test_the_news_of_another_match_waits_behind_that_of_a_crowd() -> None:
    crowd, other = Crowd(PATIENT_AT_ONCE), FakeSource()
    crowd.tell(b"event;")
    crowd.player.send_droppable(b"other;", other)
    crowd.loop.run_turn()
    assert (crowd.writes, crowd.wire.written) == (PATIENT_AT_ONCE, b"")
    crowd.loop.run_turn()
    assert crowd.wire.written == b"other;"


def test_what_waits_for_its_turn_is_held_back_where_the_peer_pauses() -> None:
    scenario, match = Scenario(), FakeSource()
    scenario.queue.send_droppable(b"event;", match)
    scenario.queue.pause()
    assert scenario.sent() == b""
    scenario.queue.send_droppable(b"missed;", match)
    scenario.queue.resume()
    assert scenario.sent() == b"event;snapshot;"
    scenario.queue.send_droppable(b"event;", match)
    assert scenario.sent() == b"event;"


def test_a_paused_player_gets_everything_later_and_in_order() -> None:
    scenario = Scenario()
    scenario.queue.send(b"a")
    scenario.queue.pause()
    scenario.queue.send(b"b")
    assert scenario.sent() == b""
    scenario.queue.resume()
    assert scenario.sent() == b"ab"


def test_a_player_who_reads_too_slowly_overflows() -> None:
    scenario = Scenario()
    scenario.queue.pause()
    scenario.queue.send(b"x" * 100)
    for _ in range(3):
        scenario.queue.send(b"x")
    assert scenario.overflows == 0, "it is reported at the end of the turn"
    scenario.loop.advance()
    assert scenario.overflows == 1


def test_what_overflows_is_not_written_with_a_gap_when_the_peer_reads_again() -> None:
    scenario = Scenario()
    scenario.queue.pause()
    scenario.queue.send(b"x" * 101)
    scenario.queue.send(b"lost")
    scenario.queue.resume()
    scenario.queue.send(b"after")
    assert scenario.sent() == b""
    assert scenario.overflows == 1


def test_a_queue_that_is_closed_meanwhile_is_not_reported() -> None:
    scenario = Scenario()
    scenario.queue.pause()
    scenario.queue.send(b"x" * 101)
    scenario.queue.close()
    scenario.loop.advance()
    assert scenario.overflows == 0


def test_a_queue_that_cannot_be_reported_stops_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def failing() -> None:
        raise RuntimeError("planted")

    loop, reported = FakeLoop(), list[int]()
    batcher, limits = WriteBatcher(loop.loop), SendLimits(frames_bytes=100)
    queues = [
        SendQueue(FakeTransport(), batcher, limits, failing),
        SendQueue(FakeTransport(), batcher, limits, lambda: reported.append(1)),
    ]
    for queue in queues:
        queue.pause()
        queue.send(b"x" * 101)
    loop.advance()
    assert reported == [1]
    assert queues[0].closed
    assert "planted" in caplog.text


def test_a_paused_spectator_gets_one_snapshot_instead_of_what_it_missed() -> None:
    scenario, match = Scenario(), FakeSource()
    scenario.queue.pause()
    for _ in range(1000):
        scenario.queue.send_droppable(b"event;", match)
    assert scenario.overflows == 0
    scenario.queue.resume()
    assert scenario.sent() == b"snapshot;"
    scenario.queue.send_droppable(b"event;", match)
    assert scenario.sent() == b"event;"


def test_nothing_comes_between_what_was_missed_and_the_snapshot() -> None:
    class Slow(FakeSource):
        """A match whose current state waits for the disk."""

        def send_snapshot(self, queue: SendQueue) -> None:
            self.caught_up += 1

    scenario, slow = Scenario(), Slow()
    scenario.queue.pause()
    scenario.queue.send_droppable(b"event;", slow)
    scenario.queue.resume()
    scenario.queue.send_droppable(b"too early;", slow)
    assert (scenario.sent(), slow.caught_up) == (b"", 1)
    FakeSource.send_snapshot(slow, scenario.queue)
    scenario.queue.send_droppable(b"event;", slow)
    assert scenario.sent() == b"snapshot;event;"


def test_a_closed_queue_sends_and_keeps_nothing() -> None:
    scenario, match = Scenario(), FakeSource()
    scenario.queue.send(b"a")
    scenario.queue.close()
    scenario.queue.send(b"b")
    scenario.queue.send_droppable(b"c", match)
    assert scenario.sent() == b""


class ClosedTransport(FakeTransport):
    def write(self, data: bytes | bytearray | memoryview) -> None:
        raise RuntimeError("closed for writing")


def test_an_queue_that_cannot_be_written_to_takes_nothing_from_the_others() -> None:
    loop = FakeLoop()
    cork = WriteBatcher(loop.loop)
    wires = [ClosedTransport(), FakeTransport()]
    queues = [SendQueue(wire, cork, SendLimits(), lambda: None) for wire in wires]
    for queue in queues:
        queue.send(b"news;")
    loop.advance()
    assert wires[1].written == b"news;"
    assert queues[0].closed
    assert not queues[1].closed


class LargeSource(FakeSource):
    """A match whose snapshot fills half of a transport's buffer."""

    def send_snapshot(self, queue: SendQueue) -> None:
        self.caught_up += 1
        queue.caught_up(self)
        queue.send(b"x" * (SendLimits().high_water // 2))


def test_many_that_were_skipped_are_told_a_few_at_a_time() -> None:
    scenario = Scenario()
    sources = [LargeSource() for _ in range(9)]
    for source in sources:
        scenario.queue.skip(source)
    scenario.queue.catch_up()
    assert [source.caught_up for source in sources] == [1] * 2 + [0] * 7
    scenario.loop.run_turn()
    assert sum(source.caught_up for source in sources) == 4
    scenario.queue.pause()
    scenario.loop.advance()
    assert sum(source.caught_up for source in sources) == 4
    scenario.queue.resume()
    assert len(scenario.sent()) == 9 * (SendLimits().high_water // 2)
    assert [source.caught_up for source in sources] == [1] * 9


def test_sources_that_answer_later_are_asked_a_few_at_a_time() -> None:
    class Waiting(FakeSource):
        """A match that waits for the disk."""

        def send_snapshot(self, queue: SendQueue) -> None:
            self.caught_up += 1

    scenario = Scenario()
    sources = [Waiting() for _ in range(MAX_AWAITED + 5)]
    for source in sources:
        scenario.queue.skip(source)
    scenario.queue.catch_up()
    scenario.queue.catch_up()
    assert sum(source.caught_up for source in sources) == MAX_AWAITED
    for source in sources[:MAX_AWAITED]:
        FakeSource.send_snapshot(source, scenario.queue)
    scenario.sent()
    assert all(source.caught_up for source in sources)
