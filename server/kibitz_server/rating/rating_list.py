"""The rating list: estimates players' strengths from their rated matches.

Pure.

It is computed from the *rated* matches, in the order in which they were stored. It uses no dates
and no random numbers, so the same matches always give the same ratings. A match is rated under
these conditions:

* its lobby is rated and meets the conditions of rated play (`lobby.rated_conditions`);
* every seat has a different player with a permanent identity: an account, or a house bot with its
  default parameters;
* neither a server problem nor the operator ended it.

A house bot's identity is its personality, so all its processes share one rating. A bot with other
parameters would be a different player, and hosts could create any number of those, so matches with
such bots are not rated. Neither are matches with guests. Leaving a match, or losing it on time or
by illegal moves, counts like any other result.

The model is Plackett-Luce (Weng and Lin, "A Bayesian approximation method for online ranking", JMLR
12, 2011, as in the package openskill) with its usual values. A player's strength is modeled as a
normal distribution with mean `mu` and deviation `sigma`, which are 25 and 25/3 before the first
match. A match updates all its players at once, whatever the number of seats. Each game has its own
rating list.

The model has no ties. The paper has a formula for ties, but with it, two of six players who share
second place would gain or lose less than the player in fourth place. So a match with ties counts as
the mean of matches in which the tied players finished in different orders.

`mu` and `sigma` are shown on the Elo scale: a player with 400 points more than another wins with
odds of 10 to 1. For a difference of d, the model gives the stronger of two players with many
matches a probability of 1 / (1 + exp(-d / c)), where c = beta * sqrt(2) and beta = 25/6. So one of
its units is 400 / (ln(10) * c), about 29.5 points, and its mean of 25 corresponds to 1500.

Lines are ordered by a conservative estimate, `rating` minus two `deviation`s, so that one lucky
match does not put a player in the lead.
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
"""Elo points per unit of the model."""
PLACEMENT_DEVIATIONS = 2.0
"""The number of deviations to subtract from the rating when ordering players."""


SkillEstimate: TypeAlias = tuple[float, float]
"""A player's mean and deviation, in units of the model."""


class RatedPlayer(Strict):
    """A seat's player on the rating list: an account's key or a house bot's personality."""

    key: str
    name: str
    kind: PlayerKind


class RatedMatch(Strict):
    """A finished rated match: its players and their ranks by seat; rank 1 is best."""

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
    """When the last match ended, in seconds since the epoch."""

    @property
    def rating(self) -> float:
        return INITIAL_RATING + ELO_PER_UNIT * (self.mu - MODEL.mu)

    @property
    def deviation(self) -> float:
        """One standard deviation, in points."""
        return ELO_PER_UNIT * self.sigma


class RatingList:
    """The ratings of all players, by game; `add` every rated match once, in order."""

    def __init__(self) -> None:
        self._ratings: dict[str, dict[str, PlayerRating]] = {}
        self._matches: dict[str, int] = {}

    def add(self, counted: RatedMatch) -> None:
        """Update a match's players, unless this release no longer rates such a match."""
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
        """Return the names of games with rated matches, in alphabetical order."""
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
    """Return the rating-list entries of a match's players; None if the match cannot be rated."""
    known = [player for player in entrants if player is not None]
    different = len({player.key for player in known}) == len(entrants)
    return known if different and len(known) > 1 else None


def is_ratable(result: Result) -> bool:
    """Return whether a result reflects the players' strength."""
    causes = {result.cause, *(seat.cause for seat in result.seats)}
    return causes.isdisjoint(UNDECIDED)


def _updated(beliefs: Sequence[SkillEstimate], ranks: Sequence[int]) -> list[SkillEstimate]:
    """Return the estimates after a match, averaged over the possible orders of tied players."""
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
    """Yield orders without ties, in which tied players get each of their places equally often.

    For example, ranks 1, 2, 2 become the places 1, 2, 3 and 1, 3, 2.
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
