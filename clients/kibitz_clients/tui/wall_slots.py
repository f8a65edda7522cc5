"""Assigns matches to the boards of a wall and computes how many boards fit. Pure.

A board keeps its match until some time after the end. Then it shows the next match of the same
game, or of any game if it is not reserved.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from kibitz_protocol.wire.lobbies import MatchBrief

RESULTS: Final = 12
"""The number of finished matches to list with their results."""
_REMEMBERED: Final = 1_000
"""The number of finished matches to remember, more than a server lists at once."""
LINGER_MS: Final = 6_000
"""How long to show the end of a match before the next one takes its board, in milliseconds."""
MIN_COLUMNS: Final = 24
MIN_ROWS: Final = 8
"""The smallest tile of a wall, in terminal cells."""
_CELL_RATIO: Final = 2.4
"""The best ratio of width to height of a tile, in terminal cells."""


@dataclass
class Slot:
    """One board of a wall."""

    game: str | None = None
    """The game of its match, or the one that it is reserved for."""
    kept: bool = False
    match: str | None = None
    ended_at: int | None = None
    """When the end of the match was first seen."""

    def is_free(self, now: int) -> bool:
        """Return whether another match can take the board."""
        return self.match is None or (
            self.ended_at is not None and now - self.ended_at >= LINGER_MS
        )


@dataclass
class WallSlots:
    """All boards of a wall, in display order."""

    slots: list[Slot] = field(default_factory=list)
    finished: deque[MatchBrief] = field(default_factory=lambda: deque(maxlen=RESULTS))
    """The latest finished matches, in order."""
    played: int = 0
    """The number of matches that have ended so far."""
    _counted: dict[str, None] = field(default_factory=dict)
    """The latest matches counted in `played`, in order, so that none is counted twice."""

    @classmethod
    def for_games(cls, games: Sequence[str]) -> WallSlots:
        """Return a wall that reserves a board for each of `games`."""
        return cls([Slot(game, kept=True) for game in games])

    def update(self, briefs: Iterable[MatchBrief], now: int) -> list[str]:
        """Update the wall with the current matches; return those that just got a board."""
        known = {brief.match: brief for brief in briefs if brief.watchable and not brief.void}
        for watchable in known.values():
            if watchable.result is not None and watchable.match not in self._counted:
                self._count(watchable)
        for slot in self.slots:
            brief = known.get(slot.match or "")
            if brief is not None and brief.result is not None and slot.ended_at is None:
                slot.ended_at = now
        shown = {slot.match for slot in self.slots}
        return [
            match
            for match, brief in known.items()
            if brief.result is None and match not in shown and self._seat(brief, now)
        ]

    def past(self, briefs: Iterable[MatchBrief]) -> list[str]:
        """Return the matches that have ended and are no longer on a board."""
        shown = {slot.match for slot in self.slots}
        past = self._counted.keys() - shown
        return [brief.match for brief in briefs if brief.match in past]

    def _count(self, brief: MatchBrief) -> None:
        self.played += 1
        self.finished.append(brief)
        self._counted[brief.match] = None
        if len(self._counted) > _REMEMBERED:
            del self._counted[next(iter(self._counted))]

    def _seat(self, brief: MatchBrief, now: int) -> bool:
        """Assign a board to a match; return False if none is free."""
        free = [slot for slot in self.slots if slot.is_free(now)]
        same = [slot for slot in self.slots if slot.game == brief.game]
        chosen = next((slot for slot in free if slot.game == brief.game), None)
        if chosen is None and any(slot.kept for slot in same):
            return False
        if chosen is None:
            chosen = next((slot for slot in free if not slot.kept), None)
        if chosen is None:
            chosen = Slot()
            self.slots.append(chosen)
        chosen.game, chosen.match, chosen.ended_at = brief.game, brief.match, None
        return True


def capacity(columns: int, rows: int) -> int:
    """Return the maximum number of tiles that fit."""
    return max(1, (columns + 1) // (MIN_COLUMNS + 1)) * max(1, rows // MIN_ROWS)


def grid_shape(count: int, columns: int, rows: int) -> tuple[int, int]:
    """Return the numbers of columns and rows that give the largest boards."""

    def smaller_side(across: int) -> float:
        down = math.ceil(count / across)
        return min((columns + 1 - across) / across / _CELL_RATIO, rows / down)

    across = max(range(1, max(1, count) + 1), key=smaller_side)
    return across, math.ceil(count / across)
