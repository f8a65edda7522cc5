"""The tree of number merge, built right and as the report prints it."""

from __future__ import annotations

import pytest

from benchmarks.experiments import matches, merge_tree
from benchmarks.experiments.experiment import Scale
from benchmarks.experiments.matches import Player
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.number_merge.evaluation import points


def test_a_row_of_six_has_as_many_states_on_each_level_as_ways_to_merge() -> None:
    levels = merge_tree.levels_of((1, 2, 3, 4, 5, 6), 7, 2)
    assert [len(level) for level in levels] == [1, 5, 20, 60, 120, 120]


def test_a_merge_scores_for_who_moves_by_the_threshold() -> None:
    _, second, third = merge_tree.levels_of((2, 1, 3), 4, 1)
    assert [state.row for state in second] == [(3, 3), (2, 4)]
    assert [state.scores for state in second] == [(-1, 0), (0, 0)]
    assert [state.scores for state in third] == [(-1, 1), (0, 1)]


@pytest.mark.parametrize("seed", range(4))
def test_values_built_right_agree_with_the_search(seed: int) -> None:
    game, state = matches.start("number-merge", 2, seed, preset="classic")
    row = tuple(game.view(state, None).row)
    levels = merge_tree.levels_of(row, int(state["above"]), int(state["below"]))
    player = Player(Minimax, points).chooser(state)
    outcome = matches.play(game, state, [player, player], seed)
    sign = (outcome.ranks[1] > outcome.ranks[0]) - (outcome.ranks[1] < outcome.ranks[0])
    assert merge_tree.right_values(levels)[0] == [sign]


def test_the_listing_takes_children_from_the_wrong_places() -> None:
    levels = merge_tree.levels_of((1, 2, 3, 4), 5, 1)
    last = [(-1) ** at for at in range(6)]
    for state, worth in zip(levels[-1], last, strict=True):
        state.scores = (worth, 0)
    values = merge_tree.printed_values(levels)
    assert values[-1] == last
    assert values[2] == last
    assert values[1] == [max(last[at : at + 2]) for at in range(3)]


def test_the_tree_is_drawn_with_every_state() -> None:
    measured = merge_tree.tree(Scale())
    assert len(measured.rows) == 16
    (drawing,) = measured.figures.values()
    assert drawing.count("<rect") == 1 + 16
    assert drawing.count("<line") == 15
