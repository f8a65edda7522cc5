"""News of a lobby to its host, its members and its spectators.

Each of them is told the whole lobby once, when it comes or comes back. From then on everybody is
told the same: what has changed (`changes`), at most every `NEWS_INTERVAL_S`, the first at once and
later ones together, and each match that begins or ends. Changes wait until nothing of the lobby
waits for the disk, so nobody is told what a crash could take back. A connection that reads too
slowly misses changes, and is told the whole lobby when it reads again.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from kibitz_protocol.wire.messages import LobbyChanged, LobbyNews, ServerMessage
from kibitz_server.lobby.changes import ToldLobby
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.views import lobby_view
from kibitz_server.net.peer import Peer
from kibitz_server.net.send_queue import SendQueue, message_frame
from kibitz_server.storage.pending import PendingQueue

NEWS_INTERVAL_S = 0.1


class NewsContext(Protocol):
    """What the news of a lobby need around them."""

    loop: AbstractEventLoop

    def peer_of(self, player: str) -> Peer | None:
        """Return a player's newest connection."""

    def plies(self, matches: Sequence[str]) -> Mapping[str, int]:
        """Return the plies of running matches, as spectators may know them."""


class NewsFeed:
    """Sends one lobby's news."""

    __slots__ = (
        "_context",
        "_engine",
        "_last_sent_at",
        "_pending",
        "_stopped",
        "_timer",
        "_told",
        "spectators",
    )

    def __init__(
        self, context: NewsContext, engine: LobbyEngine, pending: PendingQueue[Any]
    ) -> None:
        self.spectators: dict[Peer, None] = {}
        self._context = context
        self._engine = engine
        self._pending = pending
        self._told = ToldLobby()
        self._take_changes()  # nobody follows yet: whoever comes is told how it is then
        self._timer: TimerHandle | None = None
        self._last_sent_at = 0.0
        self._stopped = False

    def schedule(self) -> None:
        """Tell everybody soon what has changed."""
        if self._timer is None and not self._stopped:
            loop = self._context.loop
            wait = max(0.0, self._last_sent_at + NEWS_INTERVAL_S - loop.time())
            self._timer = loop.call_later(wait, self._on_timer)

    def send_whole(self, peer: Peer, viewer: str | None) -> None:
        """Send one connection the lobby as it is; None is a spectator."""
        self._pending.when_settled(lambda: self._send_whole(peer.send_queue, viewer))

    def send_whole_to_all(self) -> None:
        """Send everybody who follows the lobby all of it: it was loaded again."""
        for peer, viewer in self._followers():
            self.send_whole(peer, viewer)

    def send_snapshot(self, queue: SendQueue) -> None:
        """Send the whole lobby to a connection that missed changes (`SnapshotSource`)."""
        for peer, viewer in self._followers():
            if peer.send_queue is queue:
                self.send_whole(peer, viewer)
                return
        queue.caught_up(self)

    def broadcast(self, message: ServerMessage) -> None:
        """Tell everybody once, also a host or member who watches on the same connection."""
        frame = message_frame(message)
        for queue in self._queues():
            queue.send(frame)

    def send_changes(self) -> None:
        """Tell everybody now what has changed, if all of it is on the disk; also after `stop`."""
        if not self._pending.durable_to_tail:
            return
        self._last_sent_at = self._context.loop.time()
        changed = self._take_changes()
        if changed is not None:
            frame = message_frame(changed)
            for queue in self._queues():
                queue.send_droppable(frame, self)

    def stop(self) -> None:
        """Schedule no more news: the server goes down, or the lobby is closed."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_timer(self) -> None:
        self._timer = None
        self._pending.when_settled(self._send_scheduled)

    def _send_scheduled(self) -> None:
        if not self._stopped:
            self.send_changes()

    def _take_changes(self) -> LobbyChanged | None:
        connected = self._engine.presence.connected
        return self._told.take_changes(self._engine.state, connected, len(self.spectators))

    def _followers(self) -> Iterator[tuple[Peer, str | None]]:
        """Yield who is told news, and as whom; a player who watches too comes twice."""
        for player in self._engine.state.insiders():
            peer = self._context.peer_of(player)
            if peer is not None:
                yield peer, player
        for peer in self.spectators:
            yield peer, None

    def _queues(self) -> Iterable[SendQueue]:
        insiders = map(self._context.peer_of, self._engine.state.insiders())
        peers = [peer for peer in (*insiders, *self.spectators) if peer is not None]
        return dict.fromkeys([peer.send_queue for peer in peers])

    def _send_whole(self, queue: SendQueue, viewer: str | None) -> None:
        state = self._engine.state
        view = lobby_view(
            state,
            viewer,
            connected=self._engine.presence.connected,
            spectators=len(self.spectators),
            plies=self._context.plies(list(state.running)),
        )
        queue.caught_up(self)
        queue.send_droppable(message_frame(LobbyNews(lobby=view)), self)
