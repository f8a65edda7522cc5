"""Stopping searches in time."""

from __future__ import annotations

import math
import threading
import time
from types import SimpleNamespace

import pytest

from kibitz_games.compiled import kernels
from kibitz_search.algorithms.timer import ThinkingTime, count_nodes, stop_timer
from kibitz_search.cancellation import CancelToken

FAR = 1000.0
"""A timeout in seconds that no test reaches."""


class Workspace(SimpleNamespace):
    """A fake search with an awaitable stop flag."""

    def __init__(self) -> None:
        super().__init__(stop=7)
        self.stopped = threading.Event()

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "stop" and value == 1:
            self.stopped.set()


def test_the_stop_word_is_cleared_first_and_set_at_the_deadline() -> None:
    ws = Workspace()
    with stop_timer(ws, time.monotonic() + FAR, CancelToken()):
        assert ws.stop == 0
    with stop_timer(ws, time.monotonic() - 1, CancelToken()):
        assert ws.stopped.wait(10)


def test_a_turn_that_is_called_off_stops_the_search() -> None:
    ws, flag = Workspace(), CancelToken()
    with stop_timer(ws, time.monotonic() + FAR, flag):
        assert ws.stop == 0
        flag.set()
        assert ws.stopped.wait(10)


def test_a_deadline_may_be_infinitely_far() -> None:
    ws, flag = Workspace(), CancelToken()
    with stop_timer(ws, math.inf, flag):
        assert ws.stop == 0
        flag.set()
        assert ws.stopped.wait(10)


def test_nothing_is_left_running() -> None:
    before = threading.active_count()
    ws, flag = Workspace(), CancelToken()
    with stop_timer(ws, time.monotonic() + FAR, flag):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    flag.set()  # no search is listening any more
    ws.stop = 0
    assert ws.stop == 0


def test_compiling_is_no_thinking(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = iter((50.0, 50.0, 70.0, 70.0))
    monkeypatch.setattr(kernels, "compile_seconds", lambda: next(compiled))
    began = time.monotonic()
    thinking = ThinkingTime(FAR)
    assert thinking.deadline == pytest.approx(began + FAR, abs=10)
    assert thinking.deadline == pytest.approx(began + FAR + 20, abs=10)
    assert thinking.left == pytest.approx(FAR + 20, abs=10)


def test_a_search_stops_at_its_number_of_nodes() -> None:
    count = getattr(count_nodes, "py_func", count_nodes)
    for most, stops in ((0, [0, 0, 0]), (3, [0, 1, 1]), (1, [1, 1, 1])):
        ws, seen = SimpleNamespace(stop=0, nodes=0, most=most), []
        for _ in range(3):
            count(ws, 2)
            seen.append(ws.stop)
        assert (seen, ws.nodes) == (stops, 6)
