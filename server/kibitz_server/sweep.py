"""One timer for all peers: who is late with a handshake, a hello, a pong, a close, or reading.

A timer for every peer would cost more than the peers do. All peers get the same intervals, so
the dictionaries below are queues in the order of their deadlines: a sweep looks at the front
of each and at the few peers that are in trouble.

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
from typing import Protocol

from kibitz_server.server_clock import AfterInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a peer may take, in seconds."""

    handshake_s: float = 5
    hello_s: float = 10
    ping_every_s: float = 10
    ping_soon_s: float = 0.5
    """The time between the first pings, which measure the round trip before it matters."""
    pong_s: float = 10
    close_s: float = 3
    stuck_s: float = 3
    """How long a peer may leave its full transport untouched."""
    sweep_s: float = 0.5


class Watched(Protocol):
    """What a sweep does to a peer."""

    def ping(self) -> None: ...

    def overdue(self) -> None:
        """The handshake or the hello did not come."""

    def abort(self) -> None: ...

    def backlog(self) -> int:
        """Return how many bytes wait in the transport."""


class Sweep:
    """The deadlines of a server's peers."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        patience: Patience,
        observe_lag: Callable[[float], None] | None = None,
        seconds: Callable[[], float] | None = None,
    ) -> None:
        """Measure deadlines in `seconds`, the server's own clock: usually the loop's."""
        self._loop = loop
        self._patience = patience
        self._observe_lag = observe_lag
        self._seconds = loop.time if seconds is None else seconds
        self._young: dict[Watched, float] = {}
        self._to_ping: dict[Watched, float] = {}
        self._to_ping_soon: dict[Watched, float] = {}
        self._pinged: dict[Watched, float] = {}
        self._leaving: dict[Watched, float] = {}
        self._stuck: dict[Watched, tuple[float, int]] = {}
        self._timer: TimerHandle | AfterInput | None = None
        self._due = 0.0

    def start(self) -> None:
        self._due = self._loop.time() + self._patience.sweep_s
        self._timer = self._loop.call_at(self._due, self._tick)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- what peers tell --------------------------------------------------------------------

    def connected(self, peer: Watched) -> None:
        self._young[peer] = self._seconds() + self._patience.handshake_s

    def opened(self, peer: Watched) -> None:
        """The handshake is done; the first ping goes out at once and measures the round trip."""
        self._young[peer] = self._seconds() + self._patience.hello_s
        self._ping(peer)

    def greeted(self, peer: Watched) -> None:
        self._young.pop(peer, None)

    def ponged(self, peer: Watched, *, soon: bool = False) -> None:
        """The ping is answered; the next one follows, `soon` where there were few so far."""
        if self._pinged.pop(peer, None) is None:
            return
        if soon:
            self._to_ping_soon[peer] = self._seconds() + self._patience.ping_soon_s
        else:
            self._to_ping[peer] = self._seconds() + self._patience.ping_every_s

    def leaving(self, peer: Watched, patience: float | None = None) -> None:
        """The peer is being closed, and is aborted if that takes too long."""
        self.forget(peer)
        patience = self._patience.close_s if patience is None else patience
        self._leaving[peer] = self._seconds() + patience

    def paused(self, peer: Watched) -> None:
        self._stuck[peer] = (self._seconds(), peer.backlog())

    def resumed(self, peer: Watched) -> None:
        self._stuck.pop(peer, None)

    def forget(self, peer: Watched) -> None:
        for queue in (
            self._young,
            self._to_ping,
            self._to_ping_soon,
            self._pinged,
            self._leaving,
        ):
            queue.pop(peer, None)
        self._stuck.pop(peer, None)

    # --- the sweep --------------------------------------------------------------------------

    def sweep(self) -> None:
        """Deal with all that is due."""
        now = self._seconds()
        for peer in [peer for peer, due in self._young.items() if due <= now]:
            del self._young[peer]
            peer.overdue()
        for peer in [peer for peer, due in self._leaving.items() if due <= now]:
            del self._leaving[peer]
            peer.abort()
        for peer in _front(self._pinged, now):
            peer.abort()
        for queue in (self._to_ping, self._to_ping_soon):
            for peer in _front(queue, now):
                del queue[peer]
                self._ping(peer)
        for peer, (since, backlog) in list(self._stuck.items()):
            self._look(peer, since, backlog, now)

    def _look(self, peer: Watched, since: float, backlog: int, now: float) -> None:
        left = peer.backlog()
        if left < backlog:
            self._stuck[peer] = (now, left)
        elif now - since >= self._patience.stuck_s:
            del self._stuck[peer]
            peer.abort()

    def _ping(self, peer: Watched) -> None:
        self._pinged[peer] = self._seconds() + self._patience.pong_s
        peer.ping()

    def _tick(self) -> None:
        now = self._loop.time()
        if self._observe_lag is not None:
            self._observe_lag(max(0.0, now - self._due))
        # A pong that came in time, but to a server that was stopped, is still in the socket.
        self._timer = AfterInput(self._loop, self._sweep_and_wait)

    def _sweep_and_wait(self) -> None:
        now = self._loop.time()
        self.sweep()
        self._due = now + self._patience.sweep_s
        self._timer = self._loop.call_at(self._due, self._tick)


def _front(queue: dict[Watched, float], now: float) -> list[Watched]:
    """Return the peers at the front of a queue whose deadline has come."""
    due: list[Watched] = []
    for peer, deadline in queue.items():
        if deadline > now:
            break
        due.append(peer)
    return due
