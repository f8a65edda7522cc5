"""Where a session connects: to the server that it was given, or to another one of its cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kibitz_protocol.wire.messages import Redirect

MOST_TRIES: Final = 3
"""How often a player asks to be let in where it was sent, which may not know it at once."""


class Addresses:
    """The servers that a session may connect to; None stands for the one that it was given."""

    def __init__(self) -> None:
        self.present: str | None = None
        """Where to connect now."""
        self.ticket: str | None = None
        """What lets the player in there, where it was sent there."""
        self._others: list[str] = []
        self._tries = 0
        """How often the player was not let in where it was sent."""

    @property
    def has_others(self) -> bool:
        """Whether a server has named others."""
        return bool(self._others)

    def learn(self, others: Sequence[str]) -> None:
        """Note the other servers of a cluster, as one of them has named them."""
        self._others = [*others]

    def follow(self, redirect: Redirect) -> None:
        """Go where a server sends its player."""
        self.present, self.ticket = redirect.url, redirect.ticket
        self._tries = 0

    def not_let_in(self) -> None:
        """Stay where the player was sent, if it is to be let in there soon, or go to the next.

        A server that has lost its database lets nobody in, while others still send players there.
        """
        self._tries += 1
        if self.ticket is None or self._tries >= MOST_TRIES:
            self.try_next()

    def try_next(self) -> None:
        """Go to the next server: this one cannot be reached, or lets nobody in."""
        self.ticket = None
        known: list[str | None] = [None, *self._others]
        place = known.index(self.present) + 1 if self.present in known else 0
        self.present = known[place % len(known)]
