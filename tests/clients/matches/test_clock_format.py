"""The text of running clocks."""

from __future__ import annotations

import pytest

from kibitz_clients.matches import clock_format
from kibitz_protocol.wire.clocks import Clock, TimeControl, full_clock


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
    reading = clock_format.read_clock(parsed, full_clock(parsed), elapsed)
    assert reading is not None
    assert reading.text == text


def test_without_a_clock_there_is_nothing_to_read() -> None:
    assert clock_format.read_clock(TimeControl(), Clock()) is None


def test_the_last_ten_seconds_are_low() -> None:
    control = TimeControl(main_ms=20_000)
    early = clock_format.read_clock(control, full_clock(control), 9_000)
    late = clock_format.read_clock(control, full_clock(control), 10_001)
    assert early is not None
    assert late is not None
    assert (early.low, late.low) == (False, True)
