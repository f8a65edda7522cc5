"""Requests of hosts, such as opening lobbies and starting matches, and of the server's operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kibitz_protocol.client.exchange import RequestExchange
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lobbies import Arrangement, LobbySettings
from kibitz_protocol.wire.messages import (
    MAX_ARRANGEMENTS,
    Abort,
    Arrange,
    Arranged,
    Close,
    Done,
    Host,
    Kick,
    Rematch,
    Start,
)
from kibitz_protocol.wire.records import Branch

ENVELOPE_BYTES: Final = 256
"""Bytes of a frame reserved for the fields of a request other than its matches."""


class Hosting:
    """Requests of a host. `lobby` is a lobby's key, as in `Done.lobby` and lists.

    All requests with a `lobby` are refused as `no_such_lobby` if the lobby does not exist or is
    closed, as `damaged` if its log is damaged on the server's disk, and as `not_host` if this
    player is not the host. Most are refused as `closed` while the lobby is closing.
    """

    def __init__(self, exchange: RequestExchange) -> None:
        self._exchange = exchange

    async def host(self, settings: LobbySettings, *, branch: Branch | None = None) -> Done:
        """Open a lobby and return its key (`Done.lobby`) and invite code (`Done.invite`), if any.

        The host has no seat in the lobby until it joins. `branch` sets `settings.branch`: the match
        of the lobby continues from this position of a finished match.

        Refused as `unknown_game`, `bad_option`, `bad_seats`, `unknown_personality` or
        `name_invalid` if the settings are invalid; the message names the field. Refused as `limit`
        if there are too many lobbies or house bots, and as `unavailable` if the server cannot start
        anything new at the moment. For a branch, refused as `no_such_match` or `wrong_state` if
        that match does not exist or is not over.
        """
        if branch is not None:
            settings = settings.model_copy(update={"branch": branch})
        return await self._exchange.done(lambda id: Host(id=id, settings=settings))

    async def kick(self, lobby: str, player: str) -> Done:
        """Remove a player permanently. `player` is the player's key.

        Refused as `no_such_player` if the player is not a member, and as `wrong_state` for the host
        itself.
        """
        return await self._exchange.done(lambda id: Kick(id=id, lobby=lobby, player=player))

    async def start(self, lobby: str) -> Done:
        """Begin the matches.

        Refused as `not_ready` if a seat is empty or a member is away or not ready, as `bad_seats`
        if the members cannot play the programme, and as `wrong_state` if the matches have already
        begun.
        """
        return await self._exchange.done(lambda id: Start(id=id, lobby=lobby))

    async def rematch(self, lobby: str) -> Done:
        """Play the finished programme again, with the seats rotated by one.

        For the host, and for every player of a lobby that `seek` opened. In such a lobby the
        request also marks the player as ready, and the programme begins when all players are ready.

        Refused as `wrong_state` if the programme is not finished, or the matches are arranged.
        """
        return await self._exchange.done(lambda id: Rematch(id=id, lobby=lobby))

    async def close_lobby(self, lobby: str) -> Done:
        """Close the lobby once its running matches are over."""
        return await self._exchange.done(lambda id: Close(id=id, lobby=lobby))

    async def arrange(self, lobby: str, matches: Sequence[Arrangement]) -> Arranged:
        """Play these matches in an arranged lobby.

        Returns an item for each match, in the order of `matches`: None if the match has not begun,
        otherwise its current state. A match with the tag of an earlier one is not played again, so
        the request is safe to repeat. A list that exceeds one frame is sent as several requests; if
        a later one is refused, the matches of the earlier ones remain arranged.

        Refused as `unknown_game`, `bad_option`, `bad_seats`, `unknown_personality` or
        `no_such_player` if a match is invalid (the message names it). Refused as `limit` if the
        lobby has too many matches, and as `wrong_state` if the lobby is not an arranged one, has
        not begun, or is closing.
        """
        batches = split_arrangements(matches, self._exchange.max_request_bytes)
        answers = [await self._arrange_batch(lobby, batch) for batch in batches]
        briefs = [brief for answer in answers for brief in answer.matches]
        return Arranged(re=answers[-1].re if answers else 0, matches=briefs)

    async def _arrange_batch(self, lobby: str, matches: list[Arrangement]) -> Arranged:
        return await self._exchange.request(
            lambda id: Arrange(id=id, lobby=lobby, matches=matches), Arranged
        )

    async def abort(self, match: str, reason: str = "") -> Done:
        """End a running match without a rated result, as the operator of the server.

        Refused as `unauthorized` unless this client has the token of an account that `kibitz serve
        --operator NAME` names, and as `over` if the match has ended.
        """
        return await self._exchange.done(lambda id: Abort(id=id, match=match, reason=reason))


def split_arrangements(
    matches: Sequence[Arrangement], frame_bytes: int
) -> Iterator[list[Arrangement]]:
    """Yield the matches in batches, each small enough for one request in number and size.

    `frame_bytes` is the largest frame that the server reads.
    """
    batch: list[Arrangement] = []
    size = 0
    for match in matches:
        more = len(encode(match)) + 1
        if batch and (len(batch) == MAX_ARRANGEMENTS or size + more > frame_bytes - ENVELOPE_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(match)
        size += more
    if batch:
        yield batch
