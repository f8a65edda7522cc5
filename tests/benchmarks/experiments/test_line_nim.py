"""The count of Line-Nim's unfinished searches, and the threshold of the report's player."""

from __future__ import annotations

import pytest

from benchmarks.experiments import line_nim, matches
from benchmarks.experiments.experiment import Scale
from benchmarks.experiments.line_nim import Depths
from benchmarks.experiments.matches import Player
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult
from kibitz_search.line_nim.reference_agent import ReferenceAgent


def test_a_search_times_out_where_it_is_shallow_and_does_not_know_who_wins() -> None:
    seen = Depths()
    seen.add(SearchResult(0, 0.0, 0, 0, (0,)))
    assert seen.unfinished(5) == "–"
    for value, depth in ((0.0, 1), (WIN_SCORE, 1), (0.0, 7), (-WIN_SCORE, 5)):
        seen.add(SearchResult(0, value, depth, 10, (0,)))
    assert seen.unfinished(5) == "25.0%"
    assert seen.unfinished(10) == "50.0%"


def test_the_player_searches_from_its_threshold_on() -> None:
    game, state = matches.start("line-nim", 2, 3)
    least = game.count_legal(state)
    for crowded, searches in ((least - 1, 0), (least, 1)):
        seen = Depths()
        parameters = {"crowded": crowded}
        player = Player(ReferenceAgent, depth=1, parameters=parameters, watch=seen.add)
        player.chooser(state)(state, "1")
        assert len(seen.found) == searches


def test_each_depth_plays_the_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_nim, "_pair", lambda own, other, seed: int(own.depth > other.depth))
    rows = line_nim.depths(Scale()).rows
    assert [row[0] for row in rows] == ["6", "7", "8", "9", "10"]
    assert rows[0][2] == "50.0%"
