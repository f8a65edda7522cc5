"""The other side of a connection, as the rest of the server sees it.

It is who is there, what it subscribes to, what it has paid, and the way back to it: answers, news
and the end. `connection.Connection` reads its input.

To close, the server sends a close frame, then half-closes. It discards further input unread, which
costs nothing, so that the other side can read the reason (a lingering close). If that takes too
long, it aborts the connection.
"""

from __future__ import annotations

import contextlib
import logging
from asyncio import AbstractEventLoop, Transport
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from websockets.frames import CloseCode as Standard

from kibitz_protocol.wire.messages import (
    Answer,
    Capabilities,
    ClientMessage,
    Move,
    Redirect,
    Refused,
    ServerMessage,
)
from kibitz_protocol.wire.refusals import HINTS, CloseCode, Code
from kibitz_protocol.wire.visibility import WantedViews
from kibitz_server.accounts.identity import Identity
from kibitz_server.metrics import Metrics
from kibitz_server.net.access import AccessPolicy
from kibitz_server.net.addresses import is_loopback
from kibitz_server.net.downloads import Downloads
from kibitz_server.net.frames import close_frame, ping_frame
from kibitz_server.net.guest_networks import GuestNetworks
from kibitz_server.net.http import PageSource
from kibitz_server.net.rate_limit import ChargeResult, RateLimiter, RateLimits
from kibitz_server.net.round_trip import RoundTrip
from kibitz_server.net.send_limits import SendLimits
from kibitz_server.net.send_queue import SendQueue, WriteBatcher, message_frame
from kibitz_server.net.site import Site
from kibitz_server.net.timeouts import Timeouts
from kibitz_server.net.turn_budget import TurnBudget

LOG = logging.getLogger("kibitz.net")
RETRY_AFTER_MS = 1000
"""Milliseconds after which a client should retry a request that failed for the moment."""


class PeerHandler(Protocol):
    """The handler of events on a server's connections: `handlers.requests.RequestHandlers`."""

    def admit(self, peer: Peer) -> bool:
        """Return whether there is room for another connection from this address."""

    def relocate(self, peer: Peer) -> bool:
        """Return whether there is room, now that its headers name another address."""

    def may_stay(self, peer: Peer) -> bool:
        """Return whether there is room to keep this connection when it has its page."""

    def move(self, peer: Peer, move: Move) -> None:
        """Carry out a move, or refuse it and call `peer.charge_unanswered`."""

    def request(self, peer: Peer, message: ClientMessage) -> None:
        """Carry out a request that was paid for."""

    def disconnected(self, peer: Peer) -> None:
        """Note that the connection is lost or closing; no more input comes from it."""

    def socket_closed(self, peer: Peer) -> None:
        """Note that the socket is closed."""


class Subscription(Protocol):
    """A match or a lobby that a connection subscribes to."""

    def disconnected(self, peer: Peer) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerContext:
    """The state shared by all connections of a server."""

    loop: AbstractEventLoop
    clock: Callable[[], int]
    """Monotonic milliseconds, for the arrival times of moves."""
    handler: PeerHandler
    metrics: Metrics
    turns: TurnBudget
    timeouts: Timeouts
    batcher: WriteBatcher
    send_limits: SendLimits
    rate_limits: RateLimits
    access: AccessPolicy = field(default_factory=AccessPolicy)
    """Which requests are served, by their headers."""
    guest_networks: GuestNetworks = field(default_factory=GuestNetworks)
    """Addresses that count as many people."""
    pages: PageSource
    site: Site | None = None
    """The files of the web pages, if there are any."""
    downloads: Downloads = field(default_factory=Downloads)
    servers: Callable[[], Sequence[str]] = list
    """The websocket addresses of other servers, whose pages count as this server's."""
    spawn: Callable[[Callable[[], Awaitable[None]]], None]
    """Runs coroutines in the background; used only for pages that come from the disk."""


class Peer:
    """The other side of one connection."""

    __slots__ = (
        "_aborted",
        "_context",
        "_reported_gone",
        "address",
        "bearer",
        "capabilities",
        "entrant",
        "identity",
        "instance",
        "is_unread",
        "leaving",
        "local",
        "newer",
        "over_limit",
        "proxied",
        "rate_limiter",
        "round_trip",
        "send_queue",
        "speaks_websocket",
        "subscriptions",
        "token",
        "transport",
        "unanswered",
        "views",
    )

    def __init__(self, context: PeerContext, transport: Transport) -> None:
        self._context = context
        self.transport = transport
        name = transport.get_extra_info("peername")
        self.address = str(name[0]) if name else "?"
        self.local = is_loopback(self.address)
        self.proxied = context.access.is_proxy(self.address)
        """Whether its address is known only from its headers."""
        self.send_queue = SendQueue(
            transport, context.batcher, context.send_limits, self._read_too_slowly
        )
        self.rate_limiter = RateLimiter(context.rate_limits.socket, context.loop.time())
        self.over_limit = False
        """Whether the last charge was refused, so that even moves cost."""
        self.round_trip = RoundTrip()
        self.speaks_websocket = False
        """Whether the handshake is over."""
        self.is_unread = False
        """Whether a request of it waits for a later turn of the loop; nothing is read meanwhile."""
        self.leaving = False
        """Whether the connection is being closed."""
        self._reported_gone = False
        self._aborted = False
        self.identity: Identity | None = None
        """The player, once hello was answered."""
        self.entrant = False
        """Whether it may do no more than play its seats (`handlers.rights`)."""
        self.bearer: str | None = None
        """The token of the handshake's Authorization header."""
        self.token: bytes | None = None
        """The digest of the token that hello was answered for."""
        self.capabilities: Capabilities | None = None
        """The bot's capabilities, from its hello."""
        self.instance: str | None = None
        """The name of its program, a secret between it and the server."""
        self.newer = False
        """Whether its hello announced a newer version of the protocol than the server's."""
        self.views: WantedViews = "turn"
        """The messages that carry the view of a match, from its hello."""
        self.subscriptions: dict[str, Subscription] = {}
        """The matches and lobbies to notify when this connection is lost, by key."""
        self.unanswered: dict[int, tuple[str, ...]] = {}
        """The requests that the handler has and that are not answered yet, with the names of their
        fields that were ignored."""

    # --- answers and news -------------------------------------------------------------------

    def answer(self, message: Answer) -> None:
        """Send the answer to a request."""
        if ignored := self.unanswered.pop(message.re, None):
            message = message.model_copy(update={"ignored": list(ignored)})
        self.send_queue.send(message_frame(message))

    def send(self, message: ServerMessage) -> None:
        """Send news that must not be dropped."""
        self.send_queue.send(message_frame(message))

    def refuse(
        self,
        request: int,
        code: Code,
        message: str,
        *,
        hint: str | None = None,
        retry_after_ms: int | None = None,
        ply: int | None = None,
        redirect: Redirect | None = None,
    ) -> None:
        """Answer that a request was not carried out."""
        self._context.metrics.refused(code)
        name = "a newcomer" if self.identity is None else self.identity.player.name
        LOG.info("refused %s: %s: %s", name, code, message)
        self.answer(
            Refused(
                re=request,
                code=code,
                message=message,
                hint=HINTS[code] if hint is None else hint,
                retry_after_ms=retry_after_ms,
                ply=ply,
                redirect=redirect,
            )
        )

    def fail(
        self,
        request: int,
        code: Code = Code.INTERNAL,
        message: str = "the server failed to carry this out",
        retry_after_ms: int = RETRY_AFTER_MS,
    ) -> None:
        """Refuse a request that failed, unless it was answered."""
        if request in self.unanswered:
            after = retry_after_ms if code is Code.UNAVAILABLE else None
            self.refuse(request, code, message, retry_after_ms=after)

    # --- rate limits ------------------------------------------------------------------------

    def charge(self, cost: float, request: int) -> bool:
        """Charge the peer; if it cannot pay, refuse the request or close, and return False."""
        charged = self.charge_unanswered(cost)
        if charged is ChargeResult.REFUSED:
            wait_ms = self.rate_limiter.retry_after_ms(cost, self._context.loop.time())
            message = f"too many messages, wait {wait_ms} ms"
            self.refuse(request, Code.RATE_LIMITED, message, retry_after_ms=wait_ms)
        return charged is ChargeResult.GRANTED

    def charge_unanswered(self, cost: float) -> ChargeResult:
        """Charge the peer for something that gets no answer, or has one; close it if it floods."""
        self._context.turns.spend(cost)
        charged = self.rate_limiter.charge(cost, self._context.loop.time())
        self.over_limit = charged is not ChargeResult.GRANTED
        if charged is ChargeResult.FLOODING:
            self._context.metrics.dropped("flood")
            self.close(Standard.POLICY_VIOLATION, "too many messages")
        return charged

    # --- its state --------------------------------------------------------------------------

    def greeted(self, identity: Identity) -> None:
        """Let the peer stay, as hello was answered."""
        self.identity = identity
        self._context.timeouts.greeted(self)

    def end_without_hello(self) -> None:
        """Close the connection, as no hello came in time."""
        if self.identity is None:
            self.close(CloseCode.NO_HELLO, "no hello in time")

    def ping(self) -> None:
        if not self.leaving:
            self.transport.write(_ping_frame(self.round_trip.ping(self._context.clock())))

    def write_buffer_size(self) -> int:
        return self.transport.get_write_buffer_size()

    # --- the end ----------------------------------------------------------------------------

    def close(self, code: int, reason: str = "") -> None:
        """Send the queue and a close frame; the connection is aborted if that takes too long."""
        if self.leaving:
            return
        self.leaving = True
        self.send_queue.flush()
        self.send_queue.close()
        if not self.speaks_websocket:
            self.transport.close()
        elif not self.transport.is_closing():
            self.transport.write(close_frame(code, reason))
            half_close(self.transport)
        self.leave()

    def leave(self, patience_s: float | None = None) -> None:
        """Ignore further input; the other side has some seconds to read the output."""
        self.leaving = True
        self._context.timeouts.leaving(self, patience_s)
        self._report_gone()

    def abort(self) -> None:
        """Drop the connection without sending anything more."""
        if not self._aborted:
            self._aborted = True
            self._context.metrics.dropped("aborted")
            self.leaving = True
            self.send_queue.close()
            self.transport.abort()

    def lost(self) -> None:
        """Note that the connection is lost."""
        self.leaving = True
        self.send_queue.close()
        self._context.timeouts.forget(self)
        self._report_gone()
        self._context.handler.socket_closed(self)

    def _report_gone(self) -> None:
        if not self._reported_gone:
            self._reported_gone = True
            self._context.handler.disconnected(self)

    def _read_too_slowly(self) -> None:
        self._context.metrics.dropped("too slow")
        self.close(CloseCode.TOO_SLOW, "read faster")


def half_close(transport: Transport) -> None:
    """End the output of a transport."""
    with contextlib.suppress(OSError, RuntimeError):
        transport.write_eof()


@lru_cache(maxsize=1)  # all pings of one check have the same time
def _ping_frame(payload: bytes) -> bytes:
    return ping_frame(payload)
