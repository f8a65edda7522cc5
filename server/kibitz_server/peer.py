"""One websocket connection: an asyncio protocol around websockets' sans-I/O `ServerProtocol`.

There is no coroutine and no task here: bytes come in, are cut into frames, decoded, paid for,
and end in a synchronous call of the desk. All that a ready-made server would do is done here:

* The handshake under a deadline, with limits on its headers, and only from where it may come
  (`access`); a plain HTTP request gets its page and the connection is closed. A record is
  written as its reader takes it, a piece at a time (`downloads`).
* Frames. The one that nearly every frame is, a whole masked text message, is unmasked here;
  every other one is handed over to `ServerProtocol`, whole, so that it and we always agree on
  where a frame begins. It answers pings, checks fragments and refuses what the RFC forbids.
* Limits on what comes in (16 KiB a message, credits) and on what waits to go out (`outbox`).
* Pings, which measure the round trip (`Peer.rtt_ms`), and every deadline (`sweep`).
* Closing: a close frame, then half-closed, then aborted when the other side takes too long.

    handshake --101--> open --close(), protocol error, close frame--> leaving --> lost
        |                 \\--connection lost--------------------------------------^
        +--page, refusal--> leaving

What a peer does wrong and what it gets:

    no handshake in time       aborted              binary frame          closed 1003
    headers over 16 KiB        431                  text that is no UTF-8 closed 1007
    foreign origin             403                  message over 16 KiB   closed 1009
    another server's name      421                  broken framing        closed 1002
    token in the URL           400                  flood                 closed 1008
    no hello in time           closed 4002          too many requests     429
    not JSON, unknown fields   refused, malformed   reads too slowly      closed 4001, aborted
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol, cast
from urllib.parse import parse_qsl

from websockets.datastructures import Headers
from websockets.exceptions import InvalidMessage
from websockets.frames import CloseCode as Standard
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from kibitz_protocol.codec import DecodeError, decode_request, encode
from kibitz_protocol.messages import (
    Answer,
    Capabilities,
    ClientMessage,
    Move,
    Refused,
    ServerMessage,
)
from kibitz_protocol.refusals import HINTS, CloseCode, Code
from kibitz_protocol.values import MAX_FRAME
from kibitz_server import http
from kibitz_server.access import Access, BadHeader
from kibitz_server.accounts import Identity
from kibitz_server.addresses import group, is_loopback
from kibitz_server.credits import Bucket, Purse, Tariff, Verdict
from kibitz_server.downloads import Download, Downloads
from kibitz_server.outbox import Allowance, Cork, Outbox, text_frame
from kibitz_server.sweep import Sweep

try:
    from websockets.speedups import apply_mask
except ImportError:  # where websockets was installed without its compiled part
    from websockets.utils import apply_mask

LOG = logging.getLogger("kibitz.peer")
HEADER_BYTES = 16 * 1024
"""The longest handshake."""
PATHS = frozenset({"/", "/ws"})
"""Where websockets are served."""
HTTP_PATIENCE_S = 30.0
"""How long a page may take to be read."""
RETRY_AFTER_MS = 1000
"""When to ask again for what could not be carried out just now."""
ROUND_TRIPS = 8
"""How many measurements a round trip is taken from."""
_SECRETS = re.compile(r"token|secret|resume|instance|auth|password|key", re.IGNORECASE)
_WHOLE_TEXT = 0x81
_MASKED = 0x80


class Desk(Protocol):
    """Who serves the peers."""

    def admit(self, peer: Peer) -> bool:
        """Whether there is room for another connection from this address."""

    def relocate(self, peer: Peer) -> bool:
        """Whether there is, now that its headers say that it comes from another one."""

    def move(self, peer: Peer, move: Move) -> None:
        """Carry out a move; the desk calls `peer.owe` for those that it refuses."""

    def request(self, peer: Peer, message: ClientMessage) -> None:
        """Carry out a request that was paid for."""

    def gone(self, peer: Peer) -> None:
        """The connection is lost or being closed: nothing more comes from it."""

    def lost(self, peer: Peer) -> None:
        """The socket is closed."""


class Holding(Protocol):
    """A match or a lobby that a connection has to do with."""

    def disconnected(self, peer: Peer) -> None: ...


class Figures(Protocol):
    """What peers count."""

    def refused(self, code: Code) -> None: ...

    def shed(self, why: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """What all peers of a server share."""

    loop: asyncio.AbstractEventLoop
    clock: Callable[[], int]
    """Monotonic milliseconds: what stamps the arrival of a move."""
    desk: Desk
    site: http.Site
    figures: Figures
    cork: Cork
    sweep: Sweep
    tariff: Tariff
    allowance: Allowance
    access: Access = field(default_factory=Access)
    """Which requests are served, by their headers."""
    downloads: Downloads = field(default_factory=Downloads)
    spawn: Callable[[Awaitable[None]], None]
    """Runs what cannot be done at once; used for pages that come from the disk only."""


class Peer(asyncio.Protocol):
    """One connection."""

    __slots__ = (
        "_aborted",
        "_framed",
        "_in_debt",
        "_partial",
        "_parts",
        "_ping_at",
        "_port",
        "_protocol",
        "_reading",
        "_room",
        "_round_trips",
        "_told_gone",
        "_transport",
        "address",
        "bearer",
        "capabilities",
        "holdings",
        "identity",
        "instance",
        "leaving",
        "local",
        "outbox",
        "proxied",
        "purse",
        "token",
        "unanswered",
    )

    def __init__(self, port: Port) -> None:
        self._port = port
        self._protocol = ServerProtocol(max_size=MAX_FRAME, logger=LOG)
        self._protocol.debug = False
        self._partial = b""
        """Bytes that do not make a frame, or a handshake, yet."""
        self._framed = False
        """Whether bytes are cut into frames here; otherwise the protocol reads everything."""
        self._parts: list[bytes] | None = None
        """What has come of a fragmented message."""
        self._in_debt = False
        """Whether the last charge was refused, so that even moves are paid for."""
        self._ping_at = 0
        """When the ping was sent that is not answered yet, in milliseconds; 0 for none."""
        self._told_gone = False
        self._aborted = False
        self._reading = False
        """Whether a record is on its way to it; nothing that it says counts any more."""
        self._room: asyncio.Future[None] | None = None
        """Is done when the transport has room again, or is lost; while a download waits for it."""
        self.leaving = False
        """Whether the connection is being closed."""
        self._round_trips: tuple[int, ...] = ()
        """What the last pings took, in milliseconds."""
        self.identity: Identity | None = None
        """Who is there, once hello was answered."""
        self.bearer: str | None = None
        """The token of the handshake's Authorization header."""
        self.token: bytes | None = None
        """The digest of the token that hello was answered for."""
        self.capabilities: Capabilities | None = None
        self.instance: str | None = None
        """What its program calls itself, a secret between it and the server."""
        """What the bot said in hello that it can do."""
        self.holdings: dict[str, Holding] = {}
        """The matches and lobbies that hear of it when this connection is lost, by key."""
        self.unanswered: set[int] = set()
        """The requests that were handed to the desk and are not answered yet."""

    # --- the transport's callbacks ----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        port = self._port
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=port.allowance.high_water)
        name = transport.get_extra_info("peername")
        self.address = str(name[0]) if name else "?"
        self.local = is_loopback(self.address)
        self.proxied = port.access.is_proxy(self.address)
        """Whether only its headers will say where it comes from."""
        self.outbox = Outbox(self._transport, port.cork, port.allowance, self._too_slow)
        self.purse = Purse(port.tariff.socket, port.loop.time())
        port.sweep.connected(self)
        if not port.desk.admit(self):
            port.figures.shed("too many connections")
            self._reply(http.BUSY, head=False)

    def data_received(self, data: bytes) -> None:
        if self._reading:
            return
        if self._partial:
            data = self._partial + data
            self._partial = b""
        if self._framed:
            self._read(data)
        elif self._protocol.state is State.CONNECTING and not self.leaving:
            self._read_handshake(data)
        else:
            self._feed(data)

    def eof_received(self) -> bool:
        if self._reading:
            return True  # who has said all may still read
        self._protocol.receive_eof()
        self._push()
        # Nothing may be written after our own end of file, and the transport closes only soon.
        self.outbox.close()
        self.leaving = True
        self._port.sweep.leaving(self)  # what still waits to be written may wait for ever
        self._tell_gone()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.outbox.close()
        self._port.sweep.forget(self)
        self._framed = False
        self.leaving = True
        self._let_go_on()
        self._tell_gone()
        self._port.desk.lost(self)

    def pause_writing(self) -> None:
        self.outbox.pause()
        if not self._reading:  # a reader of a record has a deadline for each piece
            self._port.sweep.paused(self)

    def resume_writing(self) -> None:
        self._port.sweep.resumed(self)
        self.outbox.resume()
        self._let_go_on()

    # --- what the desk does -----------------------------------------------------------------

    @property
    def rtt_ms(self) -> int:
        """The round trip as the server measured it, 0 before it did.

        The shortest of the last few is the one in which neither side was busy with anything else,
        such as loading a bot: the clock filter of NTP (RFC 5905, section 10).
        """
        return min(self._round_trips, default=0)

    def answer(self, message: Answer) -> None:
        """Send the answer to a request."""
        self.unanswered.discard(message.re)
        self.outbox.send(text_frame(encode(message)))

    def tell(self, message: ServerMessage) -> None:
        """Send news that must not be dropped."""
        self.outbox.send(text_frame(encode(message)))

    def refuse(
        self,
        request: int,
        code: Code,
        message: str,
        *,
        hint: str | None = None,
        retry_after_ms: int | None = None,
        ply: int | None = None,
    ) -> None:
        """Answer that a request was not carried out."""
        self._port.figures.refused(code)
        self.answer(
            Refused(
                re=request,
                code=code,
                message=message,
                hint=HINTS[code] if hint is None else hint,
                retry_after_ms=retry_after_ms,
                ply=ply,
            )
        )

    def fail(
        self,
        request: int,
        code: Code = Code.INTERNAL,
        message: str = "the server failed to carry this out",
    ) -> None:
        """Refuse a request that something has gone wrong with, unless it is answered already."""
        if request in self.unanswered:
            after = RETRY_AFTER_MS if code is Code.UNAVAILABLE else None
            self.refuse(request, code, message, retry_after_ms=after)

    def pay(self, cost: float, request: int) -> bool:
        """Charge the peer; where that fails, it is refused or closed, and False returned."""
        now = self._port.loop.time()
        verdict = self.purse.charge(cost, now)
        self._in_debt = verdict is not Verdict.GRANTED
        if verdict is Verdict.GRANTED:
            return True
        if verdict is Verdict.FLOODING:
            self._port.figures.shed("flood")
            self.close(Standard.POLICY_VIOLATION, "too many messages")
            return False
        after = self.purse.retry_after_ms(cost, now)
        message = f"too many messages, wait {after} ms"
        self.refuse(request, Code.RATE_LIMITED, message, retry_after_ms=after)
        return False

    def owe(self, cost: float) -> None:
        """Charge for a move that was refused, which has been answered already."""
        verdict = self.purse.charge(cost, self._port.loop.time())
        self._in_debt = verdict is not Verdict.GRANTED
        if verdict is Verdict.FLOODING:
            self._port.figures.shed("flood")
            self.close(Standard.POLICY_VIOLATION, "too many messages")

    def share(self, bucket: Bucket) -> None:
        """Pay from the bucket of the account or the address too."""
        self.purse.share(bucket)

    def greeted(self, identity: Identity) -> None:
        """Hello was answered: the peer may stay."""
        self.identity = identity
        self._port.sweep.greeted(self)

    def close(self, code: int, reason: str = "") -> None:
        """Send what waits and a close frame; the connection is aborted if that takes too long."""
        if self.leaving:
            return
        self.leaving = True
        self.outbox.flush()
        self.outbox.close()
        self._framed = False
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, _clipped(reason))
            self._push()
        else:
            self._transport.close()
        self._port.sweep.leaving(self)
        self._tell_gone()

    def abort(self) -> None:
        """Drop the connection without another word."""
        if not self._aborted:
            self._aborted = True
            self._port.figures.shed("aborted")
            self.leaving = True
            self.outbox.close()
            self._transport.abort()

    # --- what the sweep does ----------------------------------------------------------------

    def ping(self) -> None:
        if self._protocol.state is not State.OPEN or self.leaving:
            return
        self._ping_at = self._port.clock()
        self._protocol.send_ping(self._ping_at.to_bytes(8, "big"))
        self._push()

    def overdue(self) -> None:
        if self._protocol.state is not State.OPEN:
            self.abort()
            return
        self.close(CloseCode.NO_HELLO, "no hello in time")

    def backlog(self) -> int:
        return self._transport.get_write_buffer_size()

    # --- frames -----------------------------------------------------------------------------

    def _read(self, data: bytes) -> None:
        """Cut bytes into frames. Only whole frames go on; the rest waits for more."""
        start, size = 0, len(data)
        while size - start >= 2:
            head, second = data[start], data[start + 1]
            length, body = second & 0x7F, start + 6
            if length > 125:
                extent = 2 if length == 126 else 8
                if size - start < 2 + extent:
                    break
                length = int.from_bytes(data[start + 2 : start + 2 + extent], "big")
                body += extent
            if second < _MASKED or length > MAX_FRAME:
                break_off = data[start:]
                self._framed = False
                self._feed(break_off)  # the protocol refuses this from the header alone
                return
            end = body + length
            if end > size:
                break
            if head == _WHOLE_TEXT and self._parts is None:
                self._text(apply_mask(data[body:end], data[body - 4 : body]))
            else:
                self._unusual(data[start:end])
            start = end
            if not self._framed:
                self._feed(data[start:])
                return
        if start < size:
            self._partial = data[start:]

    def _unusual(self, frame: bytes) -> None:
        """A control frame, a fragment, a binary frame, or a violation of the protocol."""
        if self.pay(self._port.tariff.control, 0):
            self._feed(frame)

    def _feed(self, data: bytes) -> None:
        """Hand bytes over to the protocol and do what it says."""
        if not data or self._protocol.reader.eof:
            return
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._shake_hands(event)
            elif not self.leaving:
                self._frame(cast(Frame, event))
        self._push()
        if self._protocol.state is not State.OPEN and not self.leaving:
            self._failed()

    def _frame(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.BINARY:
                self.close(Standard.UNSUPPORTED_DATA, "text frames only")
            case Opcode.TEXT | Opcode.CONT:
                self._fragment(bytes(frame.data), frame.fin)
            case Opcode.PONG:
                self._pong(bytes(frame.data))
            case Opcode.PING | Opcode.CLOSE:
                pass  # answered by the protocol

    def _fragment(self, data: bytes, fin: bool) -> None:
        parts = self._parts or []
        parts.append(data)
        self._parts = None if fin else parts
        if fin:
            self._text(b"".join(parts))

    def _pong(self, data: bytes) -> None:
        if not self._ping_at or data != self._ping_at.to_bytes(8, "big"):
            return  # nobody asked for it
        sample = self._port.clock() - self._ping_at
        self._round_trips = (*self._round_trips, sample)[-ROUND_TRIPS:]
        self._ping_at = 0
        self._port.sweep.ponged(self, soon=len(self._round_trips) < ROUND_TRIPS)

    def _text(self, payload: bytes | bytearray) -> None:
        try:
            message = decode_request(payload)
        except DecodeError as error:
            self._garbage(payload, error)
            return
        if type(message) is Move:
            if not self._in_debt or self.pay(1, message.id):
                self.unanswered.add(message.id)
                self._port.desk.move(self, message)
        elif self.pay(self._port.tariff.cost(type(message)), message.id):
            self.unanswered.add(message.id)
            self._port.desk.request(self, message)

    def _garbage(self, payload: bytes | bytearray, error: DecodeError) -> None:
        try:
            payload.decode()
        except UnicodeDecodeError:
            self.close(Standard.INVALID_DATA, "not UTF-8")
            return
        if self.pay(self._port.tariff.garbage, error.request):
            self.refuse(error.request, error.code, str(error))

    # --- handshake and pages ----------------------------------------------------------------

    def _read_handshake(self, data: bytes) -> None:
        """Wait for all headers; what follows them is frames already."""
        end = data.find(b"\r\n\r\n")
        if end < 0 and len(data) <= HEADER_BYTES:
            self._partial = data
            return
        if end < 0 or end > HEADER_BYTES:
            self._reply(http.HEADERS_TOO_LARGE, head=False)
            return
        method = data[: data.find(b" ")]
        self._feed(data[: end + 4])
        if isinstance(self._protocol.handshake_exc, InvalidMessage):
            LOG.debug("no handshake from %s (%r)", self.address, method)
        if self._framed and len(data) > end + 4:
            self._read(data[end + 4 :])

    def _shake_hands(self, request: Request) -> None:
        try:
            page = self._objection(request)
        except BadHeader as error:
            page = http.bad_request(str(error))
        if page is not None:
            self._reply(page, head=request.method == "HEAD")
        elif "Upgrade" in request.headers:
            self._accept(request)
        else:
            self._serve_page(request)

    def _objection(self, request: Request) -> http.Page | None:
        """Return the page that says why a request is not served. Raises `BadHeader`."""
        access, headers = self._port.access, request.headers
        target = http.split_target(request.path)
        if target is None or len(headers.get_all("Authorization")) > 1:
            return http.BAD_REQUEST
        if not access.knows_host(headers):
            return http.wrong_host()
        if not self._place(headers):
            return http.BUSY
        path, query = target
        if any(_SECRETS.search(name) for name, _ in parse_qsl(query, True)):
            return http.TOKEN_IN_URL
        upgrade = "Upgrade" in headers
        if not (access.lets_handshake(headers) if upgrade else access.lets_read(headers)):
            return http.FOREIGN_ORIGIN
        if upgrade and path not in PATHS:
            return http.NOT_FOUND
        return self._unpaid(path)

    def _place(self, headers: Headers) -> bool:
        """Find out where a request really comes from; return whether there is room for it."""
        place = self._port.access.place(headers, self.address)
        if (place.address, place.local) == (self.address, self.local) and not self.proxied:
            return True
        self.address, self.local, self.proxied = place.address, place.local, False
        return self._port.desk.relocate(self)

    def _unpaid(self, path: str) -> http.Page | None:
        """Charge a request to its address; return the page for who cannot pay."""
        tariff, now = self._port.tariff, self._port.loop.time()
        dear = path == "/metrics" or http.is_record(path)
        cost = tariff.record if dear else tariff.http
        if self.purse.charge_shared(cost, now):
            return None
        self._port.figures.shed("too many HTTP requests")
        return http.too_many_requests(math.ceil(self.purse.retry_after_ms(cost, now) / 1000))

    def _accept(self, request: Request) -> None:
        response = self._protocol.accept(request)
        self._protocol.send_response(response)
        self._push()
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            self._leave_after_page()
            return
        self._framed = True
        self.bearer = _bearer(request)
        self._port.sweep.opened(self)

    def _serve_page(self, request: Request) -> None:
        head = request.method == "HEAD"
        path = request.path.partition("?")[0]
        page = http.answer(request.method, path, self._port.site)
        if isinstance(page, http.Page):
            self._reply(page, head=head)
        else:
            chunked = request.protocol != "HTTP/1.0"
            self._port.spawn(self._reply_later(page, head, chunked))

    async def _reply_later(
        self, coming: Awaitable[http.Page | http.Flow], head: bool, chunked: bool
    ) -> None:
        page = await coming
        if isinstance(page, http.Page):
            self._reply(page, head=head)
            return
        refusal = self._no_download()
        if refusal is not None:
            self._reply(refusal, head=head)
        elif not self._lost and not self._protocol.eof_sent:
            await self._download(page, head, chunked)

    def _no_download(self) -> http.Page | None:
        """Return the page that says why a record is not sent now."""
        downloads = self._port.downloads
        after = downloads.limits.retry_after_s
        if downloads.crowded(self._download_group()):
            status, body = HTTPStatus.TOO_MANY_REQUESTS, http.TOO_MANY_DOWNLOADS
        elif downloads.full():
            status, body = HTTPStatus.SERVICE_UNAVAILABLE, http.NO_ROOM_FOR_DOWNLOADS
        else:
            return None
        self._port.figures.shed("too many downloads")
        return http.Page(status, body, retry_after_s=after)

    def _download_group(self) -> str | None:
        return None if self.local else group(self.address)

    async def _download(self, flow: http.Flow, head: bool, chunked: bool) -> None:
        """Send a long page piece by piece, each when the transport has room for it."""
        download = self._port.downloads.begin(self._download_group())
        self._reading = True
        self._leave_after_page()
        try:
            self._transport.write(flow.head(chunked=chunked))
            async with contextlib.aclosing(cast(AsyncGenerator[bytes, None], flow.pieces)) as all_:
                if not head and not await self._send(all_, download, chunked):
                    return
            self._half_close()
        except Exception:
            LOG.exception("a record cannot be read")
            self.abort()  # who reads it sees that the end is missing
        finally:
            download.end()

    async def _send(self, pieces: AsyncIterator[bytes], download: Download, chunked: bool) -> bool:
        """Write all pieces; return False where the connection is gone before that."""
        async for piece in pieces:
            if self._lost:  # while the piece was read from the disk
                return False
            download.hold(len(piece))
            self._port.sweep.leaving(self, self._port.downloads.limits.piece_s)
            self._transport.write(http.chunk(piece) if chunked else piece)
            await self._drained()
            if self._lost:
                return False
            download.hold(0)
        if chunked:
            self._transport.write(http.LAST_CHUNK)
        return True

    async def _drained(self) -> None:
        """Wait until the transport has room again, or is lost."""
        if self.outbox.paused and not self._lost:
            self._room = self._port.loop.create_future()
            await self._room

    @property
    def _lost(self) -> bool:
        """Whether nothing more can be written."""
        return self.outbox.closed or self._transport.is_closing()

    def _let_go_on(self) -> None:
        room, self._room = self._room, None
        if room is not None and not room.done():
            room.set_result(None)

    def _reply(self, page: http.Page, *, head: bool) -> None:
        """Send a page and half-close; the rest is the other side's."""
        if self._transport.is_closing() or self._protocol.state is not State.CONNECTING:
            return
        if self._protocol.eof_sent:
            return
        self._protocol.send_response(page.response(head=head))
        self._push()
        self._leave_after_page()

    def _leave_after_page(self) -> None:
        self.leaving = True
        self._port.sweep.leaving(self, HTTP_PATIENCE_S)
        self._tell_gone()

    # --- the end ----------------------------------------------------------------------------

    def _push(self) -> None:
        """Write what the protocol has to say, after what the outbox has."""
        self.outbox.flush()
        for data in self._protocol.data_to_send():
            if self._transport.is_closing():
                return
            if data:
                self._transport.write(data)
            else:
                self._half_close()

    def _half_close(self) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            self._transport.write_eof()

    def _failed(self) -> None:
        """The protocol has given the connection up, or the other side has closed it."""
        if self._protocol.state is State.CONNECTING:
            if not self._protocol.eof_sent:
                return  # a page that comes from the disk is on its way
            self._transport.close()
        self.leaving = True
        self._framed = False
        self.outbox.close()
        self._port.sweep.leaving(self)
        self._tell_gone()

    def _too_slow(self) -> None:
        self._port.figures.shed("too slow")
        self.close(CloseCode.TOO_SLOW, "read faster")

    def _tell_gone(self) -> None:
        if not self._told_gone:
            self._told_gone = True
            self._port.desk.gone(self)


def _clipped(reason: str) -> str:
    """Shorten a reason to what a close frame holds (RFC 6455, section 5.5)."""
    return reason.encode()[:120].decode(errors="ignore")


def _bearer(request: Request) -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token else None
