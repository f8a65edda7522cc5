"""Requests that read lists: games, lobbies, matches, rating lists."""

from __future__ import annotations

from functools import partial

from kibitz_protocol.client.exchange import Requests
from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief
from kibitz_protocol.wire.messages import (
    MAX_PAGE_SIZE,
    AskLadder,
    Done,
    GameList,
    Ladders,
    ListGames,
    ListLobbies,
    ListMatches,
    LobbyList,
    MatchList,
    Subscribe,
    Unsubscribe,
)


class ListRequests(Requests):
    """Requests that only read. All of them are repeated by themselves after a reconnect, and the
    hall is subscribed to again.
    """

    async def games(self) -> GameList:
        """Return the games that the server hosts and the house bots that it can start.

        Each game comes with the JSON Schemas of its options and moves.
        """
        return await self._exchange.request(lambda id: ListGames(id=id), GameList)

    async def subscribe_hall(self) -> Done:
        """Be told of the hall from now on: lobbies, matches and ladders that anybody may see.

        The whole hall comes as news (`HallNews`), once now and again, at most four times a second,
        whenever something has changed.
        """
        return await self._exchange.done(lambda id: Subscribe(id=id, topic="hall"))

    async def unsubscribe_hall(self) -> Done:
        """Hear of the hall no longer. Never refused."""
        return await self._exchange.done(lambda id: Unsubscribe(id=id, topic="hall"))

    async def lobbies(self) -> LobbyList:
        """Return all open lobbies that are listed or that this player belongs to, oldest first.

        The list is fetched page by page; the answer holds all pages.
        """
        lobbies: list[LobbyBrief] = []
        after = 0
        while True:
            page = await self._exchange.request(partial(_lobby_page_request, after), LobbyList)
            lobbies += page.lobbies
            if not page.more or page.last <= after:
                return page.model_copy(update={"lobbies": lobbies})
            after = page.last

    async def matches(self, lobby: str | None = None) -> MatchList:
        """Return all running matches that are listed, oldest first, then the newest finished ones.

        `lobby` is the key of a lobby: only its matches, listed or not. The list is fetched page by
        page; the answer holds all pages.

        Refused as `no_such_lobby` where the lobby does not exist or may not be watched by this
        player.
        """
        briefs: list[MatchBrief] = []
        after = 0
        while True:
            request = partial(_match_page_request, lobby, after)
            page = await self._exchange.request(request, MatchList)
            briefs += page.matches
            if not page.more or page.last <= after:
                return page.model_copy(update={"matches": briefs})
            after = page.last

    async def ladder(self, game: str | None = None, first: int = 1, count: int = 100) -> Ladders:
        """Return the rating list of a game, or of every game with rated matches.

        `game` is a game's name (None: all games), `first` the place of the first line from 1,
        `count` how many lines of each game, 1 to 200.

        Refused as `unknown_game` where the server does not host the game.
        """
        return await self._exchange.request(
            lambda id: AskLadder(id=id, game=game, first=first, count=count), Ladders
        )


def _lobby_page_request(after: int, id: int) -> ListLobbies:
    return ListLobbies(id=id, after=after, limit=MAX_PAGE_SIZE)


def _match_page_request(lobby: str | None, after: int, id: int) -> ListMatches:
    return ListMatches(id=id, lobby=lobby, after=after, limit=MAX_PAGE_SIZE)
