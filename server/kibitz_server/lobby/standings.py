"""Standings: what the results of matches are worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kibitz_protocol.wire.lobbies import Standing, standing_order
from kibitz_protocol.wire.records import Cause, Player, Result


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
    """The results of a round, by player; `add` every counted match once."""

    tallies: dict[str, Tally] = field(default_factory=dict)

    def add(self, players: Sequence[Player], result: Result) -> None:
        """Count one match; `players` are by seat, as `result.seats` are."""
        ranks = [seat.rank for seat in result.seats]
        for player, seat in zip(players, result.seats, strict=True):
            tally = self.tallies.setdefault(player.player, Tally())
            tally.played += 1
            tally.points += score_share(ranks, seat.rank)
            _count_outcome(tally, ranks, seat.rank)
            if seat.cause is not None:
                tally.causes[seat.cause] += 1

    def lines(self, players: Iterable[Player]) -> list[Standing]:
        """Return a line for each of `players`, best first."""
        return sorted(map(self._line, players), key=standing_order)

    def played(self, player: str) -> int:
        """Return how many matches a player's line counts: it changes with each, and only then."""
        tally = self.tallies.get(player)
        return 0 if tally is None else tally.played

    def _line(self, player: Player) -> Standing:
        tally = self.tallies.get(player.player, Tally())
        return Standing(
            player=player.player,
            name=player.name,
            played=tally.played,
            wins=tally.wins,
            draws=tally.draws,
            losses=tally.losses,
            points=round(tally.points, 6),
            causes=dict(tally.causes),
        )


def score_share(ranks: Sequence[int], rank: int) -> float:
    """Return the share of the others that a seat of `rank` has beaten, ties counting half.

    A match of two gives 1, 0.5 or 0; a match of n without ties 1, (n-2)/(n-1), .., 0. A seat
    that plays alone has nobody to beat and gets 1.
    """
    if len(ranks) == 1:
        return 1.0
    beaten = sum(1 for other in ranks if other > rank)
    tied = ranks.count(rank) - 1
    return (beaten + 0.5 * tied) / (len(ranks) - 1)


def _count_outcome(tally: Tally, ranks: Sequence[int], rank: int) -> None:
    """A win is the best rank alone, a draw the best rank shared, all else a loss."""
    if rank != min(ranks):
        tally.losses += 1
    elif ranks.count(rank) > 1:
        tally.draws += 1
    else:
        tally.wins += 1
