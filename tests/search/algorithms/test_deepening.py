"""The iterative deepening loop, with a fake search."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.deepening import IterativeDeepening
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.cancellation import CancelToken
from tests.search.algorithms.positions import SETTINGS

SETTING = SETTINGS[3]


class Scripted(IterativeDeepening):
    """A search that prefers the last move at each depth and sees the end at depth `end`."""

    max_depth = 9

    def __init__(self, state: np.record, end: int = 100) -> None:
        moves = np.zeros((1, op.max_actions(state.dtype)), np.int32)
        super().__init__(SimpleNamespace(moves=moves))
        self.end = end
        self.orders: list[list[int]] = []

    def _search_depth(
        self, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        ws = self._ws
        if ws.stop:
            assert before is not None
            return before
        ws.nodes += 10
        order = ws.moves[0, : ws.roots].tolist()
        self.orders.append(order)
        return SearchResult(order[-1], 0.0, depth, int(ws.nodes), (order[-1],))

    def _is_final(self, best: SearchResult) -> bool:
        return best.depth >= self.end


def searched(limits: SearchLimits, **own: Any) -> tuple[SearchResult, Scripted]:
    state: Any = SETTING.start()
    search, before = Scripted(state, **own), state.tobytes()
    found = search.search(state, state, limits)
    assert state.tobytes() == before
    assert sorted(search.orders[0]) == SETTING.rules.legal(state)
    return found, search


def test_it_looks_depth_after_depth_up_to_the_limit_or_the_end() -> None:
    assert searched(SearchLimits())[0].depth == Scripted.max_depth
    assert searched(SearchLimits(depth=4))[0].depth == 4
    assert searched(SearchLimits(depth=100))[0].depth == Scripted.max_depth
    assert searched(SearchLimits(), end=1)[0].depth == 1
    assert searched(SearchLimits(), end=5)[0].depth == 5


def test_each_depth_begins_with_the_best_move_of_the_one_before() -> None:
    _, search = searched(SearchLimits(depth=3))
    for before, after in zip(search.orders, search.orders[1:], strict=False):
        assert after == [before[-1], *before[:-1]]


def test_the_seed_decides_the_first_order() -> None:
    orders = [searched(SearchLimits(depth=1, seed=seed))[1].orders[0] for seed in (1, 2, 1)]
    assert orders[0] == orders[2] != orders[1]


def test_the_first_depth_is_searched_however_little_time_there_is() -> None:
    flag = CancelToken()
    flag.set()
    for limits in (SearchLimits(seconds=0.0), SearchLimits(cancelled=flag)):
        found, search = searched(limits)
        assert found.depth == len(search.orders) >= 1


def test_all_positions_count() -> None:
    assert searched(SearchLimits(depth=4))[0].nodes == 40


class Falling(Scripted):
    """A search that is stopped at a depth, with some finished moves and their upper bounds."""

    lost_score = -100.0

    def __init__(self, state: np.record, stops: int, bounds: list[float]) -> None:
        super().__init__(state)
        self._ws.bounds, self._ws.finished = np.full(200, -999.0), 0
        self.stops, self.bounds = stops, bounds

    def _search_depth(
        self, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        ws = self._ws
        moves = ws.moves[0, : ws.roots].tolist()
        if depth < self.stops:
            ws.finished = 0
            return SearchResult(moves[0], 7.0, depth, 1, (moves[0], 0))
        ws.stop, ws.finished = 1, len(self.bounds)
        ws.bounds[: ws.finished] = self.bounds
        assert before is not None
        if not self.bounds:
            return before
        best = int(np.argmax(self.bounds))
        return SearchResult(moves[best], self.bounds[best], depth - 1, 2, (moves[best],))


def cut_short(*bounds: float) -> tuple[int, float, int, tuple[int, ...]]:
    """Return the played root move's index, its value, the depth and the line."""
    state: Any = SETTING.start()
    search = Falling(state, 4, list(bounds))
    found = search.search(state, state, SearchLimits())
    moves = search._ws.moves[0, : search._ws.roots].tolist()
    assert found.line[0] == found.action
    return moves.index(found.action), found.value, found.depth, found.line[1:]


def test_a_move_that_was_just_shown_to_lose_is_not_played_while_there_are_others() -> None:
    """The next move is played, with the previous depth's value of the position."""
    assert cut_short() == (0, 7.0, 3, (0,))
    assert cut_short(5.0) == (0, 5.0, 3, ())
    assert cut_short(-99.0) == (0, -99.0, 3, ())
    assert cut_short(-100.0) == (1, 7.0, 3, ())
    assert cut_short(-900.0, -800.0) == (2, 7.0, 3, ())
    assert cut_short(-900.0, 3.0) == (1, 3.0, 3, ())


def test_where_all_moves_lose_the_best_of_them_is_played() -> None:
    number = len(SETTING.rules.legal(SETTING.start()))
    bounds = [-900.0 + place for place in range(number)]
    assert cut_short(*bounds) == (number - 1, bounds[-1], 3, ())


def test_a_search_that_has_to_compile_first_looks_as_deep_as_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A search whose first depth takes a thousand seconds for compiling."""
    clock, compiled = [0.0], [0.0]
    deadlines: list[float] = []

    class Cold(Scripted):
        def _search_depth(self, *given: Any) -> SearchResult:
            if given[2] == 1:
                clock[0] += 1000.0
                compiled[0] += 1000.0
            return super()._search_depth(*given)

    @contextlib.contextmanager
    def timer(ws: Any, deadline: float, cancelled: CancelToken) -> Iterator[None]:
        deadlines.append(deadline - clock[0])
        yield

    monkeypatch.setattr(kernels, "compile_seconds", lambda: compiled[0])
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr("kibitz_search.algorithms.deepening.stop_timer", timer)
    state: Any = SETTING.start()
    assert Cold(state).search(state, state, SearchLimits(seconds=2.0)).depth == Scripted.max_depth
    assert deadlines == [2.0]


@pytest.mark.slow
def test_the_first_search_of_a_process_without_a_cache_thinks_as_long_as_it_may(
    tmp_path: Path,
) -> None:
    code = (
        "from kibitz_games.core import registry\n"
        "from kibitz_search.algorithms.limits import SearchLimits\n"
        "from kibitz_search.algorithms.minimax import Minimax\n"
        "from kibitz_search.algorithms.outcome import outcome\n"
        "game = registry.get('connect-four')\n"
        "state = game.start(game.Options(), 2, {})\n"
        "print(Minimax(state).search(state, outcome(state), SearchLimits(seconds=2)).depth)\n"
    )
    environment = os.environ | {"KIBITZ_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=500)
    assert int(run.stdout) > 3
