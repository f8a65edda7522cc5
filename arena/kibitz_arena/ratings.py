"""Ratings: the strength of entrants in Elo units, with intervals.

The model --------- A game is a Plackett-Luce ranking: among the players who have not finished yet,
each finishes next with a probability proportional to ``10 ** (strength / 400)`` (R. L. Plackett,
Applied Statistics 24, 1975; D. R. Hunter, "MM algorithms for generalized Bradley-Terry models",
Annals of Statistics 32, 2004). For two players it is the Bradley-Terry model, that is, Elo's: A
finishes ahead of B with probability ``1 / (1 + 10 ** (-(a - b) / 400))``, with any number of seats.
Each seat also has an effect (such as the advantage of the first move), which is fitted as well.

A tie counts as the mean over all orders of the tied players: for two players, half a win each,
which is how Elo lists and fishtest's logistic Elo count a draw. So a rating describes the *expected
score*; the frequency of draws affects the uncertainty of a rating but not its value.

The estimate is the posterior mode with a weak prior. Each strength has a normal prior around the
mean with a standard deviation of `STRENGTH_DEVIATION` Elo, and each seat effect around 0 with
`SEAT_DEVIATION`. So perfect scores, and entrants that never met, get finite ratings. Ten wins out
of ten yield a difference of about 850 Elo.

The intervals
-------------
The games of a block share a seed and an opening with rotated seats, so they are not independent:
usually luck evens out within a block. The covariance of the likelihood treats them as independent
and every draw as a coin flip. One *dispersion* corrects both: the variance of the blocks' scores
around their expectation, divided by the variance of the model, pooled over all blocks
(quasi-likelihood: P. McCullagh and J. A. Nelder, Generalized Linear Models, 1989, 4.5 and 9.2; for
pairs of games it matches pentanomial statistics). It is pooled because an entrant of a gauntlet
plays few blocks, and an entrant that wins all of its blocks has no variance to estimate; a sandwich
estimate from single blocks is too narrow in these cases. The bounds use Student's t distribution
with the blocks' degrees of freedom.

In sets of 1,000 simulated tournaments (`tests/arena/test_ratings.py`), the intervals contain the
true strengths in 94.7 to 96% of cases: round robins, gauntlets, long matches, four and six seats,
with draws, unequal seats and luck shared within blocks. With a prior deviation of 300 or 10,000 Elo
the coverage changes by less than one percentage point. With only a few blocks the intervals are too
wide rather than too narrow (99.8% for three players and six blocks).

The scale
---------
Games determine only differences. Without anchors the mean of all entrants is 0, as in other
tournament programs, or the value set by the tournament. Anchors have fixed ratings, and the
intervals describe the remaining uncertainty.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

ELO_PER_LOGIT: Final = 400 / math.log(10)
"""Elo per unit of the logistic scale."""
STRENGTH_DEVIATION: Final = 1000.0
"""The standard deviation of the strengths' prior, in Elo."""
SEAT_DEVIATION: Final = 100.0
"""The standard deviation of the seat effects' prior, in Elo."""
PRIOR_FREEDOM: Final = 2.0
"""The weight of the prior dispersion of 1, in degrees of freedom."""
CONFIDENCE: Final = 0.95
NEWTON_STEPS: Final = 100
TOLERANCE: Final = 1e-6
"""The step length on the logistic scale below which the iteration has converged."""

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class RatedGame:
    """One game: the players' numbers and places, by seat; 1 is best, ties share a place."""

    block: str
    players: tuple[int, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Ratings:
    """Ratings in Elo by entrants' numbers, with the bounds of their 95% intervals."""

    rating: Vector
    low: Vector
    high: Vector
    seats: Vector
    """The seat effects in Elo, with mean 0."""
    dispersion: float
    """The variance of blocks relative to the model's variance of independent games."""


def rate(
    entrants: int,
    games: Sequence[RatedGame],
    *,
    anchors: Mapping[int, float] | None = None,
    mean: float = 0.0,
) -> Ratings:
    """Rate `entrants` by `games`, all with the same number of seats.

    `anchors` maps numbers to known ratings; without anchors the mean rating is `mean`.
    """
    fit = _Fit(entrants, games, anchors or {})
    fit.maximize()
    dispersion, freedom = fit.dispersion()
    covariance = fit.covariance(dispersion)
    rating = fit.strength * ELO_PER_LOGIT
    if not anchors:
        centre = np.eye(entrants) - 1 / entrants
        rating = centre @ rating + mean
        covariance = centre @ covariance @ centre
    for number, known in (anchors or {}).items():
        rating[number] = known  # exactly, without rounding errors
    reach = student_quantile(freedom, (1 + CONFIDENCE) / 2) * np.sqrt(np.diag(covariance))
    return Ratings(
        rating=rating,
        low=rating - reach,
        high=rating + reach,
        seats=(fit.seat - fit.seat.mean()) * ELO_PER_LOGIT,
        dispersion=dispersion,
    )


class EntrantRating(NamedTuple):
    """A rating with the bounds of its 95% interval."""

    rating: float
    low: float
    high: float


def rate_entrants(
    entrants: Sequence[str],
    games: Sequence[RatedGame],
    anchors: Mapping[str, float],
    mean: float,
) -> dict[str, EntrantRating]:
    """Return the ratings of anchors and of entrants that have played, by name.

    `games` refer to entrants by their index in `entrants`.
    """
    if not games:
        return {}
    known = {number: anchors[name] for number, name in enumerate(entrants) if name in anchors}
    there = sorted({number for game in games for number in game.players} | known.keys())
    place = {number: index for index, number in enumerate(there)}
    moved = [
        RatedGame(game.block, tuple(place[number] for number in game.players), game.ranks)
        for game in games
    ]
    held = {place[number]: rating for number, rating in known.items()}
    ratings = rate(len(there), moved, anchors=held, mean=mean)
    names = (entrants[number] for number in there)
    bounds = zip(ratings.rating.tolist(), ratings.low.tolist(), ratings.high.tolist(), strict=True)
    return {name: EntrantRating(*each) for name, each in zip(names, bounds, strict=True)}


class _Fit:
    """Finds the posterior mode; all values in this class are on the logistic scale.

    A game's log-likelihood is ``sum(c * x) - sum(w * log(sum(exp(x of the set))))``; x is strength
    plus seat effect. The first sum is over the seats; c is how often a seat is chosen. The second
    sum is over *choice sets*: for each place, the seats that could finish next. Each order of tied
    seats has its own sets, with weights that sum to one. The last remaining seat is not a choice.
    """

    def __init__(
        self, entrants: int, games: Sequence[RatedGame], anchors: Mapping[int, float]
    ) -> None:
        self.entrants = entrants
        self.seats = len(games[0].players) if games else 2
        self.games = games
        middle = sum(anchors.values()) / len(anchors) / ELO_PER_LOGIT if anchors else 0.0
        self._middle = np.concatenate([np.full(entrants, middle), np.zeros(self.seats)])
        deviation = [STRENGTH_DEVIATION] * entrants + [SEAT_DEVIATION] * self.seats
        self._precision = (ELO_PER_LOGIT / np.array(deviation)) ** 2
        self._free = np.array([i for i in range(len(self._middle)) if i not in anchors])
        self._values = self._middle.copy()
        for entrant, rating in anchors.items():
            self._values[entrant] = rating / ELO_PER_LOGIT
        self._sets = _ChoiceSets.of(entrants, self.seats, games)
        self._wins = self._sets.wins(entrants)

    @property
    def strength(self) -> Vector:
        return self._values[: self.entrants]

    @property
    def seat(self) -> Vector:
        return self._values[self.entrants :]

    def maximize(self) -> None:
        """Find the mode with Newton's method, halving steps that decrease the likelihood."""
        free = np.ix_(self._free, self._free)
        height = self._log_posterior(self._values)
        for _ in range(NEWTON_STEPS):
            expected, information = self._sets.moments(self._values)
            slope = self._wins - expected - self._precision * (self._values - self._middle)
            curvature = information + np.diag(self._precision)
            step = np.zeros_like(self._values)
            step[self._free] = np.linalg.solve(curvature[free], slope[self._free])
            if np.abs(step).max() < TOLERANCE:
                return
            slack = TOLERANCE * (1 + abs(height))
            while (higher := self._log_posterior(self._values + step)) < height - slack:
                step /= 2
            self._values, height = self._values + step, higher
        raise AssertionError("Newton's method must converge on a concave likelihood")

    def _log_posterior(self, values: Vector) -> float:
        off = values - self._middle
        prior = 0.5 * float(self._precision @ (off * off))
        return float(self._wins @ values) - self._sets.log_normalizer(values) - prior

    def dispersion(self) -> tuple[float, float]:
        """Return the ratio of the blocks' variance to the model's, and the degrees of freedom.

        The residual of a block is a vector with one entry per player. The squared lengths of all
        residuals are compared with the traces of the model's covariances, so that blocks are
        weighted by information.
        """
        expected, shares = self._sets.by_block(self._values, self.entrants)
        beyond = self._sets.wins_by_block(self.entrants) - expected
        directions = len(expected) * (self.seats - 1)
        freedom = directions - (min(len(self._free), self.entrants) - 1)
        if shares == 0 or freedom <= 0:
            return 1.0, PRIOR_FREEDOM
        ratio = float((beyond**2).sum()) / shares * directions
        return (ratio + PRIOR_FREEDOM) / (freedom + PRIOR_FREEDOM), freedom + PRIOR_FREEDOM

    def covariance(self, dispersion: float) -> Matrix:
        """Return the covariance of the strengths in squared Elo; it is zero for anchors."""
        _, information = self._sets.moments(self._values)
        free = np.ix_(self._free, self._free)
        curvature = (information / dispersion + np.diag(self._precision))[free]
        whole = np.zeros((len(self._values), len(self._values)))
        whole[free] = np.linalg.inv(curvature)
        return whole[: self.entrants, : self.entrants] * ELO_PER_LOGIT**2


@dataclass(frozen=True)
class _ChoiceSets:
    """Choice sets: sets of seats that could finish next.

    For every member of every set, ``features`` has the index of its strength and of its seat
    effect; short sets are padded, and ``mask`` is minus infinity for the padding.
    """

    features: Indices  # [sets, members, 2]
    mask: Vector  # [sets, members]
    weight: Vector  # [sets]
    block: Indices  # [sets]
    seatings: Indices  # [seats of all games, 3]: block, player, seat
    choice_counts: Vector  # [seats of all games]: how often each was chosen
    size: int

    @classmethod
    def of(cls, entrants: int, seats: int, games: Sequence[RatedGame]) -> _ChoiceSets:
        """Collect the choice sets of `games`."""
        blocks = {name: i for i, name in enumerate(dict.fromkeys(game.block for game in games))}
        sets = [
            (game, members, weight)
            for game in games
            for members, weight in _choice_sets(game.ranks)
        ]
        features = [
            [(game.players[seat], entrants + seat) for seat in members]
            + [(0, 0)] * (seats - len(members))
            for game, members, _ in sets
        ]
        absent = [[0.0] * len(each) + [-np.inf] * (seats - len(each)) for _, each, _ in sets]
        there = [
            (blocks[game.block], player, seat)
            for game in games
            for seat, player in enumerate(game.players)
        ]
        chosen = [counted for game in games for counted in _choice_counts(game.ranks)]
        return cls(
            features=np.array(features, dtype=np.intp).reshape(len(sets), seats, 2),
            mask=np.array(absent).reshape(len(sets), seats),
            weight=np.array([weight for _, _, weight in sets]),
            block=np.array([blocks[game.block] for game, _, _ in sets], dtype=np.intp),
            seatings=np.array(there, dtype=np.intp).reshape(-1, 3),
            choice_counts=np.array(chosen),
            size=entrants + seats,
        )

    def log_normalizer(self, values: Vector) -> float:
        """Return the weighted sum of the sets' log normalizers."""
        at = values[self.features].sum(axis=2) + self.mask
        top = at.max(axis=1, keepdims=True)
        logs = top[:, 0] + np.log(np.exp(at - top).sum(axis=1))
        return float(self.weight @ logs)

    def moments(self, values: Vector) -> tuple[Vector, Matrix]:
        """Return the first and second derivative of `log_normalizer` (mean and covariance)."""
        chance = self._probabilities(values)
        share = np.repeat((self.weight[:, None] * chance)[:, :, None], 2, axis=2)
        expected: Vector = np.bincount(self.features.ravel(), share.ravel(), self.size).astype(
            float
        )
        same = self._scatter(self.features, self.features, share[..., None].repeat(2, axis=3))
        flat = self.features.reshape(len(self.weight), 2 * self.mask.shape[1])
        both = np.repeat(chance, 2, axis=1)
        outer = self.weight[:, None, None] * both[:, :, None] * both[:, None, :]
        return expected, same - self._scatter(flat, flat, outer)

    def by_block(self, values: Vector, entrants: int) -> tuple[Matrix, float]:
        """Return the expected wins of each block's players and the sum of all variances."""
        chance = self._probabilities(values)
        share = self.weight[:, None] * chance
        expected = self._sum_by_block(self.block[:, None], self.features[:, :, 0], share, entrants)
        return expected, float((share * (1 - chance)).sum())

    def wins_by_block(self, entrants: int) -> Matrix:
        """Return the number of times that each block's players were chosen."""
        return self._sum_by_block(
            self.seatings[:, 0], self.seatings[:, 1], self.choice_counts, entrants
        )

    def wins(self, entrants: int) -> Vector:
        """Return the number of times that each strength and each seat was chosen."""
        both = np.concatenate([self.seatings[:, 1], entrants + self.seatings[:, 2]])
        won: Vector = np.bincount(both, np.tile(self.choice_counts, 2), self.size).astype(float)
        return won

    def _sum_by_block(
        self, block: Indices, player: Indices, values: Vector, entrants: int
    ) -> Matrix:
        blocks = int(self.block.max(initial=-1)) + 1
        where = (block * entrants + player).ravel()
        summed: Vector = np.bincount(where, values.ravel(), blocks * entrants).astype(float)
        return summed.reshape(blocks, entrants)

    def _probabilities(self, values: Vector) -> Matrix:
        """Return the probability of each member to finish next, for every set."""
        at = values[self.features].sum(axis=2) + self.mask
        chance = np.exp(at - at.max(axis=1, keepdims=True))
        return np.asarray(chance / chance.sum(axis=1, keepdims=True))

    def _scatter(self, rows: Indices, columns: Indices, values: NDArray[np.float64]) -> Matrix:
        """Add `values` to a matrix at the indices given by their rows and columns."""
        where = rows[..., :, None] * self.size + columns[..., None, :]
        summed: Vector = np.bincount(where.ravel(), values.ravel(), self.size**2).astype(float)
        return summed.reshape(self.size, self.size)


@functools.lru_cache(maxsize=4096)
def _choice_sets(ranks: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], float], ...]:
    """Return the choice sets of a game with these places, with weights.

    For the first place of a tied group all members are available, for the second all but one, with
    each member missing equally often, and so on.
    """
    sets: list[tuple[tuple[int, ...], float]] = []
    for rank in sorted(set(ranks)):
        tied = [seat for seat, other_rank in enumerate(ranks) if other_rank == rank]
        behind = [seat for seat, other_rank in enumerate(ranks) if other_rank > rank]
        fewest = 1 if behind else 2
        for left in range(len(tied), fewest - 1, -1):
            weight = 1 / math.comb(len(tied), left)
            some = itertools.combinations(tied, left)
            sets.extend((tuple(sorted((*each, *behind))), weight) for each in some)
    return tuple(sets)


@functools.lru_cache(maxsize=4096)
def _choice_counts(ranks: tuple[int, ...]) -> tuple[float, ...]:
    """Return how often each seat is chosen: once, or 0 times for a sole last place.

    Each of n seats tied for last place counts 1 - 1/n, since each is equally often the one left
    over.
    """
    last = max(ranks)
    return tuple(1 - (rank == last) / ranks.count(last) for rank in ranks)


def student_quantile(freedom: float, level: float) -> float:
    """Return a quantile of Student's t (Abramowitz and Stegun 26.7.5; exact for df 1 and 2)."""
    if freedom <= 1:
        return math.tan(math.pi * (level - 0.5))
    if freedom <= 2:
        return (2 * level - 1) * math.sqrt(2 / (1 - (2 * level - 1) ** 2))
    z = NormalDist().inv_cdf(level)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom ** (i + 1) for i, term in enumerate(terms))
