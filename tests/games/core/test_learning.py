"""A `Stepper` shows the same as the rules and the observations of the game."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_games.core import learning, registry
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.position import Position

PLIES = 40


def check(stepper: learning.Stepper, seat: int, play: Position) -> None:
    """Compare a stepper after an action with a position."""
    game, state = play.game, play.state
    assert seat == play.to_act
    assert stepper.state.tobytes() == state.tobytes()
    numbers = [learning.dense_index(game, state, action) for action in play.legal]
    assert np.flatnonzero(stepper.mask).tolist() == sorted(numbers)
    for viewer in range(int(state["seats"])):
        expected = game.features(game.view(state, viewer), viewer)
        np.testing.assert_array_equal(stepper.observe(viewer), expected)
        if viewer == max(seat, 0):
            np.testing.assert_array_equal(stepper.seen, expected)


@pytest.mark.parametrize("by_view", [False, True])
@pytest.mark.parametrize("name", registry.names())
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32), luck=st.randoms(use_true_random=False))
def test_steps_are_those_of_the_rules(name: str, by_view: bool, seed: int, luck: Any) -> None:
    game = registry.get(name)
    play = Position(game, seats=luck.choice(game.info.seats), seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        if by_view:
            patch.setattr(learning, "_offers", lambda game, operation: operation != "observe")
        stepper = learning.Stepper(game, play.state)
    seat = stepper.start(play.state)
    check(stepper, seat, play)
    for _ in range(PLIES):
        if seat == TERMINAL:
            break
        action = luck.choice(play.legal)
        seat = stepper.step(learning.dense_index(game, play.state, action))
        play.push(action)
        check(stepper, seat, play)


@pytest.mark.parametrize("name", registry.names())
def test_rewards_follow_the_scores(name: str) -> None:
    game = registry.get(name)
    play = Position(game, seats=max(game.info.seats), seed=1)
    while play.to_act != TERMINAL:
        play.forfeit(play.to_act)
    outcome = play.outcome
    assert outcome is not None
    stepper = learning.Stepper(game, Position(game, seats=max(game.info.seats), seed=1).state)
    assert stepper.start(play.state) == TERMINAL
    assert not stepper.mask.any()
    assert stepper.rewards() == [2 * score - 1 for score in outcome.scores]


@pytest.mark.parametrize("name", registry.names())
def test_an_illegal_number_changes_nothing(name: str) -> None:
    game = registry.get(name)
    play = Position(game, seed=2)
    stepper = learning.Stepper(game, play.state)
    stepper.start(play.state)
    if game.info.name == "connect-four":
        for _ in range(6):
            stepper.step(3)
    before = pickle.dumps(stepper)
    illegal = [*np.flatnonzero(stepper.mask == 0).tolist(), len(stepper.mask), 2**62]
    for number in illegal:
        assert stepper.step(number) == learning.ILLEGAL
    assert pickle.dumps(stepper) == before


@pytest.mark.parametrize("way", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copy_has_its_own_state(way: Callable[[Any], Any]) -> None:
    game = registry.get("connect-four")
    play = Position(game)
    stepper = learning.Stepper(game, play.state)
    stepper.start(play.state)
    stepper.step(3)
    twin = way(stepper)
    twin.step(2)
    play.push(3)
    check(stepper, 1, play)
    play.push(2)
    check(twin, 0, play)
