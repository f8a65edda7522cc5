"""The number of concurrent games: halved by lateness, increased again without it."""

from __future__ import annotations

import pytest

from kibitz_arena.runner.concurrency import (
    MIN_BOUND_MS,
    WINDOW_SIZE,
    WINDOWS_BEFORE_GROWTH,
    ConcurrencyLimit,
    cpu_count,
    latency_bound_ms,
    percentile,
)
from kibitz_protocol.wire.clocks import TimeControl


@pytest.mark.parametrize(
    ("clock", "bound"),
    [("none", None), ("10+0.1", 25.0), ("0.2+0.002", MIN_BOUND_MS), ("move=2", 500.0)],
)
def test_lateness_may_take_a_quarter_of_what_each_move_has(clock: str, bound: float | None) -> None:
    assert latency_bound_ms(TimeControl.parse(clock)) == bound


def test_a_period_of_byo_yomi_is_sure_too() -> None:
    assert latency_bound_ms(TimeControl.parse("byo=60+3x10")) == 2500.0


@pytest.mark.parametrize(
    ("share", "value"), [(0.5, 10.0), (0.95, 19.0), (0.99, 20.0), (1.0, 20.0), (0.05, 1.0)]
)
def test_percentiles_are_values_that_were_there(share: float, value: float) -> None:
    assert percentile([float(n) for n in range(20, 0, -1)], share) == value
    assert percentile([], share) == 0.0


def window(width: ConcurrencyLimit, *late_ms: float) -> None:
    """Record a window with these measurements and punctual ones."""
    for late in [*late_ms, *[1.0] * (WINDOW_SIZE - len(late_ms))]:
        width.record_latency(late)


def test_two_late_answers_of_twenty_halve_it_and_one_does_not() -> None:
    width = ConcurrencyLimit(8, latency_bound_ms=10.0)
    window(width, 50.0)
    assert (width.current, width.p95, width.reductions) == (8, 1.0, 0)
    window(width, 50.0, 40.0)
    assert (width.current, width.p95, width.reductions) == (4, 40.0, 1)
    assert width.worst_p95 == 40.0


def test_it_is_never_less_than_one() -> None:
    width = ConcurrencyLimit(5, latency_bound_ms=10.0)
    for _ in range(5):
        window(width, *[99.0] * WINDOW_SIZE)
    assert (width.current, width.reductions) == (1, 2)


def test_it_grows_by_one_after_calm_and_never_beyond_the_most() -> None:
    width = ConcurrencyLimit(4, latency_bound_ms=10.0)
    window(width, 50.0, 50.0)
    grown = []
    for _ in range(4 * WINDOWS_BEFORE_GROWTH):
        window(width)
        grown.append(width.current)
    assert grown == [2] * (WINDOWS_BEFORE_GROWTH - 1) + [3] * WINDOWS_BEFORE_GROWTH + [4] * (
        2 * WINDOWS_BEFORE_GROWTH + 1
    )


def test_calm_is_counted_anew_after_every_late_window() -> None:
    width = ConcurrencyLimit(4, latency_bound_ms=10.0, current=2)
    for _ in range(WINDOWS_BEFORE_GROWTH - 1):
        window(width)
    window(width, 50.0, 50.0)
    for _ in range(WINDOWS_BEFORE_GROWTH - 1):
        window(width)
    assert width.current == 1


@pytest.mark.parametrize("clock", ["none", "0.1+0.001"])
def test_a_number_that_is_said_is_kept(clock: str) -> None:
    width = ConcurrencyLimit.of(7, TimeControl.parse(clock))
    for _ in range(3):
        window(width, *[500.0] * WINDOW_SIZE)
    assert (width.current, width.worst_p95) == (7, 500.0)


def test_left_to_itself_it_is_as_wide_as_the_machine() -> None:
    width = ConcurrencyLimit.of("auto", TimeControl.parse("1+0.1"))
    assert (width.current, width.latency_bound_ms) == (cpu_count(), 25.0)
