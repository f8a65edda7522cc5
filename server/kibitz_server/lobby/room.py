"""What a lobby has to ask before it begins matches: the limits that it shares with others. Pure."""

from __future__ import annotations

import sys
from typing import Final, Protocol

SOON_MS: Final = 20
"""When a lobby asks again while enough other matches are on their way to begin ..."""
LATER_MS: Final = 1000
"""... and one for which there is no room on the server, or for one of its players."""


class Room(Protocol):
    """Room for matches."""

    @property
    def most_in_lobby(self) -> int:
        """How many matches of one lobby may run at the same time."""

    def on_server(self) -> int:
        """Return how many more matches may run on the server."""

    def at_once(self) -> int:
        """Return how many matches may begin now, the others a moment later."""

    def for_player(self, player: str, lobby: str) -> int:
        """Return how many matches of a lobby a player may play at the same time."""


class UnlimitedRoom:
    """Room for a lobby that is alone in the world."""

    most_in_lobby = sys.maxsize

    def on_server(self) -> int:
        return sys.maxsize

    def at_once(self) -> int:
        return sys.maxsize

    def for_player(self, player: str, lobby: str) -> int:
        return sys.maxsize
