"""The steps of a match on the screen, as time passes: played by themselves, and its end."""

from __future__ import annotations

from typing import Literal, TypeAlias

from kibitz_clients.matches.timeline import Timeline, TimelineCursor

STEP_MS = 600
"""How long a step is shown when the steps play by themselves."""
LINGER_MS = 4_000
"""How long the end of a match is shown before the next one opens by itself."""
Direction: TypeAlias = Literal["back", "forward", "first", "live", "play"]


class Playback:
    """Moves the cursor of a match, at the keys of a person or with time."""

    def __init__(self, timeline: Timeline) -> None:
        self.cursor = TimelineCursor(timeline)
        self._timeline = timeline
        self._playing = False
        # When the next step is shown, while they play by themselves.
        self._step_at = 0
        # When the end of the match was seen here; None if it was over before.
        self._ended_at: int | None = None
        self._saw_running = not timeline.over

    def go(self, to: Direction, now: int) -> None:
        """Go one step, to an end, or start and stop playing the steps by themselves."""
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
        """Play the steps from here, or from the start when all of them were seen."""
        self._playing, self._step_at = playing, now + STEP_MS
        if playing and self.cursor.is_live:
            self.cursor.go_to_first()

    def go_to(self, seq: int) -> None:
        """Go to the step with this number."""
        self._playing = False
        self.cursor.go_to(seq)

    def advance(self, now: int) -> None:
        """Go to the next step when the present one was shown long enough."""
        if self._playing and now >= self._step_at:
            self._step_at += STEP_MS
            self.cursor.step_forward()
            self._playing = not self.cursor.is_live

    def has_lingered(self, now: int) -> bool:
        """Return whether the end of this match, which was seen here, was shown long enough."""
        if not (self._timeline.over and self._saw_running):
            return False
        if self._ended_at is None:
            self._ended_at = now
        return now - self._ended_at >= LINGER_MS and self.cursor.is_live
