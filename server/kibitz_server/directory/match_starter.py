"""Creates the matches that lobbies begin."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from kibitz_games.core.game import Game
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.records import Player
from kibitz_server.directory.match_setup import aborted_result, match_setup
from kibitz_server.directory.rated import RatedMatches
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.rules import Rules
from kibitz_server.lobby.commands import BeginMatch
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match.commands import Return
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.lifecycle import start
from kibitz_server.match.runner import MatchContext, MatchRunner
from kibitz_server.net.connections import Connections
from kibitz_server.net.peer import Peer
from kibitz_server.storage.streams import Stream

LOG = logging.getLogger("kibitz.directory")


class MatchStarter:
    """Creates the matches of one server."""

    def __init__(
        self,
        context: MatchContext,
        *,
        server_name: str,
        games: Mapping[str, Game],
        rules: Rules,
        rated: RatedMatches,
        registry: Registry,
        connections: Connections,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self._context = context
        self._server_name = server_name
        self._games = games
        self._rules = rules
        self._rated = rated
        self._registry = registry
        self._connections = connections
        self._spawn = spawn

    def begin(self, lobby: LobbyRunner, begin: BeginMatch) -> None:
        """Create a match that a lobby begins; if that fails, the match counts as aborted."""
        if begin.match in self._registry.matches or self._registry.draining:
            return
        if not self._rules.are_loaded([begin.planned.item.game]):
            self._spawn(partial(self._begin_when_loaded, lobby, begin))
            return
        if lobby.restored and self._context.store.exists(begin.match):
            # The lobby's log ends before this match: it is from a backup, or lost its last entries.
            LOG.error("match %s cannot start: its name is already taken", begin.match)
            match = None
        else:
            match = self._create(lobby, begin)
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

    async def _begin_when_loaded(self, lobby: LobbyRunner, begin: BeginMatch) -> None:
        """Create a match once its rules are loaded, unless its lobby has dropped it by then."""
        await self._rules.load([begin.planned.item.game])
        if self._registry.lobbies.get(lobby.key) is not lobby or lobby.closed:
            return  # the lobby's current owner begins the match
        if begin.match in lobby.engine.state.round.running:
            self.begin(lobby, begin)

    def _create(self, lobby: LobbyRunner, begin: BeginMatch) -> MatchRunner | None:
        """Return a new match, and write its setup. Returns None after an exception."""
        state = lobby.engine.state
        start = state.opened.start
        try:
            game = self._games[begin.planned.item.game]
            rated = self._rated.keys(state, begin.planned)
            setup = match_setup(state, begin, game, rated=rated, server=self._server_name)
            engine = MatchEngine.new(game, setup)
            stream = Stream(0, begin.match, "match")
            match = MatchRunner(self._context, engine, stream, listed=state.settings.listed)
            opening = engine.play_opening(() if start is None else start.moves)
            self._context.store.create(stream, encode(setup), owner=lobby.key, waiter=match)
            match.write_opening(opening)
        except Exception:
            LOG.exception("match %s cannot start", begin.match)
            return None
        return match

    def _seated_peer(self, match: MatchRunner, player: Player) -> Peer | None:
        peer = self._connections.peer_of(player.player)
        if peer is not None:
            peer.subscriptions[match.key] = match
        return peer
