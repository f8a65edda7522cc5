"""The rating list: how strong the players of a server are, by the rated matches they played. Pure.

It is a fold over the *rated* matches in the order of the store. It uses no dates and no random
numbers, so the same list always gives the same numbers.

A match is rated under these conditions:

* its lobby is rated and keeps the conditions of rated play (`lobby.rated_conditions`);
* every seat has a different player who can be found again: an account, or a house bot with its
  usual parameters;
* neither the server's own trouble nor its operator ended it.

A house bot is its personality, whichever process plays. A bot with other parameters is another
player, of which hosts could make as many as they like, so matches with one are not rated. Neither
are matches with a guest. Leaving a match, or losing it on time or by illegal moves, counts as the
result says.

The model is Plackett-Luce (Weng and Lin, "A Bayesian approximation method for online ranking",
JMLR 12, 2011, as in the package openskill) with its usual values. A player's strength is assumed to
be normal with mean `mu` and deviation `sigma`, 25 and 25/3 before the first match. A match updates
all of its players at once, whatever the number of seats. Each game has a rating list of its own.

The model has no ties. The paper's formula for ties would move two who share the second place of six
less than the player in fourth place. So a match with ties counts as the mean of the matches in
which the tied players finished in one order and the other.

`mu` and `sigma` are shown on the scale of Elo: two players who differ by 400 points win in the
proportion of 10 to 1. For a difference of d, the model gives the stronger of two well-known players
1 / (1 + exp(-d / c)), where c = beta * sqrt(2) and beta = 25/6. So one of its units is
400 / (ln(10) * c), about 29.5 points, and its mean of 25 corresponds to 1500.

Lines are in the order of a conservative estimate, `rating` minus two `deviation`s, so that one
lucky match does not put a player in the lead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from openskill.models import PlackettLuce
from pydantic import Field

from kibitz_protocol.wire.lobbies import LadderLine
from kibitz_protocol.wire.records import UNDECIDED, PlayerKind, Result
from kibitz_protocol.wire.values import GameName, Key, Strict

MODEL = PlackettLuce()
INITIAL_RATING = 1500.0
"""The rating of a player before the first match."""
ELO_PER_UNIT = 400 / (math.log(10) * MODEL.beta * math.sqrt(2))
"""Points of Elo in one unit of the model."""
PLACEMENT_DEVIATIONS = 2.0
"""The number of deviations that are subtracted from the rating to place a player."""


SkillEstimate: TypeAlias = tuple[float, float]
"""A player's mean and deviation, in units of the model."""


class RatedPlayer(Strict):
    """A seat's player on the rating list: an account's key, or a house bot's personality."""

    key: str
    name: str
    kind: PlayerKind


class RatedMatch(Strict):
    """A rated match that is over: its players and their ranks by seat; rank 1 is best."""

    match: Key
    game: GameName
    entrants: list[RatedPlayer] = Field(min_length=2)
    ranks: list[int]
    ended: int = Field(description="seconds of the epoch")


@dataclass(slots=True)
class PlayerRating:
    """The estimate of one player's strength at one game."""

    entrant: RatedPlayer
    mu: float = MODEL.mu
    sigma: float = MODEL.sigma
    matches: int = 0
    last: int = 0
    """When the last match ended, in seconds of the epoch."""

    @property
    def rating(self) -> float:
        return INITIAL_RATING + ELO_PER_UNIT * (self.mu - MODEL.mu)

    @property
    def deviation(self) -> float:
        """One standard deviation, in points."""
        return ELO_PER_UNIT * self.sigma


class RatingList:
    """The ranks of all players, by game; `add` every rated match once, in order."""

    def __init__(self) -> None:
        self._ratings: dict[str, dict[str, PlayerRating]] = {}
        self._matches: dict[str, int] = {}

    def add(self, counted: RatedMatch) -> None:
        """Update a match's players, unless an earlier server rated a match that is not ratable."""
        if any(has_parameters(player) for player in counted.entrants):
            return
        ranks = self._ratings.setdefault(counted.game, {})
        played = [ranks.setdefault(player.key, PlayerRating(player)) for player in counted.entrants]
        beliefs = _updated([(rank.mu, rank.sigma) for rank in played], counted.ranks)
        for rank, entrant, belief in zip(played, counted.entrants, beliefs, strict=True):
            rank.entrant = entrant
            rank.mu, rank.sigma = belief
            rank.matches += 1
            rank.last = max(rank.last, counted.ended)
        self._matches[counted.game] = self.matches(counted.game) + 1

    def games(self) -> list[str]:
        """Return the games with rated matches, by name."""
        return sorted(self._ratings)

    def matches(self, game: str) -> int:
        return self._matches.get(game, 0)

    def lines(self, game: str) -> list[LadderLine]:
        """Return a line for each player of a game, best first."""
        ranks = list(self._ratings.get(game, {}).values())
        ranks.sort(
            key=lambda rank: (
                -(rank.rating - PLACEMENT_DEVIATIONS * rank.deviation),
                rank.entrant.key,
            )
        )
        return [_line(place, rank) for place, rank in enumerate(ranks, start=1)]


def has_parameters(entrant: RatedPlayer) -> bool:
    """Return whether a house bot has parameters, which make it a different player."""
    return entrant.kind == "house" and ":" in entrant.key


def rated_players(entrants: Sequence[RatedPlayer | None]) -> list[RatedPlayer] | None:
    """Return the players of a match on the rating list; None if it cannot be rated."""
    known = [player for player in entrants if player is not None]
    different = len({player.key for player in known}) == len(entrants)
    return known if different and len(known) > 1 else None


def is_ratable(result: Result) -> bool:
    """Return whether a result reflects the players' strength."""
    causes = {result.cause, *(seat.cause for seat in result.seats)}
    return causes.isdisjoint(UNDECIDED)


def _updated(beliefs: Sequence[SkillEstimate], ranks: Sequence[int]) -> list[SkillEstimate]:
    """Return the estimates after a match: the mean over the orders that its ties stand for."""
    ways = [_updated_without_ties(beliefs, order) for order in _tie_orders(ranks)]
    if len(ways) == 1:
        return ways[0]
    return [
        (fmean(mu for mu, _ in seat), math.sqrt(fmean(sigma * sigma for _, sigma in seat)))
        for seat in zip(*ways, strict=True)
    ]


def _updated_without_ties(
    beliefs: Sequence[SkillEstimate], order: Sequence[int]
) -> list[SkillEstimate]:
    teams = [[MODEL.rating(mu=mu, sigma=sigma)] for mu, sigma in beliefs]
    moved = MODEL.rate(teams, ranks=[float(place) for place in order])
    return [(new.mu, new.sigma) for (new,) in moved]


def _tie_orders(ranks: Sequence[int]) -> Iterator[list[int]]:
    """Yield places without ties, in which tied players take each of their places equally often.

    Tied players take turns: ranks 1, 2, 2 are the places 1, 2, 3 and 1, 3, 2.
    """
    groups = [
        [seat for seat, own in enumerate(ranks) if own == rank] for rank in sorted(set(ranks))
    ]
    for turn in range(math.lcm(*map(len, groups))):
        order = [0] * len(ranks)
        for group in groups:
            for step, seat in enumerate(group):
                order[seat] = ranks[seat] + (step + turn) % len(group)
        yield order


def _line(place: int, rank: PlayerRating) -> LadderLine:
    return LadderLine(
        place=place,
        key=rank.entrant.key,
        name=rank.entrant.name,
        kind=rank.entrant.kind,
        rating=round(rank.rating, 1),
        deviation=round(rank.deviation, 1),
        matches=rank.matches,
        last_played=rank.last,
    )
