"""The course of a lobby's programme, folded from what the server tells.

`Course.heed` takes the news one by one and answers the lines that a person wants to read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from kibitz import report
from kibitz_protocol.client import Client
from kibitz_protocol.messages import LobbyClosed, LobbyNews, MatchEnded, MatchStarted
from kibitz_protocol.rooms import LobbyView, MatchBrief


class Course:
    """What is known of one lobby: its newest view, and its matches in the order they began."""

    def __init__(self, lobby: str) -> None:
        self.lobby = lobby
        self.view: LobbyView | None = None
        self.closed: str | None = None
        """Why the lobby is gone; None while it is there."""
        self._matches: dict[str, MatchBrief] = {}

    @property
    def matches(self) -> list[MatchBrief]:
        """The matches of the programme by number."""
        return sorted(self._matches.values(), key=lambda brief: brief.number)

    @property
    def over(self) -> bool:
        """Whether nothing more is to come."""
        state = self.view.state if self.view else None
        return self.closed is not None or state in {"finished", "closed"}

    def add(self, brief: MatchBrief) -> None:
        """Take in a match, unless a newer state of it is known."""
        known = self._matches.get(brief.match)
        if known is None or known.result is None:
            self._matches[brief.match] = brief

    async def follow(self, client: Client) -> AsyncIterator[str]:
        """Yield the lines about a client's news until the programme is over."""
        async for message in client.news():
            for line in self.heed(message):
                yield line
            if self.over:
                return

    def heed(self, message: object) -> list[str]:
        """Take in a message and return lines about it; other lobbies' news says nothing."""
        match message:
            case LobbyNews(lobby=view) if view.lobby == self.lobby:
                return self._seen(view)
            case MatchStarted(lobby=self.lobby, match=brief):
                self.add(brief)
                return [f"match {brief.number} begins: {self._title(brief)}"]
            case MatchEnded(lobby=self.lobby, match=brief):
                self.add(brief)
                return [self._ended(brief)]
            case LobbyClosed(lobby=self.lobby, reason=reason):
                self.closed = reason
        return []

    def _seen(self, view: LobbyView) -> list[str]:
        before, self.view = self.view, view
        for brief in view.live:
            self.add(brief)
        known = {member.player for member in before.members} if before else set()
        return [
            f"{member.name} takes seat {member.seat + 1} of {len(view.settings.seats)}"
            for member in view.members
            if member.player not in known
        ]

    def _title(self, brief: MatchBrief) -> str:
        players = ", ".join(player.name for player in brief.seats)
        return f"{brief.game} for {len(brief.seats)}: {players}"

    def _ended(self, brief: MatchBrief) -> str:
        plies = brief.result.plies if brief.result else brief.ply
        places, end = report.placing(brief.seats, brief.result), report.ending(brief.result)
        return f"match {brief.number} ends after {plies} plies: {places} ({end})"
