"""The connections of a match's seats: whose commands count, and who is told what happens."""

from __future__ import annotations

from kibitz_server.match.state import NO_SEATS
from kibitz_server.net.peer import Peer


class SeatPeers:
    """Per seat the connection of its player; a newer one takes the place of an older one."""

    __slots__ = ("peers", "subscribers", "unclaimed")

    def __init__(self, seats: int) -> None:
        self.peers: list[Peer | None] = [None] * seats
        """Whose commands count."""
        self.subscribers: list[Peer | None] = [None] * seats
        """Who is told what happens: those of `peers` that have had their snapshot."""
        self.unclaimed: frozenset[int] = NO_SEATS
        """Seats that nobody has come back to since the server was started, or sent everybody away:
        no turn is opened for them."""

    def seat_of(self, peer: Peer) -> int | None:
        """Return the seat whose commands come on this connection."""
        for seat, held in enumerate(self.peers):
            if held is peer:
                return seat
        return None

    def claim(self, seat: int, peer: Peer) -> Peer | None:
        """Give a seat to a connection, and return the one that had it, if that is still open."""
        former = self.peers[seat]
        self.peers[seat] = peer
        self.subscribers[seat] = None
        self.mark_claimed(seat)
        return None if former is None or former.leaving else former

    def unclaim(self) -> None:
        """Nobody is here, or will be in a moment: no turn is opened before somebody comes back."""
        self.unclaimed = frozenset(range(len(self.peers)))

    def mark_claimed(self, seat: int) -> None:
        """Somebody has the seat: its turns are opened."""
        if seat in self.unclaimed:
            self.unclaimed -= {seat}

    def release(self, peer: Peer) -> list[int]:
        """Take their seats from a connection that is gone, and return them."""
        seats = [seat for seat, held in enumerate(self.peers) if held is peer]
        for seat in seats:
            self.peers[seat] = self.subscribers[seat] = None
        return seats
