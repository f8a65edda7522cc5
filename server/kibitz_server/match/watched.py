"""Matches that can be watched here: played by this server, or by another node.

`runner.MatchRunner` and `tail.MatchTail` share this base. Both show a match through `Spectators`
and the same gate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from kibitz_protocol.wire.visibility import PUBLIC, Viewer
from kibitz_server.match.seats import SeatPeers
from kibitz_server.match.shown import ShownMatch
from kibitz_server.match.spectators import Spectators
from kibitz_server.match.state import MatchState
from kibitz_server.net.peer import Peer
from kibitz_server.storage.streams import Stream


class WatchedMatch(ABC):
    """A match with its spectators."""

    __slots__ = ("key", "seats", "shown", "spectators", "state", "stream", "watchers")

    def __init__(
        self, state: MatchState, stream: Stream, spectators: Spectators, seats: int = 0
    ) -> None:
        self.key = state.setup.match
        self.state = state
        self.shown = ShownMatch(state, stream, spectators)
        self.stream = stream
        self.seats = SeatPeers(seats)
        """The connections of the seats, none at a match of another node."""
        self.spectators = spectators
        self.watchers: dict[Peer, None] = {}
        """The connections that watch."""

    def viewer_of(self, peer: Peer) -> Viewer | None:
        """Return a connection's viewer: a seat, the spectators' view, or None."""
        seat = self.seats.seat_of(peer)
        if seat is not None:
            return seat
        if peer.send_queue in self.spectators.queues:
            return self.spectators.viewer if self.spectators.viewer is not None else PUBLIC
        return None

    def admit_spectator(self, peer: Peer) -> None:
        """Show the match to a connection from now on."""
        if not peer.leaving:
            self.watchers[peer] = None
            self.spectators.add(peer.send_queue, peer.views)

    @abstractmethod
    def put_on_wall(self, peer: Peer) -> None:
        """Show the match to a connection that begins to watch many: each in its turn."""

    def unwatch(self, peer: Peer) -> None:
        """Stop showing the match to a connection."""
        self.watchers.pop(peer, None)
        self.spectators.remove(peer.send_queue)

    def disconnected(self, peer: Peer) -> None:
        """Handle a closed connection."""
        self.unwatch(peer)
