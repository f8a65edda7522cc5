"""Credits: who pays, and how clients without credits are treated."""

from __future__ import annotations

import pytest

from kibitz_server.net.rate_limit import (
    Bucket,
    ChargeResult,
    Rate,
    RateLimiter,
    SharedBuckets,
)


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
    limiter = RateLimiter(Rate(20, 40), 0)
    assert [limiter.charge(1, 0) for _ in range(41)].count(ChargeResult.GRANTED) == 40
    assert limiter.charge(1, 0.2) is ChargeResult.GRANTED


def test_a_refusal_says_when_the_same_request_is_granted() -> None:
    limiter = RateLimiter(Rate(20, 4), 0)
    assert limiter.charge(4, 0) is ChargeResult.GRANTED
    assert limiter.charge(4, 0) is ChargeResult.REFUSED
    wait = limiter.retry_after_ms(4, 0)
    assert wait == 400
    assert limiter.charge(4, wait / 1000) is ChargeResult.GRANTED


def test_who_goes_on_regardless_is_closed() -> None:
    limiter = RateLimiter(Rate(20, 40), 0)
    verdicts = [limiter.charge(1, 0) for _ in range(81)]
    assert verdicts[40:80] == [ChargeResult.REFUSED] * 40
    assert verdicts[80] is ChargeResult.FLOODING


def test_an_empty_shared_bucket_refuses_but_never_closes() -> None:
    shared = Bucket(Rate(1, 5), 0)
    flooder, other = RateLimiter(Rate(20, 40), 0), RateLimiter(Rate(20, 40), 0)
    for limiter in (flooder, other):
        limiter.share(shared)
    for _ in range(30):
        flooder.charge(1, 0)
    assert other.charge(1, 0) is ChargeResult.REFUSED
    assert shared.level(0) == 0
    assert other.charge(1, 1) is ChargeResult.GRANTED


def test_a_bucket_is_kept_until_it_is_full_again() -> None:
    buckets: SharedBuckets[str] = SharedBuckets(Rate(1, 10))
    assert buckets.acquire("a", 0) is buckets.acquire("a", 0)
    buckets.acquire("a", 0).charge(5, 0)
    for _ in range(3):
        buckets.release("a", 0)
    assert (len(buckets), buckets.users("a")) == (1, 0)
    assert buckets.acquire("a", 1).level(1) == 6
    buckets.release("a", 1)
    buckets.acquire("b", 7)
    assert len(buckets) == 1
    assert buckets.acquire("a", 7).level(7) == 10


def test_what_was_never_charged_is_forgotten_at_once() -> None:
    buckets: SharedBuckets[str] = SharedBuckets(Rate(1, 10))
    buckets.acquire("a", 0)
    buckets.release("a", 0)
    assert len(buckets) == 0


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_many_who_came_and_went_leave_nothing(count: int) -> None:
    buckets: SharedBuckets[int] = SharedBuckets(Rate(200, 1000), most=500)
    most = 0
    for number in range(count):
        now = number / 5000
        buckets.acquire(number, now).charge(1000, now)
        buckets.release(number, now)
        most = max(most, len(buckets))
    assert most <= 501
    buckets.acquire(-1, 1000)
    assert len(buckets) == 1
