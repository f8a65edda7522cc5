"""Connects matches with the lobbies that begin them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from kibitz_games.core.game import Game
from kibitz_protocol.wire.codec import encode, encode_entry
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.records import Entry, Player, Result
from kibitz_protocol.wire.values import Action
from kibitz_server.directory.match_setup import aborted_result, match_setup
from kibitz_server.directory.rated import RatedMatches
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.rules import Rules
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.lobby.commands import BeginMatch
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match.branch import replay_opening
from kibitz_server.match.commands import Leave, Return
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.lifecycle import start
from kibitz_server.match.runner import MatchContext, MatchRunner
from kibitz_server.match.state import MatchState
from kibitz_server.net.connections import Connections
from kibitz_server.net.peer import Peer
from kibitz_server.storage.streams import Stream

LOG = logging.getLogger("kibitz.directory")


class NewMatch(NamedTuple):
    """A match that is not written yet, with the entries that it begins with."""

    engine: MatchEngine
    opening: list[Entry]


class LobbyMatches:
    """Creates the matches that lobbies begin, and reports their starts and ends to the lobbies."""

    def __init__(
        self,
        context: MatchContext,
        server_name: str,
        games: Mapping[str, Game],
        rules: Rules,
        rated: RatedMatches,
        registry: Registry,
        substitutes: Substitutes,
        connections: Connections,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self._context = context
        self._server_name = server_name
        self._games = games
        self._rules = rules
        self._rated = rated
        self._registry = registry
        self._substitutes = substitutes
        self._connections = connections
        self._spawn = spawn
        self._replays = asyncio.Lock()
        """Held while an opening is replayed in a thread, which slows down the event loop."""

    def begin(self, lobby: LobbyRunner, begin: BeginMatch) -> None:
        """Create a match that a lobby begins; if that fails, the match counts as aborted."""
        if begin.match in self._registry.matches or self._registry.draining:
            return
        repeats = lobby.engine.state.opened.start is not None
        if repeats or not self._rules.are_loaded([begin.planned.item.game]):
            self._spawn(partial(self._begin_later, lobby, begin))
        else:
            self._start(lobby, begin, self._new_match(lobby, begin))

    async def _begin_later(self, lobby: LobbyRunner, begin: BeginMatch) -> None:
        """Create a match that has to wait for its rules, or has to repeat the plies of another."""
        await self._rules.load([begin.planned.item.game])
        made = self._new_match(lobby, begin)
        opened = lobby.engine.state.opened
        if made is not None and opened.start is not None:
            made = await self._replayed(made.engine.state, opened.start.moves)
        if self._registry.lobbies.get(lobby.key) is not lobby or lobby.closed:
            return  # the lobby's current owner begins the match
        wanted = begin.match in lobby.engine.state.round.running
        if wanted and begin.match not in self._registry.matches and not self._registry.draining:
            self._start(lobby, begin, made)
            self._vacate_seats(lobby, begin)

    def _vacate_seats(self, lobby: LobbyRunner, begin: BeginMatch) -> None:
        """Take players out of a new match who left the lobby while it was being created."""
        match, members = self._registry.matches.get(begin.match), lobby.engine.state.seats.members
        for seat, player in enumerate(begin.planned.players):
            if match is not None and player.player not in members:
                match.command(Leave(seat, "left"))

    def _new_match(self, lobby: LobbyRunner, begin: BeginMatch) -> NewMatch | None:
        """Return a match that is not written yet, or None after an exception."""
        state = lobby.engine.state
        try:
            game = self._games[begin.planned.item.game]
            rated = self._rated.keys(state, begin.planned)
            setup = match_setup(state, begin, game, rated=rated, server=self._server_name)
            return NewMatch(MatchEngine.new(game, setup), [])
        except Exception:
            LOG.exception("match %s cannot start", begin.match)
            return None

    async def _replayed(self, new: MatchState, moves: Sequence[Action | None]) -> NewMatch | None:
        """Return a match after the plies that it repeats, or None after an exception."""
        try:
            async with self._replays:
                made = await asyncio.to_thread(replay_opening, new.game, new.setup, moves)
            return NewMatch(*made)
        except Exception:
            LOG.exception("match %s cannot start", new.setup.match)
            return None

    def _start(self, lobby: LobbyRunner, begin: BeginMatch, made: NewMatch | None) -> None:
        """Write a match and announce it to its players."""
        if lobby.restored and self._context.store.exists(begin.match):
            # The lobby's log ends before this match: it is from a backup, or lost its last entries.
            LOG.error("match %s cannot start: its name is already taken", begin.match)
            match = None
        else:
            match = None if made is None else self._written(lobby, made)
        if match is None:
            lobby.match_lost(begin.match, aborted_result(len(begin.planned.players)))
            return
        self._registry.add_match(match)
        # This must come first, so that it is announced before other news that waits for the setup.
        match.pending.hold(0, partial(self._tell_of_start, match, match.shown.brief()))
        start(match, partial(self._seated_peer, match))
        if lobby.engine.state.settings.arranged:
            # In a tournament only one program may play as each player: a second one may have stolen
            # the secret.
            for seat, player in enumerate(match.engine.state.players):
                if self._connections.has_several_programs(player.player):
                    match.command(Return(seat, takeover=True))

    def _tell_of_start(self, match: MatchRunner, brief: MatchBrief) -> None:
        names = ", ".join(player.name for player in brief.seats)
        LOG.info("match %s of %s started: %s", brief.match, brief.game, names)
        lobby = self._registry.lobby_of(match)
        if lobby is not None:
            lobby.match_started(brief)

    def _written(self, lobby: LobbyRunner, new: NewMatch) -> MatchRunner | None:
        """Return a new match, and write its setup. Returns None after an exception."""
        setup = new.engine.state.setup
        try:
            stream = Stream(0, setup.match, "match")
            listed = lobby.engine.state.settings.listed
            match = MatchRunner(self._context, new.engine, stream, listed=listed)
            self._context.store.create(stream, encode(setup), owner=lobby.key, waiter=match)
            for entry in new.opening:
                self._context.store.append(stream, entry.seq, encode_entry(entry), match)
        except Exception:
            LOG.exception("match %s cannot start", setup.match)
            return None
        return match

    def _seated_peer(self, match: MatchRunner, player: Player) -> Peer | None:
        peer = self._connections.peer_of(player.player)
        if peer is not None:
            peer.subscriptions[match.key] = match
        return peer

    # --- the end --------------------------------------------------------------------------

    def end(self, match: MatchRunner) -> None:
        """Handle the end of a match, which is durable and announced, and notify its lobby soon.

        The lobby's work takes as long as several moves. So moves that became durable in the same
        batch are sent first.
        """
        result = match.engine.state.result
        if result is None:
            raise AssertionError("a finished match must have a result")
        self._registry.remove_match(match)
        self._substitutes.match_over(match)
        self._context.metrics.finished[result.cause] += 1
        LOG.info("match %s ended after %d plies: %s", match.key, result.plies, result.cause)
        self._registry.keep_finished(match)
        brief = match.shown.brief()
        self._registry.note_finished(brief, listed=match.listed)
        if match.listed:
            self._registry.ended_here.append(brief)
        self._context.loop.call_soon(self._tell_lobby, match, brief, result)

    def _tell_lobby(self, match: MatchRunner, brief: MatchBrief, result: Result) -> None:
        lobby = self._registry.lobby_of(match)
        if lobby is not None:
            try:
                lobby.match_ended(brief, result)
            except Exception:
                LOG.exception("lobby %s: cannot handle the end of match %s", lobby.key, match.key)
