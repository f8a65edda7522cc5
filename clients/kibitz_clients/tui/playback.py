"""Automatic playback of a match's steps, and the time to show its end."""

from __future__ import annotations

from typing import Literal, TypeAlias

from kibitz_clients.matches.timeline import Timeline, TimelineCursor

STEP_MS = 600
"""How long to show each step during playback, in milliseconds."""
LINGER_MS = 4_000
"""How long to show the end of a match before the next one opens, in milliseconds."""
Direction: TypeAlias = Literal["back", "forward", "first", "live", "play"]


class Playback:
    """Moves the cursor of a match, by keys or over time."""

    def __init__(self, timeline: Timeline) -> None:
        self.cursor = TimelineCursor(timeline)
        self._timeline = timeline
        self._playing = False
        # When to show the next step during playback.
        self._step_at = 0
        # When the end of the match was seen; None if it was already over.
        self._ended_at: int | None = None
        self._saw_running = not timeline.over

    def go(self, to: Direction, now: int) -> None:
        """Go one step, go to either end, or toggle playback."""
        playing = self._playing
        self._playing = False
        match to:
            case "back":
                self.cursor.step_back()
            case "forward":
                self.cursor.step_forward()
            case "first":
                self.cursor.go_to_first()
                self._playing = playing
            case "live":
                self.cursor.go_live()
            case "play":
                self._play(now, playing=not playing)

    def _play(self, now: int, *, playing: bool) -> None:
        """Play the steps from here, or from the start if at the end."""
        self._playing, self._step_at = playing, now + STEP_MS
        if playing and self.cursor.is_live:
            self.cursor.go_to_first()

    def go_to(self, seq: int) -> None:
        """Show frame `seq` and stop playback."""
        self._playing = False
        self.cursor.go_to(seq)

    def advance(self, now: int) -> None:
        """Go to the next step if the current one was shown long enough."""
        if self._playing and now >= self._step_at:
            self._step_at += STEP_MS
            self.cursor.step_forward()
            self._playing = not self.cursor.is_live

    def has_lingered(self, now: int) -> bool:
        """Return whether the end of this match was seen and shown long enough."""
        if not (self._timeline.over and self._saw_running):
            return False
        if self._ended_at is None:
            self._ended_at = now
        return now - self._ended_at >= LINGER_MS and self.cursor.is_live
