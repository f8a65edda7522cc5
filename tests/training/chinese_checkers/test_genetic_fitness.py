"""Greedy games of arrays, and the report's fitness derived from them."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz_search.chinese_checkers import evaluation
from kibitz_search.chinese_checkers.evaluation import distances
from kibitz_search.chinese_checkers.hole_arrays import GOAL
from kibitz_training.chinese_checkers import genetic_fitness, hole_games
from kibitz_training.chinese_checkers.hole_games import HoleGames
from kibitz_training.genetic import Settings, first_population


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_arrays_are_turned_so_that_every_seat_plays_alike(seats: int) -> None:
    games = HoleGames(distances("hand"), seats)
    for seat in range(seats):
        turned = games._turned[seat]
        assert sorted(turned.tolist()) == list(range(121))
        goal = np.flatnonzero(np.isin(turned, games.shape.home(GOAL, 10)))
        corner = int(games._start.goal[seat])
        assert goal.tolist() == list(games.shape.home(corner, 10))


def test_equal_players_win_half_and_results_depend_on_the_seed_alone() -> None:
    arrays = np.stack([distances("hand")] * 3)
    one, two = HoleGames(distances("hand")), HoleGames(distances("hand"), threads=2)
    came = one.play(arrays, [1, 2, 1], 0, 200)
    np.testing.assert_array_equal(came, two.play(arrays, [1, 2, 1], 0, 200))
    two.close()
    np.testing.assert_array_equal(came[0], came[2])
    assert not np.array_equal(came[0], came[1])
    assert 0.4 < came[..., hole_games.WON].mean() < 0.6
    assert 70 < came[..., hole_games.PLIES].mean() < 150


def test_stuck_pairs_begin_again_so_often_and_no_more() -> None:
    stuck = np.zeros(121)
    stuck[list(HoleGames(stuck).shape.home(0, 10))] = -1  # its pegs never leave home
    came = HoleGames(distances("hand"), most_restarts=3).play(stuck[None], [1], 0, 2)[0]
    assert came[:, hole_games.WON].tolist() == [0, 0]
    assert came[:, hole_games.RESTARTS].tolist() == [3, 3]
    assert (came[:, hole_games.LOST_BY] > 100).all()


def test_who_is_stuck_is_as_far_from_a_win_as_at_the_start_or_where_it_is() -> None:
    judge = distances("hand")
    stuck = judge.copy()
    shape = HoleGames(judge).shape
    stuck[list(shape.home(0, 10))[:1]] = -99  # one peg stays at home
    start = judge[list(shape.home(0, 10))].sum()
    for as_at_start in (True, False):
        games = HoleGames(judge, most_restarts=1, stuck_is_start=as_at_start)
        lost_by = games.play(stuck[None], [1], 0, 4)[0, :, hole_games.LOST_BY]
        assert (lost_by == start).all() if as_at_start else (lost_by < start / 2).all()


@pytest.mark.parametrize(
    ("begins", "seats", "expected"),
    [("turns", 3, [0, 1, 2]), ("individual", 3, [0]), ("judge", 3, [1, 2]), ("judge", 2, [1])],
)
def test_who_begins(begins: str, seats: int, expected: list[int]) -> None:
    games = HoleGames(distances("hand"), seats, begins=begins)
    assert games._own_seats.tolist() == expected


def test_a_judge_of_more_than_a_weight_for_every_hole_plays_by_its_evaluation() -> None:
    arrays = distances("hand")[np.newaxis]
    by_weights = hole_games.against("hand").play(arrays, [1], 0, 30)
    judged = hole_games.against("mobility").play(arrays, [1], 0, 30)
    assert not np.array_equal(by_weights, judged)
    won = judged[..., hole_games.WON].mean()
    assert 0.1 < won < 0.9


def test_an_evaluation_of_weights_alone_plays_as_they_do() -> None:
    """Both choose the same moves, so hand against itself is even in both seats."""
    arrays = distances("hand")[np.newaxis]
    games = HoleGames(distances("hand"), evaluation=evaluation.hand)
    came = games.play(arrays, [3], 0, 200)[0]
    assert 0.4 < came[:, hole_games.WON].mean() < 0.6
    assert 100 < came[:, hole_games.PLIES].mean() < 120


def test_fitness_is_two_games_or_five_and_counts_all_plies() -> None:
    games, settings = HoleGames(distances("euclid")), Settings(population=3)
    bad = first_population(settings, genetic_fitness.template(settings))[0]
    judged = genetic_fitness.judge(games, 0, np.stack([bad, distances("stragglers")]), 7)
    assert judged.counts["games"] == genetic_fitness.FEW + genetic_fitness.MANY
    assert judged.fitness[0] < 0
    assert judged.fitness[1] > 0
    assert 0 < judged.counts["wins"] <= genetic_fitness.MANY


@pytest.mark.parametrize("apart", [True, False])
def test_individuals_begin_with_the_hand_made_start_and_goal(apart: bool) -> None:
    settings = Settings(lowest=3, highest=30)
    template = genetic_fitness.template(settings, apart=apart)
    assert int(np.isnan(template.start).sum()) == 101
    shape, judge = HoleGames(distances("hand")).shape, distances("hand")
    goal, home = list(shape.home(GOAL, 10)), list(shape.home(0, 10))
    assert np.flatnonzero(template.free).tolist() == goal
    for holes in (goal, home):
        assert len(set((template.start - judge)[holes].round(9))) == 1
    assert (float(template.start[goal].max()) == 2.0) is apart
    assert (float(template.start[home].min()) == 31.0) is apart
