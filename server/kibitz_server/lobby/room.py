"""The limits on running matches that a lobby shares with other lobbies. Pure."""

from __future__ import annotations

import sys
from typing import Final

SOON_MS: Final = 20
"""Milliseconds before a lobby retries if too many matches are starting at this moment ..."""
LATER_MS: Final = 1000
"""... and if the server, or one of its players, already plays as many as allowed."""


class Room:
    """Sets no limits; subclasses do."""

    @property
    def most_in_lobby(self) -> int:
        """Maximum number of matches of one lobby that run at the same time."""
        return sys.maxsize

    def places(self) -> tuple[int, int]:
        """Return how many more matches may run on the server, and how many may begin now.

        The others follow `SOON_MS` later.
        """
        return sys.maxsize, sys.maxsize

    def for_player(self, player: str, lobby: str) -> int:
        """Return how many matches of this lobby the player may play at the same time."""
        return sys.maxsize
