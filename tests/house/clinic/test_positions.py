"""Forced actions are found by looking, in every game that has them."""

from __future__ import annotations

import pytest

from kibitz.clinic.positions import Forced, forced, start, variants
from kibitz_games import kernels, registry
from kibitz_games.api import Game, State


def position(game: Game, found: Forced) -> State:
    state = start(game, found.options, found.seats, found.seed)
    assert state is not None
    for action in found.actions:
        game.play(state, action)
    return state


@pytest.fixture(params=["chinese-checkers", "five-in-a-row", "line-nim", "number-merge"])
def game(request: pytest.FixtureRequest) -> Game:
    kernels.choose("plain")
    return registry.get(request.param)


def test_the_seat_to_act_has_one_action(game: Game) -> None:
    found = forced(game, game.info.seats, 1)
    assert found is not None
    state = position(game, found)
    assert game.to_act(state) == found.seat
    assert len(game.legal(state)) == 1


def test_it_is_the_same_for_the_same_seed(game: Game) -> None:
    assert forced(game, game.info.seats, 2) == forced(game, game.info.seats, 2)


def test_a_pass_is_preferred() -> None:
    kernels.choose("plain")
    game = registry.get("chinese-checkers")
    found = forced(game, game.info.seats, 1)
    assert found is not None
    assert found.is_pass
    state = position(game, found)
    (action,) = game.legal(state)
    assert game.touches(game.encode(state, action)) == ()


def test_variants_are_options_that_differ() -> None:
    game = registry.get("five-in-a-row")
    made = list(variants(game))
    assert {} in made
    assert {"size": 5} in made
    assert {"exact": True, "swap": True} in made
