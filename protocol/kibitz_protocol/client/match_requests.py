"""Requests about matches: watch, play, resign, read their past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from kibitz_protocol.client.exchange import Requests
from kibitz_protocol.wire.messages import (
    Abort,
    AddComment,
    AskReport,
    Done,
    EventList,
    History,
    LeaveMatch,
    Move,
    Note,
    Rejoin,
    Reported,
    Resign,
    Unwatch,
    Wall,
    Walled,
    Watch,
)
from kibitz_protocol.wire.records import Comment


class MatchRequests(Requests):
    """Requests about matches. `match` is always a match's key, as news and lists name it.

    All of them but `unwatch` are refused as `no_such_match` where the match does not exist, and as
    `damaged` where its log is damaged on the server's disk. Those that need a seat are refused as
    `not_seated` where this player has none at the match on this connection; `rejoin` takes it. All
    of them but `comment` are repeated by themselves after a reconnect.
    """

    async def watch(self, match: str) -> Done:
        """Follow a match as a spectator: a `Snapshot` comes as news, and then its events.

        Refused as `not_watchable` where the host lets no spectators in, or this player plays in the
        match, and as `over` where it has ended; the hint says where its record is.
        """
        return await self._exchange.done(lambda id: Watch(id=id, match=match))

    async def unwatch(self, match: str) -> Done:
        """Stop following a match. Never refused."""
        return await self._exchange.done(lambda id: Unwatch(id=id, match=match))

    async def wall(self, matches: Sequence[str]) -> Walled:
        """Watch exactly these matches, at most 200, and none that was watched before beside them.

        A `Snapshot` of each that was not watched yet comes as news, and then its events. Matches
        that cannot be watched are named in `Walled.refused`, each with the code that `watch` would
        be refused with.
        """
        return await self._exchange.request(lambda id: Wall(id=id, matches=list(matches)), Walled)

    async def rejoin(self, match: str) -> Done:
        """Take the own seat at a match on this connection; an older connection loses it.

        After a reconnect the client does this by itself.

        Refused as `not_seated` where this player has no seat at the match, and as `over` where the
        match has ended or the seat has dropped out.
        """
        return await self._exchange.done(lambda id: Rejoin(id=id, match=match))

    async def move(
        self,
        match: str,
        ply: int,
        action: Mapping[str, bool | int | str],
        comment: Comment | None = None,
    ) -> Done:
        """Play `action` at `ply`, both as `YourTurn` named them; `Done.seq` numbers the entry.

        `action` is the game's move as a flat JSON object, such as one of `YourTurn.legal`;
        `comment` is what the bot says of its move. The move is applied once, even where it has to
        be sent again on another connection, and is sent again by itself after `rate_limited`.

        Refused as `illegal` or `malformed` where the rules or the move's schema forbid it (the
        turn goes on, and the host's limit of illegal moves counts it), as `not_your_turn`, as
        `stale` where the match has moved on (`RefusedError.ply` is the present ply), and as `over`.
        """
        fields = dict(action)
        return await self._exchange.done(
            lambda id: Move(id=id, match=match, ply=ply, action=fields, comment=comment)
        )

    async def resign(
        self, match: str, fault: Literal["crash", "illegal"] | None = None, detail: str = ""
    ) -> Done:
        """Give a match up.

        `fault` says that the bot failed rather than gave up, and `detail`, cut to 200 characters,
        how; the result names both. Refused as `over` where the match or the seat has ended.
        """
        return await self._exchange.done(
            lambda id: Resign(id=id, match=match, fault=fault, detail=detail[:200])
        )

    async def leave_match(self, match: str) -> Done:
        """Leave a match for good; the lobby's conduct decides what becomes of the seat.

        Refused as `over` where the match or the seat has ended.
        """
        return await self._exchange.done(lambda id: LeaveMatch(id=id, match=match))

    async def report(self, match: str, seat: int | None = None) -> Reported:
        """Return the forensic report of a finished match.

        It has the seats at fault, or the one that `seat` names, at fault or not. The host of the
        lobby is told of every seat, anybody else of its own one only.

        Refused as `wrong_state` while the match runs, as `not_seated` where this player had no seat
        and is not the host, and as `rate_limited` where too many reports are being made.
        """
        return await self._exchange.request(
            lambda id: AskReport(id=id, match=match, seat=seat), Reported
        )

    async def note(self, match: str, text: str) -> Done:
        """Write a line of at most 2000 characters into the own record.

        Nobody else sees it while the match runs; afterwards the host of the lobby may. Refused as
        `over` where the match has ended.
        """
        return await self._exchange.done(lambda id: Note(id=id, match=match, text=text))

    async def comment(self, match: str, text: str) -> Done:
        """Say something of a running match, watched or played: a line of 1 to 300 characters.

        It becomes an entry of the match; the host's `Spectating.comments` says who is shown it
        before the end. Refused as `no_comments` where the host wants none, as `wrong_state` where
        this client neither watches nor plays the match, as `over` where it has ended, and as
        `rate_limited` or `limit` where there are too many. Not repeated after a reconnect.
        """
        return await self._exchange.done(lambda id: AddComment(id=id, match=match, text=text))

    async def abort(self, match: str, reason: str = "") -> Done:
        """End a running match without a result that counts, as the operator of the server.

        Refused as `unauthorized` unless this client has the token of an account that `kibitz serve
        --operator NAME` names, and as `over` where the match has ended. Not repeated after a
        reconnect.
        """
        return await self._exchange.done(lambda id: Abort(id=id, match=match, reason=reason))

    async def history(self, match: str, first: int = 1, count: int = 200) -> EventList:
        """Return the events of a match from number `first` on, at most `count` (1 to 1000).

        They are the events as this player may see them; `EventList.more` says whether others
        follow. Refused as `not_watchable` where the match runs and is neither watched nor played
        by this client, and as `rate_limited` where too much history is being read.
        """
        return await self._exchange.request(
            lambda id: History(id=id, match=match, first=first, count=count), EventList
        )
