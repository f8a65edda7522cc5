"""Credits: who pays what, and what happens to those who cannot."""

from __future__ import annotations

import pytest

from kibitz_protocol import messages
from kibitz_server.credits import Bucket, Buckets, Purse, Rate, Tariff, Verdict


def test_a_bucket_fills_at_its_rate_up_to_its_burst() -> None:
    bucket = Bucket(Rate(2, 10), 0)
    assert bucket.charge(6, 0) == 4
    assert bucket.level(1) == 6
    assert bucket.level(100) == 10


def test_time_that_runs_backwards_gives_nothing() -> None:
    bucket = Bucket(Rate(2, 10), 5)
    bucket.charge(10, 5)
    assert bucket.level(4) == 0


def test_a_burst_is_granted_and_then_the_rate() -> None:
    purse = Purse(Rate(20, 40), 0)
    assert [purse.charge(1, 0) for _ in range(41)].count(Verdict.GRANTED) == 40
    assert purse.charge(1, 0.2) is Verdict.GRANTED


def test_a_refusal_says_when_the_same_request_is_granted() -> None:
    purse = Purse(Rate(20, 4), 0)
    assert purse.charge(4, 0) is Verdict.GRANTED
    assert purse.charge(4, 0) is Verdict.REFUSED
    wait = purse.retry_after_ms(4, 0)
    assert wait == 400
    assert purse.charge(4, wait / 1000) is Verdict.GRANTED


def test_who_goes_on_regardless_is_closed() -> None:
    purse = Purse(Rate(20, 40), 0)
    verdicts = [purse.charge(1, 0) for _ in range(81)]
    assert verdicts[40:80] == [Verdict.REFUSED] * 40
    assert verdicts[80] is Verdict.FLOODING


def test_an_empty_shared_bucket_refuses_but_never_closes() -> None:
    shared = Bucket(Rate(1, 5), 0)
    flooder, other = Purse(Rate(20, 40), 0), Purse(Rate(20, 40), 0)
    for purse in (flooder, other):
        purse.share(shared)
    for _ in range(30):
        flooder.charge(1, 0)
    assert other.charge(1, 0) is Verdict.REFUSED
    assert shared.level(0) == 0
    assert other.charge(1, 1) is Verdict.GRANTED


@pytest.mark.parametrize(
    ("kind", "cost"), [(messages.Ready, 1), (messages.Host, 5), (messages.History, 4)]
)
def test_costs_are_by_type(kind: type[messages.ClientMessage], cost: float) -> None:
    assert Tariff().cost(kind) == cost


def test_a_bucket_is_kept_until_it_is_full_again() -> None:
    buckets: Buckets[str] = Buckets(Rate(1, 10))
    assert buckets.take("a", 0) is buckets.take("a", 0)
    buckets.take("a", 0).charge(5, 0)
    for _ in range(3):
        buckets.give_back("a", 0)
    assert (len(buckets), buckets.users("a")) == (1, 0)
    assert buckets.take("a", 1).level(1) == 6
    buckets.give_back("a", 1)
    buckets.take("b", 7)
    assert len(buckets) == 1
    assert buckets.take("a", 7).level(7) == 10


def test_what_was_never_charged_is_forgotten_at_once() -> None:
    buckets: Buckets[str] = Buckets(Rate(1, 10))
    buckets.take("a", 0)
    buckets.give_back("a", 0)
    assert len(buckets) == 0


def test_a_hundred_thousand_who_came_and_went_leave_nothing() -> None:
    buckets: Buckets[int] = Buckets(Rate(200, 1000), most=500)
    most = 0
    for number in range(100_000):
        now = number / 5000
        buckets.take(number, now).charge(1000, now)
        buckets.give_back(number, now)
        most = max(most, len(buckets))
    assert most <= 501
    buckets.take(-1, 1000)
    assert len(buckets) == 1
