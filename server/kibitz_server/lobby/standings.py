"""Standings: the results and points of the players of a round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kibitz_protocol.wire.lobbies import Standing, standing_order
from kibitz_protocol.wire.records import Cause, Player, Result
from kibitz_protocol.wire.shares import beaten_share, seat_outcome
from kibitz_protocol.wire.unchecked import construct


@dataclass
class Tally:
    """The results of one player."""

    played: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0
    causes: Counter[Cause] = field(default_factory=Counter)


@dataclass
class StandingsTable:
    """The results of a round by player; call `add` once for each match that counts."""

    tallies: dict[str, Tally] = field(default_factory=dict)

    def add(self, players: Sequence[Player], result: Result) -> None:
        """Count one match; `players` are by seat, as `result.seats` are."""
        ranks = [seat.rank for seat in result.seats]
        for seat, (player, end) in enumerate(zip(players, result.seats, strict=True)):
            tally = self.tallies.get(player.player)
            if tally is None:
                tally = self.tallies[player.player] = Tally()
            outcome = seat_outcome(ranks, seat)
            tally.played += 1
            tally.wins += outcome == "win"
            tally.draws += outcome == "draw"
            tally.losses += outcome == "loss"
            # In a match for one player, that player gets the full point.
            tally.points += beaten_share(ranks, seat, alone=1.0)
            if end.cause is not None:
                tally.causes[end.cause] += 1

    def lines(self, players: Iterable[Player]) -> list[Standing]:
        """Return a line for each of `players`, best first."""
        return sorted(map(self._line, players), key=standing_order)

    def _line(self, player: Player) -> Standing:
        tally = self.tallies.get(player.player, Tally())
        values = {
            "player": player.player,
            "name": player.name,
            "played": tally.played,
            "wins": tally.wins,
            "draws": tally.draws,
            "losses": tally.losses,
            "points": round(tally.points, 6),
            "causes": dict(tally.causes),
        }
        return construct(Standing, values)
