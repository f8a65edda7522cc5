"""News of a lobby to its host, its members and its spectators.

News of a lobby are the whole lobby as the reader may see it, so they are sent at most every
`NEWS_INTERVAL_S`: the first at once, later ones together. They wait until nothing of the lobby
waits for the disk, so nobody is told what a crash could take back.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from kibitz_protocol.wire.messages import LobbyNews, ServerMessage
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.views import lobby_view
from kibitz_server.net.peer import Peer
from kibitz_server.net.send_queue import message_frame

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

    def __init__(
        self,
        context: NewsContext,
        engine: LobbyEngine,
        when_settled: Callable[[Callable[[], None]], None],
    ) -> None:
        """`when_settled` calls its argument once nothing of the lobby waits for the disk."""
        self.spectators: dict[Peer, None] = {}
        self._context = context
        self._engine = engine
        self._when_settled = when_settled
        self._timer: TimerHandle | None = None
        self._last_sent_at = 0.0
        self._stopped = False

    def schedule(self) -> None:
        """Send news to everybody soon."""
        if self._timer is None and not self._stopped:
            loop = self._context.loop
            wait = max(0.0, self._last_sent_at + NEWS_INTERVAL_S - loop.time())
            self._timer = loop.call_later(wait, self._send)

    def send_to(self, peer: Peer, viewer: str | None) -> None:
        """Send one connection the lobby as it is, also after `stop`; None is a spectator."""
        self._when_settled(lambda: self._post(peer, self._frame_for(viewer)))

    def broadcast(self, message: ServerMessage) -> None:
        """Tell everybody once, also a host or member who watches on the same connection."""
        frame = message_frame(message)
        peers = map(self._context.peer_of, self._engine.state.insiders())
        for peer in dict.fromkeys([*peers, *self.spectators]):
            if peer is not None:
                peer.send_queue.send(frame)

    def stop(self) -> None:
        """Schedule no more news: the server goes down, or the lobby is closed."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send(self) -> None:
        self._timer = None
        self._when_settled(self._send_to_all)

    def _send_to_all(self) -> None:
        if self._stopped:
            return
        self._last_sent_at = self._context.loop.time()
        host = self._engine.state.host.player
        shared: bytes | None = None
        for player in self._engine.state.insiders():
            peer = self._context.peer_of(player)
            if peer is None:
                continue
            if player == host:
                frame = self._frame_for(host)
            else:  # all members see the same
                frame = shared = shared or self._frame_for(player)
            self._post(peer, frame)
        if self.spectators:
            frame = self._frame_for(None)
            for peer in self.spectators:
                self._post(peer, frame)

    def _frame_for(self, viewer: str | None) -> bytes:
        """Return news as a viewer sees it: the host, any member, anybody else (None)."""
        state = self._engine.state
        view = lobby_view(
            state,
            viewer,
            connected=self._engine.presence.connected,
            spectators=len(self.spectators),
            plies=self._context.plies(list(state.running)),
        )
        return message_frame(LobbyNews(lobby=view))

    def _post(self, peer: Peer, frame: bytes) -> None:
        peer.send_queue.send_replacing(frame, self._engine.state.id)
