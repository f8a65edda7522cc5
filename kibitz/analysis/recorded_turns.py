"""The turns of a recorded match, each with the state of the match before the move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import Moved
from kibitz_server.match.report import NoSuchTurnError
from kibitz_server.match.state import MatchState


@dataclass(frozen=True)
class RecordedTurn:
    """A turn that ended with a move."""

    before: MatchState
    """The match at the turn, a copy that the caller may modify."""
    played: Moved

    @property
    def seat(self) -> int:
        """The seat that moved, from 0."""
        return self.played.seat

    @property
    def ply(self) -> int:
        """The number of moves before this one."""
        return self.played.ply


def game_of(record: Record, games: Mapping[str, Game]) -> Game:
    """Return the game of a record. Raises `ValueError` if it is not in `games`."""
    game = games.get(record.setup.game)
    if game is None:
        raise ValueError(f"expected a record of {', '.join(games)}, not of {record.setup.game!r}")
    return game


def recorded_turns(game: Game, record: Record) -> Iterator[RecordedTurn]:
    """Yield the turns of a record in order.

    Raises `BrokenLog`, a `ValueError`, for entries that violate the rules of the game.
    """
    match = MatchState(game, record.setup)
    for entry in record.entries:
        if isinstance(entry, Moved):
            yield RecordedTurn(match.copy(), entry)
        match.apply(entry)


def turn_at(game: Game, record: Record, ply: int) -> RecordedTurn:
    """Return the turn after `ply` plies. Raises `NoSuchTurnError` and `BrokenLog`."""
    last = -1
    for turn in recorded_turns(game, record):
        if turn.ply == ply:
            return turn
        last = turn.ply
    raise NoSuchTurnError(f"expected a ply from 0 to {last}, not {ply}")
