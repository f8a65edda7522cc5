"""The geometry of the result charts: rating intervals, and the progress of a sequential test.

`templates/charts.svg.j2` draws them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from kibitz_arena.results import EntrantStanding
from kibitz_arena.sprt import SprtResult

INTERVAL_WIDTH: Final = 280
ROW_HEIGHT: Final = 44
"""The height of an entrant's row in CSS pixels; scale lines connect to the next row."""
HEADER_HEIGHT: Final = 24
MARGIN: Final = 16
"""The horizontal margin, so that the scale's numbers are not clipped."""
SPRT_WIDTH: Final = 340
"""The width of the line from H0 to H1, which fits a phone."""
MAX_TICKS: Final = 5
"""The maximum number of scale lines."""


@dataclass(frozen=True)
class RatingAxis:
    """A range of ratings with scale lines at round numbers."""

    low: float
    high: float
    ticks: tuple[float, ...]
    width: int = INTERVAL_WIDTH
    row_height: int = ROW_HEIGHT
    header_height: int = HEADER_HEIGHT

    @classmethod
    def of(cls, standings: Sequence[EntrantStanding]) -> Self | None:
        """Return an axis that contains all intervals, None if there are no ratings."""
        found = [
            bound
            for standing in standings
            for bound in (standing.low, standing.rating, standing.high)
            if bound is not None
        ]
        if not found:
            return None
        low, high = min(found), max(found)
        if high - low < 1:
            low, high = low - 10, high + 10
        step = _round_step((high - low) / MAX_TICKS)
        ticks = range(math.ceil(low / step), math.floor(high / step) + 1)
        return cls(low, high, tuple(step * tick for tick in ticks))

    def x(self, rating: float) -> float:
        """Return the position of a rating, in CSS pixels from the left."""
        share = (rating - self.low) / (self.high - self.low)
        return MARGIN + share * (self.width - 2 * MARGIN)


def _round_step(least: float) -> float:
    """Return the smallest 1, 2 or 5 times a power of ten that is at least `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least)


@dataclass(frozen=True)
class SprtLine:
    """The line from H0 to H1 of a sequential test."""

    test: SprtResult
    width: int = SPRT_WIDTH

    def x(self, llr: float) -> float:
        """Return the position of an LLR in CSS pixels from the left, clamped to the bounds."""
        share = (llr - self.test.lower) / (self.test.upper - self.test.lower)
        return MARGIN + min(max(share, 0.0), 1.0) * (self.width - 2 * MARGIN)


def coordinate(value: float) -> str:
    """Format a coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
