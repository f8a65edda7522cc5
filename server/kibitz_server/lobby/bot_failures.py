"""The failures of a lobby's house bots, and how many of them cost a bot its seat. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_BOT_FAILURES = 3
"""Failures of a house bot in one round before its seat opens to everybody."""


@dataclass(slots=True)
class BotFailures:
    """The reasons for the failures of house bots in this round."""

    by_seat: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def note(self, seat: int, reason: str) -> bool:
        """Count a failure of a seat's bot; return whether the bot loses the seat."""
        self.by_seat[seat] = (*self.by_seat.get(seat, ()), reason)
        return len(self.by_seat[seat]) >= MAX_BOT_FAILURES
