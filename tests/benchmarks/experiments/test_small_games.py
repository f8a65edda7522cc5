"""Minimax on tic-tac-toe and A* on grids, as the report on Tanks tried them."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.experiments import small_games
from benchmarks.experiments.experiment import Scale
from kibitz_search.algorithms.pathfinding import astar


def test_the_whole_tree_of_tic_tac_toe_is_as_large_as_known_and_a_draw() -> None:
    assert small_games.nodes(small_games.after("")) == 549_946
    assert small_games.value(small_games.after("")) == 0


@pytest.mark.parametrize(
    ("moves", "worth"), [("a1 a2 b1 b2", 1), ("a1 a2 b1 b2 c3", -1), ("a1 a2 b1 b2 c1", 1)]
)
def test_a_position_is_worth_what_best_play_makes_of_it(moves: str, worth: int) -> None:
    assert small_games.value(small_games.after(moves)) == worth


def test_minimax_never_loses_and_its_tree_has_every_value() -> None:
    measured = small_games.minimax_tree(Scale())
    assert all(row[2].endswith("-0") for row in measured.rows)
    (drawing,) = measured.figures.values()
    assert all(f">{worth}<" in drawing for worth in ("+1", "+0", "-1"))


@pytest.mark.parametrize("seed", range(20))
def test_a_way_is_as_long_as_the_bots_search_finds(seed: int) -> None:
    side = small_games.SIDE
    grid = small_games._random_grid(seed)
    wide = side + 2
    cost = np.zeros(wide * wide, np.int64)
    for row, line in enumerate(grid, 1):
        cost[row * wide + 1 : row * wide + 1 + side] = [cell != "#" for cell in line]
    goal, far = np.zeros(wide * wide, np.uint8), np.zeros(wide * wide, np.int64)
    goal[side * wide + side] = 1
    steps, came = np.array([-wide, 1, wide, -1]), np.zeros(wide * wide, np.int32)
    end = int(astar(cost, np.zeros_like(cost), goal, steps, np.int64(wide + 1), far, came))
    for weight in (0, 1):
        done = small_games.trace(grid, (0, 0), (side - 1, side - 1), weight)
        assert len(done.way) - 1 == (int(far[end]) if end >= 0 else -1)
        assert done.closed.isdisjoint(done.fringe)


def test_the_grid_shows_both_lists_and_the_way() -> None:
    measured = small_games.astar_lists(Scale())
    assert float(measured.rows[0][4]) < float(measured.rows[1][4])
    (drawing,) = measured.figures.values()
    assert all(kind in drawing for kind in ("closed list", "fringe list", "the way"))
