"""The geometry of the pictures of results: rating intervals, and how far a sequential test is.

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
"""Height of an entrant's row, in CSS pixels: lines of the scale meet those of the next row."""
HEADER_HEIGHT: Final = 24
MARGIN: Final = 16
"""Room at the sides, so that the numbers of the scale are not cut."""
SPRT_WIDTH: Final = 340
"""Width of the line from H0 to H1: that of a phone."""
MAX_TICKS: Final = 5
"""At most so many lines of the scale."""


@dataclass(frozen=True)
class RatingAxis:
    """A range of ratings, and the round ones in it that get a line."""

    low: float
    high: float
    ticks: tuple[float, ...]
    width: int = INTERVAL_WIDTH
    row_height: int = ROW_HEIGHT
    header_height: int = HEADER_HEIGHT

    @classmethod
    def of(cls, standings: Sequence[EntrantStanding]) -> Self | None:
        """Return a scale that all intervals fit in, None if nobody has a rating."""
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
        """Return where a rating is, in CSS pixels from the left."""
        share = (rating - self.low) / (self.high - self.low)
        return MARGIN + share * (self.width - 2 * MARGIN)


def _round_step(least: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that is not under `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least)


@dataclass(frozen=True)
class SprtLine:
    """The line from H0 to H1 of a sequential test."""

    test: SprtResult
    width: int = SPRT_WIDTH

    def x(self, llr: float) -> float:
        """Return where an LLR is, in CSS pixels from the left; the bounds hold it."""
        share = (llr - self.test.lower) / (self.test.upper - self.test.lower)
        return MARGIN + min(max(share, 0.0), 1.0) * (self.width - 2 * MARGIN)


def coordinate(value: float) -> str:
    """Write a coordinate with a decimal at most."""
    return f"{value:.1f}".removesuffix(".0")
