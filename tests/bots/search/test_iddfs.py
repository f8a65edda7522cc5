"""Planning the own moves ahead."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from kibitz_bots.evaluate.chinese_checkers import euclid, hand
from kibitz_bots.search.found import WON
from kibitz_bots.search.iddfs import DEEPEST, Iddfs
from kibitz_bots.search.limits import Limits
from kibitz_bots.search.one_ply import OnePly
from kibitz_bots.threads import Flag
from kibitz_games import operations as op
from kibitz_games import registry

GAME: Any = registry.get("chinese-checkers")


def start(seats: int = 2, **options: Any) -> np.record:
    state: np.record = GAME.start(GAME.Options(**options), seats, {})
    return state


def tiny(pegs: tuple[int, ...]) -> np.record:
    """Return a rhombus of 9 holes where seat 0, in the corner N, has these two pegs.

    The goal is holes 7 and 8; the other player's pegs stand in 0 and 1, out of the way.
    """
    state: Any = start(board="rhombus", size=3, pegs=2)
    view = GAME.view(state, None)
    seen = view.model_copy(update={"pegs": [list(pegs), [0, 1]], "best": [9, 9]})
    sampled: np.record = GAME.sample(seen, 0)
    return sampled


def plain_value(state: Any, ev: Any, seat: int, limit: int, been: list[int]) -> float:
    """Return the best value of a plan: the same search, written as simply as possible."""
    best, been = -np.inf, [*been, int(state.key)]
    for action in GAME.legal(state):
        st: Any = state.copy()
        GAME.play(st, action)
        value = float(op.evaluate(ev, st, seat))
        best = max(best, value)
        if limit > 1 and GAME.outcome(st) is None and value < WON:
            op.hold(st, np.int64(seat))
            if int(st.key) not in been:
                best = max(best, plain_value(st, ev, seat, limit - 1, been))
    return best


@pytest.mark.parametrize("evaluation", [euclid, hand])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_it_finds_what_a_simple_search_finds(evaluation: Any, depth: int) -> None:
    state = start(size=2)
    ev = evaluation(state)
    found = Iddfs(state).search(state, ev, Limits(depth=depth))
    assert found.value == plain_value(state, ev, 0, depth, [])
    assert found.depth == depth
    assert found.line[0] == found.action
    assert len(found.line) <= depth


def test_the_state_is_left_as_it_was() -> None:
    state = start()
    before = state.tobytes()
    Iddfs(state).search(state, hand(state), Limits(depth=3))
    assert state.tobytes() == before


def test_a_search_that_is_stopped_half_way_leaves_the_state_as_it_was_too() -> None:
    state = start(6)
    before = state.tobytes()
    search = Iddfs(state)
    for millis in (0, 1, 5, 20):
        found = search.search(state, hand(state), Limits(seconds=millis / 1000))
        assert found.action in GAME.legal(state)
        assert np.isfinite(found.value)
    assert state.tobytes() == before


def test_it_wins_at_once_if_it_can() -> None:
    state = tiny((4, 8))  # 4-7 fills the goal
    found = Iddfs(state).search(state, hand(state), Limits(depth=6))
    assert GAME.text(GAME.encode(state, found.action)) == "4-7"
    assert (found.value, found.line) == (WON, (found.action,))


def test_it_prefers_the_sooner_of_equal_outcomes_and_so_comes_to_the_end() -> None:
    state, search = tiny((2, 5)), Iddfs(tiny((2, 5)))
    ev = hand(state)
    lengths: list[int] = []
    while GAME.outcome(state) is None:
        found = search.search(state, ev, Limits(depth=6, seed=len(lengths)))
        assert found.value == WON
        lengths.append(len(found.line))
        GAME.play(state, found.action)
        if GAME.outcome(state) is None:
            op.hold(state, 0)
    assert lengths == list(range(lengths[0], 0, -1))
    assert GAME.outcome(state).reason == "goal"


def test_shuffling_to_and_fro_is_no_plan() -> None:
    """The others stand still, so a repetition that the rules would see means nothing."""
    state = start()
    GAME.play(state, GAME.legal(state)[0])
    found = Iddfs(state).search(state, hand(state), Limits(depth=4))
    assert found.value < WON
    assert len(set(found.line)) == len(found.line)


def test_it_plans_further_than_the_greedy_search() -> None:
    state = start()
    ev = hand(state)
    planned = Iddfs(state).search(state, ev, Limits(depth=3))
    assert planned.value > OnePly(state).search(state, ev, Limits()).value
    assert planned.nodes > 14**3


def test_the_seed_decides_among_equals_and_nothing_else() -> None:
    state = start()
    ev, search = euclid(state), Iddfs(state)
    founds = [search.search(state, ev, Limits(depth=1, seed=seed)) for seed in range(20)]
    assert len({found.value for found in founds}) == 1
    assert len({found.action for found in founds}) > 1
    again = search.search(state, ev, Limits(depth=1, seed=7))
    assert again.action == founds[7].action


def test_time_ends_it() -> None:
    state = start()
    search = Iddfs(state)
    search.search(state, hand(state), Limits(seconds=0))
    began = time.monotonic()
    found = search.search(state, hand(state), Limits(seconds=0.05))
    assert 1 <= found.depth < DEEPEST
    assert time.monotonic() - began < 5  # the whole search would take centuries


def test_a_turn_that_is_called_off_ends_it() -> None:
    state, flag = start(), Flag()
    flag.set()
    found = Iddfs(state).search(state, hand(state), Limits(called_off=flag))
    assert 1 <= found.depth < DEEPEST  # how deep depends on when the alarm looks


def test_a_depth_that_was_hardly_begun_does_not_decide() -> None:
    """Else the bot would play whichever move the unfinished depth began with."""
    state, flag = start(), Flag()
    flag.set()
    ev = hand(state)
    best = OnePly(state).search(state, ev, Limits()).value
    for seed in range(10):
        found = Iddfs(state).search(state, ev, Limits(called_off=flag, seed=seed))
        first = Iddfs(state).search(state, ev, Limits(depth=1, seed=seed))
        assert first.value == best
        assert found.depth >= 2 or found.line[0] == first.action


def test_a_move_without_alternative_takes_no_time() -> None:
    state = _forced()
    assert len(GAME.legal(state)) == 1
    found = Iddfs(state).search(state, hand(state), Limits())
    assert (found.depth, found.nodes) == (1, 1)


def _forced() -> np.record:
    """Return a state where the only action is a pass."""
    state: Any = start(board="rhombus", size=3, pegs=4)
    view = GAME.view(state, None)
    walled = view.model_copy(update={"pegs": [[0, 1, 2, 3], [4, 5, 6, 7]], "best": [9, 9]})
    sampled: np.record = GAME.sample(walled, 0)
    return sampled


def test_weights_change_without_compiling_again() -> None:
    state = start()
    search, ev = Iddfs(state), hand(state)
    before = search.search(state, ev, Limits(depth=1)).value
    ev.weights[:] = 0
    assert search.search(state, ev, Limits(depth=1)).value == 0 != before


def test_it_needs_a_game_that_lets_the_others_stand_still() -> None:
    dtype = np.dtype([("key", np.uint64)])
    state = np.zeros(1, dtype)[0]
    assert "stand still" in str(Iddfs.supports(GAME.info, state))
    assert Iddfs.supports(GAME.info, start()) is None
