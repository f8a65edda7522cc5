"""Time controls: the typed notation and the schema."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.wire.clocks import TimeControl

MILLIS = st.integers(0, 10_000_000)


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("none", TimeControl()),
        ("inf", TimeControl()),
        ("", TimeControl()),
        ("10+0.1", TimeControl(main_ms=10_000, increment_ms=100)),
        ("5:00+2", TimeControl(main_ms=300_000, increment_ms=2_000)),
        ("90", TimeControl(main_ms=90_000)),
        ("move=1", TimeControl(move_ms=1_000)),
        ("move=0.05", TimeControl(move_ms=50)),
        ("byo=60+3x10", TimeControl(main_ms=60_000, periods=3, period_ms=10_000)),
        ("move=1,bank=60", TimeControl(move_ms=1_000, bank_ms=60_000)),
        (" 10+0.1 , bank=5 ", TimeControl(main_ms=10_000, increment_ms=100, bank_ms=5_000)),
        (
            "byo=60+3x10,inc=2",
            TimeControl(main_ms=60_000, periods=3, period_ms=10_000, increment_ms=2_000),
        ),
    ],
)
def test_the_notation_is_read(text: str, control: TimeControl) -> None:
    assert TimeControl.parse(text) == control


@pytest.mark.parametrize(
    "text",
    ["fast", "10+", "+5", "move=", "move=x", "byo=60", "byo=60+3", "byo=60+x10", "byo=60+3x0",
     "1:2:3", "-5", "10-1", "1e3", "10+0.1+2", "move=1,move=2", "10,20", "0+0", "0.0001", "10x3",
     "1:+2", ":30", "byo=1+1.5x3", "9" * 40, "10,", "none,move=1", "5+1,inc=1", "byo=60+3x10+2",
     "inc=1", "1:75:1", "0.1234", "0+5", "NaN", "byo=1+9999x1", "١٠", "10\n+1"],
)  # fmt: skip
def test_anything_else_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match="time control"):
        TimeControl.parse(text)


@pytest.mark.parametrize(
    ("control", "flaw"),
    [
        (TimeControl(periods=3), "byo-yomi needs both periods and their length"),
        (TimeControl(period_ms=10_000), "byo-yomi needs both periods and their length"),
        (
            TimeControl(increment_ms=100),
            "an increment alone is no time control: add main time, a bank or time per move",
        ),
        (TimeControl(main_ms=1, increment_ms=100), None),
        (TimeControl(), None),
    ],
)
def test_a_schedule_that_nobody_can_mean_has_a_flaw(control: TimeControl, flaw: str | None) -> None:
    assert control.flaw == flaw


@pytest.mark.parametrize("fields", [{"main_ms": -1}, {"main_ms": 2**60}, {"periods": 1_001}])
def test_a_schedule_out_of_bounds_is_refused(fields: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="TimeControl"):
        TimeControl.model_validate(fields)


@st.composite
def controls(draw: st.DrawFn) -> TimeControl:
    periods = draw(st.integers(0, 1_000))
    free = TimeControl(
        move_ms=draw(MILLIS),
        main_ms=draw(MILLIS),
        bank_ms=draw(MILLIS),
        periods=periods,
        period_ms=draw(st.integers(1, 10_000_000)) if periods else 0,
    )
    increment = draw(MILLIS) if free.limited else 0
    return free.model_copy(update={"increment_ms": increment})


@given(controls())
def test_what_is_written_is_read_back(control: TimeControl) -> None:
    assert TimeControl.parse(str(control)) == control


@given(st.text(alphabet="0123456789.:+x=,-movebyank ", max_size=30))
def test_any_text_is_read_or_refused_and_never_anything_else(text: str) -> None:
    with contextlib.suppress(ValueError):
        control = TimeControl.parse(text)
        assert TimeControl.parse(str(control)) == control
