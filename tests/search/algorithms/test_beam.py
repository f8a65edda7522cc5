"""The beam search: planning the own moves within a number of positions per layer."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.beam import EARLY, Beam
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.chinese_checkers.evaluation import euclid, hand, stragglers

GAME: Any = registry.get("chinese-checkers")


def start(seats: int = 2, **options: Any) -> np.record:
    state: np.record = GAME.start(GAME.Options(**options), seats, {})
    return state


def tiny(pegs: tuple[int, ...]) -> np.record:
    """Return a rhombus of 9 holes with two given pegs of seat 0; its goal is 7 and 8."""
    state: Any = start(board="rhombus", size=3, pegs=2)
    seen = GAME.view(state, None).model_copy(update={"pegs": [list(pegs), [0, 1]], "best": [9, 9]})
    sampled: np.record = GAME.sample(seen, 0)
    return sampled


def best_plan(state: Any, ev: Any, seat: int, left: int, past: float = 0.0) -> tuple[float, float]:
    """Return what plans are compared by, and the value, of the best plan of `left` more moves."""
    best = (-np.inf, -np.inf)
    for action in GAME.legal(state):
        st: Any = state.copy()
        GAME.play(st, action)
        value = float(op.evaluate(ev, st, seat))
        if left == 1:
            best = max(best, (value + past, value))
        else:
            op.set_side_to_move(st, np.int64(seat))
            best = max(best, best_plan(st, ev, seat, left - 1, past + EARLY * value))
    return best


@pytest.mark.parametrize("evaluation", [euclid, stragglers])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_beam_that_leaves_nothing_out_finds_the_best_plan(evaluation: Any, depth: int) -> None:
    state = start(size=2)
    ev = evaluation(state)
    found = Beam(state, width=4096).search(state, ev, SearchLimits(depth=depth))
    assert found.value == best_plan(state, ev, 0, depth)[1]
    assert (found.depth, len(found.line)) == (depth, depth)


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_plans_are_legal_and_the_state_is_left_as_it_was(seats: int) -> None:
    state, chance = start(seats), random.Random(seats)
    search, ev = Beam(state, width=40), stragglers(state)
    for _ in range(8 * seats):
        before, seat = state.tobytes(), GAME.to_act(state)
        found = search.search(state, ev, SearchLimits(depth=4))
        assert state.tobytes() == before
        st = state.copy()
        for action in found.line:
            assert action in GAME.legal(st)
            GAME.play(st, action)
            op.set_side_to_move(st, np.int64(seat))
        assert found.value == op.evaluate(ev, st, np.int64(seat))
        GAME.play(state, chance.choice(GAME.legal(state)))


def test_a_wider_beam_searches_more_and_a_narrow_one_fewer() -> None:
    state = start(6)
    ev = stragglers(state)
    counts = [
        Beam(state, width=width).search(state, ev, SearchLimits(depth=5)).nodes
        for width in (1, 8, 32, 128)
    ]
    assert counts == sorted(set(counts))


def test_a_new_beam_needs_a_position_that_was_left_out() -> None:
    state = start(size=2)
    found = Beam(state, width=4096).search(state, hand(state), SearchLimits(depth=1))
    assert found.nodes == len(GAME.legal(state))


def test_it_wins_at_once_if_it_can_and_otherwise_as_soon_as_it_can() -> None:
    state = tiny((4, 8))  # 4-7 fills the goal
    found = Beam(state).search(state, hand(state), SearchLimits(depth=6))
    assert found.line == (4 * 9 + 7,)
    assert found.value == WIN_SCORE
    state, lengths = tiny((2, 5)), list[int]()
    while GAME.outcome(state) is None:
        found = Beam(state).search(state, hand(state), SearchLimits(depth=8))
        lengths.append(len(found.line))
        GAME.play(state, found.action)
        if GAME.outcome(state) is None:
            op.set_side_to_move(state, 0)
    assert lengths == list(range(lengths[0], 0, -1))


def test_the_seed_decides_among_equals() -> None:
    state = start()
    ev, search = euclid(state), Beam(state)
    founds = [search.search(state, ev, SearchLimits(seed=seed)) for seed in range(20)]
    assert len({found.value for found in founds}) == 1
    assert len({found.action for found in founds}) > 1
    assert search.search(state, ev, SearchLimits(seed=7)) == founds[7]


def test_the_result_of_an_unfinished_beam_is_not_used() -> None:
    state: Any = start()
    ev, first = (
        stragglers(state),
        Beam(state).search(state, stragglers(state), SearchLimits(depth=1)),
    )
    narrow = Beam(state, width=8).search(state, ev, SearchLimits(depth=9))
    for nodes, whole in ((first.nodes + 1, first), (narrow.nodes + 1, narrow)):
        found = Beam(state).search(state, ev, SearchLimits(depth=9, nodes=nodes))
        assert (found.line, found.value) == (whole.line, whole.value)


def test_the_only_move_takes_no_time() -> None:
    state: Any = start(board="rhombus", size=3, pegs=4)
    pegs = [[0, 1, 2, 3], [4, 5, 6, 7]]
    seen = GAME.view(state, None).model_copy(update={"pegs": pegs, "best": [9, 9]})
    walled = GAME.sample(seen, 0)
    (only,) = GAME.legal(walled)
    found = Beam(walled).search(walled, hand(walled), SearchLimits())
    assert (found.action, found.line) == (only, (only,))


def test_it_needs_a_game_that_lets_the_others_stand_still() -> None:
    state = np.zeros(1, np.dtype([("key", np.uint64)]))[0]
    assert "skipping turns" in str(Beam.supports(GAME.info, state))
    assert Beam.supports(GAME.info, start()) is None
