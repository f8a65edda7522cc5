"""What a lobby has to ask before it begins matches: the limits that it shares with others. Pure."""

from __future__ import annotations

import sys
from typing import Final

SOON_MS: Final = 20
"""When a lobby asks again while enough other matches are on their way to begin ..."""
LATER_MS: Final = 1000
"""... and one for which there is no room on the server, or for one of its players."""


class Room:
    """Room for matches: as much as wanted, for a lobby that is alone in the world."""

    @property
    def most_in_lobby(self) -> int:
        """How many matches of one lobby may run at the same time."""
        return sys.maxsize

    def on_server(self) -> int:
        """Return how many more matches may run on the server."""
        return sys.maxsize

    def at_once(self) -> int:
        """Return how many matches may begin now, the others a moment later."""
        return sys.maxsize

    def for_player(self, player: str, lobby: str) -> int:
        """Return how many matches of a lobby a player may play at the same time."""
        return sys.maxsize
