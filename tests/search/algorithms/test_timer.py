"""Ending a search in time."""

from __future__ import annotations

import math
import threading
import time
from types import SimpleNamespace

from kibitz_search.algorithms.timer import stop_timer
from kibitz_search.cancellation import CancelToken

FAR = 1000.0
"""Seconds that no test waits for."""


class Workspace(SimpleNamespace):
    """Something with a stop word that can be waited for."""

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
    flag.set()  # nobody listens any more
    ws.stop = 0
    assert ws.stop == 0
