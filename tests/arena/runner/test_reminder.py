"""When something is said again that still holds."""

from __future__ import annotations

from kibitz_arena.runner.reminder import FIRST_REMINDER_SECONDS, BackoffReminder


def test_what_goes_on_is_said_ever_more_rarely() -> None:
    seldom = BackoffReminder(0.0)
    said = [now for now in range(200) if seldom.due(float(now), True)]
    ten = int(FIRST_REMINDER_SECONDS)
    assert said == [ten, 3 * ten, 7 * ten, 15 * ten]
    assert not seldom.due(200.0, False)
    said = [now for now in range(201, 230) if seldom.due(float(now), True)]
    assert said == [200 + ten]
