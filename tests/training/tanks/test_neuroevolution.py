"""The report's evolution of networks."""

from __future__ import annotations

import numpy as np

from kibitz_training.tanks.neuroevolution import ReportEvolution


def test_the_reports_evolution_swaps_tails_of_rank_neighbours_and_keeps_nobody() -> None:
    strategy = ReportEvolution(1, 4, 2000)
    first = strategy.ask()
    assert first.min() == -10
    assert first.max() == 10
    strategy.tell(np.array([1.0, 4.0, 2.0, 3.0]))
    following = strategy.ask()
    for pair, parents in ((following[:2], (1, 3)), (following[2:], (2, 0))):
        for child, (head, tail) in zip(pair, (parents, parents[::-1]), strict=True):
            from_either = (child == first[head]) | (child == first[tail])
            assert 0.005 < 1 - from_either.mean() < 0.035
            assert (child == first[head])[:20].mean() > 0.5
    assert np.abs(following).max() > 10
