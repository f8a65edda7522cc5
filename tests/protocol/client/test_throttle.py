"""The client's request rate, in virtual time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.client.throttle import RequestThrottle


@given(
    st.floats(0.5, 1_000),
    st.integers(1, 100),
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 5)), max_size=200),
)
def test_a_bucket_kept_as_the_server_keeps_it_is_never_overdrawn(
    rate: float, burst: int, wishes: list[tuple[int, int]]
) -> None:
    pace, now, level = RequestThrottle(rate, burst, 0), 0, float(burst)
    for wait, cost in wishes:
        now += wait
        level = min(float(burst), level + wait * rate / 1000)
        if pace.try_take(now, cost):
            level -= min(cost, burst)
        assert level >= -1e-6


@given(st.floats(0.5, 1_000), st.integers(1, 100), st.integers(1, 5), st.integers(0, 3_000))
def test_what_had_to_wait_may_go_when_it_is_said_to(
    rate: float, burst: int, cost: int, drained: int
) -> None:
    pace = RequestThrottle(rate, burst, 0)
    pace.drain(0, drained)
    now = 0
    while not pace.try_take(now, cost):
        assert pace.ready_at() > now
        now = pace.ready_at()
    assert now >= drained
    assert pace.ready_at() == now


def test_drained_nothing_goes_before_its_time() -> None:
    pace = RequestThrottle(20, 40, 0)
    pace.drain(0, 1_000)
    assert not pace.try_take(999)
    assert pace.try_take(1_000)
    assert not pace.try_take(1_000)
    assert pace.ready_at() == 1_050
