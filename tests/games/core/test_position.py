from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL, IllegalAction, InvalidSetup
from kibitz_games.core.position import Forfeited, Played, Position
from tests.tools.numbers import Tensor

GAME = registry.get("chinese-checkers")


def test_a_play_folds_moves_into_a_state() -> None:
    play = Position(GAME)
    assert (play.to_act, play.outcome, play.seats) == (0, None, 2)
    assert play.push_move("6-14") == 6 * 121 + 14
    assert play.push_move(GAME.notation.parse("114-106")) == 114 * 121 + 106
    assert play.history == [Played(0, 740), Played(1, 13900)]
    assert play.scene().marks


def test_entries_and_setup_determine_the_state() -> None:
    source = random.Random(5)
    play = Position(GAME, seats=4)
    for ply in range(40):
        if ply == 20:
            play.forfeit(2)
        play.push(source.choice(play.legal))
    again = Position(GAME, seats=4)
    again.replay(play.history)
    assert again.state.tobytes() == play.state.tobytes()
    assert Forfeited(2) in again.history


def test_undo_takes_back_actions_but_not_drops() -> None:
    play = Position(GAME, seats=3)
    start = play.state.tobytes()
    play.push(play.legal[0])
    play.pop()
    assert play.state.tobytes() == start
    assert not play.history
    with pytest.raises(IllegalAction, match="no action"):
        play.pop()
    play.forfeit(1)
    with pytest.raises(IllegalAction, match="no action"):
        play.pop()


def test_an_illegal_move_changes_nothing() -> None:
    play = Position(GAME)
    before = play.state.tobytes()
    with pytest.raises(IllegalAction, match="no step"):
        play.push_move("3-60")
    assert play.state.tobytes() == before
    assert not play.history


def test_a_play_that_is_over_has_an_outcome() -> None:
    play = Position(GAME)
    play.forfeit(0)
    assert play.to_act == TERMINAL
    assert play.outcome is not None
    assert play.outcome.ranks == (2, 1)
    assert not play.legal


def test_a_bad_setup_is_refused() -> None:
    with pytest.raises(InvalidSetup, match="seats"):
        Position(GAME, seats=7)


def test_a_copy_shares_nothing() -> None:
    play = Position(GAME, seats=3, seed=4)
    play.push(play.legal[0])
    copied = play.copy()
    assert (copied.seats, copied.seed, copied.options) == (3, 4, play.options)
    assert (copied.state.tobytes(), copied.history) == (play.state.tobytes(), play.history)
    copied.push(copied.legal[0])
    assert len(play.history) == 1
    assert copied.pop() == copied.legal[0]
    assert copied.state.tobytes() == play.state.tobytes()


def test_a_position_of_a_state_does_not_change_it() -> None:
    play = Position(GAME)
    found = Position.from_state(GAME, play.state)
    found.push(found.legal[0])
    assert found.state.tobytes() != play.state.tobytes()
    assert (found.seats, found.options, found.deal) == (2, None, None)
    assert found.pop() in play.legal


@pytest.mark.parametrize("name", registry.names())
def test_a_position_of_a_view_looks_the_same(name: str) -> None:
    play = Position(registry.get(name), seed=3)
    for _ in range(6):
        play.push(play.legal[-1])
    seat = play.to_act
    found = Position.from_view(play.game, play.view(seat), seed=9)
    assert found.view(seat) == play.view(seat)
    assert (found.to_act, found.legal) == (seat, play.legal)


@pytest.mark.parametrize("name", registry.names())
def test_a_random_playout_ends_and_leaves_the_position(name: str) -> None:
    play = Position(registry.get(name), seed=3)
    before = play.state.tobytes()
    outcomes = [play.random_playout(random.Random(seed)) for seed in (1, 1, 2)]
    assert outcomes[0] == outcomes[1]
    assert all(min(outcome.ranks) == 1 for outcome in outcomes)
    assert (play.state.tobytes(), play.history) == (before, [])


def test_actions_are_written_as_moves_are_read() -> None:
    play = Position(GAME)
    for action in play.legal:
        assert play.push_move(play.format(action)) == action
        assert play.pop() == action
    assert play.move(play.legal[0]) == GAME.encode(play.state, play.legal[0])
    assert play.key == int(play.state["key"])


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda play: pickle.loads(pickle.dumps(play)),
}


@pytest.mark.parametrize("way", ["deepcopy", "pickle"])
@pytest.mark.parametrize("plies", [0, 5, 10_000])
@pytest.mark.parametrize("name", registry.names())
def test_a_copied_position_is_played_on_by_itself(name: str, plies: int, way: str) -> None:
    """It is copied at the start, in the middle and, with a large ply, at the end."""
    play, source = Position(registry.get(name), seed=3), random.Random(1)
    for _ in range(plies):
        if play.to_act == TERMINAL:
            break
        play.push(source.choice(play.legal))
    twin = COPIES[way](play)
    before = play.state.tobytes()
    assert twin.game is play.game
    assert (twin.options, twin.seats, twin.seed, twin.deal) == (
        play.options,
        play.seats,
        play.seed,
        play.deal,
    )
    assert (twin.history, twin.outcome, twin.legal) == (play.history, play.outcome, play.legal)
    assert twin.view(0) == play.view(0)
    if twin.to_act == TERMINAL:
        twin.pop()
    else:
        twin.push(twin.legal[0])
        twin.pop()
        assert twin.state.tobytes() == before
        twin.push(twin.legal[0])
    assert play.state.tobytes() == before


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", registry.names())
def test_a_copied_state_is_one_that_the_rules_work_on(name: str, way: str) -> None:
    play = Position(registry.get(name))
    twin, before = COPIES[way](play.state), play.state.tobytes()
    play.game.play(twin, play.legal[0])
    assert play.state.tobytes() == before


@pytest.mark.parametrize("way", ["deepcopy", "pickle"])
def test_a_position_under_earlier_rules_is_copied_too(way: str) -> None:
    earlier = [
        (game, version)
        for game in map(registry.get, registry.names())
        for version in game.earlier_versions
    ]
    assert earlier
    for game, version in earlier:
        play = Position(game.at_version(version))
        twin = COPIES[way](play)
        assert twin.game is play.game
        assert twin.options == play.options


@pytest.mark.parametrize("number", [int, np.int8, np.uint16, np.int64, np.array, Tensor])
def test_an_action_may_be_an_integer_of_any_type(number: Callable[[int], Any]) -> None:
    play = Position(registry.get("connect-four"))
    play.push(number(3))
    assert play.history == [Played(0, 3)]
    assert type(play.pop()) is int


@pytest.mark.parametrize(
    "wrong",
    [True, np.True_, Tensor(1, "torch.bool"), 3.0, np.float64(3), "3", None, np.ones(2, int)],
)
def test_what_is_no_integer_is_no_action(wrong: Any) -> None:
    play = Position(registry.get("connect-four"))
    with pytest.raises(TypeError, match=r"expected an action such as position\.legal\[0\], not"):
        play.push(wrong)
    assert not play.history
