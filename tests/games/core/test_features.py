"""The features for learners in every game: numbers with a fixed shape and range."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kibitz_games.core import learning, registry
from kibitz_games.core.game import TERMINAL, Game, Model
from kibitz_games.core.position import Position
from tests.games import cases

CASES = [
    pytest.param(*setup, id=f"{name}-{i}-{setup[2]}")
    for name in registry.names()
    for i, setup in enumerate(cases.setups(name))
]


@pytest.mark.parametrize(("game", "options", "seats"), CASES)
def test_features_keep_their_shape_and_range(game: Game, options: Model, seats: int) -> None:
    play, source = Position(game, options, seats, seed=4), random.Random(4)
    shape = game.features(play.view(0), 0).shape
    assert 1 <= len(shape) <= 3
    for _ in range(25):
        for seat in range(seats):
            seen = game.features(play.view(seat), seat)
            assert seen.shape == shape
            assert seen.dtype == np.dtype(np.float32)
            assert np.abs(seen).max() <= 1
        if play.to_act == TERMINAL:
            break
        count = learning.num_dense_actions(game, play.state)
        assert all(
            0 <= learning.dense_index(game, play.state, action) < count for action in play.legal
        )
        play.push(source.choice(play.legal))


@pytest.mark.parametrize("name", registry.names())
def test_a_move_changes_what_its_seat_sees(name: str) -> None:
    play, changed = Position(registry.get(name), seed=2), False
    while not changed and play.to_act != TERMINAL:
        seat = play.to_act
        before = play.game.features(play.view(seat), seat)
        play.push(play.legal[0])
        changed = not np.array_equal(before, play.game.features(play.view(seat), seat))
    assert changed
