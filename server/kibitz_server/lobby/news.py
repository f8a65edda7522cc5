"""Sends a lobby and its changes to its host, its members and its spectators.

A connection follows the lobby if it has opened, joined or watched the lobby. A connection of the
host or a member follows it from its `hello`, so all open pages of a player show the current lobby.

A new follower receives the whole lobby, as the other followers know it; a new member finds itself
in it. From then on, all followers receive the same messages: one for each match that begins or
ends, and patches. The first patch is sent at once; later changes are combined into one patch per
`NEWS_INTERVAL_S`. A connection that reads too slowly misses patches, and receives the whole lobby
when it reads again. News contains only what is on disk, so a crash cannot undo it.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from kibitz_protocol.wire.merge_patch import difference
from kibitz_protocol.wire.messages import LobbyChanged, LobbyClosed, LobbyNews, ServerMessage
from kibitz_server.lobby.presence import Presence
from kibitz_server.lobby.state import LobbyState
from kibitz_server.lobby.views import changing_part, lobby_view
from kibitz_server.net.peer import Peer
from kibitz_server.net.send_queue import SendQueue, message_frame
from kibitz_server.storage.pending import PendingQueue

NEWS_INTERVAL_S = 0.1


class NewsFeed:
    """Sends one lobby's news."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        plies: Callable[[Sequence[str]], Mapping[str, int]],
        shown: LobbyState,
        presence: Presence,
        pending: PendingQueue,
    ) -> None:
        """`plies` returns the plies of running matches, as spectators may see them; `shown` is the
        lobby after its last durable entry."""
        self.insiders: dict[Peer, str] = {}
        """The connections of the host and the members, with the keys of their players."""
        self.spectators: dict[Peer, None] = {}
        self._loop = loop
        self._plies = plies
        self._shown = shown
        self._presence = presence
        self._pending = pending
        self._told = self._present()
        """The part of the last news that all viewers share; patches are relative to it."""
        self._timer: TimerHandle | None = None
        self._last_sent_at = 0.0
        self._stopped = False

    def schedule(self) -> None:
        """Schedule a patch with the latest changes."""
        if self._timer is None and not self._stopped:
            self._timer = self._loop.call_later(max(0.0, self._wait_s()), self._on_timer)

    # --- followers ----------------------------------------------------------------------------

    def follow(self, peer: Peer, player: str) -> None:
        """Send the lobby and all later changes to a connection of the host or a member."""
        if not peer.leaving:
            peer.subscriptions[self._shown.id] = self
            self.insiders[peer] = player
            self._send_whole(peer)

    def watch(self, peer: Peer) -> None:
        """Send the lobby and all later changes to a spectator, who must be allowed to watch.

        A host or member that watches too sees what its role allows, such as the invite code.
        """
        if not peer.leaving:
            peer.subscriptions[self._shown.id] = self
            self.spectators[peer] = None
            self.schedule()
            self._send_whole(peer)

    def unfollow(self, peer: Peer) -> None:
        """Stop the news that a connection receives as the host or a member."""
        self.insiders.pop(peer, None)
        if peer not in self.spectators:
            peer.subscriptions.pop(self._shown.id, None)

    def unwatch(self, peer: Peer) -> bool:
        """Stop the news to a spectator; return whether it was one."""
        if peer not in self.spectators:
            return False
        del self.spectators[peer]
        if peer not in self.insiders:
            peer.subscriptions.pop(self._shown.id, None)
        self.schedule()
        return True

    def disconnected(self, peer: Peer) -> None:
        """Handle a closed connection (`net.peer.Subscription`)."""
        self.insiders.pop(peer, None)
        self.unwatch(peer)

    def drop(self, player: str, notice: LobbyClosed) -> None:
        """Notify a player who left or was removed, and stop its news."""
        for peer in [peer for peer, follower in self.insiders.items() if follower == player]:
            self.unfollow(peer)
            peer.send(notice)

    def take_over(self, former: NewsFeed) -> None:
        """Take over the followers of the feed that this one replaces, after a reload."""
        state = self._shown
        if state.closed is not None:  # an entry that seemed lost is on disk, and closed the lobby
            former.broadcast(LobbyClosed(lobby=state.id, reason=state.closed))
            return
        for peer, player in former.insiders.items():
            if state.is_insider(player):
                self.follow(peer, player)
        for peer in former.spectators:
            self.watch(peer)

    def followers(self) -> dict[Peer, None]:
        """Return the connections that receive news, without duplicates."""
        return {**dict.fromkeys(self.insiders), **self.spectators}

    # --- news ---------------------------------------------------------------------------------

    def send_snapshot(self, queue: SendQueue) -> None:
        """Send the whole lobby to a connection that missed changes (`SnapshotSource`)."""
        for peer in self.followers():
            if peer.send_queue is queue:
                self._send_whole(peer)
                return
        queue.caught_up(self)

    def broadcast(self, message: ServerMessage) -> None:
        """Send a message to each follower once, even if it is both a member and a spectator."""
        frame = message_frame(message)
        for peer in self.followers():
            peer.send_queue.send(frame)

    def send_changes(self, apart_from: Peer | None = None) -> None:
        """Send the changes now to everybody but `apart_from`; also works after `stop`."""
        self._last_sent_at = self._loop.time()
        former, self._told = self._told, self._present()
        if patch := difference(former, self._told):
            frame = message_frame(LobbyChanged(lobby=self._shown.id, patch=patch))
            for peer in self.followers():
                if peer is not apart_from:
                    peer.send_queue.send_droppable(frame, self)

    def stop(self) -> None:
        """Schedule no more news: the server is shutting down, or the lobby is closed."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_timer(self) -> None:
        self._timer = None
        self.send_changes()

    def _present(self) -> dict[str, Any]:
        return changing_part(self._shown, self._presence.connected, len(self.spectators))

    def _send_whole(self, peer: Peer) -> None:
        """Send one connection the lobby, after all pending announcements."""
        self._pending.hold(0, partial(self._send_view, peer))

    def _send_view(self, peer: Peer) -> None:
        state, queue = self._shown, peer.send_queue
        queue.caught_up(self)
        if state.closed or peer not in self.followers():
            return  # a view sent after `lobby_closed` would reopen the lobby at the client
        viewer = self.insiders.get(peer)
        joined = viewer in state.seats.members and viewer not in self._told["members"]
        if self._timer is not None and (joined or self._wait_s() <= 0):
            self.send_changes(apart_from=peer)
        queue.send_droppable(self._whole(viewer), self)

    def _whole(self, viewer: str | None) -> bytes:
        """Return a frame with the whole lobby as of the last news; None is a spectator.

        The next patch applies to it.
        """
        state = self._shown
        plies = self._plies(list(state.round.running))
        view = lobby_view(state, viewer, self._told, plies=plies)
        return message_frame(LobbyNews(lobby=view))

    def _wait_s(self) -> float:
        """Return the seconds until the next news may be sent; 0 or less for now."""
        return self._last_sent_at + NEWS_INTERVAL_S - self._loop.time()
