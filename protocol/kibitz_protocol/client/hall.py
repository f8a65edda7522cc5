"""Requests about the server as a whole: its games, lobbies, matches and rating lists."""

from __future__ import annotations

from functools import partial

from kibitz_protocol.client.exchange import RequestExchange
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


class Hall:
    """The games, lobbies, matches and rating lists of a server.

    These requests only read. After a reconnect the client resends them and resubscribes.
    """

    def __init__(self, exchange: RequestExchange) -> None:
        self._exchange = exchange

    async def games(self) -> GameList:
        """Return the games that the server hosts and the house bots that it can start.

        Each game comes with the JSON Schemas of its options and moves.
        """
        return await self._exchange.request(lambda id: ListGames(id=id), GameList)

    async def subscribe(self) -> Done:
        """Subscribe to the hall: the public lobbies, matches and ladders.

        The whole hall arrives as news (`HallNews`): once immediately, then after every change, at
        most four times a second.
        """
        return await self._exchange.done(lambda id: Subscribe(id=id, topic="hall"))

    async def unsubscribe(self) -> Done:
        """Unsubscribe from the hall. The server never refuses this."""
        return await self._exchange.done(lambda id: Unsubscribe(id=id, topic="hall"))

    async def lobbies(self) -> LobbyList:
        """Return all open lobbies that are listed or that this player belongs to, oldest first.

        Fetches all pages of the list.
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

        With `lobby`, the key of a lobby, returns only its matches, listed or not. Fetches all pages
        of the list.

        Refused as `no_such_lobby` if the lobby does not exist or this player may not watch it.
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

        `game` is a game's name (None: all games), `first` the rank of the first line (from 1),
        `count` the number of lines per game (1 to 200).

        Refused as `unknown_game` if the server does not host the game.
        """
        return await self._exchange.request(
            lambda id: AskLadder(id=id, game=game, first=first, count=count), Ladders
        )


def _lobby_page_request(after: int, id: int) -> ListLobbies:
    return ListLobbies(id=id, after=after, limit=MAX_PAGE_SIZE)


def _match_page_request(lobby: str | None, after: int, id: int) -> ListMatches:
    return ListMatches(id=id, lobby=lobby, after=after, limit=MAX_PAGE_SIZE)
