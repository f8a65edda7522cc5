"""Work on slices: each is done once for any number of threads, and errors are reported."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled.kernels import compiled
from kibitz_games.vector import kernels
from kibitz_games.vector.slices import Slices, new_states


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 64])
def test_every_play_is_worked_on_once(threads: int, count: int) -> None:
    done = np.zeros(count, np.int64)

    def work(step: int, first: int, end: int) -> None:
        done[first:end] += step

    with Slices(threads) as slices:
        slices.run(work, count, 3)
        slices.run(work, count, 4)
    assert done.tolist() == [7] * count


def test_slices_are_worked_on_at_the_same_time() -> None:
    """Neither half ends before the other has started."""
    both = threading.Barrier(2, timeout=20)
    with Slices(2) as slices:
        slices.run(lambda first, end: both.wait(), 2)


@pytest.mark.skipif(not compiled(), reason="Python holds the lock itself")
@pytest.mark.parametrize("kernel", [kernels.begin, kernels.step, kernels.sample])
def test_machine_code_releases_the_lock(kernel: Any) -> None:
    assert kernel.targetoptions["nogil"] is True


def test_an_error_comes_out_when_all_slices_are_done() -> None:
    done, late = [], threading.Event()

    def work(first: int, end: int) -> None:
        if first == 0:
            late.set()
            raise ValueError("the first slice")
        assert late.wait(20)
        done.append(first)

    with Slices(2) as slices:
        with pytest.raises(ValueError, match="the first slice"):
            slices.run(work, 4)
        assert done == [2]
        slices.run(lambda first, end: done.append(end), 4)
    assert sorted(done) == [2, 2, 4]


def test_states_lie_side_by_side() -> None:
    states, raw = new_states(rules.STATE, 3)
    assert raw.shape == (3, rules.STATE.itemsize)
    assert len(states) == 3
    states[1].side = 1
    assert [bool(row.any()) for row in raw] == [False, True, False]
    first: Any = states[0]
    assert isinstance(first, np.record) == compiled()
