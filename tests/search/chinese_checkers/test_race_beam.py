"""The shortest solitary race."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.chinese_checkers import race_db
from kibitz_search.chinese_checkers.race_beam import RaceBeam, RaceLine
from kibitz_search.chinese_checkers.race_db import MOVE, guess

GAME: Any = registry.get("chinese-checkers")


def start(seats: int = 2, **options: Any) -> Any:
    return GAME.start(GAME.Options(**options), seats, {})


def with_pegs(state: Any, pegs: list[int]) -> Any:
    """Return the state with the given pegs of seat 0 and all of seat 1's in their goal."""
    view = GAME.view(state, None)
    others = list(range(int(state.each)))
    seen = view.model_copy(update={"pegs": [pegs, others], "best": [999, 999]})
    return GAME.sample(seen, 0)


def run(state: Any, course: RaceLine) -> bool:
    """Play a race without other moves; return whether the goal is full at its end."""
    st = state.copy()
    for action in course.actions:
        assert action in GAME.legal(st)
        GAME.play(st, action)
        if GAME.outcome(st) is None:
            op.set_side_to_move(st, np.int64(0))
    return int(st.inside[0]) == int(st.each)


def least(state: Any, most: int) -> int:
    """Return the minimum moves to a full goal, at most `most` + 1, with a plain search."""
    holes, each = int(state.holes), int(state.each)
    goal = frozenset(h for h in range(holes) if state.zone[h] == state.goal[0])
    layer = {frozenset(state.pegs[0, :each].tolist())}
    known = set(layer)
    for depth in range(most + 1):
        if goal in layer:
            return depth
        layer = {after for pegs in layer for after in moved(state, pegs)} - known
        known |= layer
    return most + 1


def moved(state: Any, pegs: frozenset[int]) -> list[frozenset[int]]:
    """Return the sets reachable with one move on an otherwise empty board, that of `state`."""
    rules.clear_board(state)
    for slot, hole in enumerate(sorted(pegs)):
        rules.put_peg(state, 0, slot, hole)
    moves = [divmod(action, int(state.holes)) for action in GAME.legal(state)]
    return [pegs - {origin} | {target} for origin, target in moves]


@pytest.mark.slow
def test_a_race_from_the_start_ends_in_the_goal() -> None:
    """The star of side 2: three pegs; a wide beam finds what a full search finds."""
    state = start(size=2)
    solo = RaceBeam(race_db.for_board(state))
    bare = state.copy()
    lengths = []
    for width in (4, 64, 1024):
        course = solo.find(state, 0, width)
        assert course is not None
        lengths.append(len(course.actions))
    assert lengths == sorted(lengths, reverse=True)
    assert state.tobytes() == bare.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_near_the_goal_no_race_is_shorter_on_the_whole_board(seed: int) -> None:
    """The table considers only paths inside the triangle; a search of all paths agrees."""
    state, chance = start(size=2), random.Random(seed)
    race = race_db.for_board(state)
    solo, goal = RaceBeam(race), int(state.goal[0])
    bits = chance.sample(range(10), 3)
    near = with_pegs(state, [int(race.hole[goal, bit]) for bit in bits])
    if GAME.outcome(near) is not None:
        return
    mask = int(race_db.mask_of(race, near, np.int64(0)))
    course = solo.exact(near, 0, mask)
    assert len(course.actions) == race_db.distance(race, np.int64(mask))
    assert len(course.actions) == least(near.copy(), 8)
    assert run(near, course)


@pytest.mark.slow
def test_from_outside_the_beam_finds_the_way_in() -> None:
    state = start(size=2)
    race = race_db.for_board(state)
    solo, shape = RaceBeam(race), int(state.holes)
    pegs = [shape // 2 - 1, shape // 2, shape // 2 + 1]
    middle = with_pegs(state, pegs)
    course = solo.find(middle, 0, 1024)
    assert course is not None
    assert run(middle, course)
    assert len(course.actions) == least(middle.copy(), 9)


def test_a_guess_is_exact_in_the_triangle_and_a_price_outside() -> None:
    state = start(size=3)
    race = race_db.for_board(state)
    full = with_pegs(state, [int(race.hole[3, bit]) for bit in range(6)])
    assert guess(race, full, np.int64(0)) == 0
    one = with_pegs(state, [int(race.hole[3, bit]) for bit in (0, 1, 2, 3, 4, 8)])
    assert guess(race, one, np.int64(0)) == MOVE
    assert guess(race, state, np.int64(0)) > 10 * MOVE


def test_the_stop_word_ends_it() -> None:
    state = start()
    solo = RaceBeam(race_db.for_board(start(size=3)))
    solo.ws.stop = 1
    assert solo.find(start(size=3), 0, 64) is None
    assert int(solo.ws.nodes) == 0
    assert state.ply == 0
