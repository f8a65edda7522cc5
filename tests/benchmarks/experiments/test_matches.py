"""Matches between searches in one process."""

from __future__ import annotations

from benchmarks.experiments import matches
from benchmarks.experiments.matches import Player
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.number_merge.evaluation import points


def test_a_match_is_the_same_again_from_its_seed() -> None:
    ends = []
    for _ in range(2):
        game, state = matches.start("number-merge", 2, 3)
        players = [Player(Greedy, points).chooser(state)] * 2
        ends.append(matches.play(game, state, players, 3))
    assert ends[0] == ends[1]
    assert sorted(ends[0].ranks)[0] == 1


def test_scattered_plies_end_with_the_game() -> None:
    game, state = matches.start("number-merge", 2, 3, preset="classic")
    matches.scatter(game, state, 100, 3)
    assert game.outcome(state) is not None


def test_a_share_has_its_interval() -> None:
    assert matches.share(10, 10) == ("100.0%", "72.2% to 100.0%")
