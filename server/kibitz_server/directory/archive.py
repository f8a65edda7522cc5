"""Requests about a match's past: reports, pages of its events, and matches reloaded from disk.

To check permissions, the server reads only a match's first line and summary, with one indexed
lookup. Reading the log and replaying it in a thread is expensive, so it waits in the job queue
(`jobs`). Declined requests raise `RequestDeclined` with the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from pydantic import ValidationError

from kibitz_games.core.game import Game
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.messages import AskReport, Done, EventList, History, Reported
from kibitz_protocol.wire.records import Branch, BranchStart, Player, Setup
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.reports import MatchReport
from kibitz_protocol.wire.visibility import REFEREE, Viewer, WantedViews
from kibitz_server.accounts.identity import Identity
from kibitz_server.directory.directory import Directory
from kibitz_server.directory.jobs import JobQueue
from kibitz_server.directory.rules import Rules
from kibitz_server.lobby import entries as lobby_entries
from kibitz_server.match import branch as match_branch
from kibitz_server.match import record
from kibitz_server.match import report as match_report
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.history import NO_EVENTS, Page, read_page
from kibitz_server.match.runner import MatchContext, MatchRunner
from kibitz_server.match.shown import seat_in
from kibitz_server.match.state import BrokenLog, MatchState
from kibitz_server.match.watched import WatchedMatch
from kibitz_server.net.connections import counted_address
from kibitz_server.net.peer import Peer
from kibitz_server.storage.quarantine import SetAside
from kibitz_server.storage.streams import Closed, Kind, Stream

LAST_ENTRY: Final = 2**53
"""A number that is higher than those of all entries of any match."""


class RequestDeclined(Exception):
    """The request is declined."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


class Archive:
    """The past of a server's matches and lobbies."""

    def __init__(
        self,
        directory: Directory,
        matches: MatchContext,
        games: Mapping[str, Game],
        rules: Rules,
    ) -> None:
        """`matches` is the context of all matches that are loaded again."""
        self._directory = directory
        self._matches = matches
        self._games = games
        self._rules = rules
        self._jobs = JobQueue()

    # --- reports ----------------------------------------------------------------------------

    async def report(self, peer: Peer, identity: Identity, request: AskReport) -> Reported:
        """Return reports about a finished match: about the player's seats, or all for the host."""
        key = request.match
        if key in self._directory.registry.matches:
            raise RequestDeclined(Code.WRONG_STATE, "the match is not over")
        closed, setup, game = await self._closed_match(key)
        hosts = await self._hosts(identity.key, setup.lobby)
        if not hosts and not _may_have_had_seat(identity, setup, closed):
            raise RequestDeclined(Code.NOT_SEATED, "you had no seat in this match")
        async with self._job_turn(peer, identity):
            report = await self._reported(game, setup, closed, request.seat)
        if not hosts:
            own = [seat for seat in report.seats if seat.player.player == identity.key]
            if not own and not _had_seat(identity.key, setup, closed):
                raise RequestDeclined(Code.NOT_SEATED, "you had no seat in this match")
            report = report.model_copy(update={"seats": own})
        return Reported(re=request.id, report=report)

    async def _reported(
        self, game: Game, setup: Setup, closed: Closed, seat: int | None
    ) -> MatchReport:
        lines = await self._entries(setup.match, closed.number, 1, LAST_ENTRY)

        def make() -> MatchReport:
            entries = [record.read_entry(line) for line in lines]
            return match_report.match_report(game, setup, entries, seat)

        return await asyncio.to_thread(make)

    async def _hosts(self, player: str, lobby: str | None) -> bool:
        """Return whether a player is the host of a lobby, or was the host of a closed one."""
        if lobby is None:
            return False
        registry = self._directory.registry
        running = registry.lobbies.get(lobby) or registry.closing.get(lobby)
        if running is not None:
            return running.engine.state.host.player == player
        try:
            closed = await self._closed("lobby", lobby)
        except SetAside:
            return False
        return (
            closed is not None
            and closed.kind == "lobby"
            and lobby_entries.read_opened(closed.head).host.player == player
        )

    # --- pages of events --------------------------------------------------------------------

    async def history(self, peer: Peer, identity: Identity, request: History) -> EventList:
        """Return events from this viewer's point of view."""
        match = self._directory.watched(request.match)
        if match is None or match.shown.result is not None:
            page = await self._history_of_finished(peer, identity, request)
        else:
            page = await self._history_of_running(match, peer, identity, request)
        return EventList(
            re=request.id,
            match=request.match,
            view=page.view,
            stage=page.stage,
            events=page.events,
            more=page.more,
        )

    async def _history_of_finished(self, peer: Peer, identity: Identity, request: History) -> Page:
        closed, setup, game = await self._closed_match(request.match)
        if request.first > closed.tail:
            return NO_EVENTS
        own = seat_in(setup.seats, identity.key)
        async with self._job_turn(peer, identity):
            return await self._page(game, setup, closed.number, request, REFEREE, own, peer.views)

    async def _history_of_running(
        self, match: WatchedMatch, peer: Peer, identity: Identity, request: History
    ) -> Page:
        viewer = match.viewer_of(peer)
        if viewer is None:
            raise RequestDeclined(Code.NOT_WATCHABLE, "watch or rejoin the match first")
        if request.first > match.stream.durable:
            return NO_EVENTS
        own, state = match.seats.seat_of(peer), match.state
        async with self._job_turn(peer, identity):
            return await self._page(
                state.game, state.setup, match, request, viewer, own, peer.views
            )

    async def _page(
        self,
        game: Game,
        setup: Setup,
        source: int | WatchedMatch,
        request: History,
        viewer: Viewer,
        own: int | None,
        wanted: WantedViews,
    ) -> Page:
        """Read and replay a page of a closed stream, given by its number, or of a running match."""
        first = max(1, request.first)
        last = first + request.count  # read one more entry, to know whether there are more
        if isinstance(source, int):
            lines = await self._entries(setup.match, source, 1, last)
        else:
            newest = source.spectators.seq if own is None else source.stream.durable
            lines = await self._matches.store.lines(source.stream, 1, min(last, newest))

        def read() -> Page:
            match = MatchState(game, setup)
            return read_page(match, lines, viewer, first, request.count, own=own, wanted=wanted)

        return await asyncio.to_thread(read)

    # --- matches that are reloaded ------------------------------------------------------

    async def finished(self, peer: Peer, identity: Identity, match: str) -> MatchRunner:
        """Load a finished match for a player who had a seat, and return its runner."""
        closed, _, game = await self._closed_match(match)
        if all(player.player != identity.key for player in _players(closed)):
            raise RequestDeclined(Code.NOT_SEATED, "you have no seat in this match")
        async with self._job_turn(peer, identity):
            runner = self._directory.registry.recently_finished.get(match)
            if runner is None:
                lines = await self._entries(match, closed.number, 1, LAST_ENTRY)
                state = await asyncio.to_thread(record.restore, game, [closed.head, *lines])
                stream = Stream(0, match, "match", tail=len(lines), durable=len(lines), closed=True)
                runner = MatchRunner(self._matches, MatchEngine(state), stream, listed=False)
        return runner

    # --- branches ---------------------------------------------------------------------------

    async def branch_start(
        self, peer: Peer, identity: Identity, branch: Branch
    ) -> tuple[Setup, BranchStart]:
        """Return a finished match's setup and first plies; everybody may read its record."""
        key, path = branch.match, "settings.branch"
        running = self._directory.watched(key)
        if running is not None and running.shown.result is None:
            raise RequestDeclined(Code.WRONG_STATE, f"{path}.match: match {key!r} is not over")
        closed, setup, game = await self._closed_match(key)
        async with self._job_turn(peer, identity):
            lines = await self._entries(key, closed.number, 1, LAST_ENTRY)

            def read() -> BranchStart:
                return match_branch.branch_start(
                    game, setup, map(record.read_entry, lines), branch.ply
                )

            try:
                return setup, await asyncio.to_thread(read)
            except match_branch.CannotBranch as error:
                raise RequestDeclined(Code.BAD_OPTION, f"{path}.ply: {error}") from None
            except BrokenLog as error:
                message = f"{path}.match: match {key!r} cannot be replayed: {error}"
                raise RequestDeclined(Code.DAMAGED, message) from None

    # --- resent requests ----------------------------------------------------------------------

    async def former_answer(
        self, peer: Peer, identity: Identity, request: int, kind: Kind, key: str
    ) -> Done | None:
        """Return the answer that a closed match or lobby gave to a request, None if it gave none.

        Needs no permission check, because only the program that made the request knows its key.
        """
        closed = await self._closed(kind, key)
        if closed is None or closed.kind != kind:
            return None
        async with self._job_turn(peer, identity):
            lines = await self._entries(key, closed.number, 1, LAST_ENTRY, kind)
        mark = f'"request":"{peer.request_key(request)}"'.encode()
        line = next((line for line in lines if mark in line), None)
        if line is None:
            return None
        if kind == "match":
            return Done(re=request, seq=record.read_entry(line).seq)
        seeks = lobby_entries.read_opened(closed.head).seek_s is not None
        return Done(re=request, lobby=key if seeks else None)

    # --- helpers --------------------------------------------------------------------

    @asynccontextmanager
    async def _job_turn(self, peer: Peer, identity: Identity) -> AsyncIterator[None]:
        """Wait for the player's turn. Raises `RequestDeclined` if the connection closes."""
        async with self._jobs.turn(identity.key, counted_address(peer), peer.people):
            if peer.leaving:
                raise RequestDeclined(Code.UNAVAILABLE, "the connection was closed")
            yield

    async def _entries(
        self, key: str, number: int, first: int, last: int, kind: Kind = "match"
    ) -> list[bytes]:
        with self._directory.quarantine.reading(kind, key):
            return await self._matches.store.entries(number, first, last)

    async def _closed(self, kind: Kind, key: str) -> Closed | None:
        with self._directory.quarantine.reading(kind, key):
            return await self._matches.store.closed(key)

    async def _closed_match(self, key: str) -> tuple[Closed, Setup, Game]:
        closed = await self._closed("match", key)
        if closed is None or closed.kind != "match":
            if self._directory.quarantine.reason(key) is not None:
                raise SetAside(key)
            raise RequestDeclined(Code.NO_SUCH_MATCH, f"no match {key!r}")
        setup = record.read_setup(closed.head)
        game = self._games.get(setup.game)
        if game is None:
            raise RequestDeclined(Code.UNKNOWN_GAME, f"no game {setup.game!r} on this server")
        await self._rules.load([setup.game])
        return closed, setup, game


def _players(closed: Closed) -> list[Player]:
    """Return the players at the end of a match, or those at the start if the summary is damaged."""
    try:
        return MatchBrief.model_validate_json(closed.summary).seats
    except ValidationError:
        return record.read_setup(closed.head).seats


def _had_seat(player: str, setup: Setup, closed: Closed) -> bool:
    """Return whether a player had a seat at the start or at the end of a match."""
    return any(seated.player == player for seated in [*setup.seats, *_players(closed)])


def _may_have_had_seat(identity: Identity, setup: Setup, closed: Closed) -> bool:
    """Like `_had_seat`, but True for every house bot.

    A house bot may have been a substitute in the middle of the match. The setup and the summary
    name all other players.
    """
    return identity.player.kind == "house" or _had_seat(identity.key, setup, closed)
