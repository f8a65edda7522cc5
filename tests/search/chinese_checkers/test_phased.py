"""The planner and the champion: their search, and the exact race at the end."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.beam import Beam
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.chinese_checkers import race_db
from kibitz_search.chinese_checkers.evaluation import stragglers
from kibitz_search.chinese_checkers.guided import GuidedMcts
from kibitz_search.chinese_checkers.learned import guided
from kibitz_search.chinese_checkers.phased import Champion, SoloPlanner
from kibitz_search.chinese_checkers.separation import undisturbed

GAME: Any = registry.get("chinese-checkers")
ENDINGS = 200
BRIEF = SearchLimits(seconds=0.001, seed=1)


def start(seats: int, **options: Any) -> Any:
    return GAME.start(GAME.Options(**options), seats, {})


def ending(seats: int, race: Any, chance: random.Random) -> Any:
    """Return a position in which the pegs of seat 0 are near its goal and all others in theirs.

    One peg of each other player stands in front of its goal.
    """
    state = start(seats)
    own = chance.sample(race.hole[int(state.goal[0])].tolist(), int(state.each))
    pegs = [own]
    for seat in range(1, seats):
        near = race.hole[int(state.goal[seat])].tolist()[: int(state.each) + 1]
        near.pop(chance.randrange(int(state.each)))
        pegs.append(near)
    view = GAME.view(state, None)
    return GAME.sample(view.model_copy(update={"pegs": pegs, "best": [999] * seats}), 0)


@pytest.mark.parametrize("kind", [SoloPlanner, Champion])
def test_no_move_is_wasted_in_undisturbed_endings(kind: Any) -> None:
    """The race takes as many moves as the database says; the others stand still."""
    race = race_db.for_board(start(2))
    searches = {seats: kind(start(seats)) for seats in (2, 3)}
    weights = {seats: guided(start(seats)) for seats in searches}
    for seed in range(ENDINGS):
        seats = 2 + seed % 2
        state = ending(seats, race, random.Random(seed))
        assert undisturbed(state, 0, race.hole[int(state.goal[0])].tolist())
        left = int(race_db.distance(race, race_db.mask_of(race, state, np.int64(0))))
        for _ in range(left):
            assert not state.rank[0]
            op.set_side_to_move(state, np.int64(0))
            GAME.play(state, searches[seats].search(state, weights[seats], BRIEF).action)
        assert int(state.inside[0]) == int(state.each)


@pytest.mark.parametrize(("kind", "middle"), [(SoloPlanner, Beam), (Champion, GuidedMcts)])
def test_before_the_race_it_plays_the_move_of_its_search(kind: Any, middle: Any) -> None:
    state = start(3)
    ev = stragglers(state)
    limits = SearchLimits(nodes=500, seed=5)
    assert kind(state).search(state, ev, limits) == middle(state).search(state, ev, limits)


@pytest.mark.parametrize("kind", [SoloPlanner, Champion])
def test_without_a_database_it_only_searches(kind: Any) -> None:
    state = start(2, long_jumps=True)
    found = kind(state).search(state, stragglers(state), BRIEF)
    assert found.action in GAME.legal(state)


def test_parameters_are_those_of_the_search() -> None:
    state: Any = start(6)
    found = SoloPlanner(state, width=8).search(state, stragglers(state), SearchLimits(depth=3))
    assert found == Beam(state, width=8).search(state, stragglers(state), SearchLimits(depth=3))
