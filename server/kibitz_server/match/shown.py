"""The part of a match that is on disk. Lists, the hall and other nodes see only this part."""

from __future__ import annotations

from collections.abc import Sequence

from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.records import Player, Result, Setup
from kibitz_protocol.wire.unchecked import construct
from kibitz_protocol.wire.visibility import spectator_viewer
from kibitz_server.match.spectators import Spectators
from kibitz_server.match.state import MatchState
from kibitz_server.storage.streams import Stream


class ShownMatch:
    """The data about a match that may be shown; it changes when a commit makes entries durable."""

    __slots__ = ("_setup", "_spectators", "_stream", "announced_ply", "players", "result")

    def __init__(self, state: MatchState, stream: Stream, spectators: Spectators) -> None:
        self._setup = state.setup
        self._stream = stream
        self._spectators = spectators
        self.announced_ply = state.ply
        """The last announced ply; the match's state may be ahead of the disk."""
        self.players = state.players
        """The players of the seats."""
        self.result = state.result if stream.closed else None
        """The result of the match."""

    @property
    def stored(self) -> bool:
        """Whether the match is on disk at all."""
        return self._stream.durable >= 0

    @property
    def ply(self) -> int:
        """The newest ply that spectators may see."""
        delayed = self._spectators.delayed
        return self.announced_ply if delayed is None else delayed.ply

    def show_players(self, players: tuple[Player, ...]) -> None:
        """Update the players after a substitute has taken a seat."""
        self.players = players

    def seat_of(self, player: str) -> int | None:
        """Return the seat of a player."""
        return seat_in(self.players, player)

    def brief(self) -> MatchBrief:
        """Return the match's line in a list."""
        return match_brief(self._setup, self.players, self.ply, self.result)


def match_brief(
    setup: Setup, players: Sequence[Player], ply: int, result: Result | None
) -> MatchBrief:
    """Return a match's line in a list."""
    values = {
        "match": setup.match,
        "lobby": setup.lobby,
        "number": setup.number,
        "block": setup.block,
        "game": setup.game,
        "seats": list(players),
        "ply": ply,
        "time_control": setup.time_control,
        "watchable": spectator_viewer(setup.spectating) is not None,
        "result": result,
        "tag": setup.tag,
        "void": False,
        "order": None,
    }
    return construct(MatchBrief, values)


def seat_in(players: Sequence[Player], player: str) -> int | None:
    """Return the seat of a player."""
    for seat, owner in enumerate(players):
        if owner.player == player:
            return seat
    return None
