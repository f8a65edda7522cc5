"""The champion: which search plays with how many seats."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_bots.evaluate.chinese_checkers import stragglers
from kibitz_bots.experts.chinese_checkers.champion import Champion
from kibitz_bots.search.alphabeta import AlphaBeta
from kibitz_bots.search.limits import Limits
from kibitz_bots.search.mcts import Mcts
from kibitz_games import registry

GAME: Any = registry.get("chinese-checkers")


def start(seats: int) -> Any:
    return GAME.start(GAME.Options(size=1), seats, {})


def test_between_two_it_finds_what_alpha_beta_finds() -> None:
    state = start(2)
    ev, limits = stragglers(state), Limits(depth=4, seed=1)
    found = Champion(state, table=1).search(state, ev, limits)
    assert found == AlphaBeta(state, table=1).search(state, ev, limits)


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_with_more_it_tries_lines_of_play_out(seats: int) -> None:
    state = start(seats)
    ev, limits = stragglers(state), Limits(seconds=0.0, seed=1)
    found = Champion(state, table=1).search(state, ev, limits)
    assert found.action in GAME.legal(state)
    assert len(found.values) == seats == len(Mcts(state).search(state, ev, limits).values)


def test_it_plays_one_game_only() -> None:
    other: Any = registry.get("number-merge")
    state = other.start(other.Options(), 2, other.deal(other.Options(), 2, 0))
    assert Champion.supports(other.info, state) == "it knows another game, not number-merge"
    assert Champion.supports(GAME.info, start(6)) is None
