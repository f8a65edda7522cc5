"""The root moves that searches report as losing, checked with minimax."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.brs import Brs
from kibitz_search.algorithms.deepening import IterativeDeepening
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.maxn import Maxn
from kibitz_search.algorithms.maxprob import MaxProb
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.algorithms.paranoid import Paranoid
from kibitz_search.algorithms.score import DECIDED
from tests.search.algorithms.positions import Setting

ROW = Setting("number-merge", "points", {"length": 8})
DEPTH = 6


def losing(state: Any, depth: int) -> set[int]:
    """Return the moves that lose within the depth according to minimax."""
    game, lost = ROW.rules, set()
    for action in game.legal(state):
        st = state.copy()
        game.play(st, action)
        if (outcome := game.outcome(st)) is not None:
            if outcome.scores[game.to_act(state)] < 0.5:
                lost.add(action)
            continue
        value = Minimax(st).search(st, ROW.weights(st), SearchLimits(depth=depth - 1)).value
        same = game.to_act(st) == game.to_act(state)
        if (value if same else -value) < -DECIDED:
            lost.add(action)
    return lost


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Minimax, AlphaBeta, Maxn, Paranoid, MaxProb, Brs])
def test_what_is_said_to_lose_loses_and_is_not_played_unless_all_do(kind: Any) -> None:
    seen = 0
    for seed in range(40):
        source = random.Random(seed)
        state = ROW.after([source.randrange(9) for _ in range(source.randrange(3))], seed)
        if kind.supports(ROW.rules.info, state) is not None:
            pytest.skip("the search does not play this game")
        search: IterativeDeepening = kind(state)
        found = search.search(state, ROW.weights(state), SearchLimits(depth=DEPTH, seed=seed))
        said, legal = search._losing, set(ROW.rules.legal(state))
        assert said <= losing(state, DEPTH)
        assert found.action not in said or said == legal
        seen += bool(said)
    assert seen > 5
