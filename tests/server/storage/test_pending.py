"""The pending queue: nothing is visible before it is durable, and each request gets one answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kibitz_protocol.wire.refusals import Code
from kibitz_server.storage.pending import HeldAnswer, PendingQueue
from kibitz_server.storage.streams import Stream


@dataclass
class FakePeer:
    leaving: bool = False
    failures: list[tuple[int, Code]] = field(default_factory=list)

    def fail(
        self,
        request: int,
        code: Code = Code.INTERNAL,
        message: str = "",
        retry_after_ms: int = 1000,
    ) -> None:
        self.failures.append((request, code))


class Runner:
    """A queue and its messages so far."""

    def __init__(self) -> None:
        self.stream = Stream(1, "m", "match", durable=0)
        self.errors = 0
        self.told: list[str] = []
        self.pending = PendingQueue("match m", self.stream, lambda: self._failed)

    def _failed(self) -> None:
        self.errors += 1

    def tell(self, text: str) -> Callable[[], object]:
        return lambda: self.told.append(text)

    def append(self, text: str) -> None:
        self.stream.tail += 1
        self.pending.hold(self.stream.tail, self.tell(text))

    def commit(self, seq: int) -> bool:
        self.stream.durable = seq
        return self.pending.durable(seq)

    def request(self, number: int, peer: FakePeer) -> HeldAnswer:
        return HeldAnswer(peer, number, self.tell(f"answer {number}"))


def broken() -> None:
    raise RuntimeError("it cannot be told")


def test_what_is_durable_is_told_at_once_and_what_is_not_waits() -> None:
    runner = Runner()
    runner.pending.hold(0, runner.tell("now"))
    assert runner.told == ["now"]
    runner.append("later")
    assert runner.told == ["now"]
    assert runner.commit(1)
    assert runner.told == ["now", "later"]


def test_nothing_overtakes_what_is_held() -> None:
    runner = Runner()
    runner.append("first")
    runner.pending.hold(0, runner.tell("second"))
    assert runner.told == []
    runner.commit(1)
    assert runner.told == ["first", "second"]


def test_a_commit_releases_up_to_its_entry() -> None:
    runner = Runner()
    runner.append("first")
    runner.append("second")
    assert not runner.commit(1)
    assert runner.told == ["first"]
    assert runner.commit(2)


def test_what_waits_until_all_is_settled_waits_for_what_comes_meanwhile() -> None:
    runner = Runner()
    runner.pending.when_settled(runner.tell("at once"))
    runner.append("first")
    runner.pending.when_settled(runner.tell("settled"))
    runner.append("second")
    runner.commit(1)
    assert runner.told == ["at once", "first"]
    runner.commit(2)
    assert runner.told == ["at once", "first", "second", "settled"]


def test_what_raises_is_reported_once_and_the_rest_is_told() -> None:
    runner, peer = Runner(), FakePeer()
    runner.stream.tail = 1
    runner.pending.hold(1, HeldAnswer(peer, 7, broken))
    runner.pending.hold(1, broken)
    runner.pending.hold(1, runner.tell("the rest"))
    assert not runner.commit(1)
    assert (runner.told, runner.errors) == (["the rest"], 1)
    assert peer.failures == [(7, Code.INTERNAL)]
    runner.pending.hold(1, broken)
    assert runner.errors == 2


def test_what_is_released_may_hold_more() -> None:
    runner = Runner()

    def first() -> None:
        runner.told.append("first")
        runner.append("third")

    runner.stream.tail = 1
    runner.pending.hold(1, first)
    runner.pending.hold(1, runner.tell("second"))
    assert not runner.commit(1)
    assert runner.told == ["first", "second"]
    assert runner.commit(2)
    assert runner.told == ["first", "second", "third"]


def test_requests_whose_entries_are_lost_are_refused_once() -> None:
    runner, peer, gone = Runner(), FakePeer(), FakePeer(leaving=True)
    runner.append("never announced")
    runner.pending.hold(1, runner.request(1, peer))
    runner.pending.hold(1, runner.request(2, gone))
    runner.pending.when_settled(runner.request(3, peer))
    runner.pending.lost()
    runner.pending.lost()
    runner.pending.turn_away(peer, 4)
    assert peer.failures == [(1, Code.UNAVAILABLE), (3, Code.UNAVAILABLE), (4, Code.UNAVAILABLE)]
    assert (runner.told, gone.failures) == ([], [])


def test_a_state_ahead_of_its_log_is_reloaded_when_the_log_is_durable() -> None:
    runner, peer = Runner(), FakePeer()
    runner.append("announced")
    reloads: list[bool] = []
    runner.pending.reload_when_durable(lambda: reloads.append(runner.stream.failed))
    runner.pending.hold(1, runner.request(5, peer))
    assert reloads == []
    runner.commit(1)
    assert (runner.told, reloads) == (["announced"], [True])
    assert peer.failures == [(5, Code.UNAVAILABLE)]


def test_requests_stay_unanswered_in_a_shutdown() -> None:
    runner, peer = Runner(), FakePeer()
    runner.append("never announced")
    runner.pending.hold(1, runner.request(1, peer))
    runner.pending.leave_unanswered()
    runner.pending.turn_away(peer, 2)
    runner.pending.lost()
    assert peer.failures == []


def test_a_request_that_raised_is_answered_unless_it_waits() -> None:
    runner, peer = Runner(), FakePeer()
    runner.stream.tail = 1
    runner.pending.hold(1, runner.request(1, peer))
    runner.pending.fail(peer, 1)
    runner.pending.fail(peer, 2)
    runner.pending.fail(None, 3)
    runner.pending.fail(FakePeer(), 1)
    assert peer.failures == [(2, Code.INTERNAL)]
