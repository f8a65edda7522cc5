"""The work per turn of the loop, and the order of the remaining work."""

from __future__ import annotations

from functools import partial

import pytest

from kibitz_server.net.turn_budget import TurnBudget
from tests.server.fakes import FakeLoop


def test_what_is_beyond_a_turn_is_done_in_the_next_ones_in_its_order() -> None:
    loop, done = FakeLoop(), list[int]()
    turns = TurnBudget(loop.loop, units=3)
    for number in range(8):
        turns.run(1, partial(done.append, number))
    assert done == [0, 1, 2]
    loop.run_turn()
    assert done == [0, 1, 2, 3, 4, 5]
    loop.run_turn()
    assert done == list(range(8))


def test_what_comes_later_waits_behind_what_waits_already() -> None:
    loop, done = FakeLoop(), list[str]()
    turns = TurnBudget(loop.loop, units=1)
    for name in "abc":
        turns.run(1, partial(done.append, name))
    loop.run_turn()
    turns.run(1, lambda: done.append("late"))
    loop.advance()
    assert done == ["a", "b", "c", "late"]


def test_a_turn_in_which_little_is_asked_for_owes_the_next_one_nothing() -> None:
    loop = FakeLoop()
    turns = TurnBudget(loop.loop, units=2)
    turns.spend(5)
    assert turns.is_spent
    loop.run_turn()
    assert not turns.is_spent
    assert loop.armed == 0


def test_one_that_raises_stops_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    loop, done = FakeLoop(), list[int]()
    turns = TurnBudget(loop.loop, units=1)
    turns.spend(1)
    turns.wait(lambda: done.append(1 // 0))
    turns.wait(lambda: done.append(1))
    loop.advance()
    assert done == [1]
    assert "ZeroDivisionError" in caplog.text
