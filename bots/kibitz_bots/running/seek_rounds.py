"""Count the rounds that a bot has played in lobbies found by seeking.

The module does no I/O. A lobby's updates may skip short-lived states, so rounds are counted by
number: an update about round 3 implies that two have been played.
"""

from __future__ import annotations

from kibitz_protocol.wire.lobbies import LobbyView


class SeekRounds:
    """Counts rounds, including rematches."""

    def __init__(self) -> None:
        self.played = 0
        self._counted: dict[str, int] = {}
        """The number of counted rounds by lobby."""
        self._begun: set[str] = set()
        """Lobbies in which a match has started since the last counted round."""

    def match_begun(self, lobby: str) -> None:
        """Record the start of a match in a lobby."""
        self._begun.add(lobby)

    def count(self, view: LobbyView) -> bool:
        """Update the count of rounds; return whether a round has just ended."""
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
        """Count the round, if any, that a closing lobby interrupted."""
        self.played += lobby in self._begun
        self._begun.discard(lobby)
        self._counted.pop(lobby, None)
