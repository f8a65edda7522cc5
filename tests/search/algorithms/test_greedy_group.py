"""The greedy search for a group of cooperating seats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_bots import load
from kibitz_bots.kinds.conspiring_bot import friends
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_protocol.wire.records import Player
from kibitz_search.algorithms.greedy import FOE, FRIEND, Greedy
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.chinese_checkers.evaluation import EVALUATIONS


@pytest.fixture(scope="module")
def middle() -> np.record:
    """A three-player match after thirty plies."""
    game = registry.get("chinese-checkers")
    options = game.Options()
    state = game.start(options, 3, game.deal(options, 3, 1))
    ev = EVALUATIONS["mobility"](state)
    greedy = Greedy(state)
    for ply in range(30):
        game.play(state, greedy.search(state, ev, SearchLimits(seed=ply)).action)
    return state


def test_a_move_is_worth_what_it_is_to_the_group(middle: np.record) -> None:
    """Compared with the definition, move by move."""
    ev: Any = EVALUATIONS["mobility"](middle)
    seat = int(op.to_act(middle))
    friend, foe = (seat + 1) % 3, (seat + 2) % 3
    found = Greedy(middle, [friend]).search(middle, ev, SearchLimits(seed=1))
    game, worth = registry.get("chinese-checkers"), {}
    for action in game.legal(middle):
        after = middle.copy()
        op.play(after, action)
        own, kin, other = (
            float(op.evaluate(ev, after, np.int64(each))) for each in (seat, friend, foe)
        )
        worth[action] = own + FRIEND * kin - FOE * other
    assert found.value == pytest.approx(max(worth.values()))
    assert worth[found.action] == pytest.approx(found.value)


def test_its_kind_is_known_by_name() -> None:
    names = ("conspirator", "house conspirator 2", "Conspirator-3", "my conspirator", "ann")
    players = [Player(player=f"p{i}", name=name, kind="bot") for i, name in enumerate(names)]
    assert friends(players, 0) == {1, 2}
    assert friends(players, 4) == {0, 1, 2}


def test_it_plays_a_match_by_its_name() -> None:
    from kibitz_bots.running import inprocess

    bots = [load("chinese-checkers/conspirator")() for _ in range(3)]
    end = inprocess.play_locally("chinese-checkers", *bots, options={"size": 2}, seed=1)
    assert end.outcome is not None
