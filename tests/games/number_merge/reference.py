"""A reference of the rules on lists and fractions, and perfect play by enumeration.

It shares no code with the game.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np


def sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def mean(row: Sequence[int]) -> Fraction:
    return Fraction(sum(row), len(row))


def part(row: Sequence[int], of_total: str) -> Fraction:
    return Fraction(of_total) * sum(row)


@dataclass
class Row:
    """A play: the remaining numbers, the scores, and the seat to act."""

    numbers: list[int]
    threshold: Fraction
    turn: int = 0
    scores: list[int] = field(default_factory=lambda: [0, 0])

    def merge(self, left: int) -> int:
        """Replace two neighbors by their sum and return the points earned."""
        total = self.numbers[left] + self.numbers[left + 1]
        self.numbers[left : left + 2] = [total]
        earned = sign(total - self.threshold)
        self.scores[self.turn] += earned
        self.turn = 1 - self.turn
        return earned


def leaves(numbers: int, depth: int) -> int:
    """Count the sequences of `depth` merges of a row by enumeration."""
    if depth == 0:
        return 1
    return sum(leaves(numbers - 1, depth - 1) for _ in range(numbers - 1))


def values(rows: Sequence[Sequence[int]], thresholds: Sequence[Fraction]) -> Any:
    """Return the value of each position for the mover: the lead still gained by perfect play.

    The result has a line for each set of remaining edges, as a bit mask, with an integer for each
    row; all rows have the same length.
    """
    length = len(rows[0])
    sums = np.array([np.concatenate(([0], np.cumsum(row))) for row in rows], np.int64)
    above = np.array([limit.numerator for limit in thresholds], np.int64)
    below = np.array([limit.denominator for limit in thresholds], np.int64)
    worth = np.full((1 << (length - 1), len(rows)), -length, np.int64)
    worth[0] = 0
    for mask in range(1, 1 << (length - 1)):
        edges = [0, *(i + 1 for i in range(length - 1) if mask >> i & 1), length]
        for left, gone, right in zip(edges, edges[1:], edges[2:], strict=False):
            earned = np.sign((sums[:, right] - sums[:, left]) * below - above)
            after = earned - worth[mask ^ (1 << (gone - 1))]
            worth[mask] = np.maximum(worth[mask], after)
    return worth


def shares(rows: Sequence[Sequence[int]], thresholds: Sequence[Fraction]) -> tuple[float, ...]:
    """Return the numbers of first-player wins, draws and second-player wins under perfect play."""
    start = values(rows, thresholds)[-1]
    return tuple(float(np.mean(np.sign(start) == result)) for result in (1, 0, -1))


PERFT: tuple[tuple[dict[str, Any], int, int], ...] = (
    ({}, 8, 8),
    ({"preset": "classic"}, 6, 6),
    ({"preset": "long", "first": "random"}, 12, 6),
    ({"preset": "open", "threshold": "mean"}, 40, 3),
    ({"row": [3, 1]}, 2, 2),
)
"""The options, the numbers of the row, and the depth to count."""

if __name__ == "__main__":
    for options, count, deepest in PERFT:
        counted = [leaves(count, depth) for depth in range(1, deepest + 1)]
        print(json.dumps({"options": options, "seats": 2, "seed": 1, "perft": counted}))  # noqa: T201
