"""Timeouts of connections: late handshakes, hellos, pongs, closes and readers.

One timer serves all peers, because a timer for each would cost too much. The intervals are the same
for all peers, so the dictionaries below are queues ordered by deadline. A check looks at the front
of each, and at the few peers that are slow readers. It pings only some of the peers, so that peers
that connected at the same time are not always pinged at the same time. If many peers are late
together, such as a crowd of unfinished handshakes, each event loop iteration closes a few of them
(`turn_budget`). A peer does not time out while its input may be waiting in the socket: after the
server stood still (`loop_clock`), or while one of its requests waits for a later iteration.

    late with                 deadline           then
    handshake                 handshake_s        aborted
    hello                     hello_s            closed NO_HELLO
    pong                      pong_s             aborted
    close handshake           close_s            aborted
    reading, without progress stuck_s            aborted
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import Protocol

from kibitz_server.net.loop_clock import AfterInput
from kibitz_server.net.turn_budget import TurnBudget

ENDING_COST = 0.5
"""The cost of ending a connection, in units of the `turn_budget`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutConfig:
    """The timeouts of a peer, in seconds."""

    handshake_s: float = 5
    hello_s: float = 10
    ping_every_s: float = 10
    ping_soon_s: float = 0.5
    """The time between the first pings of a peer that plays. They are frequent, so that its round
    trip is known early.
    """
    pong_s: float = 18
    """It is long, because a healthy client on a busy machine may not run for seconds. TCP detects a
    vanished host earlier (`app.server.USER_TIMEOUT_MS`).
    """
    close_s: float = 3
    stuck_s: float = 3
    """How long a peer may read nothing while its transport is full."""
    sweep_s: float = 0.25
    """The longest time between two checks."""
    pings_a_sweep: int = 10
    """If checks send more pings than this on average, they become more frequent. Moves have to wait
    while the server sends many pings and reads the pongs."""


class TimedPeer(Protocol):
    """A peer with deadlines."""

    is_unread: bool
    """Whether the server has stopped reading from it, so that its input may be waiting."""

    def ping(self) -> None: ...

    def abort(self) -> None: ...

    def write_buffer_size(self) -> int:
        """Return how many bytes wait in the transport."""


class Timeouts:
    """The deadlines of a server's peers."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        config: TimeoutConfig,
        turns: TurnBudget,
        observe_lag: Callable[[float], None] | None = None,
        seconds: Callable[[], float] | None = None,
    ) -> None:
        """`seconds` is the clock for deadlines; the default is the loop's clock."""
        self._loop = loop
        self._config = config
        self._turns = turns
        self._observe_lag = observe_lag
        self._seconds = loop.time if seconds is None else seconds
        self._awaited: dict[TimedPeer, tuple[float, Callable[[], None]]] = {}
        """Peers that have not sent their request or hello yet, with callbacks that close them."""
        self._to_ping: dict[TimedPeer, float] = {}
        self._to_ping_soon: dict[TimedPeer, float] = {}
        self._pinged: dict[TimedPeer, float] = {}
        self._leaving: dict[TimedPeer, float] = {}
        self._stalled: dict[TimedPeer, tuple[float, int]] = {}
        self._timer: TimerHandle | AfterInput | None = None
        self._due = 0.0
        self._interval_s = config.sweep_s
        """The time between this check and the next one."""

    def start(self) -> None:
        self._due = self._loop.time() + self._interval_s
        self._timer = self._loop.call_at(self._due, self._tick)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- events of peers --------------------------------------------------------------------

    def connected(
        self, peer: TimedPeer, overdue: Callable[[], None], patience_s: float | None = None
    ) -> None:
        """Expect a request, the first on the connection or a later one.

        `overdue` is called if it does not arrive.
        """
        patience_s = self._config.handshake_s if patience_s is None else patience_s
        self._awaited[peer] = self._seconds() + patience_s, overdue

    def opened(self, peer: TimedPeer, overdue: Callable[[], None]) -> None:
        """Handle a completed handshake, and expect a hello; `overdue` is called if none arrives."""
        self._awaited[peer] = self._seconds() + self._config.hello_s, overdue

    def greeted(self, peer: TimedPeer) -> None:
        """Record that hello arrived."""
        self._awaited.pop(peer, None)
        self._to_ping[peer] = self._seconds() + self._config.ping_every_s

    def begin_measuring(self, peer: TimedPeer) -> None:
        """Ping the peer at once, because it plays from now on."""
        if self._to_ping.pop(peer, None) is not None:
            self._ping(peer)

    def ponged(self, peer: TimedPeer, *, soon: bool = False) -> None:
        """Handle a pong and schedule the next ping, `soon` if few round trips were measured."""
        if self._pinged.pop(peer, None) is None:
            return
        if soon:
            self._to_ping_soon[peer] = self._seconds() + self._config.ping_soon_s
        else:
            self._to_ping[peer] = self._seconds() + self._config.ping_every_s

    def leaving(self, peer: TimedPeer, patience: float | None = None) -> None:
        """Abort the peer if closing it takes too long."""
        self.forget(peer)
        patience = self._config.close_s if patience is None else patience
        self._leaving[peer] = self._seconds() + patience

    def paused(self, peer: TimedPeer) -> None:
        self._stalled[peer] = (self._seconds(), peer.write_buffer_size())

    def resumed(self, peer: TimedPeer) -> None:
        self._stalled.pop(peer, None)

    def forget(self, peer: TimedPeer) -> None:
        for queue in (self._to_ping, self._to_ping_soon, self._pinged, self._leaving):
            queue.pop(peer, None)
        self._awaited.pop(peer, None)
        self._stalled.pop(peer, None)

    # --- the check --------------------------------------------------------------------------

    def check(self) -> None:
        """Handle everything that is due."""
        now = self._seconds()
        for peer, (due, overdue) in list(self._awaited.items()):
            if due <= now and not peer.is_unread:
                del self._awaited[peer]
                self._turns.run(ENDING_COST, overdue)
        for peer in [peer for peer, due in self._leaving.items() if due <= now]:
            del self._leaving[peer]
            self._turns.run(ENDING_COST, peer.abort)
        for peer in (peer for peer in _expired(self._pinged, now) if not peer.is_unread):
            del self._pinged[peer]
            self._turns.run(ENDING_COST, peer.abort)
        for queue, every_s in (
            (self._to_ping, self._config.ping_every_s),
            (self._to_ping_soon, self._config.ping_soon_s),
        ):
            share = ceil((len(queue) + len(self._pinged)) * self._interval_s / every_s)
            for peer in islice(_expired(queue, now), share):
                del queue[peer]
                self._ping(peer)
        for peer, (since, backlog) in list(self._stalled.items()):
            self._check_stalled(peer, since, backlog, now)

    def _next_interval_s(self) -> float:
        """Return the seconds until the next check; fewer if there are many peers to ping."""
        config, often = self._config, len(self._to_ping_soon)
        seldom = len(self._to_ping) + len(self._pinged)
        pings_a_second = seldom / config.ping_every_s + often / config.ping_soon_s
        return min(config.sweep_s, config.pings_a_sweep / max(pings_a_second, 1.0))

    def _check_stalled(self, peer: TimedPeer, since: float, backlog: int, now: float) -> None:
        left = peer.write_buffer_size()
        if left < backlog:
            self._stalled[peer] = (now, left)
        elif now - since >= self._config.stuck_s:
            del self._stalled[peer]
            peer.abort()

    def _ping(self, peer: TimedPeer) -> None:
        self._pinged[peer] = self._seconds() + self._config.pong_s
        peer.ping()

    def _tick(self) -> None:
        now = self._loop.time()
        if self._observe_lag is not None:
            self._observe_lag(max(0.0, now - self._due))
        # While the server was stopped, pongs may have arrived in time that are still in the socket.
        self._timer = AfterInput(self._loop, self._check_and_rearm)

    def _check_and_rearm(self) -> None:
        now = self._loop.time()
        self.check()
        self._interval_s = self._next_interval_s()
        self._due = now + self._interval_s
        self._timer = self._loop.call_at(self._due, self._tick)


def _expired(queue: dict[TimedPeer, float], now: float) -> list[TimedPeer]:
    """Return the peers at the front of a queue whose deadline has passed."""
    due: list[TimedPeer] = []
    for peer, deadline in queue.items():
        if deadline > now:
            break
        due.append(peer)
    return due
