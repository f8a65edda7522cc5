"""IDDFS: planning only the own moves ahead."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.iddfs import MAX_DEPTH, Iddfs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.cancellation import CancelToken
from kibitz_search.chinese_checkers.evaluation import euclid, hand

GAME: Any = registry.get("chinese-checkers")


def start(seats: int = 2, **options: Any) -> np.record:
    state: np.record = GAME.start(GAME.Options(**options), seats, {})
    return state


def tiny(pegs: tuple[int, ...]) -> np.record:
    """Return a rhombus of 9 holes with two given pegs of seat 0, from the corner N.

    The goal is holes 7 and 8; the other player's pegs are in 0 and 1, out of the way.
    """
    state: Any = start(board="rhombus", size=3, pegs=2)
    view = GAME.view(state, None)
    seen = view.model_copy(update={"pegs": [list(pegs), [0, 1]], "best": [9, 9]})
    sampled: np.record = GAME.sample(seen, 0)
    return sampled


def plain_value(state: Any, ev: Any, seat: int, limit: int, been: list[int]) -> float:
    """Return the best value of a plan, with a minimal reference search."""
    best, been = -np.inf, [*been, int(state.key)]
    for action in GAME.legal(state):
        st: Any = state.copy()
        GAME.play(st, action)
        value = float(op.evaluate(ev, st, seat))
        best = max(best, value)
        if limit > 1 and GAME.outcome(st) is None and value < WIN_SCORE:
            op.set_side_to_move(st, np.int64(seat))
            if int(st.key) not in been:
                best = max(best, plain_value(st, ev, seat, limit - 1, been))
    return best


@pytest.mark.parametrize("evaluation", [euclid, hand])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_it_finds_what_a_simple_search_finds(evaluation: Any, depth: int) -> None:
    state = start(size=2)
    ev = evaluation(state)
    found = Iddfs(state).search(state, ev, SearchLimits(depth=depth))
    assert found.value == plain_value(state, ev, 0, depth, [])
    assert found.depth == depth
    assert found.line[0] == found.action
    assert len(found.line) <= depth


def test_the_state_is_left_as_it_was() -> None:
    state = start()
    before = state.tobytes()
    Iddfs(state).search(state, hand(state), SearchLimits(depth=3))
    assert state.tobytes() == before


def test_a_search_that_is_stopped_half_way_leaves_the_state_as_it_was_too() -> None:
    state = start(6)
    before = state.tobytes()
    search = Iddfs(state)
    for millis in (0, 1, 5, 20):
        found = search.search(state, hand(state), SearchLimits(seconds=millis / 1000))
        assert found.action in GAME.legal(state)
        assert np.isfinite(found.value)
    assert state.tobytes() == before


def test_it_wins_at_once_if_it_can() -> None:
    state = tiny((4, 8))  # 4-7 fills the goal
    found = Iddfs(state).search(state, hand(state), SearchLimits(depth=6))
    assert GAME.notation.format(GAME.encode(state, found.action)) == "4-7"
    assert (found.value, found.line) == (WIN_SCORE, (found.action,))


def test_it_prefers_the_sooner_of_equal_outcomes_and_so_comes_to_the_end() -> None:
    state, search = tiny((2, 5)), Iddfs(tiny((2, 5)))
    ev = hand(state)
    lengths: list[int] = []
    while GAME.outcome(state) is None:
        found = search.search(state, ev, SearchLimits(depth=6, seed=len(lengths)))
        assert found.value == WIN_SCORE
        lengths.append(len(found.line))
        GAME.play(state, found.action)
        if GAME.outcome(state) is None:
            op.set_side_to_move(state, 0)
    assert lengths == list(range(lengths[0], 0, -1))
    assert GAME.outcome(state).reason == "goal"


def test_shuffling_to_and_fro_is_no_plan() -> None:
    """The others do not move, so repetitions do not count."""
    state = start()
    GAME.play(state, GAME.legal(state)[0])
    found = Iddfs(state).search(state, hand(state), SearchLimits(depth=4))
    assert found.value < WIN_SCORE
    assert len(set(found.line)) == len(found.line)


def test_it_plans_further_than_the_greedy_search() -> None:
    state = start()
    ev = hand(state)
    planned = Iddfs(state).search(state, ev, SearchLimits(depth=3))
    assert planned.value > Greedy(state).search(state, ev, SearchLimits()).value
    assert planned.nodes > 14**3


def test_the_seed_decides_among_equals_and_nothing_else() -> None:
    state = start()
    ev, search = euclid(state), Iddfs(state)
    founds = [search.search(state, ev, SearchLimits(depth=1, seed=seed)) for seed in range(20)]
    assert len({found.value for found in founds}) == 1
    assert len({found.action for found in founds}) > 1
    again = search.search(state, ev, SearchLimits(depth=1, seed=7))
    assert again.action == founds[7].action


def test_time_ends_it() -> None:
    state = start()
    search = Iddfs(state)
    search.search(state, hand(state), SearchLimits(seconds=0))
    began = time.monotonic()
    found = search.search(state, hand(state), SearchLimits(seconds=0.05))
    assert 1 <= found.depth < MAX_DEPTH
    assert time.monotonic() - began < 5  # the complete search would take centuries


def test_a_turn_that_is_called_off_ends_it() -> None:
    state, flag = start(), CancelToken()
    flag.set()
    found = Iddfs(state).search(state, hand(state), SearchLimits(cancelled=flag))
    assert 1 <= found.depth < MAX_DEPTH  # the depth depends on when the alarm checks


def test_a_depth_that_was_hardly_begun_does_not_decide() -> None:
    """Otherwise the bot would play the first move of the unfinished depth."""
    state, flag = start(), CancelToken()
    flag.set()
    ev = hand(state)
    best = Greedy(state).search(state, ev, SearchLimits()).value
    for seed in range(10):
        found = Iddfs(state).search(state, ev, SearchLimits(cancelled=flag, seed=seed))
        first = Iddfs(state).search(state, ev, SearchLimits(depth=1, seed=seed))
        assert first.value == best
        assert found.depth >= 2 or found.line[0] == first.action


def test_a_move_without_alternative_takes_no_time() -> None:
    state = _forced()
    assert len(GAME.legal(state)) == 1
    found = Iddfs(state).search(state, hand(state), SearchLimits())
    assert (found.depth, found.nodes) == (1, 1)


def _forced() -> np.record:
    """Return a state whose only action is a pass."""
    state: Any = start(board="rhombus", size=3, pegs=4)
    view = GAME.view(state, None)
    walled = view.model_copy(update={"pegs": [[0, 1, 2, 3], [4, 5, 6, 7]], "best": [9, 9]})
    sampled: np.record = GAME.sample(walled, 0)
    return sampled


def test_weights_change_without_compiling_again() -> None:
    state = start()
    search, ev = Iddfs(state), hand(state)
    before = search.search(state, ev, SearchLimits(depth=1)).value
    ev.weights[:] = 0
    assert search.search(state, ev, SearchLimits(depth=1)).value == 0 != before


def test_it_needs_a_game_that_lets_the_others_stand_still() -> None:
    dtype = np.dtype([("key", np.uint64)])
    state = np.zeros(1, dtype)[0]
    assert "skipping turns" in str(Iddfs.supports(GAME.info, state))
    assert Iddfs.supports(GAME.info, start()) is None
