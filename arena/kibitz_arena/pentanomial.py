"""Results of paired games: the five scores of a pair, and the Elo difference that they show.

The two games of a pair share an opening and swap seats, so their results are not independent. The
pair is therefore the unit: it scores 0, 1/2, 1, 3/2 or 2 points, and the variance is that of pairs.
Normalized Elo measures the difference in standard deviations of a game instead of points (M. Van
den Bergh, "Normalized Elo", https://www.cantate.be/Fishtest/normalized_elo_practical.pdf), so it
does not depend on how many games are drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

from kibitz_protocol.wire.shares import Z_95

Pairs: TypeAlias = tuple[int, int, int, int, int]
"""The number of pairs with 0, 1/2, 1, 3/2 and 2 points."""
NORMALIZED_SCALE: Final = 800 / math.log(10)
"""Normalized Elo per standard deviation of a game."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the bounds of its 95% interval; both bounds may be infinite."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:+.1f} [{self.low:+.1f}, {self.high:+.1f}]"


@dataclass(frozen=True)
class Pentanomial:
    """The number of pairs with each score, from two losses to two wins."""

    counts: Pairs = (0, 0, 0, 0, 0)

    def with_pairs(self, points: float, number: int = 1) -> Pentanomial:
        """Return the counts plus `number` pairs that scored `points` (0, 0.5, 1, 1.5 or 2)."""
        place = round(2 * points)
        if place != 2 * points or not 0 <= place <= 4:
            raise ValueError(f"expected 0, 0.5, 1, 1.5 or 2 points, not {points}")
        counts = [count + number * (index == place) for index, count in enumerate(self.counts)]
        return Pentanomial((counts[0], counts[1], counts[2], counts[3], counts[4]))

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return sum(self.counts)

    @property
    def score(self) -> float:
        """The mean score of a game, 0 to 1; 0.5 without any pairs."""
        if not self.pairs:
            return 0.5
        return sum(place * count for place, count in enumerate(self.counts)) / (4 * self.pairs)

    @property
    def elo(self) -> Interval:
        """The difference in logistic Elo."""
        if not self.pairs:
            return UNKNOWN
        return Interval(*map(elo_of, self._bounds))

    @property
    def normalized_elo(self) -> Interval:
        """The difference in normalized Elo; infinite if all pairs had the same score."""
        if not self.pairs:
            return UNKNOWN
        of_a_game = self._deviation * math.sqrt(2)
        return Interval(*(_ratio(score - 0.5, of_a_game) for score in self._bounds))

    @property
    def _bounds(self) -> tuple[float, float, float]:
        """The mean score and the bounds of its 95% interval."""
        error = Z_95 * self._deviation / math.sqrt(self.pairs)
        return self.score, self.score - error, self.score + error

    @property
    def _deviation(self) -> float:
        """The standard deviation of the mean score of a pair."""
        squares = ((place / 4 - self.score) ** 2 * n for place, n in enumerate(self.counts))
        return math.sqrt(sum(squares) / self.pairs)


UNKNOWN: Final = Interval(0.0, -math.inf, math.inf)
"""The Elo difference between players who have not met."""


def elo_of(score: float) -> float:
    """Return the Elo difference that corresponds to an expected score."""
    if score <= 0 or score >= 1:
        return -math.inf if score <= 0 else math.inf
    return 400 * math.log10(score / (1 - score))


def _ratio(difference: float, deviation: float) -> float:
    """Convert a score difference to normalized Elo."""
    if deviation == 0:
        return math.copysign(math.inf, difference) if difference else 0.0
    return difference / deviation * NORMALIZED_SCALE
