"""Fakes of the server's environment: time, transports and an in-memory disk.

`FakeLoop` is an event loop with manual time. `FakeTransport` stores written data and can be full.
`FakeStore` is a store whose writes become durable when the test says so. `ScriptedConnection` is a
real `Connection` on a fake transport. `JsonClient` speaks JSON over a real socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from kibitz_protocol.client.lobby_views import LobbyViews
from kibitz_protocol.wire.codec import decode_server_message, encode
from kibitz_protocol.wire.messages import ClientMessage, HouseBotLine, LobbyChanged, LobbyNews, Move
from kibitz_server.metrics import Metrics
from kibitz_server.net import http
from kibitz_server.net.access import AccessPolicy
from kibitz_server.net.connection import Connection
from kibitz_server.net.downloads import Downloads
from kibitz_server.net.guest_networks import GuestNetworks
from kibitz_server.net.peer import Peer, PeerContext
from kibitz_server.net.rate_limit import RateLimits
from kibitz_server.net.send_queue import SendLimits, WriteBatcher
from kibitz_server.net.site import Site
from kibitz_server.net.timeouts import TimeoutConfig, Timeouts
from kibitz_server.net.turn_budget import TurnBudget
from kibitz_server.storage.errors import StoreError, WriteFailed
from kibitz_server.storage.interface import Store
from kibitz_server.storage.streams import Stream, Waiter

HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{more}\r\n"
)


def house_bot(name: str, seats: Sequence[int] = ()) -> HouseBotLine:
    """Return a house bot without parameters."""
    return HouseBotLine(name=name, seats=list(seats), summary="plays", parameters=[])


class FakeHandle:
    """A call scheduled in a `FakeLoop`."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class FakeLoop:
    """An event loop whose time advances only in `advance`."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._calls: list[tuple[float, int, FakeHandle]] = []
        self._numbers = itertools.count()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return cast(asyncio.AbstractEventLoop, self)

    def time(self) -> float:
        return self.now

    def clock(self) -> int:
        return round(self.now * 1000)

    def call_at(self, when: float, call: Callable[..., object], *args: object) -> FakeHandle:
        handle = FakeHandle(lambda: call(*args))
        heapq.heappush(self._calls, (when, next(self._numbers), handle))
        return handle

    def call_later(self, wait: float, call: Callable[..., object], *args: object) -> FakeHandle:
        return self.call_at(self.now + wait, call, *args)

    def call_soon(self, call: Callable[..., object], *args: object) -> FakeHandle:
        return self.call_at(self.now, call, *args)

    def advance(self, seconds: float = 0.0) -> None:
        """Run everything that is due within `seconds`, in order."""
        until = self.now + seconds
        while self._calls and self._calls[0][0] <= until:
            when, _, handle = heapq.heappop(self._calls)
            self.now = max(self.now, when)
            if not handle.cancelled:
                handle.call()
        self.now = until

    def run_turn(self) -> None:
        """Run the calls due now, but not those scheduled in the process."""
        due = sorted(call for call in self._calls if call[0] <= self.now)
        self._calls = [call for call in self._calls if call[0] > self.now]
        heapq.heapify(self._calls)
        for _, _, handle in due:
            if not handle.cancelled:
                handle.call()

    @property
    def armed(self) -> int:
        """The number of pending timers."""
        return sum(not handle.cancelled for _, _, handle in self._calls)


class FakeTransport(asyncio.Transport):
    """Stores written data and reports `backlog` bytes as unsent."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        super().__init__()
        self.address = address
        self.written = b""
        self.writes = 0
        self.backlog = 0
        self.ended = False
        self.closed = False
        self.aborted = False
        self.reading = True

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return (self.address, 4711) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.high = high

    def get_write_buffer_size(self) -> int:
        return self.backlog

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)
        self.writes += 1

    def write_eof(self) -> None:
        self.ended = True

    def is_closing(self) -> bool:
        return self.closed or self.aborted

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


def client_frame(data: bytes, opcode: Opcode = Opcode.TEXT, *, fin: bool = True) -> bytes:
    """Return a client frame."""
    return Frame(opcode, data, fin).serialize(mask=True)


def split_frames(data: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """Split a server's bytes into (opcode, payload) pairs and a remainder."""
    frames: list[tuple[int, bytes]] = []
    while len(data) >= 2:
        length, start = data[1] & 127, 2
        if length > 125:
            extent = 2 if length == 126 else 8
            length, start = int.from_bytes(data[2 : 2 + extent], "big"), 2 + extent
        if len(data) < start + length:
            break
        frames.append((data[0] & 15, data[start : start + length]))
        data = data[start + length :]
    return frames, data


@dataclass
class FakeHandler:
    """Stores peers' requests."""

    room: bool = True
    room_to_spare: bool = True
    requests: list[ClientMessage] = field(default_factory=list)
    left: list[Peer] = field(default_factory=list)
    closed: list[Peer] = field(default_factory=list)
    addresses: list[tuple[str, bool]] = field(default_factory=list)

    def admit(self, peer: Peer) -> bool:
        return self.room

    def relocate(self, peer: Peer) -> bool:
        self.addresses.append((peer.address, peer.local))
        return self.room

    def may_stay(self, peer: Peer) -> bool:
        return self.room_to_spare

    def move(self, peer: Peer, move: Move) -> None:
        self.requests.append(move)

    def request(self, peer: Peer, message: ClientMessage) -> None:
        self.requests.append(message)

    def disconnected(self, peer: Peer) -> None:
        self.left.append(peer)

    def socket_closed(self, peer: Peer) -> None:
        self.closed.append(peer)


class FakePages:
    def source(self) -> http.PageSource:
        return http.PageSource(
            lambda: False, lambda: b"figures\n", self.record, self.analysis, self.hint
        )

    async def hint(self, match: str, asker: http.Asker) -> http.Page:
        return http.Page(HTTPStatus.OK, f"hint in {match}\n".encode(), http.JSON)

    async def analysis(self, match: str, asker: http.Asker) -> http.Page:
        return http.Page(HTTPStatus.OK, f"{match} for {asker.address}\n".encode(), http.JSON)

    async def record(self, match: str) -> AsyncIterator[bytes] | None:
        return self.pieces() if match == "m1" else None

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in (b"lines\n", b"more\n"):
            yield piece


@dataclass
class PeerRig:
    """The environment of peers, with time controlled by the test."""

    loop: FakeLoop = field(default_factory=FakeLoop)
    handler: FakeHandler = field(default_factory=FakeHandler)
    metrics: Metrics = field(default_factory=Metrics)
    spawned: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    rate_limits: RateLimits = field(default_factory=RateLimits)
    timeout_config: TimeoutConfig = field(default_factory=TimeoutConfig)
    pages: FakePages = field(default_factory=FakePages)
    access: AccessPolicy = field(default_factory=AccessPolicy)
    downloads: Downloads = field(default_factory=Downloads)
    guest_networks: GuestNetworks = field(default_factory=GuestNetworks)
    site: Site | None = None

    def __post_init__(self) -> None:
        self.turns = TurnBudget(self.loop.loop)
        self.timeouts = Timeouts(self.loop.loop, self.timeout_config, self.turns)
        self.context = PeerContext(
            loop=self.loop.loop,
            clock=self.loop.clock,
            handler=self.handler,
            registry=self.handler,
            pages=self.pages.source(),
            site=self.site,
            metrics=self.metrics,
            batcher=WriteBatcher(self.loop.loop),
            timeouts=self.timeouts,
            turns=self.turns,
            rate_limits=self.rate_limits,
            send_limits=SendLimits(),
            access=self.access,
            downloads=self.downloads,
            guest_networks=self.guest_networks,
            spawn=self.spawned.append,
        )
        self.timeouts.start()

    def connect(self, address: str = "127.0.0.1") -> ScriptedConnection:
        """Open a connection before its handshake."""
        return ScriptedConnection(self, address)

    def open(self, path: str = "/", more: str = "") -> ScriptedConnection:
        """Open a connection and perform the handshake."""
        line = self.connect()
        line.feed(HANDSHAKE.format(path=path, more=more).encode())
        return line


class ScriptedConnection:
    """A scripted connection to a real `Connection`."""

    def __init__(self, rig: PeerRig, address: str) -> None:
        self.rig = rig
        self.transport = FakeTransport(address)
        self.connection = Connection(rig.context)
        self.connection.connection_made(self.transport)
        self.peer = self.connection.peer

    def feed(self, data: bytes) -> None:
        self.connection.data_received(data)
        self.rig.loop.advance()

    def send(self, **fields: object) -> None:
        self.feed(client_frame(json.dumps(fields).encode()))

    def head(self) -> str:
        """Take the received HTTP response."""
        head, _, rest = self.transport.written.partition(b"\r\n\r\n")
        self.transport.written = rest
        return head.decode()

    def frames(self) -> list[tuple[int, bytes]]:
        """Take the frames received since the last call, except pings."""
        self.rig.loop.advance()
        frames, self.transport.written = split_frames(self.transport.written)
        return [frame for frame in frames if frame[0] != Opcode.PING]

    def received(self) -> list[dict[str, Any]]:
        """Take the messages received since the last call."""
        return [json.loads(data) for opcode, data in self.frames() if opcode == Opcode.TEXT]

    def close_code(self) -> int | None:
        """Take the received frames and return the code of the close frame."""
        for opcode, data in self.frames():
            if opcode == Opcode.CLOSE:
                return int.from_bytes(data[:2], "big")
        return None


class FakeStore:
    """A store whose appends are durable after `commit`, or lost after `fail`."""

    def __init__(self) -> None:
        self.lines: dict[str, list[bytes]] = {}
        self.finished: dict[str, tuple[bytes | None, bytes]] = {}
        self._waiting: list[tuple[Stream, int, Waiter | None]] = []

    @property
    def store(self) -> Store:
        return cast(Store, self)

    def create(
        self, stream: Stream, head: bytes, *, owner: str | None, waiter: Waiter | None
    ) -> None:
        stream.number = len(self.lines) + 1
        self.lines[stream.key] = [head]
        self._waiting.append((stream, 0, waiter))

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        if seq != stream.tail + 1 or stream.failed:
            raise WriteFailed("out of order")
        stream.tail = seq
        self.lines[stream.key].append(line)
        self._waiting.append((stream, seq, waiter))

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        self.finished[stream.key] = (footer, summary)
        stream.closed = True
        self._waiting.append((stream, stream.tail, waiter))

    def commit(self) -> None:
        """Make everything appended so far durable."""
        waiting, self._waiting = self._waiting, []
        for stream, seq, waiter in waiting:
            stream.durable = seq
            if waiter is not None:
                waiter.durable(seq)

    def fail(self, error: StoreError) -> None:
        """Lose everything since the last commit."""
        waiting, self._waiting = self._waiting, []
        told: set[int] = set()
        for stream, _, waiter in waiting:
            stream.failed = True
            if waiter is not None and id(waiter) not in told:
                told.add(id(waiter))
                waiter.lost(error)

    @property
    def waiting(self) -> int:
        return len(self._waiting)


async def read_page(page: http.Page | Awaitable[http.Page | http.StreamedPage]) -> http.Page:
    """Return the complete page, whether it is sent at once or in pieces."""
    found = page if isinstance(page, http.Page) else await page
    if isinstance(found, http.Page):
        return found
    body = b"".join([piece async for piece in found.pieces])
    return http.Page(HTTPStatus.OK, body, found.content_type)


class JsonClient:
    """A client on a real socket: sends JSON, stores events, waits for answers."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.news: list[dict[str, Any]] = []
        self.player = ""
        self.resent = 0
        """The number of resent requests."""
        self._id = 0
        self._lobbies = LobbyViews()

    async def ask(self, type: str, **fields: object) -> dict[str, Any]:
        """Send a request and return its answer; store events that arrive earlier."""
        self._id += 1
        return await self.ask_as(self._id, type, **fields)

    async def ask_as(self, id: int, type: str, **fields: object) -> dict[str, Any]:
        await self.socket.send(json.dumps({"type": type, "id": id, **fields}))
        while True:
            message: dict[str, Any] = json.loads(await self.socket.recv())
            if message.get("re") == id:
                return message
            self.news.append(message)

    async def ask_until_carried_out(self, type: str, **fields: object) -> dict[str, Any]:
        """Send a request like the SDKs: resend it with its id while it is `unavailable`."""
        self._id += 1
        id = self._id
        while True:
            answer = await self.ask_as(id, type, **fields)
            if answer.get("code") != "unavailable":
                return answer
            self.resent += 1
            await asyncio.sleep(answer["retry_after_ms"] / 1000)

    async def hello(self, name: str, **fields: object) -> dict[str, Any]:
        return await self.ask("hello", versions=[1], name=name, **fields)

    async def next(self, type: str) -> dict[str, Any]:
        """Return the next event of this type and drop earlier ones."""
        while True:
            message = await self.take()
            if message["type"] == type:
                return message

    async def next_lobby(self) -> dict[str, Any]:
        """Return the lobby of the next lobby update, with all changes so far applied."""
        while True:
            message = await self.take()
            lobby = message["lobby"] if message["type"] == "lobby_changed" else None
            lobby = message["lobby"]["lobby"] if message["type"] == "lobby" else lobby
            if lobby in self._lobbies.views:
                return dict(json.loads(encode(self._lobbies.views[lobby])))

    async def take(self) -> dict[str, Any]:
        """Return the next message, after merging its lobby data into the known lobbies."""
        message = self.news.pop(0) if self.news else json.loads(await self.socket.recv())
        match decode_server_message(json.dumps(message)):
            case LobbyNews(lobby=view):
                self._lobbies.tell(view)
            case LobbyChanged() as changed:
                self._lobbies.change(changed)
        return cast("dict[str, Any]", message)

    async def move(self, turn: dict[str, Any], **action: int) -> dict[str, Any]:
        chosen = action or turn["legal"][0]
        return await self.ask_until_carried_out(
            "move", match=turn["match"], ply=turn["ply"], action=chosen
        )

    async def closed(self) -> int:
        """Read to the end and return the close code."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self.socket.recv()
        code = self.socket.close_code
        assert code is not None
        return code


@asynccontextmanager
async def connected(url: str, **options: Any) -> AsyncIterator[JsonClient]:
    """Connect to a server; the connection is closed at the end."""
    options = {"compression": None, "open_timeout": 5, **options}
    async with connect(url, **options) as socket:
        yield JsonClient(socket)


async def wait_until(reached: Callable[[], bool], seconds: float = 20) -> None:
    """Poll for a condition in another process, or in a server that does not announce it."""
    async with asyncio.timeout(seconds):
        while not reached():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
