"""Observations computed directly from the state equal those from the view."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.conformance.laws import epsilon_greedy
from kibitz_games.core import learning, registry
from kibitz_games.core.game import TERMINAL, Game, Model, State
from kibitz_games.core.position import Position
from tests.games import cases

DATA = Path(__file__).parents[1] / "data"
PLY = re.compile(r"\s*\d+ seat (\d+)\s+(.*?)\s+of\s+\d+, key ([0-9a-f]{16})")

SHIPPED = (
    *("chinese-checkers", "tanks", "five-in-a-row"),
    *("line-nim", "number-merge", "connect-four", "tic-tac-toe"),
)
CASES = [
    pytest.param(*setup, id=f"{name}-{i}-{setup[2]}")
    for name in registry.names()
    for i, setup in enumerate(cases.setups(name))
]


def check_observations(game: Game, state: State) -> None:
    """Compare with the view for every seat, writing into dirty memory."""
    before = state.tobytes()
    for seat in range(int(state["seats"])):
        expected = game.features(game.view(state, seat), seat)
        out = np.full(expected.shape, np.nan, np.float32)
        assert learning.observe(game, state, seat, out) is out
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(learning.observe(game, state, seat), expected)
    assert learning.observation_shape(game, state) == expected.shape
    assert state.tobytes() == before


def check_dense_actions(game: Game, state: State) -> None:
    """Require one dense number for each legal action and a matching mask."""
    count, legal = learning.num_dense_actions(game, state), game.legal(state)
    numbers = [learning.dense_index(game, state, action) for action in legal]
    assert all(0 <= number < count for number in numbers)
    assert [learning.dense_action(game, state, number) for number in numbers] == legal
    assert np.flatnonzero(learning.action_mask(game, state)).tolist() == sorted(numbers)


LEAVING = [
    pytest.param(game, options, seats, True, id=f"{name}-{i}-{seats}-leaving")
    for name in registry.names()
    for i, (game, options, seats) in enumerate(cases.setups(name))
    if game.info.drops and seats > 2
]
"""Plays that continue when a seat leaves."""


@pytest.mark.parametrize(
    ("game", "options", "seats", "leaving"),
    [*(pytest.param(*case.values, False, id=case.id) for case in CASES), *LEAVING],
)
def test_random_plays(game: Game, options: Model, seats: int, leaving: bool) -> None:
    play, source = Position(game, options, seats, seed=9), random.Random(9)
    for ply in range(100_000):
        if ply < 25 or ply % 41 == 0 or play.to_act == TERMINAL:
            check_observations(game, play.state)
            check_dense_actions(game, play.state)
        if play.to_act == TERMINAL:
            break
        if leaving and source.random() < 0.02:
            play.forfeit(source.randrange(seats))
        else:
            play.push(epsilon_greedy(play.state, play.legal, source, 0.3))


def golden_positions(name: str) -> Iterator[Position]:
    """Yield the position after each ply of a game's golden playthrough."""
    lines = (DATA / f"playthrough-{name}.txt").read_text().splitlines()
    seats, deal = int(lines[0].split()[-2]), json.loads(lines[2].removeprefix("deal "))
    game = registry.get(name)
    options = game.Options.model_validate_json(lines[1].removeprefix("options "))
    play = Position(game, options, seats, deal=deal)
    for line in lines[3:]:
        if found := PLY.match(line):
            play.push_move(found[2])
            assert f"{play.key:016x}" == found[3]
            yield play


@pytest.mark.parametrize("name", registry.names())
def test_golden_plays(name: str) -> None:
    seen = 0
    for play in golden_positions(name):
        if seen < 40 or seen % 41 == 0 or play.to_act == TERMINAL:
            check_observations(play.game, play.state)
            check_dense_actions(play.game, play.state)
        seen += 1
    assert seen > 5


@pytest.mark.parametrize("name", [n for n in registry.names() if registry.get(n).info.hidden])
def test_worlds_that_are_the_same_for_a_seat_give_it_the_same_numbers(name: str) -> None:
    game = registry.get(name)
    play, source, other_worlds = Position(game, seed=5), random.Random(5), 0
    for _ in range(160):
        play.push(epsilon_greedy(play.state, play.legal, source))
        for seat in range(int(play.state["seats"])):
            world = game.sample(game.view(play.state, seat), source.randrange(2**32))
            other_worlds += world.tobytes() != play.state.tobytes()
            np.testing.assert_array_equal(
                learning.observe(game, world, seat), learning.observe(game, play.state, seat)
            )
    assert other_worlds > 100


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_game_has_its_own(name: str) -> None:
    dtype = registry.get(name).state_type
    assert op.offers(dtype, "observe")
    assert op.offers(dtype, "num_dense")
    game = registry.get(name)
    counted = bool(game.points(Position(game).state))
    assert op.offers(dtype, "points") == counted


@pytest.mark.parametrize("name", registry.names())
def test_every_dense_number_is_an_action_of_its_own(name: str) -> None:
    for game, options, seats in cases.setups(name):
        state = Position(game, options, seats).state
        count = learning.num_dense_actions(game, state)
        actions = [learning.dense_action(game, state, number) for number in range(count)]
        assert len(set(actions)) == count
        assert [learning.dense_index(game, state, action) for action in actions] == list(
            range(count)
        )


def test_boards_have_no_padding() -> None:
    five = registry.get("five-in-a-row")
    sizes = {"size": 10}, {"size": 10, "swap": True}
    states = [Position(five, five.Options.model_validate(size)).state for size in sizes]
    assert [learning.num_dense_actions(five, state) for state in states] == [100, 102]


def test_a_game_without_the_operation_goes_through_its_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = registry.get("connect-four")
    play = Position(game)
    for action in (3, 3, 2):
        play.push(action)
    expected = learning.observe(game, play.state, 1)
    monkeypatch.setattr(learning, "_offers", lambda game, name: False)
    np.testing.assert_array_equal(learning.observe(game, play.state, 1), expected)
    out = np.full(expected.shape, np.nan, np.float32)
    np.testing.assert_array_equal(learning.observe(game, play.state, 1, out), expected)
    assert learning.num_dense_actions(game, play.state) == 7


def test_points_are_the_games_own_count() -> None:
    for name in ("tanks", "number-merge"):
        play, source = Position(registry.get(name), seed=3), random.Random(3)
        for _ in range(3):
            play.push(source.choice(play.legal))
        out = np.full(op.MAX_SEATS, np.nan)
        op.points(play.state, out)
        seats = int(play.state["seats"])
        assert tuple(out[:seats]) == play.game.points(play.state)


def test_an_array_of_another_kind_is_refused() -> None:
    """Machine code would write into a copy of it, and the result would be lost."""
    play = Position(registry.get("tanks"))
    shape = learning.observation_shape(play.game, play.state)
    others: list[Any] = [np.zeros(shape), np.zeros(shape[::-1], np.float32).T]
    for out in others:
        with pytest.raises(ValueError, match="out: expected a contiguous float32 array"):
            learning.observe(play.game, play.state, 0, out)
