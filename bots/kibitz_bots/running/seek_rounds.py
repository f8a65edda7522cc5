"""The number of rounds a bot has played in the lobbies that it has sought. Pure.

A lobby's updates skip short-lived states, so rounds are counted by their numbers: an update about
round 3 implies that two have been played.
"""

from __future__ import annotations

from kibitz_protocol.wire.lobbies import LobbyView


class SeekRounds:
    """Counts rounds, rematches being rounds."""

    def __init__(self) -> None:
        self.played = 0
        self._counted: dict[str, int] = {}
        """Rounds of each lobby that were counted."""
        self._begun: set[str] = set()
        """Lobbies in which a match has begun after the last round that was counted."""

    def match_begun(self, lobby: str) -> None:
        """Note that a match of a lobby has begun."""
        self._begun.add(lobby)

    def count(self, view: LobbyView) -> bool:
        """Count the rounds played so far; return whether a round has just ended."""
        done = view.round if view.state == "finished" else view.round - 1
        more = done - self._counted.get(view.lobby, 0)
        if more <= 0:
            return False
        self.played += more
        self._counted[view.lobby] = done
        if view.state == "finished":
            self._begun.discard(view.lobby)
        return view.state == "finished"

    def close(self, lobby: str) -> None:
        """Count the round that was broken off when a lobby closed, if there is one."""
        self.played += lobby in self._begun
        self._begun.discard(lobby)
        self._counted.pop(lobby, None)
