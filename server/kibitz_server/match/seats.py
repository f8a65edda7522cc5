"""The connections of a match's seats, for commands and for events."""

from __future__ import annotations

from kibitz_server.match.state import NO_SEATS
from kibitz_server.net.peer import Peer


class SeatPeers:
    """The connection of each seat's player; newer connections replace older ones."""

    __slots__ = ("peers", "subscribers", "unclaimed")

    def __init__(self, seats: int) -> None:
        self.peers: list[Peer | None] = [None] * seats
        """The connections that may send commands."""
        self.subscribers: list[Peer | None] = [None] * seats
        """The connections that receive events: those in `peers` that already got their snapshot."""
        self.unclaimed: frozenset[int] = NO_SEATS
        """Seats of players who have not reconnected since the server started or disconnected
        everybody. Their turns are not opened."""

    def seat_of(self, peer: Peer) -> int | None:
        """Return the seat that sends its commands on this connection."""
        for seat, held in enumerate(self.peers):
            if held is peer:
                return seat
        return None

    def claim(self, seat: int, peer: Peer) -> None:
        """Give a seat to a connection, which gets its snapshot later."""
        self.peers[seat] = peer
        self.subscribers[seat] = None
        self.mark_claimed(seat)

    def unclaim(self) -> None:
        """Mark all seats as unclaimed, so that no turn is opened before its player reconnects."""
        self.unclaimed = frozenset(range(len(self.peers)))

    def await_absent(self) -> None:
        """Mark only the seats without a connection as unclaimed."""
        self.unclaimed = frozenset(seat for seat, peer in enumerate(self.peers) if peer is None)

    def mark_claimed(self, seat: int) -> None:
        """Mark a seat as claimed, so that its turns are opened."""
        if seat in self.unclaimed:
            self.unclaimed -= {seat}

    def release(self, peer: Peer) -> list[int]:
        """Remove a closed connection from its seats, and return the seats."""
        seats = [seat for seat, held in enumerate(self.peers) if held is peer]
        for seat in seats:
            self.peers[seat] = self.subscribers[seat] = None
        return seats
