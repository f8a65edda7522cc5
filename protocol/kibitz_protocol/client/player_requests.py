"""Requests of players and spectators: join, play, watch, comment, read a match's past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from kibitz_protocol.client.exchange import RequestExchange
from kibitz_protocol.wire.lobbies import SeekTerms
from kibitz_protocol.wire.messages import (
    AddComment,
    AskReport,
    Done,
    EventList,
    History,
    Join,
    Leave,
    LeaveMatch,
    Move,
    Note,
    Ready,
    Rejoin,
    Reported,
    Resign,
    Seek,
    Unwatch,
    Wall,
    Walled,
    Watch,
)
from kibitz_protocol.wire.records import Comment


class PlayerRequests:
    """Requests of players and spectators; base class of `Client`, which sets `_exchange`.

    All requests about a match except `unwatch` are refused as `no_such_match` if the match does not
    exist, and as `damaged` if its log is damaged on the server's disk. Requests that need a seat
    are refused as `not_seated` if this connection has no seat in the match; use `rejoin` to take
    it.
    """

    _exchange: RequestExchange

    # --- lobbies --------------------------------------------------------------------------

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

        Joins the lobby of another seek on the same terms. If there is none, opens a lobby, which
        closes if nobody joins within wait_s seconds (10 to 3600). Use `leave` to withdraw, `join`
        to accept another player's seek, and `Hosting.rematch` to play again.

        Refused as:
        - `limit` if this player already has a seek, open or in play, or too many open lobbies;
        - `unauthorized` if a guest seeks a rated match;
        - `bad_seats` if the client's capabilities do not fit;
        - `unknown_game` or `bad_option` if the terms are invalid;
        - `unavailable` if the server cannot start anything new at the moment.
        """
        return await self._exchange.done(lambda id: Seek(id=id, terms=terms, wait_s=wait_s))

    async def leave(self, lobby: str) -> Done:
        """Leave a lobby and its running matches.

        Refused as `not_member` if this client is not in it.
        """
        return await self._exchange.done(lambda id: Leave(id=id, lobby=lobby))

    async def ready(self, lobby: str, ready: bool = True) -> Done:
        """Set whether this player is ready to begin.

        Refused as `not_member`, and as `wrong_state` if the matches have already begun.
        """
        return await self._exchange.done(lambda id: Ready(id=id, lobby=lobby, ready=ready))

    # --- matches --------------------------------------------------------------------------

    async def watch(self, match: str) -> Done:
        """Follow a match as a spectator: a `Snapshot` arrives as news, then the match's events.

        Refused as `not_watchable` if the host admits no spectators, or this player plays in the
        match, and as `over` if it has ended; the hint says where its record is.
        """
        return await self._exchange.done(lambda id: Watch(id=id, match=match))

    async def unwatch(self, match: str) -> Done:
        """Stop watching a match. The server never refuses this."""
        return await self._exchange.done(lambda id: Unwatch(id=id, match=match))

    async def wall(self, matches: Sequence[str]) -> Walled:
        """Watch exactly these matches, at most 200, and stop watching all others.

        A `Snapshot` of each newly watched match arrives as news, then its events. `Walled.refused`
        lists matches that cannot be watched, with the same codes as for `watch`.
        """
        return await self._exchange.request(lambda id: Wall(id=id, matches=list(matches)), Walled)

    async def rejoin(self, match: str) -> Done:
        """Take this player's seat in a match for this connection; an older connection loses it.

        The client does this automatically after a reconnect.

        Refused as `not_seated` if this player has no seat in the match, and as `over` if the match
        has ended or the seat has dropped out.
        """
        return await self._exchange.done(lambda id: Rejoin(id=id, match=match))

    async def move(
        self,
        match: str,
        ply: int,
        action: Mapping[str, bool | int | str],
        comment: Comment | None = None,
    ) -> Done:
        """Play `action` at `ply`, both as in `YourTurn`. `Done.seq` is the number of the log entry.

        `action` is the game's move as a flat JSON object, such as one of `YourTurn.legal`;
        `comment` is the bot's remark on its move. The move is applied once, even if it is resent on
        another connection, and is resent automatically after `rate_limited`.

        Refused as `illegal` or `malformed` if the rules or the move's schema forbid it; the turn
        continues, and the move counts toward the host's limit of illegal moves. Also refused as
        `not_your_turn`, as `stale` if the match has moved on (`RefusedError.ply` is the current
        ply), and as `over`.
        """
        fields = dict(action)
        return await self._exchange.done(
            lambda id: Move(id=id, match=match, ply=ply, action=fields, comment=comment)
        )

    async def resign(
        self, match: str, fault: Literal["crash", "illegal"] | None = None, detail: str = ""
    ) -> Done:
        """Resign a match.

        `fault` tells that the bot failed and did not choose to resign. `detail`, cut to 200
        characters, describes the failure. The result includes both. Refused as `over` if the match
        or the seat has ended.
        """
        return await self._exchange.done(
            lambda id: Resign(id=id, match=match, fault=fault, detail=detail[:200])
        )

    async def leave_match(self, match: str) -> Done:
        """Leave a match for good; the lobby's conduct decides what happens to the seat.

        Refused as `over` if the match or the seat has ended.
        """
        return await self._exchange.done(lambda id: LeaveMatch(id=id, match=match))

    async def report(self, match: str, seat: int | None = None) -> Reported:
        """Return the forensic report of a finished match.

        It covers the seats at fault or, if `seat` is given, only that seat. The host of the lobby
        can read about every seat, other players only about their own.

        Refused as `wrong_state` while the match runs, as `not_seated` if this player had no seat
        and is not the host, and as `rate_limited` if too many reports are being made.
        """
        return await self._exchange.request(
            lambda id: AskReport(id=id, match=match, seat=seat), Reported
        )

    async def note(self, match: str, text: str) -> Done:
        """Write a line of at most 2000 characters into this seat's own record.

        Only this player can read it while the match runs; afterwards the lobby's host can too.
        Refused as `over` if the match has ended.
        """
        return await self._exchange.done(lambda id: Note(id=id, match=match, text=text))

    async def comment(self, match: str, text: str) -> Done:
        """Comment on a running match that this client watches or plays, in 1 to 300 characters.

        It becomes an entry of the match; the host's `Spectating.comments` decides who sees it
        before the end. Refused as `no_comments` if the host allows none, as `wrong_state` if this
        client neither watches nor plays the match, as `over` if it has ended, and as `rate_limited`
        or `limit` if there are too many.
        """
        return await self._exchange.done(lambda id: AddComment(id=id, match=match, text=text))

    async def history(self, match: str, first: int = 1, count: int = 200) -> EventList:
        """Return the events of a match from number `first` on, at most `count` (1 to 1000).

        Omits hidden information that this player may not see. `EventList.more` says whether more
        events follow. Refused as `not_watchable` if the match runs and this client neither watches
        nor plays it, and as `rate_limited` if too much history is being read.
        """
        return await self._exchange.request(
            lambda id: History(id=id, match=match, first=first, count=count), EventList
        )
