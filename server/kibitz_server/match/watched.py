"""What can be watched here: a match that this server plays, or one that another node plays.

`runner.MatchRunner` and `tail.MatchTail` are alike in this. Both show a match by `Spectators`,
through the same gate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kibitz_protocol.wire.records import Result
from kibitz_protocol.wire.visibility import PUBLIC, Viewer
from kibitz_server.match.spectators import Spectators
from kibitz_server.match.state import MatchState
from kibitz_server.net.peer import Peer
from kibitz_server.storage.streams import Stream


class WatchedMatch(Protocol):
    """A match with its spectators."""

    spectators: Spectators
    stream: Stream

    @property
    def key(self) -> str: ...

    @property
    def state(self) -> MatchState: ...

    @property
    def watchers(self) -> Mapping[Peer, None]:
        """The connections that watch."""

    def seat_of(self, peer: Peer) -> int | None:
        """Return the seat whose commands come on this connection."""

    @property
    def result(self) -> Result | None:
        """How the match ended, once that is on the disk."""

    def seat_known_of(self, player: str) -> int | None:
        """Return the seat of a player as the disk has it."""

    def put_on_wall(self, peer: Peer) -> None:
        """Show the match to a connection that begins to watch many: each in its turn."""

    def unwatch(self, peer: Peer) -> None:
        """Show a connection nothing any more."""

    def disconnected(self, peer: Peer) -> None:
        """A connection is gone (`net.peer.Subscription`)."""


def viewer_of(match: WatchedMatch, peer: Peer) -> Viewer | None:
    """Return as whom a connection sees a match: a seat, what spectators see, or not at all."""
    seat = match.seat_of(peer)
    if seat is not None:
        return seat
    if peer.send_queue in match.spectators.queues:
        return match.spectators.viewer if match.spectators.viewer is not None else PUBLIC
    return None
