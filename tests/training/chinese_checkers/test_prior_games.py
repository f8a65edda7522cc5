"""Games of a search against itself, and the choices in them."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_search.algorithms.beam import Beam
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.mcts import Mcts
from kibitz_search.chinese_checkers.learned import distances_for
from kibitz_training.chinese_checkers import prior_games


@pytest.fixture(scope="module")
def actions() -> list[int]:
    return prior_games.play(2, 0, distances_for(2), 10, 4)


def test_a_game_is_played_to_its_end_and_the_same_again(actions: list[int]) -> None:
    game, state = prior_games.start(2)
    for action in actions:
        assert game.outcome(state) is None
        game.play(state, action)
    assert game.outcome(state) is not None
    assert prior_games.play(2, 0, distances_for(2), 10, 4) == actions
    assert prior_games.play(2, 0, distances_for(2), 10, 5) != actions


def test_planners_take_other_seats_in_other_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planner searches its own moves only, so each search records who it was called for."""
    seats: dict[type, set[int]] = {Beam: set(), Mcts: set()}
    for kind, called in seats.items():

        def search(self: Any, state: Any, ev: Any, limits: Any, called: Any = called) -> Any:
            called.add(int(state.turn))
            return Greedy(state).search(state, ev, limits)

        monkeypatch.setattr(kind, "search", search)
    planning = set()
    for seed in range(6):
        for called in seats.values():
            called.clear()
        prior_games.play(3, 1, distances_for(3), 10, seed)
        assert len(seats[Beam]) == 1
        assert seats[Beam] | seats[Mcts] == {0, 1, 2}
        planning |= seats[Beam]
    assert len(planning) > 1


def test_random_moves_and_single_ones_are_no_choices(actions: list[int]) -> None:
    found = list(prior_games.choices(2, actions))
    opening = prior_games.OPENING * 2
    assert 0 < len(found) <= len(actions) - opening
    assert [each.chosen for each in found][:5] == actions[opening : opening + 5]
    assert all(each.chosen in each.legal and len(each.legal) > 1 for each in found)
    assert [each.goal for each in found][:4] == [3, 0, 3, 0]


def test_what_is_no_game_is_refused(actions: list[int]) -> None:
    with pytest.raises(ValueError, match="a legal action at ply 1, not"):
        list(prior_games.choices(2, [actions[0], actions[0]]))
