"""Deadlines of all peers, by one timer."""

from __future__ import annotations

from kibitz_server.server_clock import ServerClock
from kibitz_server.sweep import Patience, Sweep
from tests.server.wires import FakeLoop


class Sheep:
    """A peer that keeps what is done to it."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.waiting = 0

    def ping(self) -> None:
        self.done.append("ping")

    def overdue(self) -> None:
        self.done.append("overdue")

    def abort(self) -> None:
        self.done.append("abort")

    def backlog(self) -> int:
        return self.waiting


def swept() -> tuple[FakeLoop, Sweep, Sheep]:
    loop = FakeLoop()
    sweep = Sweep(loop.loop, Patience())
    sweep.start()
    return loop, sweep, Sheep()


def test_a_handshake_that_does_not_come_is_overdue() -> None:
    loop, sweep, sheep = swept()
    sweep.connected(sheep)
    loop.advance(4.4)
    assert sheep.done == []
    loop.advance(1.2)
    assert sheep.done == ["overdue"]


def test_a_hello_has_its_own_deadline() -> None:
    loop, sweep, sheep = swept()
    sweep.connected(sheep)
    sweep.opened(sheep)
    sweep.ponged(sheep)
    loop.advance(9.4)
    assert "overdue" not in sheep.done
    loop.advance(1.2)
    assert "overdue" in sheep.done


def test_a_peer_that_answers_pings_is_pinged_for_ever() -> None:
    loop, sweep, sheep = swept()
    sweep.opened(sheep)
    sweep.greeted(sheep)
    for _ in range(10):
        sweep.ponged(sheep)
        loop.advance(10.6)
    assert sheep.done == ["ping"] * 11


def test_the_first_pings_follow_each_other_soon() -> None:
    loop, sweep, sheep = swept()
    sweep.opened(sheep)
    sweep.greeted(sheep)
    for _ in range(3):
        sweep.ponged(sheep, soon=True)
        loop.advance(1.1)
    assert sheep.done == ["ping"] * 4
    sweep.ponged(sheep)
    loop.advance(9.4)
    assert sheep.done == ["ping"] * 4


def test_a_peer_that_is_forgotten_is_not_pinged_soon_either() -> None:
    loop, sweep, sheep = swept()
    sweep.opened(sheep)
    sweep.ponged(sheep, soon=True)
    sweep.forget(sheep)
    loop.advance(12)
    assert sheep.done == ["ping"]


def test_a_peer_that_does_not_answer_is_aborted_within_30_seconds() -> None:
    loop, sweep, sheep = swept()
    sweep.opened(sheep)
    sweep.greeted(sheep)
    sweep.ponged(sheep)
    loop.advance(30)
    assert sheep.done[:2] == ["ping", "ping"]
    assert "abort" in sheep.done


def test_a_close_that_takes_too_long_is_an_abort() -> None:
    loop, sweep, sheep = swept()
    sweep.leaving(sheep)
    loop.advance(3.6)
    assert sheep.done == ["abort"]


def test_a_full_transport_without_progress_is_aborted() -> None:
    loop, sweep, sheep = swept()
    sheep.waiting = 40_000
    sweep.paused(sheep)
    loop.advance(2.4)
    assert sheep.done == []
    loop.advance(1.2)
    assert sheep.done == ["abort"]


def test_a_full_transport_with_progress_is_left_alone() -> None:
    loop, sweep, sheep = swept()
    sheep.waiting = 40_000
    sweep.paused(sheep)
    for _ in range(10):
        loop.advance(2)
        sheep.waiting -= 1
    assert sheep.done == []
    sweep.resumed(sheep)
    loop.advance(10)
    assert sheep.done == []


def test_a_forgotten_peer_is_left_alone() -> None:
    loop, sweep, sheep = swept()
    sweep.connected(sheep)
    sweep.opened(sheep)
    sweep.paused(sheep)
    sweep.forget(sheep)
    loop.advance(60)
    assert sheep.done == ["ping"]


def test_the_lag_of_the_loop_is_observed() -> None:
    loop, lags = FakeLoop(), list[float]()
    sweep = Sweep(loop.loop, Patience(sweep_s=1), lags.append)
    sweep.start()
    loop.call_later(0.5, lambda: setattr(loop, "now", loop.now + 3))
    loop.advance(4)
    assert max(lags) == 2.5
    sweep.stop()
    assert loop.armed == 0


def test_a_pong_that_waits_for_a_stopped_server_is_in_time() -> None:
    loop, sheep = FakeLoop(), Sheep()
    clock = ServerClock(loop.loop, lambda: round(loop.now * 1e9))
    sweep = Sweep(loop.loop, Patience(), seconds=clock.seconds)
    clock.start()
    sweep.start()
    sweep.opened(sheep)
    sweep.greeted(sheep)
    loop.advance(4)
    loop.now += 60
    loop.call_soon(lambda: sweep.ponged(sheep))  # read after the timers of that turn have run
    loop.advance(5)
    assert sheep.done == ["ping"]


def test_a_pong_that_waits_in_the_socket_is_read_before_the_peer_is_given_up() -> None:
    loop, sweep, sheep = swept()
    sweep.opened(sheep)
    sweep.greeted(sheep)
    loop.advance(9.9)
    loop.now += 0.3  # the sweep that is due runs first
    loop.call_at(loop.now, loop.call_soon, lambda: sweep.ponged(sheep))
    loop.advance(5)
    assert sheep.done == ["ping"]
