"""Reminders with exponential backoff: a message that still holds is said ever more rarely."""

from __future__ import annotations

from typing import Final

FIRST_REMINDER_SECONDS: Final = 10.0
"""After how long it is said for the first time."""


class BackoffReminder:
    """The times of reminders; `now` is in seconds."""

    def __init__(self, now: float) -> None:
        self._since = now
        self._pause = FIRST_REMINDER_SECONDS

    def due(self, now: float, so: bool) -> bool:
        """Return whether it is time to say it; where it does not hold (`so`), all begins anew."""
        if not so:
            self._since, self._pause = now, FIRST_REMINDER_SECONDS
            return False
        if now < self._since + self._pause:
            return False
        self._since, self._pause = now, 2 * self._pause
        return True
