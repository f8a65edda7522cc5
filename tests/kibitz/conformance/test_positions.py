"""Forced actions are found by search in every game that has them."""

from __future__ import annotations

import pytest

from kibitz.conformance.positions import ForcedPosition, find_forced, initial_state, option_variants
from kibitz_games.compiled import kernels
from kibitz_games.core import registry
from kibitz_games.core.game import Game, State


def position(game: Game, found: ForcedPosition) -> State:
    state = initial_state(game, found.options, found.seats, found.seed)
    assert state is not None
    for action in found.actions:
        game.play(state, action)
    return state


@pytest.fixture(params=["chinese-checkers", "five-in-a-row", "line-nim", "number-merge"])
def game(request: pytest.FixtureRequest) -> Game:
    kernels.set_mode("plain")
    return registry.get(request.param)


def test_the_seat_to_act_has_one_action(game: Game) -> None:
    found = find_forced(game, game.info.seats, 1)
    assert found is not None
    state = position(game, found)
    assert game.to_act(state) == found.seat
    assert len(game.legal(state)) == 1


def test_it_is_the_same_for_the_same_seed(game: Game) -> None:
    assert find_forced(game, game.info.seats, 2) == find_forced(game, game.info.seats, 2)


def test_a_pass_is_preferred() -> None:
    kernels.set_mode("plain")
    game = registry.get("chinese-checkers")
    found = find_forced(game, game.info.seats, 1)
    assert found is not None
    assert found.is_pass
    state = position(game, found)
    (action,) = game.legal(state)
    assert game.notation.cells(game.encode(state, action)) == ()


def test_variants_are_options_that_differ() -> None:
    game = registry.get("five-in-a-row")
    made = list(option_variants(game))
    assert {} in made
    assert {"size": 5} in made
    assert {"exact": True, "swap": True} in made
