"""The arithmetic of clocks: free time, main time, bank and periods are charged in that order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from kibitz_protocol.wire.clocks import (
    EMPTY_CLOCK,
    MAX_CLOCK_MS,
    Clock,
    TimeControl,
    after_flag,
    clocks_json,
    full_clock,
    spend,
    until_flag,
)

BYO = TimeControl.parse("byo=60+3x10")


@pytest.mark.parametrize(
    ("text", "charged", "left"),
    [
        ("move=1", 999, Clock()),
        ("move=1", 1000, None),
        ("10+0.1", 0, Clock(main_ms=10_100)),
        ("10+0.1", 9_999, Clock(main_ms=101)),
        ("10+0.1", 10_000, None),
        ("move=1,bank=60", 1_000, Clock(bank_ms=60_000)),
        ("move=1,bank=60", 1_001, Clock(bank_ms=59_999)),
        ("move=1,bank=60", 60_999, Clock(bank_ms=1)),
        ("move=1,bank=60", 61_000, None),
        ("10+0,bank=5", 12_000, Clock(bank_ms=3_000)),
        ("byo=60+3x10", 60_000, Clock(periods=3)),
        ("byo=60+3x10", 69_999, Clock(periods=3)),
        ("byo=60+3x10", 70_000, Clock(periods=2)),
        ("byo=60+3x10", 89_999, Clock(periods=1)),
        ("byo=60+3x10", 90_000, None),
    ],
)
def test_a_turn_is_charged_in_order(text: str, charged: int, left: Clock | None) -> None:
    control = TimeControl.parse(text)
    assert spend(control, full_clock(control), charged) == left


def test_an_unfinished_period_is_whole_again() -> None:
    clock: Clock | None = Clock(periods=2)
    for _ in range(5):
        assert clock is not None
        clock = spend(BYO, clock, 9_999)
    assert clock == Clock(periods=2)


def test_the_increment_comes_after_the_move() -> None:
    control = TimeControl.parse("10+2")
    assert spend(control, full_clock(control), 4_000) == Clock(main_ms=8_000)


def test_an_increment_cannot_be_spent_before_it_is_earned() -> None:
    control = TimeControl.parse("1+60")
    assert spend(control, full_clock(control), 1_000) is None


def test_a_fallen_flag_leaves_only_the_increment_of_the_next_move() -> None:
    assert after_flag(TimeControl.parse("10+2")) == Clock(main_ms=2_000)
    assert after_flag(TimeControl.parse("byo=60+3x10")) == EMPTY_CLOCK == Clock()


controls = st.builds(
    TimeControl,
    move_ms=st.integers(0, 2_000),
    main_ms=st.integers(0, 5_000),
    increment_ms=st.integers(0, 500),
    bank_ms=st.integers(0, 3_000),
    periods=st.integers(0, 4),
    period_ms=st.integers(1, 1_000),
)


@given(controls, st.lists(st.integers(0, 6_000), max_size=12))
def test_time_is_conserved(control: TimeControl, turns: list[int]) -> None:
    """Nothing is charged twice or lost: remaining time equals initial time minus time used."""
    clock = full_clock(control)
    for charged in turns:
        total = until_flag(control, clock)
        after = spend(control, clock, charged)
        assert (after is None) == (charged >= total)
        if after is None:
            return
        used = total - (until_flag(control, after) - control.increment_ms)
        over = max(0, charged - control.move_ms)
        # A partially used period is restored, so less than one period is missing.
        given_back = over - used
        assert 0 <= given_back < control.period_ms
        assert given_back == 0 or over > clock.main_ms + clock.bank_ms
        clock = after


@given(controls, st.integers(0, 9_000), st.integers(0, 9_000))
def test_more_time_used_never_leaves_more(control: TimeControl, less: int, more: int) -> None:
    less, more = sorted((less, more))
    first = spend(control, full_clock(control), less)
    second = spend(control, full_clock(control), more)
    if first is None:
        assert second is None
    elif second is not None:
        assert until_flag(control, second) <= until_flag(control, first)


def test_no_clock_holds_more_than_the_wire_carries() -> None:
    control = TimeControl(main_ms=MAX_CLOCK_MS, increment_ms=MAX_CLOCK_MS)
    assert until_flag(control, full_clock(control)) == MAX_CLOCK_MS
    assert spend(control, full_clock(control), 5) == Clock(main_ms=MAX_CLOCK_MS)


def test_a_clock_that_is_made_by_arithmetic_is_like_one_that_was_validated() -> None:
    control = TimeControl.parse("byo=60+3x10")
    made = full_clock(control)
    read = TypeAdapter(Clock)
    assert read.validate_json(read.dump_json(made)) == made
    with pytest.raises(ValidationError):
        read.validate_json(b'{"main_ms":-1}')


@given(st.lists(st.builds(Clock, main_ms=st.integers(0, MAX_CLOCK_MS), periods=st.integers(0))))
def test_clocks_are_written_as_their_models_are(clocks: list[Clock]) -> None:
    assert clocks_json(clocks) == to_json(clocks, exclude_none=True)
