"""Requests about lobbies: host, join, get ready, start, arrange matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from kibitz_protocol.client.exchange import Requests
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lobbies import Arrangement, LobbySettings, SeekTerms
from kibitz_protocol.wire.messages import (
    MAX_ARRANGEMENTS,
    Arrange,
    Arranged,
    Close,
    Done,
    Host,
    Join,
    Kick,
    Leave,
    Ready,
    Rematch,
    Seek,
    Start,
)

ENVELOPE_BYTES: Final = 256
"""Bytes of a frame that are reserved for the fields of a request besides its matches."""


class LobbyRequests(Requests):
    """Requests about lobbies. `lobby` is always a lobby's key, as `Done.lobby` and lists name it.

    All of them are refused as `no_such_lobby` if the lobby does not exist (any more), as `damaged`
    if its log is damaged on the server's disk, and most as `closed` if it is closing. Requests
    that are for the host only are refused to anybody else as `not_host`.
    """

    async def host(self, settings: LobbySettings) -> Done:
        """Open a lobby and return its key (`Done.lobby`) and invite code (`Done.invite`), if any.

        The host has no seat in the lobby until it joins.

        Refused as `unknown_game`, `bad_option`, `bad_seats`, `unknown_personality` or
        `name_invalid` if the settings are invalid (the message names the field), as `limit` if too
        many lobbies or house bots are open, and as `unavailable` if the server starts nothing new.
        """
        return await self._exchange.done(lambda id: Host(id=id, settings=settings))

    async def join(
        self,
        lobby: str,
        *,
        invite: str | None = None,
        role: Literal["player", "spectator"] = "player",
    ) -> Done:
        """Take a seat of a lobby, or enter it as a spectator. Joining again changes nothing.

        `invite` is the lobby's invite code, if it needs one.

        A player is refused as `wrong_invite`, `closed` (only invited players may join, or the host
        has kicked this one), `full`, `bad_seats` (the client's capabilities fit none of the lobby's
        games) or `wrong_state` (the matches have begun); a spectator as `not_watchable`.
        """
        return await self._exchange.done(
            lambda id: Join(id=id, lobby=lobby, invite=invite, role=role)
        )

    async def seek(self, terms: SeekTerms, *, wait_s: int = 300) -> Done:
        """Seek opponents on these terms; the lobby is `Done.lobby`.

        Joins the lobby of another seek on the same terms, or opens one, which closes if nobody
        joins within wait_s seconds (10 to 3600). Use `leave` to withdraw, `join` to accept
        another player's seek, and `rematch` to play again.

        Refused as:
        - `limit` if this player already has a seek, open or in play, or too many open lobbies;
        - `unauthorized` if a guest seeks a rated match;
        - `bad_seats` if the client's capabilities do not fit;
        - `unknown_game` or `bad_option` if the terms are invalid;
        - `unavailable` if the server starts nothing new.
        """
        return await self._exchange.done(lambda id: Seek(id=id, terms=terms, wait_s=wait_s))

    async def leave(self, lobby: str) -> Done:
        """Leave a lobby and its running matches.

        Refused as `not_member` if this client was not in it.
        """
        return await self._exchange.done(lambda id: Leave(id=id, lobby=lobby))

    async def kick(self, lobby: str, player: str) -> Done:
        """Host only: kick a player, who cannot rejoin. `player` is a player's key.

        Refused as `no_such_player` if it is not a member, and as `wrong_state` for the host itself.
        """
        return await self._exchange.done(lambda id: Kick(id=id, lobby=lobby, player=player))

    async def ready(self, lobby: str, ready: bool = True) -> Done:
        """Set whether this player is ready to begin.

        Refused as `not_member`, and as `wrong_state` if the matches have already begun.
        """
        return await self._exchange.done(lambda id: Ready(id=id, lobby=lobby, ready=ready))

    async def start(self, lobby: str) -> Done:
        """Host only: begin the matches.

        Refused as `not_ready` if a seat is empty or a member is away or not ready, as `bad_seats`
        if the members cannot play the programme, and as `wrong_state` if the matches have already
        begun.
        """
        return await self._exchange.done(lambda id: Start(id=id, lobby=lobby))

    async def rematch(self, lobby: str) -> Done:
        """Play the finished programme again, with the seats rotated by one.

        For the host, and for every player of a lobby that `seek` opened. A player who asks counts
        as ready, and the programme begins when all have asked or are ready.

        Refused as `wrong_state` if the programme is not finished, or the matches are arranged.
        """
        return await self._exchange.done(lambda id: Rematch(id=id, lobby=lobby))

    async def close_lobby(self, lobby: str) -> Done:
        """Host only: close the lobby as soon as its running matches are over."""
        return await self._exchange.done(lambda id: Close(id=id, lobby=lobby))

    async def arrange(self, lobby: str, matches: Sequence[Arrangement]) -> Arranged:
        """Host of an arranged lobby: have these matches played.

        Returns a line for each match, in the order of `matches`; None stands for a match that has
        not begun. A match with a known tag is not played again; its line has the current state, so
        the request is safe to repeat. A list that exceeds one frame is sent as several requests; if
        a later one is refused, the matches of the earlier ones remain arranged.

        Refused as `unknown_game`, `bad_option`, `bad_seats`, `unknown_personality` or
        `no_such_player` if a match is invalid (the message names it). Refused as `limit` if the
        lobby has too many matches, and as `wrong_state` if the lobby takes no arranged matches,
        has not begun, or is closing.
        """
        batches = split_arrangements(matches, self._exchange.max_request_bytes)
        answers = [await self._arrange_batch(lobby, batch) for batch in batches]
        briefs = [brief for answer in answers for brief in answer.matches]
        return Arranged(re=answers[-1].re if answers else 0, matches=briefs)

    async def _arrange_batch(self, lobby: str, matches: list[Arrangement]) -> Arranged:
        return await self._exchange.request(
            lambda id: Arrange(id=id, lobby=lobby, matches=matches), Arranged
        )


def split_arrangements(
    matches: Sequence[Arrangement], frame_bytes: int
) -> Iterator[list[Arrangement]]:
    """Yield the matches in batches that fit into one request each, by their number and size.

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
