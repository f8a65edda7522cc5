"""Peers: the ways to end their connections, and their memory."""

from __future__ import annotations

from websockets.frames import Opcode

from kibitz_protocol.wire.refusals import CloseCode, Code
from tests.server.fakes import PeerRig
from tests.server.net.test_connection import ADA, opened


def test_our_close_sends_what_waits_before_it() -> None:
    line = opened()
    line.peer.refuse(1, Code.CLOSED, "closed")
    line.peer.close(CloseCode.KICKED, "x" * 500)
    frames = line.frames()
    assert [opcode for opcode, _ in frames] == [Opcode.TEXT, Opcode.CLOSE]
    assert len(frames[1][1]) <= 125


def test_a_close_that_is_not_answered_is_an_abort() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.peer.close(CloseCode.KICKED)
    assert not line.transport.aborted
    rig.loop.advance(4)
    assert line.transport.aborted


def test_a_peer_that_stops_reading_is_aborted() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.peer.greeted(ADA)
    line.transport.backlog = 40_000
    line.connection.pause_writing()
    rig.loop.advance(4)
    assert line.transport.aborted


def test_a_player_that_reads_too_slowly_is_closed() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.connection.pause_writing()
    for _ in range(300):
        line.peer.send_queue.send(b"x" * 1000)
    assert not line.peer.leaving, "whoever sends to many may be in a loop over its peers"
    assert line.close_code() == CloseCode.TOO_SLOW
    assert line.peer.leaving
    assert rig.metrics.drops == {"too slow": 1}


def test_the_desk_hears_of_every_end_once() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.peer.close(CloseCode.KICKED)
    line.connection.connection_lost(None)
    assert rig.handler.left == [line.peer]
    assert rig.handler.closed == [line.peer]


def test_a_lost_connection_leaves_no_timer_of_its_own() -> None:
    rig = PeerRig()
    armed = rig.loop.armed
    line = opened(rig)
    line.connection.connection_lost(ConnectionResetError())
    rig.loop.advance(120)
    assert rig.loop.armed == armed
    assert not line.transport.aborted


def test_nothing_is_written_after_the_other_side_has_ended() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.frames()
    line.connection.eof_received()
    line.peer.refuse(1, Code.CLOSED, "closed")
    assert line.frames() == []
    assert rig.handler.left == [line.peer]


def test_a_peer_has_no_dict_of_its_own() -> None:
    line = opened()
    assert not hasattr(line.peer, "__dict__")
    assert not hasattr(line.connection, "__dict__")


def test_the_key_of_a_request_is_of_one_player_program_and_id() -> None:
    peer = opened().peer
    assert peer.request_key(1) is None, "it has not said hello"
    peer.greeted(ADA)
    assert peer.request_key(1) is None, "its program has no name"
    peer.instance = "a-program"
    keys = [peer.request_key(1), peer.request_key(2)]
    peer.instance = "another-program"
    keys.append(peer.request_key(1))
    assert len(set(keys)) == 3
    assert all(key is not None and "program" not in key for key in keys)
