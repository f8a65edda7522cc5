"""Playouts and their random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.playout import (
    playout,
    playout_action,
    random_below,
    rng_state,
    workspace,
)
from kibitz_search.chinese_checkers.evaluation import hand
from tests.search.algorithms import reference as plain


def ready(state: Any, seed: int = 1) -> Any:
    ws = workspace(state)
    ws.chance[0] = rng_state(seed)
    return ws


def play(state: Any, end: int = 1000, epsilon: float = 0.1, seed: int = 1) -> tuple[Any, int, Any]:
    """Return the end of a playout, its number of plies, and its workspace."""
    st, ws, ev = state.copy(), ready(state, seed), hand(state)
    ply = playout(st, ws, ev, np.int64(0), np.int64(end), np.float64(epsilon))
    return st, int(ply), ws


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_a_playout_ends_and_can_be_followed(seats: int) -> None:
    state = plain.start(seats, size=2)
    st, plies, ws = play(state)
    assert op.terminal(st)
    again = state.copy()
    for ply in range(plies):
        assert ws.trail[2 * ply] == op.to_act(again)
        assert ws.last[op.to_act(again)] >= ply + 1
        op.play(again, int(ws.trail[2 * ply + 1]))
    assert again.tobytes() == st.tobytes()


def test_it_is_cut_off() -> None:
    st, plies, _ = play(plain.start(), end=7)
    assert plies == 7 == st.ply


def test_it_stops_when_it_is_told() -> None:
    state = plain.start()
    st, ws = state.copy(), ready(state)
    ws.stop = 1
    assert playout(st, ws, hand(state), np.int64(0), np.int64(1000), np.float64(0.1)) < 32


def test_without_chance_only_the_best_guess_is_played() -> None:
    st = plain.some(2, 3)[1]
    ev = hand(st)
    most = max(int(op.move_score(st, m)) for m in plain.actions(st))
    guesses = {int(playout_action(st, ready(st, seed), ev, np.float64(0.0))) for seed in range(20)}
    assert {int(op.move_score(st, m)) for m in guesses} == {most}
    chances = {int(playout_action(st, ready(st, seed), ev, np.float64(1.0))) for seed in range(300)}
    assert len(chances) > len(plain.actions(st)) / 2


def test_the_priors_of_an_evaluation_guide_it() -> None:
    st = plain.some(2, 3)[1]
    ev: Any = hand(st)
    ev.leave[:], ev.enter[:] = -ev.leave, -ev.enter
    least = min(int(op.move_score(st, m)) for m in plain.actions(st))
    guess = playout_action(st, ready(st), ev, np.float64(0.0))
    assert int(op.move_score(st, guess)) < 0
    assert float(op.move_prior(ev, st, guess)) == -int(op.move_score(st, guess))
    assert least == int(op.move_score(st, guess))


def test_a_seed_repeats_the_play() -> None:
    state = plain.start(3)
    assert play(state, seed=4)[0].tobytes() == play(state, seed=4)[0].tobytes()
    assert play(state, seed=4)[0].tobytes() != play(state, seed=5)[0].tobytes()


def test_draws_are_fair_and_within_bounds() -> None:
    chance = np.array([rng_state("fair")], np.uint64)
    counts = np.bincount([int(random_below(chance, np.int64(6))) for _ in range(6000)], minlength=6)
    assert len(counts) == 6
    assert counts.min() > 850
    assert counts.max() < 1150
