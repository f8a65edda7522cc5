"""The race stage."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.chinese_checkers import race_db
from kibitz_search.chinese_checkers.endgame import RaceEndgame

GAME: Any = registry.get("chinese-checkers")


def start(seats: int = 2, **options: Any) -> Any:
    return GAME.start(GAME.Options(**options), seats, {})


def crossed(state: Any, chance: random.Random, spread: float) -> Any:
    """Return a state with both players near their goals, far from each other."""
    pegs = []
    for seat in (0, 1):
        corner = int(state.goal[seat])
        order = sorted(
            range(int(state.holes)),
            key=lambda hole: table_steps(state, corner, hole) + spread * chance.random(),
        )
        pegs.append(order[: int(state.each)])
    view = GAME.view(state, None)
    return GAME.sample(view.model_copy(update={"pegs": pegs, "best": [999, 999]}), 0)


def table_steps(state: Any, goal: int, hole: int) -> int:
    from kibitz_search.chinese_checkers.separation import board_of, steps

    return int(steps(board_of(state), goal)[hole])


def ask(stage: RaceEndgame, state: Any, seconds: float = 0.0) -> Any:
    return stage.probe(state, SearchLimits(seconds))


@pytest.mark.slow
def test_in_the_triangle_every_turn_is_one_move_nearer() -> None:
    first = start(size=3)
    stage, race = RaceEndgame(first), race_db.for_board(first)
    for seed in range(10):
        state = crossed(first, random.Random(seed), 3.0)
        left = int(race_db.distance(race, race_db.mask_of(race, state, np.int64(0))))
        while left > 0:
            found = ask(stage, state)
            assert (found.depth, found.value) == (left, -left)
            assert len(found.line) == left
            GAME.play(state, found.action)
            left -= 1
            if GAME.outcome(state) is None and left > 0:
                op.set_side_to_move(state, np.int64(0))
        assert int(state.inside[0]) == int(state.each)


@pytest.mark.slow
def test_further_away_the_race_gets_shorter_every_turn_however_little_time_there_is() -> None:
    first = start(size=3)
    for seed in range(6):
        state, stage = crossed(first, random.Random(seed), 7.0), RaceEndgame(first)
        before = 99
        while int(state.inside[0]) < int(state.each):
            found = ask(stage, state)
            if found is None:
                assert before == 99  # in contact from the start
                break
            assert found.depth < before
            before = found.depth
            GAME.play(state, found.action)
            if GAME.outcome(state) is not None:
                break
            op.set_side_to_move(state, np.int64(0))


@pytest.mark.slow
def test_while_others_are_in_the_way_it_says_nothing() -> None:
    assert ask(RaceEndgame(start(size=3)), start(size=3)) is None
    assert ask(RaceEndgame(start(3, size=3)), start(3, size=3)) is None


def test_the_state_is_left_as_it_was() -> None:
    state = crossed(start(size=3), random.Random(3), 5.0)
    before = state.tobytes()
    ask(RaceEndgame(start(size=3)), state, 0.05)
    assert state.tobytes() == before


def test_it_says_where_it_has_no_database() -> None:
    assert "long jumps" in str(RaceEndgame.supports(start(long_jumps=True)))
    assert RaceEndgame.supports(start(size=3)) is None


@pytest.mark.slow
def test_the_race_of_the_last_turn_is_kept_by_a_bot_that_is_shown_views() -> None:
    """A state derived from a view is a new record each turn."""
    first, kept = start(size=3), 0
    for seed in range(6):
        state, stage = crossed(first, random.Random(seed), 7.0), RaceEndgame(first)
        planned = ()
        while int(state.inside[0]) < int(state.each):
            world = GAME.sample(GAME.View.model_validate(GAME.view(state, None).to_wire()), 0)
            rest = stage._rest(world, 0)
            assert (rest.actions if rest else ()) == planned
            kept += rest is not None
            found = ask(stage, world)
            if found is None or found.nodes <= 1:  # races within the triangle are not cached
                break
            planned = found.line[1:]
            GAME.play(state, found.action)
            op.set_side_to_move(state, np.int64(0))
    assert kept >= 3
