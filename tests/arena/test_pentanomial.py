"""The statistics of paired games."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kibitz_arena.pentanomial import UNKNOWN, Pentanomial
from kibitz_arena.sprt import expected_score

COUNTS = some.tuples(*[some.integers(0, 500)] * 5)


def test_pairs_are_counted_by_their_points() -> None:
    counted = Pentanomial()
    for points in (0, 0.5, 1, 1, 1.5, 2, 2, 2):
        counted = counted.with_pairs(points)
    assert counted.counts == (1, 1, 2, 1, 3)
    assert counted.pairs == 8
    assert counted.score == (0 + 0.5 + 1 + 1 + 1.5 + 2 + 2 + 2) / 16


@pytest.mark.parametrize("points", [-0.5, 0.25, 2.5])
def test_other_points_are_refused(points: float) -> None:
    with pytest.raises(ValueError, match=r"expected 0, 0\.5, 1"):
        Pentanomial().with_pairs(points)


def test_nothing_is_known_before_the_first_pair() -> None:
    assert Pentanomial().elo == Pentanomial().normalized_elo == UNKNOWN
    assert Pentanomial().score == 0.5


def test_the_figures_are_those_of_the_list_of_pairs() -> None:
    counts = (19, 1131, 2553, 1268, 29)
    scores = np.repeat([0.0, 0.25, 0.5, 0.75, 1.0], counts)
    error = 1.959964 * scores.std() / len(scores) ** 0.5
    elo, normalized = Pentanomial(counts).elo, Pentanomial(counts).normalized_elo
    for found, score in ((elo.value, 0.0), (elo.low, -error), (elo.high, error)):
        assert expected_score(found) == pytest.approx(scores.mean() + score)
    of_a_game = scores.std() * 2**0.5
    assert normalized.value == pytest.approx(347.4356 * (scores.mean() - 0.5) / of_a_game)


@given(counts=COUNTS)
def test_swapping_the_players_swaps_the_signs(counts: tuple[int, int, int, int, int]) -> None:
    one, other = Pentanomial(counts), Pentanomial(counts[::-1])
    for first, second in ((one.elo, other.elo), (one.normalized_elo, other.normalized_elo)):
        assert first.value == pytest.approx(-second.value, abs=1e-6)
        assert first.low == pytest.approx(-second.high, abs=1e-6)
        assert first.low <= first.value <= first.high


def test_pairs_that_all_have_one_score_have_no_variance() -> None:
    won = Pentanomial((0, 0, 0, 0, 3))
    assert won.elo.value == won.normalized_elo.value == math.inf
    drawn = Pentanomial((0, 0, 3, 0, 0))
    assert (drawn.elo.low, drawn.elo.high) == (0.0, 0.0)
    assert drawn.normalized_elo.value == 0.0
