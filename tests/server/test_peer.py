"""One connection: handshake, frames, limits, pings and the ways to end."""

from __future__ import annotations

import json
import random

import pytest
from websockets.frames import Frame, Opcode

from kibitz_protocol.messages import ListGames, Move, Ready
from kibitz_protocol.records import Player
from kibitz_protocol.refusals import CloseCode, Code
from kibitz_server.accounts import Identity
from kibitz_server.peer import ROUND_TRIPS, Peer
from tests.server.wires import HANDSHAKE, Line, Rig, masked, unframed

ADA = Identity(Player(player="ada", name="ada", kind="bot"), account=False, skeleton="ada")


def opened(rig: Rig | None = None) -> Line:
    line = (rig or Rig()).open()
    assert line.head().startswith("HTTP/1.1 101")
    return line


# --- handshake --------------------------------------------------------------------------------


def test_a_handshake_is_accepted() -> None:
    line = Rig().open()
    head = line.head()
    assert head.startswith("HTTP/1.1 101")
    assert "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head
    assert "Sec-WebSocket-Extensions" not in head


def test_a_handshake_may_come_byte_by_byte_and_be_followed_by_frames() -> None:
    rig = Rig()
    line = rig.connect()
    data = HANDSHAKE.format(path="/", more="").encode() + masked(b'{"type":"list_games","id":1}')
    for byte in data:
        line.feed(bytes([byte]))
    assert rig.desk.requests == [ListGames(id=1)]


@pytest.mark.parametrize(
    ("path", "more", "status"),
    [
        ("/", "Origin: https://evil.example\r\n", "403"),
        ("/", "Origin: https://good.example\r\n", "101"),
        ("/", "Origin: https://good.example\r\nOrigin: https://good.example\r\n", "400"),
        ("/?token=kb_secret", "", "400"),
        ("/?access_token=kb_secret", "", "400"),
        ("/?resume=secret", "", "400"),
        ("/elsewhere", "", "404"),
        ("/ws", "", "101"),
    ],
)
def test_who_may_shake_hands(path: str, more: str, status: str) -> None:
    rig = Rig(origins=("https://good.example",))
    line = rig.open(path, more)
    assert line.head().split()[1] == status
    if status != "101":
        assert line.transport.ended
        assert line.peer.leaving


def test_the_token_of_the_header_is_kept_for_hello() -> None:
    line = Rig().open(more="Authorization: Bearer kb_abc\r\n")
    assert line.peer.bearer == "kb_abc"


def test_headers_have_a_limit() -> None:
    line = Rig().connect()
    line.feed(b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 20_000)
    assert line.head().startswith("HTTP/1.1 431")
    assert line.transport.ended


def test_many_headers_are_refused() -> None:
    line = Rig().connect()
    line.feed(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n")
    assert line.head().startswith("HTTP/1.1 431")


@pytest.mark.parametrize("data", [b"\x16\x03\x01\r\n\r\n", b"GET /\r\n\r\n", b"\r\n\r\n"])
def test_what_is_no_http_is_hung_up_on(data: bytes) -> None:
    line = Rig().connect()
    line.feed(data)
    assert line.transport.ended or line.transport.closed
    assert line.peer.leaving


def test_half_a_handshake_is_aborted() -> None:
    rig = Rig()
    line = rig.connect()
    line.feed(b"GET / HTTP/1.1\r\n")
    rig.loop.advance(6)
    assert line.transport.aborted


def test_without_room_a_connection_is_told_and_ended() -> None:
    rig = Rig()
    rig.desk.room = False
    line = rig.connect()
    assert line.head().startswith("HTTP/1.1 503")
    assert line.transport.ended


# --- pages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_line", "status"),
    [("GET /healthz", "200"), ("GET /", "404"), ("PUT /healthz", "405"), ("GET /readyz", "503")],
)
def test_a_plain_request_gets_its_page(request_line: str, status: str) -> None:
    line = Rig().connect()
    line.feed(f"{request_line} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert line.head().split()[1] == status
    assert line.transport.ended


async def test_a_record_comes_from_the_disk() -> None:
    rig = Rig()
    line = rig.connect()
    line.feed(b"GET /records/m1.jsonl HTTP/1.1\r\nHost: x\r\n\r\n")
    assert line.transport.written == b""
    await rig.spawned[0]
    assert line.head().startswith("HTTP/1.1 200")
    assert line.transport.written == b"lines\n"


async def test_a_record_that_nobody_waits_for_any_more() -> None:
    rig = Rig()
    line = rig.connect()
    line.feed(b"GET /records/m1.jsonl HTTP/1.1\r\nHost: x\r\n\r\n")
    line.transport.abort()
    line.peer.connection_lost(None)
    await rig.spawned[0]
    assert line.transport.written == b""


# --- frames -----------------------------------------------------------------------------------


def test_requests_arrive_however_the_bytes_are_cut() -> None:
    stream = b"".join(
        [
            masked(b'{"type":"ready","id":1,"lobby":"x"}'),
            masked(b"hi", Opcode.PING),
            masked(b'{"type":"ready",', fin=False),
            masked(b"", Opcode.CONT, fin=False),
            masked(b"", Opcode.PONG),
            masked(b'"id":2,"lobby":"x"}', Opcode.CONT),
            masked(b'{"type":"ready","id":3,"lobby":"x"}' + b" " * 300),
        ]
    )
    source = random.Random(1)
    for _ in range(50):
        rig = Rig()
        line = opened(rig)
        rest = stream
        while rest:
            size = source.choice([1, 2, 3, 7, 50, 1000])
            line.feed(rest[:size])
            rest = rest[size:]
        assert rig.desk.requests == [Ready(id=number, lobby="x") for number in (1, 2, 3)]
        assert (Opcode.PONG, b"hi") in line.frames()


def test_a_frame_may_be_as_long_as_allowed() -> None:
    rig = Rig()
    line = opened(rig)
    request = b'{"type":"list_games","id":1}'
    line.feed(masked(request + b" " * (16 * 1024 - len(request))))
    assert rig.desk.requests == [ListGames(id=1)]


BAD = {
    "binary": (masked(b"{}", Opcode.BINARY), 1003),
    "binary, in fragments": (masked(b"{}", Opcode.BINARY, fin=False), 1003),
    "too large": (masked(b"x" * (16 * 1024 + 1)), 1009),
    "too large, by its header": (bytes([0x81, 0xFF]) + (2**40).to_bytes(8, "big"), 1009),
    "too large, in fragments": (
        masked(b"x" * 16_000, fin=False) + masked(b"x" * 1000, Opcode.CONT),
        1009,
    ),
    "not UTF-8": (masked(b'"\xff\xfe"'), 1007),
    "not UTF-8, in fragments": (masked(b'"\xff', fin=False) + masked(b'"', Opcode.CONT), 1007),
    "not masked": (Frame(Opcode.TEXT, b"{}").serialize(mask=False), 1002),
    "reserved bits": (bytes([0xC1]) + masked(b"{}")[1:], 1002),
    "unknown opcode": (bytes([0x83]) + masked(b"{}")[1:], 1002),
    "a fragment of nothing": (masked(b"{}", Opcode.CONT), 1002),
    "a message inside another": (masked(b"{", fin=False) + masked(b"{}"), 1002),
    "long ping": (bytes([0x89]) + masked(b"x" * 126)[1:], 1002),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_frames_close_with_their_code(what: str) -> None:
    rig = Rig()
    line = opened(rig)
    data, code = BAD[what]
    line.feed(data)
    assert line.close_code() == code
    assert rig.desk.requests == []
    assert rig.desk.goners == [line.peer]
    line.feed(masked(b'{"type":"list_games","id":1}'))
    assert rig.desk.requests == []


@pytest.mark.parametrize(
    ("text", "code", "re"),
    [
        (b"", Code.MALFORMED, 0),
        (b"hello", Code.MALFORMED, 0),
        (b"[]", Code.MALFORMED, 0),
        (b'{"type":"castle","id":7}', Code.UNKNOWN_TYPE, 7),
        (b'{"id":7}', Code.MALFORMED, 7),
        (b'{"type":"ready","id":7}', Code.MALFORMED, 7),
        (b'{"type":"ready","id":7,"lobby":"x","more":1}', Code.MALFORMED, 7),
        (b'{"type":"ready","id":0,"lobby":"x"}', Code.MALFORMED, 0),
        (b'{"type":"ready","id":NaN,"lobby":"x"}', Code.MALFORMED, 0),
        (b'{"type":"ready","id":7,"lobby":"\\ud800"}', Code.MALFORMED, 0),
        (b"[" * 16_000, Code.MALFORMED, 0),
        (b'{"a":' * 3000, Code.MALFORMED, 0),
        (b'{"type":"move","id":7,"match":"m","ply":' + b"9" * 5000 + b"}", Code.MALFORMED, 0),
    ],
)
def test_what_cannot_be_read_is_refused_and_the_connection_stays(
    text: bytes, code: Code, re: int
) -> None:
    rig = Rig()
    line = opened(rig)
    line.feed(masked(text))
    [refused] = line.heard()
    assert (refused["type"], refused["code"], refused["re"]) == ("refused", code, re)
    assert refused["message"]
    assert refused["hint"]
    assert rig.desk.requests == []
    line.say(type="list_games", id=8)
    assert rig.desk.requests == [ListGames(id=8)]


# --- credits ----------------------------------------------------------------------------------


def test_a_flood_is_refused_and_then_closed() -> None:
    rig = Rig()
    line = opened(rig)
    for number in range(1, 82):
        line.say(type="ready", id=number, lobby="x")
    assert len(rig.desk.requests) == 40
    frames = line.frames()
    refusals = [json.loads(data) for opcode, data in frames if opcode == Opcode.TEXT]
    assert {refused["code"] for refused in refusals} == {"rate_limited"}
    assert refusals[0]["retry_after_ms"] == 100
    [close] = [data for opcode, data in frames if opcode == Opcode.CLOSE]
    assert int.from_bytes(close[:2], "big") == 1008
    assert rig.figures.sheds == ["flood"]


def test_moves_are_free_until_the_peer_is_in_debt() -> None:
    rig = Rig()
    line = opened(rig)
    for number in range(1, 501):
        line.say(type="move", id=number, match="m", ply=number, action={})
    assert len(rig.desk.requests) == 500
    assert all(isinstance(request, Move) for request in rig.desk.requests)
    line.peer.owe(41)
    line.say(type="move", id=501, match="m", ply=1, action={})
    assert line.heard()[0]["code"] == "rate_limited"


def test_pings_are_paid_for_too() -> None:
    rig = Rig()
    line = opened(rig)
    for _ in range(200):
        line.feed(masked(b"", Opcode.PING))
    assert line.close_code() == 1008


# --- pings, pauses and ends -------------------------------------------------------------------


def ping_of(line: Line) -> bytes:
    frames, line.transport.written = unframed(line.transport.written)
    [payload] = [data for opcode, data in frames if opcode == Opcode.PING]
    return payload


def pong_after(rig: Rig, line: Line, seconds: float) -> None:
    """Wait for the next ping, at most 11 seconds, and answer it after so many."""
    for _ in range(110):
        if line.transport.written:
            break
        rig.loop.advance(0.1)
    payload = ping_of(line)
    rig.loop.advance(seconds)
    line.feed(masked(payload, Opcode.PONG))


def test_the_round_trip_is_measured() -> None:
    rig = Rig()
    line = opened(rig)
    assert line.peer.rtt_ms == 0
    line.peer.greeted(ADA)
    pong_after(rig, line, 0.08)
    assert line.peer.rtt_ms == 80


def test_an_answer_that_was_slow_once_is_forgotten_with_the_next() -> None:
    rig = Rig()
    line = opened(rig)
    line.peer.greeted(ADA)
    pong_after(rig, line, 0.4)
    pong_after(rig, line, 0.02)
    pong_after(rig, line, 0.3)
    assert line.peer.rtt_ms == 20


def test_a_line_that_has_become_slower_is_noticed() -> None:
    rig = Rig()
    line = opened(rig)
    line.peer.greeted(ADA)
    pong_after(rig, line, 0.02)
    for _ in range(ROUND_TRIPS - 1):
        pong_after(rig, line, 0.09)
    assert line.peer.rtt_ms == 20
    pong_after(rig, line, 0.09)
    assert line.peer.rtt_ms == 90


def test_a_new_connection_is_pinged_soon_again_until_it_is_known() -> None:
    rig = Rig()
    line = opened(rig)
    line.peer.greeted(ADA)
    for _ in range(ROUND_TRIPS):
        line.feed(masked(ping_of(line), Opcode.PONG))
        rig.loop.advance(1.1)
    assert not line.transport.written
    rig.loop.advance(10)
    assert line.transport.written


def test_a_pong_that_nobody_asked_for_measures_nothing() -> None:
    rig = Rig()
    line = opened(rig)
    rig.loop.advance(0.05)
    line.feed(masked(b"12345678", Opcode.PONG))
    assert line.peer.rtt_ms == 0


def test_a_peer_without_hello_is_closed() -> None:
    rig = Rig()
    line = opened(rig)
    line.feed(masked(ping_of(line), Opcode.PONG))
    rig.loop.advance(11)
    assert line.close_code() == CloseCode.NO_HELLO


def test_a_dead_peer_is_aborted_within_30_seconds() -> None:
    rig = Rig()
    line = opened(rig)
    line.peer.greeted(ADA)
    rig.loop.advance(30)
    assert line.transport.aborted


def test_a_close_is_answered_and_ends_the_connection() -> None:
    rig = Rig()
    line = opened(rig)
    line.feed(masked((1000).to_bytes(2, "big") + b"bye", Opcode.CLOSE))
    assert line.close_code() == 1000
    assert line.transport.ended
    assert rig.desk.goners == [line.peer]


def test_a_peer_that_ends_without_reading_is_aborted() -> None:
    rig = Rig()
    line = opened(rig)
    line.peer.greeted(ADA)
    line.transport.backlog = 40_000
    assert not line.peer.eof_received()
    assert rig.desk.goners == [line.peer]
    rig.loop.advance(4)
    assert line.transport.aborted


def test_our_close_sends_what_waits_before_it() -> None:
    line = opened()
    line.peer.refuse(1, Code.CLOSED, "closed")
    line.peer.close(CloseCode.KICKED, "x" * 500)
    frames = line.frames()
    assert [opcode for opcode, _ in frames] == [Opcode.TEXT, Opcode.CLOSE]
    assert len(frames[1][1]) <= 125


def test_a_close_that_is_not_answered_is_an_abort() -> None:
    rig = Rig()
    line = opened(rig)
    line.peer.close(CloseCode.KICKED)
    assert not line.transport.aborted
    rig.loop.advance(4)
    assert line.transport.aborted


def test_a_peer_that_stops_reading_is_aborted() -> None:
    rig = Rig()
    line = opened(rig)
    line.peer.greeted(ADA)
    line.transport.backlog = 40_000
    line.peer.pause_writing()
    rig.loop.advance(4)
    assert line.transport.aborted


def test_a_player_that_reads_too_slowly_is_closed() -> None:
    rig = Rig()
    line = opened(rig)
    line.peer.pause_writing()
    for _ in range(300):
        line.peer.outbox.send(b"x" * 1000)
    assert line.peer.leaving
    assert line.close_code() == CloseCode.TOO_SLOW
    assert rig.figures.sheds == ["too slow"]


def test_the_desk_hears_of_every_end_once() -> None:
    rig = Rig()
    line = opened(rig)
    line.peer.close(CloseCode.KICKED)
    line.peer.connection_lost(None)
    assert rig.desk.goners == [line.peer]
    assert rig.desk.losses == [line.peer]


def test_a_lost_connection_leaves_no_timer_of_its_own() -> None:
    rig = Rig()
    armed = rig.loop.armed
    line = opened(rig)
    line.peer.connection_lost(ConnectionResetError())
    rig.loop.advance(120)
    assert rig.loop.armed == armed
    assert not line.transport.aborted


def test_a_peer_has_no_dict_of_its_own() -> None:
    assert not hasattr(Peer(Rig().port), "__dict__")


def test_nothing_is_written_after_the_other_side_has_ended() -> None:
    rig = Rig()
    line = opened(rig)
    line.frames()
    line.peer.eof_received()
    line.peer.refuse(1, Code.CLOSED, "closed")
    assert line.frames() == []
    assert rig.desk.goners == [line.peer]
