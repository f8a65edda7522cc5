"""The greedy search, and local matches between searches of personalities."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.iddfs import Iddfs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.chinese_checkers.evaluation import euclid, hand

GAME: Any = registry.get("chinese-checkers")
Chooser = Callable[[np.record, str], int]


def greedy(evaluation: Any, state: np.record) -> Chooser:
    search, ev = Greedy(state), evaluation(state)
    return lambda st, seed: search.search(st, ev, SearchLimits(seed=seed)).action


def planning(evaluation: Any, state: np.record, depth: int) -> Chooser:
    search, ev = Iddfs(state), evaluation(state)
    return lambda st, seed: search.search(st, ev, SearchLimits(depth=depth, seed=seed)).action


def anyhow(st: np.record, seed: str) -> int:
    actions: list[int] = GAME.legal(st)
    return random.Random(seed).choice(actions)


def play(choosers: list[Chooser], seed: int, opening: int = 4, **options: Any) -> Position:
    """Play one match after some random moves; chooser i plays seat i."""
    match, chance = Position(GAME, GAME.Options(**options), len(choosers)), random.Random(seed)
    for _ in range(opening):
        match.push(chance.choice(match.legal))
    while match.outcome is None:
        state: Any = match.state
        match.push(choosers[match.to_act](state, f"{seed}/{len(match.history)}"))
    return match


def duel(a: Chooser, b: Chooser, games: int, **options: Any) -> float:
    """Return the share of points of `a` against `b`, alternating seats."""
    points = 0.0
    for seed in range(games):
        seat = seed % 2
        outcome = play([a, b] if seat == 0 else [b, a], seed, **options).outcome
        assert outcome is not None
        points += outcome.scores[seat]
    return points / games


def start(seats: int = 2, **options: Any) -> np.record:
    state: np.record = GAME.start(GAME.Options(**options), seats, {})
    return state


def test_it_takes_the_best_move() -> None:
    state = start()
    ev = hand(state)
    found = Greedy(state).search(state, ev, SearchLimits())
    worths = {}
    for action in GAME.legal(state):
        st = state.copy()
        GAME.play(st, action)
        worths[action] = float(op.evaluate(ev, st, 0))
    assert found.value == max(worths.values()) == worths[found.action]
    assert found.nodes == len(worths)


def test_the_state_is_left_as_it_was() -> None:
    state = start(6)
    before = state.tobytes()
    Greedy(state).search(state, hand(state), SearchLimits())
    assert state.tobytes() == before


def test_equals_are_chosen_by_seed() -> None:
    state = start()
    search, ev = Greedy(state), euclid(state)
    actions = [search.search(state, ev, SearchLimits(seed=seed)).action for seed in range(30)]
    assert len(set(actions)) > 1
    assert search.search(state, ev, SearchLimits(seed=3)).action == actions[3]


def test_the_last_move_of_a_won_match_is_found_and_worth_a_win() -> None:
    match = play([greedy(hand, start(size=2))] * 2, seed=5, size=2)
    match.pop()
    state: Any = match.state
    found = Greedy(state).search(state, hand(state), SearchLimits())
    assert found.value == WIN_SCORE
    match.push(found.action)
    assert match.outcome is not None
    assert match.outcome.reason == "goal"


@pytest.mark.parametrize(
    ("seats", "options"),
    [
        (2, {}),
        (3, {}),
        (4, {}),
        (5, {}),
        (6, {}),
        (2, {"size": 2}),
        (6, {"size": 3}),
        (2, {"board": "rhombus"}),
        (2, {"sticky_goal": True}),
        (4, {"stop": "no-foreign"}),
    ],
)
def test_greedy_players_come_to_the_end(seats: int, options: dict[str, Any]) -> None:
    player = greedy(hand, start(seats, **options))
    match = play([player] * seats, seed=1, opening=2 * seats, **options)
    assert match.outcome is not None
    assert match.outcome.reason == "goal"


@pytest.mark.parametrize("evaluation", [euclid, hand])
def test_greedy_always_beats_random(evaluation: Any) -> None:
    assert duel(greedy(evaluation, start()), anyhow, games=20) == 1.0


@pytest.mark.slow
def test_planning_two_moves_beats_greedy() -> None:
    state = start(size=3)
    share = duel(planning(hand, state, 2), greedy(hand, state), games=20, size=3)
    assert share >= 0.6
