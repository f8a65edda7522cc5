"""The limits that a lobby shares with others, checked before it begins matches. Pure."""

from __future__ import annotations

import sys
from typing import Final

SOON_MS: Final = 20
"""The delay before a lobby asks again when enough other matches are just starting ..."""
LATER_MS: Final = 1000
"""... and when there is no room on the server, or for one of its players."""


class Room:
    """Unlimited room for matches, for a lobby that shares nothing."""

    @property
    def most_in_lobby(self) -> int:
        """The number of matches of one lobby that may run at the same time."""
        return sys.maxsize

    def on_server(self) -> int:
        """Return how many more matches may run on the server."""
        return sys.maxsize

    def at_once(self) -> int:
        """Return how many matches may begin now; the others follow a moment later."""
        return sys.maxsize

    def for_player(self, player: str, lobby: str) -> int:
        """Return how many matches of a lobby a player may play at the same time."""
        return sys.maxsize
