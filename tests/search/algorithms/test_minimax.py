"""Minimax: searching every line of a two-player game."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.cancellation import CancelToken
from tests.search.algorithms.positions import SETTINGS, Setting, one_by_one, rhombus
from tests.tools import profiles

CHOICES = some.lists(some.integers(0, 10**6), max_size=30)


def simple_value(game: Game, state: np.record, ev: np.record, depth: int, ply: int = 0) -> float:
    """Return the value for the seat to act, with a minimal reference search."""
    seat = game.to_act(state)
    best = -np.inf
    for action in game.legal(state):
        st = state.copy()
        game.play(st, action)
        outcome = game.outcome(st)
        value = float(op.evaluate(ev, st, seat)) - float(op.evaluate(ev, st, 1 - seat))
        if outcome is not None and outcome.scores[seat] != 0.5:
            value = (2 * outcome.scores[seat] - 1) * (WIN_SCORE - ply - 1)
        elif outcome is None and depth > 1:
            value = simple_value(game, st, ev, depth - 1, ply + 1)
            value = value if game.to_act(st) == seat else -value
        best = max(best, value)
    return best


@pytest.mark.parametrize("setting", one_by_one(SETTINGS))
@settings(max_examples=profiles.examples(5), deadline=None)
@given(choices=CHOICES, depth=some.integers(1, 2))
def test_it_finds_what_a_simple_search_finds(
    setting: Setting, choices: list[int], depth: int
) -> None:
    state = setting.after(choices)
    ev = setting.weights(state)
    found = Minimax(state).search(state, ev, SearchLimits(depth=depth))
    assert found.value == simple_value(setting.rules, state, ev, depth)
    assert found.depth <= depth
    assert len(found.line) <= depth


@pytest.mark.parametrize("setting", one_by_one(SETTINGS))
def test_the_state_is_left_as_it_was(setting: Setting) -> None:
    state = setting.start()
    before = state.tobytes()
    for millis in (0, 2, 20):
        Minimax(state).search(state, setting.weights(state), SearchLimits(seconds=millis / 1000))
    assert state.tobytes() == before


def test_it_prefers_the_sooner_win_and_the_later_loss() -> None:
    won = rhombus(3, [(4, 8), (0, 1)])  # 4-7 fills the goal
    search = Minimax(won)
    ev = SETTINGS[0].weights(won)
    assert search.search(won, ev, SearchLimits(depth=6)).value == WIN_SCORE - 1
    lost = rhombus(3, [(2, 5), (0, 3)])  # the other wins with 3-1, whatever seat 0 does
    found = Minimax(lost).search(lost, ev, SearchLimits(depth=3))
    assert found.value == 2 - WIN_SCORE
    assert len(found.line) == 2


def test_a_called_off_search_answers_with_what_it_has() -> None:
    state, flag = SETTINGS[0].start(), CancelToken()
    flag.set()
    began = time.monotonic()
    found = Minimax(state).search(state, SETTINGS[0].weights(state), SearchLimits(cancelled=flag))
    assert found.action in SETTINGS[0].rules.legal(state)
    assert time.monotonic() - began < 100


def test_it_says_which_games_it_cannot_play() -> None:
    game: Any = registry.get("chinese-checkers")
    three = game.start(game.Options(), 3, {})
    assert Minimax.supports(game.info, three) == "chinese-checkers has 3 seats here, not 2"
    assert Minimax.supports(game.info, game.start(game.Options(), 2, {})) is None
    tanks: Any = registry.get("tanks")
    state = tanks.start(tanks.Options(), 4, tanks.deal(tanks.Options(), 4, 0))
    assert "hidden" in str(Minimax.supports(tanks.info, state))
