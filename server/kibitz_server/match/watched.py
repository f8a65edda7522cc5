"""Matches that can be watched on this server, including those that other nodes play.

`runner.MatchRunner` and `tail.MatchTail` share this base. Both show a match through `Spectators`
and the same information gate.
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

    def __init__(
        self, state: MatchState, stream: Stream, spectators: Spectators, seats: int = 0
    ) -> None:
        self.key = state.setup.match
        self.state = state
        self.shown = ShownMatch(state, stream, spectators)
        self.stream = stream
        self.seats = SeatPeers(seats)
        """The connections of the seats; empty for a match of another node."""
        self.spectators = spectators
        self.watchers: dict[Peer, None] = {}
        """The connections that watch the match."""

    def viewer_of(self, peer: Peer) -> Viewer | None:
        """Return the viewer for a connection: a seat, the spectators' viewer, or None."""
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
        """Add the match to a connection that watches many, and gets their snapshots one by one."""

    def unwatch(self, peer: Peer) -> None:
        """Stop showing the match to a connection."""
        self.watchers.pop(peer, None)
        self.spectators.remove(peer.send_queue)

    def disconnected(self, peer: Peer) -> None:
        """Handle a closed connection."""
        self.unwatch(peer)
