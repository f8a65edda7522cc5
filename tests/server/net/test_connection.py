"""The input side of a connection: handshake, pages, frames, limits, pings and closing."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import AsyncIterator, Coroutine
from http import HTTPStatus
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from kibitz_protocol.wire import codec
from kibitz_protocol.wire.messages import ClientMessage, Hello, ListGames, ListLobbies, Move, Ready
from kibitz_protocol.wire.records import Player
from kibitz_protocol.wire.refusals import CloseCode, Code
from kibitz_server.accounts.identity import Identity
from kibitz_server.net.access import AccessPolicy
from kibitz_server.net.addresses import network
from kibitz_server.net.connections import Connections, Quotas
from kibitz_server.net.downloads import DownloadLimits, Downloads
from kibitz_server.net.frames import FrameReader
from kibitz_server.net.guest_networks import GuestNetworks, guest_network
from kibitz_server.net.peer import Peer
from kibitz_server.net.proxies import TrustedProxies
from kibitz_server.net.rate_limit import Rate, RateLimits
from kibitz_server.net.round_trip import SAMPLES
from kibitz_server.net.turn_budget import UNITS_A_TURN
from tests.server.fakes import (
    HANDSHAKE,
    FakeHandler,
    FakeLoop,
    PeerRig,
    ScriptedConnection,
    client_frame,
    split_frames,
)
from tests.tools import heavy_frames, profiles

HELLO = b'{"type":"hello","id":1,"versions":[1]}'
ADA = Identity(Player(player="ada", name="ada", kind="bot"), account=False, skeleton="ada")


def opened(rig: PeerRig | None = None, *, greeted: bool = True) -> ScriptedConnection:
    line = (rig or PeerRig()).open()
    assert line.head().startswith("HTTP/1.1 101")
    if greeted:
        line.peer.identity = ADA
    return line


# --- handshake --------------------------------------------------------------------------------


def test_a_handshake_is_accepted() -> None:
    line = PeerRig().open()
    head = line.head()
    assert head.startswith("HTTP/1.1 101")
    assert "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head
    assert "Sec-WebSocket-Extensions" not in head


def test_a_handshake_may_come_byte_by_byte_and_be_followed_by_frames() -> None:
    rig = PeerRig()
    line = rig.connect()
    data = HANDSHAKE.format(path="/", more="").encode() + client_frame(HELLO)
    for byte in data:
        line.feed(bytes([byte]))
    assert rig.handler.requests == [Hello(id=1, versions=[1])]


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
        ("/", "Origin: null\r\n", "403"),
        ("/", "User-Agent: Mozilla/5.0 (X11)\r\n", "403"),
        ("//[", "", "400"),
        ("//evil.example/ws", "", "404"),
        ("/?%00token=x", "", "400"),
        ("http://localhost/ws", "", "101"),
        ("ws://localhost/ws", "", "400"),
        ("/", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", "400"),
        ("/", "Host: localhost\r\n", "400"),
    ],
)
def test_who_may_shake_hands(path: str, more: str, status: str) -> None:
    rig = PeerRig(access=AccessPolicy(origins=frozenset({"https://good.example"})))
    line = rig.open(path, more)
    assert line.head().split()[1] == status
    if status != "101":
        assert line.transport.ended
        assert line.peer.leaving


def test_the_token_of_the_header_is_kept_for_hello() -> None:
    line = PeerRig().open(more="Authorization: Bearer kb_abc\r\n")
    assert line.peer.bearer == "kb_abc"


def test_headers_have_a_limit() -> None:
    line = PeerRig().connect()
    line.feed(b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 20_000)
    assert line.head().startswith("HTTP/1.1 431")
    assert line.transport.ended


def test_many_headers_are_refused() -> None:
    line = PeerRig().connect()
    line.feed(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n")
    assert line.head().startswith("HTTP/1.1 431")


@pytest.mark.parametrize("data", [b"\x16\x03\x01\r\n\r\n", b"GET /\r\n\r\n", b"\r\n\r\n"])
def test_what_is_no_http_is_hung_up_on(data: bytes) -> None:
    line = PeerRig().connect()
    line.feed(data)
    assert line.transport.ended or line.transport.closed
    assert line.peer.leaving


def test_half_a_handshake_is_aborted() -> None:
    rig = PeerRig()
    line = rig.connect()
    line.feed(b"GET / HTTP/1.1\r\n")
    rig.loop.advance(6)
    assert line.transport.aborted


def test_without_room_a_connection_is_told_and_ended() -> None:
    rig = PeerRig()
    rig.handler.room = False
    line = rig.connect()
    assert line.head().startswith("HTTP/1.1 503")
    assert line.transport.ended


# --- pages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("GET /healthz", "200"),
        ("GET /", "404"),
        ("PUT /healthz", "405"),
        ("GET /healthz?x=1", "200"),
        ("GET /readyz", "503"),
    ],
)
def test_a_plain_request_gets_its_page(request_line: str, status: str) -> None:
    line = PeerRig().connect()
    line.feed(f"{request_line} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert line.head().split()[1] == status
    assert line.transport.ended


async def test_a_record_comes_from_the_disk() -> None:
    rig = PeerRig()
    line = rig.connect()
    line.feed(b"GET /records/m1.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert line.transport.written == b""
    await rig.spawned[0]()
    head = line.head()
    assert head.startswith("HTTP/1.1 200")
    assert "Transfer-Encoding: chunked" in head
    assert line.transport.written == b"6\r\nlines\n\r\n5\r\nmore\n\r\n0\r\n\r\n"
    assert line.transport.ended
    assert (rig.downloads.count, rig.downloads.held_bytes) == (0, 0)


async def test_only_the_head_of_a_record_is_sent_where_only_that_is_asked_for() -> None:
    rig = PeerRig()
    line = rig.connect()
    line.feed(b"HEAD /records/m1.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await rig.spawned[0]()
    assert line.head().startswith("HTTP/1.1 200")
    assert line.transport.written == b""
    assert line.transport.ended


async def test_who_speaks_an_older_http_gets_no_chunks() -> None:
    rig = PeerRig()
    line = rig.connect()
    line.feed(b"GET /records/m1.jsonl HTTP/1.0\r\nHost: localhost\r\n\r\n")
    await rig.spawned[0]()
    assert "Transfer-Encoding" not in line.head()
    assert line.transport.written == b"lines\nmore\n"


class TimedLoop(FakeLoop):
    """Time controlled by the test, for coroutines that wait on the running loop."""

    def create_future(self) -> asyncio.Future[None]:
        return asyncio.get_running_loop().create_future()


class Reader:
    """A client that has requested a record, with a transport that is full after the first piece."""

    def __init__(self, rig: PeerRig, address: str = "192.0.2.1") -> None:
        self.rig = rig
        self.line = rig.connect(address)
        write = self.line.transport.write

        def fill(data: bytes | bytearray | memoryview) -> None:
            write(data)
            self.line.transport.backlog = len(data)
            if not self.line.peer.send_queue.paused:
                self.line.connection.pause_writing()

        self.line.transport.write = fill  # type: ignore[method-assign]
        self.line.feed(b"GET /records/m1.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.task = asyncio.ensure_future(rig.spawned[-1]())

    async def read(self) -> bytes:
        """Take the available data and let the server continue."""
        self.line.transport.backlog = 0
        if self.line.peer.send_queue.paused:
            self.line.connection.resume_writing()
        for _ in range(5):
            await asyncio.sleep(0)
        written, self.line.transport.written = self.line.transport.written, b""
        return written


async def test_the_next_piece_of_a_record_waits_until_the_last_one_is_read() -> None:
    rig = PeerRig(loop=TimedLoop(), downloads=Downloads())
    reader = Reader(rig)
    assert (await reader.read()).endswith(b"lines\n\r\n")
    assert (rig.downloads.count, rig.downloads.held_bytes) == (1, len(b"lines\n"))
    assert await reader.read() == b"5\r\nmore\n\r\n"
    assert await reader.read() == b"0\r\n\r\n"
    await reader.task
    assert reader.line.transport.ended
    assert (rig.downloads.count, rig.downloads.held_bytes) == (0, 0)


@pytest.mark.parametrize("early", [False, True])
async def test_a_connection_closes_once_both_sides_have_said_all(early: bool) -> None:
    reader = Reader(PeerRig(loop=TimedLoop()))
    await reader.read()
    if early:
        assert reader.line.connection.eof_received()
    while not reader.task.done():
        assert not reader.line.transport.closed
        await reader.read()
    if early:
        assert reader.line.transport.closed
    else:
        assert not reader.line.connection.eof_received()  # then the event loop closes the transport


async def test_who_does_not_read_a_piece_in_time_is_dropped_with_it() -> None:
    rig = PeerRig(loop=TimedLoop())
    reader = Reader(rig)
    await reader.read()
    rig.loop.advance(rig.downloads.limits.piece_s - 1)
    await reader.read()
    rig.loop.advance(rig.downloads.limits.piece_s - 1)
    assert not reader.line.transport.aborted
    rig.loop.advance(rig.downloads.limits.piece_s + 1)
    assert reader.line.transport.aborted
    reader.line.connection.connection_lost(None)
    await reader.task
    assert (rig.downloads.count, rig.downloads.held_bytes) == (0, 0)


async def test_records_on_their_way_have_limits() -> None:
    limits = DownloadLimits(at_once=3, an_address=2, held_bytes=1000, retry_after_s=7)
    rig = PeerRig(loop=TimedLoop(), downloads=Downloads(limits))
    readers = [Reader(rig, address) for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2")]
    for reader in readers:
        await reader.read()
    for address, status in (("192.0.2.1", "429"), ("192.0.2.3", "503"), ("127.0.0.1", "503")):
        late = Reader(rig, address)
        await late.task
        head = late.line.head()
        assert head.startswith(f"HTTP/1.1 {status}")
        assert "Retry-After: 7" in head
    readers[0].line.connection.connection_lost(None)
    await readers[0].task
    again = Reader(rig, "192.0.2.1")
    assert (await again.read()).startswith(b"HTTP/1.1 200")
    for reader in (*readers[1:], again):
        reader.line.connection.connection_lost(None)
        await reader.task
    assert rig.downloads.count == 0


async def test_an_address_of_many_people_has_a_record_for_each() -> None:
    rig = PeerRig(
        loop=TimedLoop(),
        downloads=Downloads(DownloadLimits(an_address=1)),
        guest_networks=GuestNetworks([guest_network("192.0.2.0/24=3")]),
    )
    readers = [Reader(rig, "192.0.2.1") for _ in range(3)]
    for reader in readers:
        assert (await reader.read()).startswith(b"HTTP/1.1 200")
    late = Reader(rig, "192.0.2.1")
    await late.task
    assert late.line.head().startswith("HTTP/1.1 429")
    other = Reader(rig, "192.0.3.1")
    assert (await other.read()).startswith(b"HTTP/1.1 200")
    refused = Reader(rig, "192.0.3.1")
    await refused.task
    assert refused.line.head().startswith("HTTP/1.1 429")
    for reader in (*readers, other):
        reader.line.connection.connection_lost(None)
        await reader.task
    assert rig.downloads.count == 0


async def test_where_too_much_is_in_memory_nobody_begins() -> None:
    rig = PeerRig(loop=TimedLoop(), downloads=Downloads(DownloadLimits(held_bytes=6)))
    reader = Reader(rig)
    await reader.read()
    late = Reader(rig)
    await late.task
    assert late.line.head().startswith("HTTP/1.1 503")
    while not reader.task.done():
        await reader.read()
    assert (await Reader(rig).read()).startswith(b"HTTP/1.1 200")


async def test_a_reader_that_has_said_all_still_reads_and_what_it_says_more_is_nothing() -> None:
    rig = PeerRig(loop=TimedLoop())
    reader = Reader(rig)
    await reader.read()
    reader.line.feed(b"\x81\x00 and more")
    assert reader.line.connection.eof_received()
    assert await reader.read() == b"5\r\nmore\n\r\n"
    while not reader.task.done():
        await reader.read()
    assert reader.line.transport.ended


@pytest.mark.parametrize("more", [b"GET / HTTP/1.1\r\n\r\n", b"\x81\x80", b"\r\n\r\n", b"x" * 30])
async def test_what_is_said_before_a_record_comes_harms_nobody(
    more: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    rig = PeerRig()
    line = rig.connect()
    line.feed(b"GET /records/m1.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n" + more)
    line.feed(more)
    await rig.spawned[0]()
    assert line.transport.ended or line.transport.closed
    assert len(rig.spawned) == 1
    assert (caplog.text, rig.downloads.count) == ("", 0)


async def test_who_goes_while_a_piece_is_read_is_written_to_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = PeerRig()
    line = rig.connect()

    async def pieces() -> AsyncIterator[bytes]:
        yield b"lines\n"
        line.connection.connection_lost(None)
        yield b"more\n"

    rig.pages.pieces = pieces  # type: ignore[method-assign]
    line.feed(b"GET /records/m1.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await rig.spawned[0]()
    assert line.transport.written.endswith(b"lines\n\r\n")
    assert (caplog.text, rig.downloads.count) == ("", 0)


async def test_a_record_that_cannot_be_read_to_its_end_is_cut_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"lines\n"
        raise OSError("the disk is gone")

    rig = PeerRig()
    line = rig.connect()
    rig.pages.pieces = broken  # type: ignore[method-assign]
    line.feed(b"GET /records/m1.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await rig.spawned[0]()
    assert "cannot read a record" in caplog.text
    assert line.transport.aborted
    assert not line.transport.written.endswith(b"0\r\n\r\n")
    assert rig.downloads.count == 0


# --- payers and permissions -------------------------------------------------------------------


def asked(rig: PeerRig, path: str = "/healthz", more: str = "", address: str = "127.0.0.1") -> str:
    line = rig.connect(address)
    host = "" if "Host:" in more else "Host: localhost\r\n"
    line.feed(f"GET {path} HTTP/1.1\r\n{host}{more}\r\n".encode("latin-1"))
    return line.head()


def test_an_address_pays_for_its_requests() -> None:
    rig = PeerRig(rate_limits=RateLimits(address=Rate(2, 10)))
    connections = Connections(rig.loop.loop, rig.rate_limits, Quotas())
    rig.handler.admit = connections.admit  # type: ignore[method-assign]
    heads = [asked(rig, address="192.0.2.1") for _ in range(11)]
    assert [head.split()[1] for head in heads] == ["200"] * 10 + ["429"]
    assert "Retry-After: 1" in heads[-1]
    assert asked(rig, address="192.0.2.2").split()[1] == "200"
    assert rig.open().head().split()[1] == "101"


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ("Host: localhost:8765\r\n", "200"),
        ("Host: 192.0.2.7\r\n", "200"),
        ("Host: [2001:db8::1]:80\r\n", "200"),
        ("Host: evil.example\r\n", "421"),
        ("Host: 127.0.0.1.evil.example\r\n", "421"),
        ("Host: \r\n", "400"),
        ("Host: a b\r\n", "400"),
        ("Origin: https://evil.example\r\n", "403"),
        ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", "403"),
        ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", "200"),
    ],
)
def test_pages_are_for_this_server_s_name_and_no_other_sites_scripts(
    more: str, status: str
) -> None:
    rig = PeerRig(access=AccessPolicy(hosts=frozenset({"games.example"})))
    assert asked(rig, more=more).split()[1] == status


def test_a_proxy_says_where_a_connection_comes_from() -> None:
    rig = PeerRig(access=AccessPolicy(proxies=TrustedProxies((network("127.0.0.1"),))))
    line = rig.connect()
    assert (line.peer.local, line.peer.proxied) == (True, True)
    line.feed(HANDSHAKE.format(path="/", more="X-Forwarded-For: 192.0.2.9\r\n").encode())
    assert (line.peer.address, line.peer.local) == ("192.0.2.9", False)
    assert rig.handler.addresses == [("192.0.2.9", False)]


def test_what_a_proxy_brings_is_not_local_though_nobody_trusts_it() -> None:
    rig = PeerRig()
    line = rig.open(more="X-Forwarded-For: 127.0.0.1\r\n")
    assert (line.peer.address, line.peer.local) == ("127.0.0.1", False)


def test_without_room_for_the_address_behind_a_proxy_it_is_told() -> None:
    rig = PeerRig(access=AccessPolicy(proxies=TrustedProxies((network("127.0.0.1"),))))
    line = rig.connect()
    rig.handler.room = False
    line.feed(HANDSHAKE.format(path="/", more="X-Forwarded-For: 192.0.2.9\r\n").encode())
    assert line.head().startswith("HTTP/1.1 503")


_TEXT = st.text(st.characters(min_codepoint=1, max_codepoint=255, exclude_characters="\r\n"))
_TARGETS = st.one_of(
    _TEXT, st.sampled_from(["//[", "/?[", "//]:x", "/%", "*", "/ws?%ff", "http://[", "//a:b:c"])
)
_HEADERS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "Host",
                "Origin",
                "Upgrade",
                "Connection",
                "Authorization",
                "Forwarded",
                "X-Forwarded-For",
                "Content-Length",
                "Sec-WebSocket-Key",
                "Sec-WebSocket-Version",
                "Sec-WebSocket-Extensions",
                "Sec-Fetch-Site",
                "Sec-WebSocket-Protocol",
                "Transfer-Encoding",
                "User-Agent",
                "X",
            ]
        ),
        st.one_of(
            _TEXT,
            st.sampled_from(
                [
                    "localhost",
                    "websocket",
                    "Upgrade",
                    "13",
                    "[",
                    "for=[",
                    'for="',
                    "Bearer x",
                    "::1",
                ]
            ),
        ),
    ),
    max_size=8,
)


@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "", "G@T"]), target=_TARGETS, headers=_HEADERS
)
@example(method="GET", target="//[", headers=[("Host", "localhost")])
@example(method="GET", target="//[", headers=[("Host", "localhost"), ("Upgrade", "websocket")])
@settings(
    max_examples=profiles.examples(300), deadline=None, suppress_health_check=list(HealthCheck)
)
def test_whatever_is_asked_is_answered_or_hung_up_on(
    method: str, target: str, headers: list[tuple[str, str]]
) -> None:
    rig = PeerRig(
        access=AccessPolicy(
            hosts=frozenset({"x"}), proxies=TrustedProxies((network("127.0.0.0/8"),))
        )
    )
    line = rig.connect()
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    line.feed(f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1"))
    for work in rig.spawned:
        asyncio.run(cast("Coroutine[None, None, None]", work()))
    transport = line.transport
    status = transport.written[9:12]
    assert status == b"101" or transport.ended or transport.closed
    assert status in {b"", *(str(status.value).encode() for status in HTTPStatus)}
    assert status != b"500"


async def test_a_record_that_nobody_waits_for_any_more() -> None:
    rig = PeerRig()
    line = rig.connect()
    line.feed(b"GET /records/m1.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n")
    line.transport.abort()
    line.connection.connection_lost(None)
    await rig.spawned[0]()
    assert line.transport.written == b""


# --- frames -----------------------------------------------------------------------------------


def test_requests_arrive_however_the_bytes_are_cut() -> None:
    stream = b"".join(
        [
            client_frame(b'{"type":"ready","id":1,"lobby":"x"}'),
            client_frame(b"hi", Opcode.PING),
            client_frame(b'{"type":"ready",', fin=False),
            client_frame(b"", Opcode.CONT, fin=False),
            client_frame(b"", Opcode.PONG),
            client_frame(b'"id":2,"lobby":"x"}', Opcode.CONT),
            client_frame(b'{"type":"ready","id":3,"lobby":"x"}' + b" " * 300),
        ]
    )
    source = random.Random(1)
    for _ in range(50):
        rig = PeerRig()
        line = opened(rig)
        rest = stream
        while rest:
            size = source.choice([1, 2, 3, 7, 50, 1000])
            line.feed(rest[:size])
            rest = rest[size:]
        assert rig.handler.requests == [Ready(id=number, lobby="x") for number in (1, 2, 3)]
        assert (Opcode.PONG, b"hi") in line.frames()


def test_a_frame_may_be_as_long_as_allowed() -> None:
    rig = PeerRig()
    line = opened(rig)
    request = b'{"type":"list_games","id":1}'
    line.feed(client_frame(request + b" " * (16 * 1024 - len(request))))
    assert rig.handler.requests == [ListGames(id=1)]


BAD = {
    "binary": (client_frame(b"{}", Opcode.BINARY), 1003),
    "binary, in fragments": (client_frame(b"{}", Opcode.BINARY, fin=False), 1003),
    "too large": (client_frame(b"x" * (16 * 1024 + 1)), 1009),
    "too large, by its header": (bytes([0x81, 0xFF]) + (2**40).to_bytes(8, "big"), 1009),
    "too large, in fragments": (
        client_frame(b"x" * 16_000, fin=False) + client_frame(b"x" * 1000, Opcode.CONT),
        1009,
    ),
    "not UTF-8": (client_frame(b'"\xff\xfe"'), 1007),
    "not UTF-8, in fragments": (
        client_frame(b'"\xff', fin=False) + client_frame(b'"', Opcode.CONT),
        1007,
    ),
    "not masked": (Frame(Opcode.TEXT, b"{}").serialize(mask=False), 1002),
    "reserved bits": (bytes([0xC1]) + client_frame(b"{}")[1:], 1002),
    "unknown opcode": (bytes([0x83]) + client_frame(b"{}")[1:], 1002),
    "a fragment of nothing": (client_frame(b"{}", Opcode.CONT), 1002),
    "a message inside another": (client_frame(b"{", fin=False) + client_frame(b"{}"), 1002),
    "long ping": (bytes([0x89]) + client_frame(b"x" * 126)[1:], 1002),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_frames_close_with_their_code(what: str) -> None:
    rig = PeerRig()
    line = opened(rig)
    data, code = BAD[what]
    line.feed(data)
    assert line.close_code() == code
    assert rig.handler.requests == []
    assert rig.handler.left == [line.peer]
    line.feed(client_frame(b'{"type":"list_games","id":1}'))
    assert rig.handler.requests == []


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
    rig = PeerRig()
    line = opened(rig)
    line.feed(client_frame(text))
    [refused] = line.received()
    assert (refused["type"], refused["code"], refused["re"]) == ("refused", code, re)
    assert refused["message"]
    assert refused["hint"]
    assert rig.handler.requests == []
    line.send(type="list_games", id=8)
    assert rig.handler.requests == [ListGames(id=8)]


BEFORE_HELLO = {
    kind: next(heavy_frames.invalid_frames(kind)) for kind in heavy_frames.MODELS if kind != "hello"
}
"""A frame of every type except hello with thousands of unknown fields."""


@pytest.mark.parametrize("kind", BEFORE_HELLO)
def test_before_hello_only_hello_is_validated(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def validated(*_: object, **__: object) -> None:
        raise AssertionError("a message was validated before hello")

    validator = SimpleNamespace(validate_json=validated)
    monkeypatch.setattr(codec, "_CLIENT", SimpleNamespace(validator=validator))
    rig = PeerRig()
    line = opened(rig, greeted=False)
    line.feed(client_frame(BEFORE_HELLO[kind]))
    (_, refusal), (_, close) = line.frames()
    assert json.loads(refusal)["code"] == "too_large"
    assert int.from_bytes(close[:2], "big") == CloseCode.NO_HELLO
    rig = PeerRig()
    line = opened(rig, greeted=False)
    line.feed(client_frame(json.dumps({**heavy_frames.full_message(kind), "id": 7}).encode()))
    assert [(each["code"], each["re"]) for each in line.received()] == [("hello_first", 7)]
    line.feed(client_frame(HELLO))
    assert rig.handler.requests == [Hello(id=1, versions=[1])]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b'{"type":"hello","id":1}',
        b'{"type":"hello","id":1,"versions":[1],"name":"%s"}' % (b"x" * 5000),
        b"[" * 4000,
        b'{"type":7,"id":1,"versions":[1]}',
    ],
)
def test_a_malformed_hello_ends_the_connection_at_once(text: bytes) -> None:
    rig = PeerRig()
    line = opened(rig, greeted=False)
    line.feed(client_frame(text) + client_frame(HELLO))
    (_, refusal), (_, close) = line.frames()
    assert json.loads(refusal)["code"] in {"malformed", "too_large"}
    assert int.from_bytes(close[:2], "big") == CloseCode.NO_HELLO
    assert rig.handler.requests == []


def test_a_connection_that_keeps_sending_malformed_frames_is_closed() -> None:
    """Even if it is slow: the rate limit alone would not stop it."""
    rig = PeerRig()
    line = opened(rig)
    limits = rig.rate_limits
    for number in range(int(limits.malformed.burst)):
        line.feed(client_frame(b"{}"))
        assert line.received()[-1]["code"] == "malformed"
        rig.loop.advance(limits.garbage / limits.socket.per_second)
        assert not line.peer.leaving, number
    rig.loop.advance(1 / limits.malformed.per_second)
    line.feed(client_frame(b"{}"))
    assert not line.peer.leaving
    for _ in range(2):
        line.feed(client_frame(b"{}"))
    assert line.close_code() == 1008
    assert rig.metrics.drops == {"malformed": 1}


def test_a_long_request_costs_more_than_a_short_one() -> None:
    rig = PeerRig()
    line = opened(rig)
    request = b'{"type":"list_games","id":%d}'
    for number in range(1, 6):
        line.feed(client_frame(request % number + b" " * 16_000))
    cost = ListGames.cost + 3 * rig.rate_limits.size
    assert len(rig.handler.requests) == 40 // cost


# --- credits ----------------------------------------------------------------------------------


def test_a_flood_is_refused_and_then_closed() -> None:
    rig = PeerRig()
    line = opened(rig)
    for number in range(1, 82):
        line.send(type="ready", id=number, lobby="x")
    assert len(rig.handler.requests) == 40
    frames = line.frames()
    refusals = [json.loads(data) for opcode, data in frames if opcode == Opcode.TEXT]
    assert {refused["code"] for refused in refusals} == {"rate_limited"}
    assert refusals[0]["retry_after_ms"] == 100
    [close] = [data for opcode, data in frames if opcode == Opcode.CLOSE]
    assert int.from_bytes(close[:2], "big") == 1008
    assert rig.metrics.drops == {"flood": 1}


def test_moves_are_free_until_the_peer_is_in_debt() -> None:
    rig = PeerRig()
    line = opened(rig)
    for number in range(1, 501):
        line.send(type="move", id=number, match="m", ply=number, action={})
    assert len(rig.handler.requests) == 500
    assert all(isinstance(request, Move) for request in rig.handler.requests)
    line.peer.charge_unanswered(41)
    line.send(type="move", id=501, match="m", ply=1, action={})
    assert line.received()[0]["code"] == "rate_limited"


def test_pings_are_paid_for_too() -> None:
    rig = PeerRig()
    line = opened(rig)
    for _ in range(200):
        line.feed(client_frame(b"", Opcode.PING))
    assert line.close_code() == 1008


# --- work per turn of the loop ----------------------------------------------------------------


def flooders_of(rig: PeerRig, count: int) -> list[ScriptedConnection]:
    """Open connections and let each send its full burst at once, within one turn."""
    lines = [opened(rig) for _ in range(count)]
    flood = b"".join(
        client_frame(b'{"type":"list_lobbies","id":%d}' % number) for number in range(1, 100)
    )
    for line in lines:
        line.connection.data_received(flood)
    return lines


def test_a_turn_carries_out_so_many_requests_however_many_ask() -> None:
    rig = PeerRig()
    flooders_of(rig, 50)
    each = ListLobbies.cost
    done = [len(rig.handler.requests)]
    for _ in range(100):
        rig.loop.run_turn()
        done.append(len(rig.handler.requests))
    assert max(b - a for a, b in itertools.pairwise([0, *done])) <= UNITS_A_TURN / each
    assert done[-1] == 50 * rig.rate_limits.socket.burst / each


class ChargingHandler(FakeHandler):
    """Charges for moves like the real handler for refused ones."""

    def move(self, peer: Peer, move: Move) -> None:
        super().move(peer, move)
        peer.charge_unanswered(1)


@pytest.mark.parametrize(
    ("frame", "cost"),
    [
        (client_frame(b'{"type":"list_games","id":1}'), 1),
        (client_frame(b'{"type":"list_lobbies","id":1}'), ListLobbies.cost),
        (client_frame(b'{"type":"move","id":1,"match":"m","ply":1,"action":{}}'), 1),
        (client_frame(b"{}"), RateLimits().garbage),
        (client_frame(b"[" * 500), RateLimits().garbage),
        (client_frame(b"", Opcode.PING), RateLimits().control),
        (client_frame(b"x", Opcode.PONG), RateLimits().control),
        (Frame(Opcode.TEXT, b"x", fin=False).serialize(mask=True), RateLimits().control),
    ],
    ids=["request", "dear request", "move", "garbage", "nesting", "ping", "pong", "fragments"],
)
def test_the_work_for_a_flooder_has_a_bound_whatever_it_floods_with(
    frame: bytes, cost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flooder's input is parsed only until its bucket and its debt limit are used up."""
    looked_at = 0
    right = FrameReader.next

    def count(reader: FrameReader, more: bytes = b"") -> object:
        nonlocal looked_at
        looked_at += 1
        return right(reader, more)

    monkeypatch.setattr(FrameReader, "next", count)
    rig = PeerRig(handler=ChargingHandler())
    line = opened(rig)
    for _ in range(20):
        line.connection.data_received(frame * 5000)
        rig.loop.advance()
    most = 2 * rig.rate_limits.socket.burst / cost + 2
    assert looked_at <= most
    assert len(rig.handler.requests) <= most
    assert len(line.transport.written) <= 300 * most
    assert line.peer.leaving


def test_a_move_does_not_wait_for_a_flood() -> None:
    rig = PeerRig()
    player = opened(rig)
    flooders_of(rig, 50)
    before = len(rig.handler.requests)
    player.connection.data_received(
        client_frame(b'{"type":"move","id":1,"match":"m","ply":1,"action":{}}')
    )
    assert [type(request) for request in rig.handler.requests[before:]] == [Move]


def test_who_waits_for_a_turn_is_not_read_from_and_loses_nothing() -> None:
    rig = PeerRig()
    [*_, last] = flooders_of(rig, 5)
    assert not last.transport.reading
    last.connection.data_received(
        client_frame(b'{"type":"move","id":7,"match":"m","ply":1,"action":{}}')
    )
    assert not any(isinstance(request, Move) for request in rig.handler.requests)
    rig.loop.advance()
    assert last.transport.reading
    assert last.close_code() == 1008


@pytest.mark.parametrize("end", ["close", "abort", "lost"])
def test_what_waits_for_a_turn_is_not_done_for_a_connection_that_is_gone(end: str) -> None:
    rig = PeerRig()
    [*_, last] = flooders_of(rig, 5)
    match end:
        case "close":
            last.peer.close(1001)
        case "abort":
            last.peer.abort()
        case _:
            last.connection.connection_lost(None)
    rig.loop.advance()
    each = ListLobbies.cost
    assert len(rig.handler.requests) == 4 * rig.rate_limits.socket.burst / each
    if end == "close":  # a lingering close reads on
        assert last.transport.reading


class RaisingHandler(FakeHandler):
    """A handler that fails for requests with some numbers, and with `address` for handshakes."""

    def __init__(self, *numbers: int, address: str = "") -> None:
        super().__init__()
        self.numbers = numbers
        self.address = address

    def request(self, peer: Peer, message: ClientMessage) -> None:
        super().request(peer, message)
        if message.id in self.numbers:
            raise ValueError("a handler that raises")

    def move(self, peer: Peer, move: Move) -> None:
        super().move(peer, move)
        if move.id in self.numbers:
            raise ValueError("a handler that raises")

    def relocate(self, peer: Peer) -> bool:
        if peer.address == self.address:
            raise ValueError("a handler that raises")
        return True


MOVE = b'{"type":"move","id":%d,"match":"m","ply":1,"action":{}}'


@pytest.mark.parametrize("waits", [True, False])
def test_what_raises_keeps_no_frame_behind_it_waiting(
    waits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether executed at once or in a later turn, the rest needs no further input."""
    rig = PeerRig(handler=RaisingHandler(501, 502, 504))
    line = opened(rig)
    if waits:
        flooders_of(rig, 5)
    asked = [b'{"type":"list_games","id":501}', MOVE % 502, b'{"type":"list_games","id":503}']
    asked += [MOVE % 504, MOVE % 505]
    line.connection.data_received(b"".join(map(client_frame, asked)))
    rig.loop.advance()
    found = [request.id for request in rig.handler.requests if request.id > 500]
    assert found == [501, 502, 503, 504, 505]
    assert line.transport.reading
    assert not line.peer.leaving
    assert sum("ValueError" in (record.exc_text or "") for record in caplog.records) == 3


@pytest.mark.parametrize("waits", [True, False])
def test_a_handshake_that_raises_ends_its_connection(
    waits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """No message would ever be sent on it."""
    access = AccessPolicy(proxies=TrustedProxies((network("127.0.0.1"),)))
    rig = PeerRig(handler=RaisingHandler(address="192.0.2.7"), access=access)
    if waits:
        rig.turns.spend(UNITS_A_TURN)
    line = rig.open(more="X-Forwarded-For: 192.0.2.7\r\n")
    rig.loop.advance()
    assert line.transport.aborted
    assert line.transport.written == b""
    assert "ValueError" in caplog.text


def test_handshakes_wait_for_their_turn_too_with_what_follows_them() -> None:
    rig = PeerRig()
    hello = HANDSHAKE.format(path="/", more="").encode() + client_frame(HELLO)
    lines = [rig.connect() for _ in range(200)]
    for line in lines:
        line.connection.data_received(hello)
    answered = sum(b"101" in line.transport.written for line in lines)
    assert 0 < answered <= UNITS_A_TURN
    lines[-1].connection.data_received(client_frame(HELLO))
    rig.loop.advance()
    assert len(rig.handler.requests) == 201


def test_what_comes_after_the_end_is_thrown_away_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = PeerRig()
    line = opened(rig)
    line.peer.close(1008, "too many messages")
    assert line.transport.ended  # so that the other side does not have to wait for the end
    read = list[bytes]()
    monkeypatch.setattr(FrameReader, "feed", lambda reader, data: read.append(data))
    line.feed(client_frame(b'{"type":"list_games","id":1}') * 1000)
    assert (read, rig.handler.requests) == ([], [])


# --- pings, pauses and ends -------------------------------------------------------------------


def ping_of(line: ScriptedConnection) -> bytes:
    frames, line.transport.written = split_frames(line.transport.written)
    [payload] = [data for opcode, data in frames if opcode == Opcode.PING]
    return payload


def pong_after(rig: PeerRig, line: ScriptedConnection, seconds: float) -> None:
    """Wait up to 11 seconds for the next ping, and answer it after a delay."""
    for _ in range(1100):
        if line.transport.written:
            break
        rig.loop.advance(0.01)
    payload = ping_of(line)
    since_ping = rig.loop.clock() / 1000 - int.from_bytes(payload, "big") / 1000
    rig.loop.advance(seconds - since_ping)
    line.feed(client_frame(payload, Opcode.PONG))


def test_the_round_trip_is_measured() -> None:
    rig = PeerRig()
    line = opened(rig)
    assert line.peer.round_trip.ms == 0
    line.peer.greeted(ADA)
    pong_after(rig, line, 0.08)
    assert line.peer.round_trip.ms == 80


def test_an_answer_that_was_slow_once_is_forgotten_with_the_next() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.peer.greeted(ADA)
    pong_after(rig, line, 0.4)
    pong_after(rig, line, 0.02)
    pong_after(rig, line, 0.3)
    assert line.peer.round_trip.ms == 20


def test_a_line_that_has_become_slower_is_noticed() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.peer.greeted(ADA)
    pong_after(rig, line, 0.02)
    for _ in range(SAMPLES - 1):
        pong_after(rig, line, 0.09)
    assert line.peer.round_trip.ms == 20
    pong_after(rig, line, 0.09)
    assert line.peer.round_trip.ms == 90


def test_who_comes_to_play_is_pinged_soon_again_until_it_is_known() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.peer.greeted(ADA)
    rig.loop.advance(1.1)
    assert not line.transport.written  # a client that only sends hello
    line.send(type="join", id=1, lobby="L1")
    for _ in range(SAMPLES):
        line.feed(client_frame(ping_of(line), Opcode.PONG))
        rig.loop.advance(1.1)
    assert not line.transport.written
    rig.loop.advance(10)
    assert line.transport.written


def test_who_only_watches_is_pinged_as_seldom_as_who_says_nothing() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.peer.greeted(ADA)
    line.send(type="list_games", id=1)
    line.send(type="watch", id=2, match="m1")
    for _ in range(3):
        rig.loop.advance(9)
        assert not line.transport.written
        pong_after(rig, line, 0.08)


def test_a_pong_that_nobody_asked_for_measures_nothing() -> None:
    rig = PeerRig()
    line = opened(rig)
    rig.loop.advance(0.05)
    line.feed(client_frame(b"12345678", Opcode.PONG))
    assert line.peer.round_trip.ms == 0


def test_a_peer_without_hello_is_closed() -> None:
    rig = PeerRig()
    line = opened(rig, greeted=False)
    rig.loop.advance(11)
    assert line.close_code() == CloseCode.NO_HELLO


def test_a_dead_peer_is_aborted_within_30_seconds() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.peer.greeted(ADA)
    rig.loop.advance(30)
    assert line.transport.aborted


def test_a_close_is_answered_and_ends_the_connection() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.feed(client_frame((1000).to_bytes(2, "big") + b"bye", Opcode.CLOSE))
    assert line.close_code() == 1000
    assert line.transport.ended
    assert rig.handler.left == [line.peer]


def test_a_peer_that_ends_without_reading_is_aborted() -> None:
    rig = PeerRig()
    line = opened(rig)
    line.peer.greeted(ADA)
    line.transport.backlog = 40_000
    assert not line.connection.eof_received()
    assert rig.handler.left == [line.peer]
    rig.loop.advance(4)
    assert line.transport.aborted
