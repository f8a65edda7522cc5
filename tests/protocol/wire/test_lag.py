"""The lag compensation of a match: a seat's bank, and the limit for suspensions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kibitz_protocol.wire.lag import (
    ALLOWANCE_CAP_MS,
    STANDSTILL_SHARE,
    Lag,
    after_move,
    allowance,
    standstill_cap,
)

LAGS = st.builds(Lag, bank_ms=st.integers(0, 60_000), refill_ms=st.integers(0, ALLOWANCE_CAP_MS))
TURNS = st.lists(st.tuples(st.integers(0, 10_000), st.integers(-5, 10**9)), max_size=300)


def forgiven(lag: Lag, turns: list[tuple[int, int]]) -> list[int]:
    """Return the allowance of each of a seat's turns, given as elapsed time and round trip."""
    left, allowed = lag.bank_ms, []
    for elapsed_ms, rtt_ms in turns:
        allowed.append(allowance(elapsed_ms, rtt_ms, left))
        left = after_move(lag, left, allowed[-1])
        assert 0 <= left <= lag.bank_ms
    return allowed


@given(lag=LAGS, turns=TURNS)
def test_whatever_the_pongs_do_no_more_than_bank_and_refills_is_forgiven(
    lag: Lag, turns: list[tuple[int, int]]
) -> None:
    allowed = forgiven(lag, turns)
    for begin in range(0, len(allowed) + 1, 7):
        some = allowed[begin:]
        assert sum(some) <= lag.bank_ms + len(some) * lag.refill_ms
    assert all(0 <= each <= ALLOWANCE_CAP_MS for each in allowed)


def test_a_bank_that_pongs_empty_forgives_its_refills_and_no_more() -> None:
    allowed = forgiven(Lag(bank_ms=1_000, refill_ms=40), [(5_000, 10**6)] * 1_000)
    assert sum(allowed) == 1_000 + 999 * 40
    assert allowed[:3] == [100, 100, 100]
    assert allowed[-1] == 40


@given(rtt_ms=st.integers(0, Lag().refill_ms), elapsed=st.lists(st.integers(0, 5_000)))
def test_a_peer_whose_round_trip_is_within_the_refill_is_never_charged_for_it(
    rtt_ms: int, elapsed: list[int]
) -> None:
    turns = [(rtt_ms + each, rtt_ms) for each in elapsed]
    assert forgiven(Lag(), turns) == [rtt_ms] * len(turns)


def test_forty_milliseconds_cost_nothing_in_a_match_of_any_length() -> None:
    assert forgiven(Lag(), [(700, 40)] * 10_000) == [40] * 10_000


def test_a_host_may_forgive_nothing() -> None:
    none = Lag(bank_ms=0, refill_ms=0, standstill_ms=0)
    assert forgiven(none, [(500, 100)] * 50) == [0] * 50
    assert standstill_cap(none, 0) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"bank_ms": -1},
        {"bank_ms": 60_001},
        {"refill_ms": ALLOWANCE_CAP_MS + 1},
        {"standstill_ms": 3_600_001},
        {"bank_ms": 0.5},
    ],
)
def test_what_no_host_can_mean_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Lag.model_validate(wrong)


@given(standstill_ms=st.integers(0, 3_600_000), at_ms=st.integers(0, 10**9))
def test_the_cap_on_standstill_grows_with_the_match(standstill_ms: int, at_ms: int) -> None:
    cap = standstill_cap(Lag(standstill_ms=standstill_ms), at_ms)
    assert cap == standstill_ms + at_ms // STANDSTILL_SHARE
