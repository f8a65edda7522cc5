"""Intervals with blocks as units."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from kibitz_arena import intervals
from kibitz_arena.intervals import BlockTotal
from kibitz_protocol.wire.shares import share_interval

Totals: TypeAlias = NDArray[np.float64]
Draw: TypeAlias = Callable[[np.random.Generator, float, int, int], Totals]


def test_values_are_summed_by_block() -> None:
    blocks = intervals.by_block([("b1", 1.0), ("b2", 0.5), ("b1", 0.0), ("b2", 1.0), ("b3", 0.0)])
    assert blocks == [(1.0, 2), (1.5, 2), (0.0, 1)]
    assert intervals.mean_of(blocks) == 0.5


def test_a_perfect_score_counts_each_block_once() -> None:
    assert intervals.share_bounds([BlockTotal(2.0, 2)] * 10) == share_interval(1.0, 10)
    assert intervals.share_bounds([BlockTotal(0.0, 6)] * 5) == share_interval(0.0, 5)
    assert intervals.share_bounds([BlockTotal(1.0, 2)]) == share_interval(0.5, 1)


def test_more_wins_never_lower_a_bound() -> None:
    lows = []
    for lost in range(20, -1, -1):
        blocks = [BlockTotal(1.0, 2)] * lost + [BlockTotal(2.0, 2)] * (100 - lost)
        bounds = intervals.share_bounds(blocks)
        assert bounds is not None
        lows.append(bounds[0])
    assert lows == sorted(lows)


def test_seats_that_decide_every_game_leave_little_doubt() -> None:
    """Both games of a pair have opposite results: the mean is known better than from coin flips."""
    bounds = intervals.share_bounds([BlockTotal(1.0, 2)] * 50)
    assert bounds is not None
    assert share_interval(0.5, 100)[0] < bounds[0] < 0.5 < bounds[1] < share_interval(0.5, 100)[1]


def test_means_have_the_error_of_the_blocks() -> None:
    blocks = [BlockTotal(20.0, 2), BlockTotal(28.0, 2), BlockTotal(6.0, 2)]
    # The blocks' means are 10, 14 and 3, whose standard deviation is 5.568.
    bounds = intervals.mean_bounds(blocks)
    assert bounds == pytest.approx((9 - 1.96 * 5.568 / 3**0.5, 9 + 1.96 * 5.568 / 3**0.5), abs=0.01)
    assert intervals.mean_bounds(blocks[:1]) is None
    assert intervals.mean_bounds([]) is intervals.share_bounds([]) is None


def _alone(rng: np.random.Generator, share: float, blocks: int, size: int) -> Totals:
    return rng.binomial(size, share, blocks).astype(float)


def _alike(rng: np.random.Generator, share: float, blocks: int, size: int) -> Totals:
    return size * rng.binomial(1, share, blocks).astype(float)


@pytest.mark.parametrize("totals", [_alone, _alike], ids=["independent games", "equal games"])
@pytest.mark.parametrize(("size", "blocks"), [(2, 20), (2, 100), (6, 34)])
@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_intervals_contain_the_true_share(
    totals: Draw, size: int, blocks: int, share: float
) -> None:
    """In 500 simulations each; four standard errors below 95% is 91%."""
    rng, hits = np.random.default_rng(7), 0
    for _ in range(500):
        sums = [BlockTotal(float(t), size) for t in totals(rng, share, blocks, size)]
        low, high = intervals.share_bounds(sums) or (1.0, 0.0)
        hits += low <= share <= high
    assert hits >= 455
