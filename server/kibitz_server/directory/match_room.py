"""Limits on running matches: how many may run on a server, in a lobby and for a player.

A lobby checks these limits before it begins matches, and retries a moment later if they are
reached. Only a few matches may start at the same time, because each setup takes half a millisecond,
which delays all other requests.
"""

from __future__ import annotations

from typing import Final

from kibitz_server.directory.registry import Registry
from kibitz_server.lobby.room import Room
from kibitz_server.net.connections import Quotas

STARTS_AT_ONCE: Final = 8
"""The maximum number of matches that a lobby has begun but that are not on disk yet."""


class MatchRoom(Room):
    """The limits on running matches of one server."""

    def __init__(self, registry: Registry, quotas: Quotas) -> None:
        self._registry = registry
        self._quotas = quotas

    @property
    def most_in_lobby(self) -> int:
        """The number of matches of one lobby that may run at the same time."""
        return self._quotas.matches_a_lobby

    def places(self) -> tuple[int, int]:
        """Return how many more matches may run on the server, and how many may start now."""
        begun = self._registry.begun_matches  # takes time in proportion to the number of lobbies
        # Temporarily too low: lobbies are notified of finished matches with a delay.
        waiting = max(0, begun - len(self._registry.matches))
        return max(0, self._quotas.matches_in_all - begun), max(0, STARTS_AT_ONCE - waiting)

    def for_player(self, player: str, lobby: str) -> int:
        """Return how many matches of a lobby a player may play at the same time."""
        return max(0, self._quotas.matches_a_player - self._registry.seats_outside(player, lobby))
