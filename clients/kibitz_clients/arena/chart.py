"""Pictures of results as SVG that stands inside a page: rating intervals, the way of a test.

Everything has classes and no colours: the page's style sheet dresses it, light and dark. The
numbers stand beside the pictures, so a reader who sees none misses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from kibitz_clients.arena import wording
from kibitz_clients.arena.results import Standing
from kibitz_clients.arena.sequential import Verdict

WIDTH: Final = 280
ROW: Final = 44
"""Height of an entrant's row, in CSS pixels: lines of the scale meet those of the next row."""
HEAD: Final = 24
MARGIN: Final = 16
"""Room at the sides, so that the numbers of the scale are not cut."""
WAY: Final = 340
"""Width of the way from H0 to H1: that of a phone."""
TICKS: Final = 5
"""At most so many lines of the scale."""


@dataclass(frozen=True)
class Scale:
    """A range of ratings, and the round ones in it that get a line."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, standings: Sequence[Standing]) -> Self | None:
        """Return a scale that all intervals fit in, None where nobody has a rating."""
        found = [
            bound
            for each in standings
            for bound in (each.low, each.rating, each.high)
            if bound is not None
        ]
        if not found:
            return None
        low, high = min(found), max(found)
        if high - low < 1:
            low, high = low - 10, high + 10
        step = _step((high - low) / TICKS)
        ticks = range(math.ceil(low / step), math.floor(high / step) + 1)
        return cls(low, high, tuple(step * tick for tick in ticks))

    def x(self, rating: float) -> float:
        """Return where a rating is, in CSS pixels from the left."""
        share = (rating - self.low) / (self.high - self.low)
        return MARGIN + share * (WIDTH - 2 * MARGIN)


def _step(least: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that is not under `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= least)


def axis(scale: Scale) -> str:
    """Return the head of the column of intervals: the numbers of its lines."""
    texts = "".join(
        f'<text x="{_at(scale.x(tick))}" y="16">{wording.elo(tick)}</text>' for tick in scale.ticks
    )
    return _svg(WIDTH, HEAD, "axis", texts)


def interval(scale: Scale, standing: Standing) -> str:
    """Return an entrant's interval as a whisker with its rating as a dot."""
    lines = "".join(
        f'<path class="{"zero" if tick == 0 else "tick"}" d="M{_at(scale.x(tick))} 0V{ROW}"/>'
        for tick in scale.ticks
    )
    return _svg(WIDTH, ROW, "interval", lines + _whisker(scale, standing))


def _whisker(scale: Scale, standing: Standing) -> str:
    if standing.rating is None:
        return ""
    x, y = _at(scale.x(standing.rating)), ROW // 2
    if standing.anchor or standing.low is None or standing.high is None:
        return (
            f'<rect class="anchor" x="{_at(float(x) - 4.5)}" y="{y - 4.5}" width="9" height="9"/>'
        )
    low, high = _at(scale.x(standing.low)), _at(scale.x(standing.high))
    bar = f'<path class="reach" d="M{low} {y}H{high}M{low} {y - 5}v10M{high} {y - 5}v10"/>'
    return f'{bar}<circle class="dot" cx="{x}" cy="{y}" r="4.5"/>'


def gauge(test: Verdict) -> str:
    """Return the way from H0 to H1 with a dot where the test is on it."""
    width, middle = WAY, 14
    span = test.upper - test.lower

    def at(llr: float) -> str:
        share = min(max((llr - test.lower) / span, 0.0), 1.0)
        return _at(MARGIN + share * (width - 2 * MARGIN))

    way = f'<path class="way" d="M{at(test.lower)} {middle}H{at(test.upper)}"/>'
    gone = f'<path class="gone" d="M{at(0)} {middle}H{at(test.llr)}"/>'
    marks = "".join(
        f'<path class="mark" d="M{at(llr)} {middle - 7}v14"/>'
        for llr in (test.lower, 0, test.upper)
    )
    texts = "".join(
        f'<text class="{side}" x="{at(llr)}" y="38">{text}</text>'
        for side, llr, text in (
            ("from", test.lower, f"H0 at {wording.bound(test.lower)}"),
            ("mid", 0, "0"),
            ("to", test.upper, f"H1 at {wording.bound(test.upper)}"),
        )
    )
    dot = f'<circle class="dot" cx="{at(test.llr)}" cy="{middle}" r="6"/>'
    return _svg(width, 44, "gauge", way + gone + marks + dot + texts)


def _svg(width: int, height: int, name: str, inside: str) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg class="{name}" {size} aria-hidden="true" focusable="false">{inside}</svg>'


def _at(value: float) -> str:
    """Write a coordinate with a decimal at most."""
    return f"{value:.1f}".removesuffix(".0")
