"""The methods that `Game` provides to authors of games, besides the laws."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic_core import to_json

from kibitz_games.connect_four import ConnectFour, Move
from kibitz_games.core import registry
from kibitz_games.core.declared import BoardView, DeclaredView
from kibitz_games.core.game import GameError, InvalidSetup, Model, NoOptions
from kibitz_games.core.position import Position

GAME: Any = registry.get("connect-four")


def test_the_models_are_those_of_the_brackets() -> None:
    assert (GAME.Options, GAME.Move, GAME.View) == (NoOptions, Move, BoardView)


def test_a_name_that_never_was_is_named() -> None:
    with pytest.raises(AttributeError, match="'ConnectFour' object has no attribute 'colour'"):
        _ = GAME.colour


def test_other_numbers_of_seats_are_refused() -> None:
    with pytest.raises(InvalidSetup, match="seats: expected 2 players, not 3"):
        GAME.start(NoOptions(), 3, {})


@pytest.mark.parametrize("seat", [-1, 2])
def test_a_seat_that_does_not_exist_cannot_leave(seat: int) -> None:
    with pytest.raises(GameError, match=f"expected a seat from 0 to 1, not {seat}"):
        GAME.forfeit(GAME.start(NoOptions(), 2, {}), seat)


def test_a_game_that_hides_something_makes_its_own_views_or_is_not_made() -> None:
    made: dict[str, Any] = {"info": replace(ConnectFour.info, hidden=True)}
    for name in ("view", "referee_view", "sample"):
        with pytest.raises(
            TypeError, match=f"connect-four has hidden information.* override `{name}`"
        ):
            type("Hiding", (ConnectFour,), made)()
        made[name] = getattr(registry.get("tanks"), name)
    type("Hiding", (ConnectFour,), made)()


def test_a_game_that_skips_turns_has_the_action_or_is_not_made() -> None:
    made: dict[str, Any] = {"info": replace(ConnectFour.info, on_flag="skip")}
    with pytest.raises(TypeError, match=r"connect-four skips turns, .* override `skip`"):
        type("Skipping", (ConnectFour,), made)()
    made["skip"] = lambda self, state: 0
    assert type("Skipping", (ConnectFour,), made)().skip(None) == 0


def test_a_view_shows_only_what_the_state_has() -> None:
    class Other(Model):
        board: list[str]
        colour: int

    with pytest.raises(TypeError, match="no field 'colour' in the state"):
        DeclaredView(Other, GAME.state_type, GAME.reasons, GAME.symbols)


def test_a_view_shares_nothing_with_the_state() -> None:
    class Raw(Model):
        board: list[list[int]]
        to_act: int

    state = GAME.start(NoOptions(), 2, {})
    views = DeclaredView(Raw, GAME.state_type, GAME.reasons, GAME.symbols)
    before = views.view(state)
    GAME.play(state, 3)
    assert (before.board[5][3], views.view(state).board[5][3]) == (0, 1)
    assert views.view(views.state(views.view(state))) == views.view(state)


def test_a_game_with_views_of_its_own_does_not_inherit_how_others_are_written() -> None:
    five: Any = registry.get("five-in-a-row")

    class Blank(type(five)):  # type: ignore[misc]
        def view(self, state: Any, seat: int | None) -> Any:
            return super().view(state, seat).model_copy(update={"board": []})

    game = Blank()
    state = game.start(game.Options(), 2, {"first": 0})
    assert game.view_json(state, None) == to_json(game.view(state, None).to_wire())
    assert b'"board":[]' in game.view_json(state, None)
    assert game.legal_json(state, 200) == five.legal_json(state, 200)


def test_a_game_that_plays_by_itself_is_asked_who_acts_next() -> None:
    class Again(ConnectFour):
        def to_act(self, state: Any) -> int:
            return 0

    own = Again()
    state, usual = own.start(NoOptions(), 2, {}), GAME.start(NoOptions(), 2, {})
    assert (own.play_turn(state, 3), GAME.play_turn(usual, 3)) == (0, 1)
    assert state.tobytes() == usual.tobytes()


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda game: pickle.loads(pickle.dumps(game)),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", registry.names())
def test_a_copied_game_is_the_game(name: str, way: str) -> None:
    game = registry.get(name)
    Position(game).view(0)  # the game caches the parts of the defaults
    assert COPIES[way](game) is game
    for version in game.earlier_versions:
        earlier = game.at_version(version)
        assert COPIES[way](earlier) is earlier


class Unregistered(ConnectFour):
    pass


def test_a_game_that_is_not_registered_is_pickled_without_its_caches() -> None:
    game = Unregistered()
    Position(game).push_move("d")
    made = pickle.loads(pickle.dumps(game))
    assert type(made) is Unregistered
    assert Position(made).push_move("d") == 3
