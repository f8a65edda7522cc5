"""Whether other players' pegs can still interfere."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.chinese_checkers.separation import (
    board_of,
    foreign,
    is_separated,
    nearest_foreign,
    own_pegs,
    reach,
    rows,
    steps,
    undisturbed,
)
from tests.tools import profiles

GAME: Any = registry.get("chinese-checkers")


def start(seats: int = 2, **options: Any) -> Any:
    return GAME.start(GAME.Options(**options), seats, {})


def standing(seats: int, pegs: list[list[int]], **options: Any) -> Any:
    """Return a state with these pegs, seat 0 to act."""
    state = start(seats, **options)
    view = GAME.view(state, None)
    return GAME.sample(view.model_copy(update={"pegs": pegs, "best": [999] * seats}), 0)


def alone(state: Any, seat: int) -> Any:
    """Return the state without other players' pegs, for generating moves of `seat`."""
    bare = state.copy()
    rules.clear_board(bare)
    for slot, hole in enumerate(own_pegs(state, seat)):
        rules.put_peg(bare, seat, slot, hole)
    return bare


def homeward(state: Any, seat: int) -> list[int]:
    """Return the moves of the seat to act that end within its reach."""
    holes, zone = (
        int(state.holes),
        reach(board_of(state), int(state.goal[seat]), own_pegs(state, seat)),
    )
    legal = GAME.legal(state)
    return [action for action in legal if action < holes * holes and zone[action % holes]]


def scattered(chance: random.Random, seats: int, spread: int, options: dict[str, Any]) -> Any:
    """Return a state with all pegs near their own goals, rarer with distance."""
    state = start(seats, **options)
    shape, taken = board_of(state), set[int]()
    pegs = []
    for seat in range(seats):
        far = steps(shape, int(state.goal[seat]))
        order = sorted(range(shape.holes), key=lambda hole: far[hole] + spread * chance.random())
        free = [hole for hole in order if hole not in taken][: int(state.each)]
        taken |= set(free)
        pegs.append(free)
    return standing(seats, pegs, **options)


OPTIONS = [
    {},
    {"size": 3},
    {"size": 2},
    {"stop": "no-foreign"},
    {"stop": "no-active", "pass": False},
]


@given(
    st.integers(0, 2**32),
    st.sampled_from([2, 3, 4, 6]),
    st.integers(0, 9),
    st.sampled_from(OPTIONS),
)
@settings(
    max_examples=profiles.examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much],
)
def test_who_is_apart_moves_as_if_alone_for_ever(
    seed: int, seats: int, spread: int, options: dict[str, Any]
) -> None:
    """The definition, verified by playouts in which no player moves back."""
    chance = random.Random(seed)
    state = scattered(chance, seats, spread, options)
    seat = chance.randrange(seats)
    assume(is_separated(state, seat))
    for _ in range(40):
        if GAME.outcome(state) is not None or int(state.rank[seat]):
            break
        mover = int(state.side)
        if mover == seat:
            assert homeward(state, seat) == homeward(alone(state, seat), seat)
        moves = homeward(state, mover)
        if not moves:
            break
        GAME.play(state, chance.choice(moves))
        if GAME.outcome(state) is None and not int(state.rank[seat]):
            assert is_separated(state, seat)


def test_at_the_start_everybody_is_in_the_way() -> None:
    for seats in (2, 3, 4, 6):
        state = start(seats)
        assert not any(is_separated(state, seat) for seat in range(seats))


def test_at_the_goals_nobody_is() -> None:
    state = start(2)
    crossed = standing(2, [own_pegs(state, 1), own_pegs(state, 0)])
    assert is_separated(crossed, 0)
    assert is_separated(crossed, 1)


def test_one_straggler_is_enough_to_be_in_the_way() -> None:
    state = start(2)
    theirs = own_pegs(state, 0)
    assert not is_separated(standing(2, [own_pegs(state, 1), [*theirs[:9], 115]]), 0)


def test_long_jumps_are_never_apart() -> None:
    state = start(2)
    crossed = standing(2, [own_pegs(state, 1), own_pegs(state, 0)], long_jumps=True)
    assert not is_separated(crossed, 0)


def test_who_dropped_out_only_stands_where_it_stands() -> None:
    first = start(3)
    shape = board_of(first)
    arrived = [list(shape.home(int(first.goal[seat]), 10)) for seat in (0, 2)]
    state = standing(3, [arrived[0], own_pegs(first, 1), arrived[1]])
    assert foreign(state, 0).all()
    GAME.forfeit(state, 1)
    left = set(np.flatnonzero(foreign(state, 0)).tolist())
    assert left == {*own_pegs(first, 1), *arrived[1]}


def test_a_zone_is_undisturbed_when_nobody_comes_there() -> None:
    state = start(2)
    goal = list(board_of(state).home(3, 10))
    assert not undisturbed(state, 0, goal)
    crossed = standing(2, [own_pegs(state, 1), own_pegs(state, 0)])
    assert undisturbed(crossed, 0, goal)


@pytest.mark.parametrize(("board", "size"), geo.ALL, ids=str)
def test_rows_and_steps_count_from_the_tip(board: geo.Board, size: int) -> None:
    shape = geo.geometry(board, size)
    for goal in geo.corners_of(board):
        down, far = rows(shape, goal), steps(shape, goal)
        assert down[shape.tips[goal]] == far[shape.tips[goal]] == 0
        assert (down <= far).all()
        assert np.array_equal(down, rows(shape, (goal + 3) % 6).max() - rows(shape, (goal + 3) % 6))


def test_the_nearest_foreign_peg() -> None:
    assert nearest_foreign(start(2), 0) == 10
    assert nearest_foreign(start(6), 0) < 3
    state = start(2)
    assert op.to_act(state) == 0
