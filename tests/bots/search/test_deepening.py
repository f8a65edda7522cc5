"""The loop of the searches that deepen, around a search that looks at nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from kibitz_bots.search.deepening import Deepening
from kibitz_bots.search.found import Found
from kibitz_bots.search.limits import Limits
from kibitz_bots.threads import Flag
from kibitz_games import operations as op
from tests.bots.search.positions import SETTINGS

SETTING = SETTINGS[3]


class Scripted(Deepening):
    """Likes the last move of each depth best; sees the end at the depth `end`."""

    deepest = 9

    def __init__(self, state: np.record, end: int = 100) -> None:
        moves = np.zeros((1, op.widest(state.dtype)), np.int32)
        super().__init__(SimpleNamespace(moves=moves))
        self.end = end
        self.orders: list[list[int]] = []

    def _look(self, st: np.record, ev: np.record, depth: int, before: Found | None) -> Found:
        ws = self._ws
        if ws.stop:
            assert before is not None
            return before
        ws.nodes += 10
        order = ws.moves[0, : ws.roots].tolist()
        self.orders.append(order)
        return Found(order[-1], 0.0, depth, int(ws.nodes), (order[-1],))

    def _settled(self, best: Found) -> bool:
        return best.depth >= self.end


def searched(limits: Limits, **own: Any) -> tuple[Found, Scripted]:
    state: Any = SETTING.start()
    search, before = Scripted(state, **own), state.tobytes()
    found = search.search(state, state, limits)
    assert state.tobytes() == before
    assert sorted(search.orders[0]) == SETTING.rules.legal(state)
    return found, search


def test_it_looks_depth_after_depth_up_to_the_limit_or_the_end() -> None:
    assert searched(Limits())[0].depth == Scripted.deepest
    assert searched(Limits(depth=4))[0].depth == 4
    assert searched(Limits(depth=100))[0].depth == Scripted.deepest
    assert searched(Limits(), end=1)[0].depth == 1
    assert searched(Limits(), end=5)[0].depth == 5


def test_each_depth_begins_with_the_best_move_of_the_one_before() -> None:
    _, search = searched(Limits(depth=3))
    for before, after in zip(search.orders, search.orders[1:], strict=False):
        assert after == [before[-1], *before[:-1]]


def test_the_seed_decides_the_first_order() -> None:
    orders = [searched(Limits(depth=1, seed=seed))[1].orders[0] for seed in (1, 2, 1)]
    assert orders[0] == orders[2] != orders[1]


def test_the_first_depth_is_searched_however_little_time_there_is() -> None:
    flag = Flag()
    flag.set()
    for limits in (Limits(seconds=0.0), Limits(called_off=flag)):
        found, search = searched(limits)
        assert found.depth == len(search.orders) >= 1


def test_all_positions_count() -> None:
    assert searched(Limits(depth=4))[0].nodes == 40
