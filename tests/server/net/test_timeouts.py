"""The deadlines of all peers, handled by one timer."""

from __future__ import annotations

import itertools

import pytest

from kibitz_server.net.loop_clock import ServerClock
from kibitz_server.net.timeouts import ENDING_COST, TimeoutConfig, Timeouts
from kibitz_server.net.turn_budget import UNITS_A_TURN, TurnBudget
from tests.server.fakes import FakeLoop


class FakePeer:
    """A peer that records calls."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.waiting = 0
        self.is_unread = False

    def ping(self) -> None:
        self.done.append("ping")

    def overdue(self) -> None:
        self.done.append("overdue")

    def abort(self) -> None:
        self.done.append("abort")

    def write_buffer_size(self) -> int:
        return self.waiting


def timeouts_and_peer() -> tuple[FakeLoop, Timeouts, FakePeer]:
    loop = FakeLoop()
    sweep = Timeouts(loop.loop, TimeoutConfig(), TurnBudget(loop.loop))
    sweep.start()
    return loop, sweep, FakePeer()


def test_a_handshake_that_does_not_come_is_overdue() -> None:
    loop, sweep, peer = timeouts_and_peer()
    sweep.connected(peer, peer.overdue)
    loop.advance(4.4)
    assert peer.done == []
    loop.advance(1.2)
    assert peer.done == ["overdue"]


def test_a_hello_has_its_own_deadline() -> None:
    loop, sweep, peer = timeouts_and_peer()
    sweep.connected(peer, peer.overdue)
    sweep.opened(peer, peer.overdue)
    loop.advance(9.4)
    assert "overdue" not in peer.done
    loop.advance(1.2)
    assert "overdue" in peer.done


def test_a_peer_that_answers_pings_is_pinged_for_ever() -> None:
    loop, sweep, peer = timeouts_and_peer()
    sweep.opened(peer, peer.overdue)
    sweep.greeted(peer)
    for _ in range(10):
        loop.advance(10.6)
        sweep.ponged(peer)
    assert peer.done == ["ping"] * 10


def test_the_first_pings_follow_each_other_soon() -> None:
    loop, sweep, peer = timeouts_and_peer()
    sweep.opened(peer, peer.overdue)
    sweep.greeted(peer)
    loop.advance(1)
    assert peer.done == []
    sweep.begin_measuring(peer)
    for _ in range(3):
        sweep.ponged(peer, soon=True)
        loop.advance(1.1)
    assert peer.done == ["ping"] * 4
    sweep.ponged(peer)
    loop.advance(9.4)
    assert peer.done == ["ping"] * 4


def test_a_peer_that_is_forgotten_is_not_pinged_soon_either() -> None:
    loop, sweep, peer = timeouts_and_peer()
    sweep.greeted(peer)
    sweep.begin_measuring(peer)
    sweep.ponged(peer, soon=True)
    sweep.forget(peer)
    loop.advance(12)
    assert peer.done == ["ping"]


def test_a_peer_that_does_not_answer_is_aborted_within_30_seconds() -> None:
    loop, sweep, peer = timeouts_and_peer()
    sweep.opened(peer, peer.overdue)
    sweep.greeted(peer)
    sweep.ponged(peer)
    loop.advance(30)
    assert peer.done[0] == "ping"
    assert "abort" in peer.done


def test_a_close_that_takes_too_long_is_an_abort() -> None:
    loop, sweep, peer = timeouts_and_peer()
    sweep.leaving(peer)
    loop.advance(3.6)
    assert peer.done == ["abort"]


def test_a_full_transport_without_progress_is_aborted() -> None:
    loop, sweep, peer = timeouts_and_peer()
    peer.waiting = 40_000
    sweep.paused(peer)
    loop.advance(2.4)
    assert peer.done == []
    loop.advance(1.2)
    assert peer.done == ["abort"]


def test_a_full_transport_with_progress_is_left_alone() -> None:
    loop, sweep, peer = timeouts_and_peer()
    peer.waiting = 40_000
    sweep.paused(peer)
    for _ in range(10):
        loop.advance(2)
        peer.waiting -= 1
    assert peer.done == []
    sweep.resumed(peer)
    loop.advance(10)
    assert peer.done == []


def test_a_forgotten_peer_is_left_alone() -> None:
    loop, sweep, peer = timeouts_and_peer()
    sweep.connected(peer, peer.overdue)
    sweep.opened(peer, peer.overdue)
    sweep.greeted(peer)
    sweep.paused(peer)
    sweep.forget(peer)
    loop.advance(60)
    assert peer.done == []


def test_the_lag_of_the_loop_is_observed() -> None:
    loop, lags = FakeLoop(), list[float]()
    sweep = Timeouts(loop.loop, TimeoutConfig(sweep_s=1), TurnBudget(loop.loop), lags.append)
    sweep.start()
    loop.call_later(0.5, lambda: setattr(loop, "now", loop.now + 3))
    loop.advance(4)
    assert max(lags) == 2.5
    sweep.stop()
    assert loop.armed == 0


def test_a_pong_that_waits_for_a_stopped_server_is_in_time() -> None:
    loop, peer = FakeLoop(), FakePeer()
    clock = ServerClock(loop.loop, lambda: round(loop.now * 1e9))
    sweep = Timeouts(loop.loop, TimeoutConfig(), TurnBudget(loop.loop), seconds=clock.seconds)
    clock.start()
    sweep.start()
    sweep.opened(peer, peer.overdue)
    sweep.greeted(peer)
    sweep.begin_measuring(peer)
    loop.advance(4)
    loop.now += 60
    loop.call_soon(lambda: sweep.ponged(peer))  # read after the timers of that turn have run
    loop.advance(5)
    assert peer.done == ["ping"]


def test_a_pong_that_waits_in_the_socket_is_read_before_the_peer_is_given_up() -> None:
    loop, sweep, peer = timeouts_and_peer()
    sweep.opened(peer, peer.overdue)
    sweep.greeted(peer)
    sweep.begin_measuring(peer)
    loop.advance(TimeoutConfig().pong_s - 0.1)
    loop.now += 0.3  # the due sweep runs first
    loop.call_at(loop.now, loop.call_soon, lambda: sweep.ponged(peer))
    loop.advance(5)
    assert peer.done == ["ping"]


def test_nobody_is_late_with_what_was_not_read() -> None:
    loop, sweep, peer = timeouts_and_peer()
    stranger = FakePeer()
    sweep.connected(stranger, stranger.overdue)
    sweep.opened(peer, peer.overdue)
    sweep.greeted(peer)
    loop.advance(11)
    stranger.is_unread = peer.is_unread = True
    sweep.connected(stranger, stranger.overdue)
    loop.advance(60)
    assert "abort" not in peer.done
    assert stranger.done == ["overdue"]
    peer.is_unread = stranger.is_unread = False
    loop.advance(TimeoutConfig().sweep_s)
    assert peer.done[-1] == "abort"
    assert stranger.done == ["overdue"] * 2


def test_a_server_with_few_peers_looks_at_them_seldom() -> None:
    loop, sweep, peer = timeouts_and_peer()
    sweep.greeted(peer)
    before = sweep._due
    checks = []
    for _ in range(4_000):
        loop.advance(0.0025)
        if sweep._due != before:
            before = sweep._due
            checks.append(before)
    assert len(checks) == pytest.approx(10 / TimeoutConfig().sweep_s, abs=1)


@pytest.mark.parametrize("count", [100, 1_000, 4_000])
def test_no_check_pings_many_of_a_crowd(count: int) -> None:
    loop, sweep, _ = timeouts_and_peer()
    crowd = [FakePeer() for _ in range(count)]
    for peer in crowd:
        sweep.greeted(peer)

    def pings() -> int:
        return sum(len(peer.done) for peer in crowd)

    pinged, most = 0, 0
    at, config = sweep._due, TimeoutConfig()
    while pinged < count:
        loop.advance(0.0025)
        if sweep._due != at:
            at, before, pinged = sweep._due, pinged, pings()
            most = max(most, pinged - before)
    assert most <= config.pings_a_sweep + 1


def test_a_crowd_that_is_late_together_is_ended_a_few_in_each_turn() -> None:
    loop, sweep, _ = timeouts_and_peer()
    crowd = [FakePeer() for _ in range(2000)]
    for peer in crowd:
        sweep.connected(peer, peer.overdue)
    loop.now += TimeoutConfig().handshake_s + 1
    ended = [0]
    for _ in range(100):
        loop.run_turn()
        ended.append(sum(len(peer.done) for peer in crowd))
    assert ended[-1] == len(crowd)
    most = UNITS_A_TURN / ENDING_COST
    assert max(b - a for a, b in itertools.pairwise(ended)) <= most


class AnsweringPeer(FakePeer):
    """Answers every ping immediately."""

    def __init__(self, sweep: Timeouts) -> None:
        super().__init__()
        self._sweep = sweep

    def ping(self) -> None:
        super().ping()
        self._sweep.ponged(self)


def test_a_crowd_that_came_at_one_moment_is_pinged_evenly() -> None:
    loop, sweep, _ = timeouts_and_peer()
    crowd = [AnsweringPeer(sweep) for _ in range(1000)]
    for peer in crowd:
        sweep.opened(peer, peer.overdue)
        sweep.greeted(peer)
    counts = []
    for _ in range(205):
        before = sum(len(peer.done) for peer in crowd)
        loop.advance(0.1)
        counts.append(sum(len(peer.done) for peer in crowd) - before)
    assert max(counts) <= 12  # 1,000 of them in 10 s: 2.5 in each of four sweeps, rounded up
    assert {len(peer.done) for peer in crowd} <= {1, 2}
