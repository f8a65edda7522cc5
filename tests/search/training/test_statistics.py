"""Intervals: values from the literature, and those of shares that are all or nothing."""

from __future__ import annotations

import pytest

from kibitz_search.training.statistics import wilson


@pytest.mark.parametrize(
    ("wins", "games", "expected"),
    [
        (81, 263, (0.2553, 0.3662)),  # R. G. Newcombe, 1998, table I, method 3
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_intervals_are_those_of_newcombe(
    wins: int, games: int, expected: tuple[float, float]
) -> None:
    assert wilson(wins, games) == pytest.approx(expected, abs=5e-5)
    low, high = wilson(games - wins, games)
    assert (1 - high, 1 - low) == pytest.approx(expected, abs=5e-5)
