"""Room for matches: how many more may run on a server, in a lobby and for a player.

A lobby asks before it begins matches, and asks again a moment later where there was no room. Few
matches are on their way to begin at any moment, because setting one up takes half a millisecond,
in which everybody else's requests wait.
"""

from __future__ import annotations

from typing import Final

from kibitz_server.directory.registry import Registry
from kibitz_server.lobby.room import Room
from kibitz_server.net.connections import Quotas

STARTS_AT_ONCE: Final = 8
"""Matches that may be on their way: a lobby has begun them, and they wait for the disk."""


class MatchRoom(Room):
    """The room on one server."""

    def __init__(self, registry: Registry, quotas: Quotas) -> None:
        self._registry = registry
        self._quotas = quotas

    @property
    def most_in_lobby(self) -> int:
        """How many matches of one lobby may run at the same time."""
        return self._quotas.matches_a_lobby

    def on_server(self) -> int:
        """Return how many more matches may run on the server."""
        return max(0, self._quotas.matches_in_all - self._running())

    def at_once(self) -> int:
        """Return how many more matches may be on their way to begin."""
        # Too few where lobbies do not know yet that matches are over, which they will in a moment.
        waiting = max(0, self._running() - len(self._registry.matches))
        return max(0, STARTS_AT_ONCE - waiting)

    def for_player(self, player: str, lobby: str) -> int:
        """Return how many matches of a lobby a player may play at the same time."""
        return max(0, self._quotas.matches_a_player - self._registry.seats_outside(player, lobby))

    def _running(self) -> int:
        """Return how many matches the lobbies have begun that are not over."""
        lobbies = self._registry.lobbies.values()
        return sum(len(lobby.engine.state.running) for lobby in lobbies)
