"""Clocks as they read while they run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_clients import clockface
from kibitz_protocol.clocks import Clock, TimeControl


@pytest.mark.parametrize(
    ("control", "elapsed", "text"),
    [
        ("60+1", 0, "1:00"),
        ("60+1", 55_100, "4.9"),
        ("60+1", 70_000, "0.0"),
        ("move=5", 1_200, "3.8"),
        ("move=5,bank=60", 1_000, "4.0+1:00"),
        ("move=5,bank=60", 15_000, "0:50"),
        ("byo=60+3x10", 0, "1:00+3×"),
        ("byo=60+3x10", 65_000, "5.0×3"),
        ("byo=60+3x10", 75_000, "5.0×2"),
        ("byo=60+3x10", 95_000, "0.0"),
        ("3600+0", 0, "1:00:00"),
    ],
)
def test_a_clock_reads_what_is_left_of_the_part_that_runs(
    control: str, elapsed: int, text: str
) -> None:
    parsed = TimeControl.parse(control)
    reading = clockface.read(parsed, clockface.full(parsed), elapsed)
    assert reading is not None
    assert reading.text == text


def test_without_a_clock_there_is_nothing_to_read() -> None:
    assert clockface.read(TimeControl(), Clock()) is None


def test_the_last_ten_seconds_are_low() -> None:
    control = TimeControl(main_ms=20_000)
    early = clockface.read(control, clockface.full(control), 9_000)
    late = clockface.read(control, clockface.full(control), 10_001)
    assert early is not None
    assert late is not None
    assert (early.low, late.low) == (False, True)


@given(
    st.builds(
        TimeControl,
        move_ms=st.integers(0, 5_000),
        main_ms=st.integers(0, 60_000),
        bank_ms=st.integers(0, 10_000),
        periods=st.integers(0, 3),
        period_ms=st.integers(1, 5_000),
    ),
    st.data(),
)
def test_what_is_spent_is_what_is_no_longer_left(control: TimeControl, data: st.DataObject) -> None:
    """A turn never gives time back, and takes no more than it was charged."""
    whole = clockface.full(control)
    before = clockface.until_flag(control, whole)
    charged = data.draw(st.integers(0, max(0, before - 1)))
    after = clockface.until_flag(control, clockface.spend(control, whole, charged))
    assert before - charged <= after <= before


def test_after_a_flag_only_the_increment_is_left() -> None:
    control = TimeControl(main_ms=60_000, increment_ms=2_000, bank_ms=5_000, periods=0)
    assert clockface.flagged(control) == Clock(main_ms=2_000)
