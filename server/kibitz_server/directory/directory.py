"""The directory: all lobbies and matches of a server, and how they are connected.

It creates the matches that lobbies begin, reports their results to the lobbies, and provides the
services that the runners of both need. `Registry` finds lobbies and matches, and `Recovery`
restores them from disk. `HouseBots` starts house bots, and `Substitutes` seats them in place of
absent players. `RatedMatches` handles ratings, and `Hall` sends the public lists.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from kibitz_games.core.game import Game
from kibitz_protocol.wire.lobbies import LobbySettings, MatchBrief
from kibitz_protocol.wire.messages import Farewell
from kibitz_protocol.wire.records import BranchStart, Player, Result
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.sign_in import Accounts, Guests
from kibitz_server.accounts.tickets import Tickets
from kibitz_server.directory.failover import Failover
from kibitz_server.directory.hall import Hall
from kibitz_server.directory.hall_sharing import HallSharing
from kibitz_server.directory.loading import Loader
from kibitz_server.directory.match_room import MatchRoom
from kibitz_server.directory.match_setup import utc_now
from kibitz_server.directory.match_starter import MatchStarter
from kibitz_server.directory.other_nodes import BetweenNodes, Elsewhere, OtherNodes
from kibitz_server.directory.rated import RatedMatches
from kibitz_server.directory.recovery import Recovery, StoredLog
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.reload import LogReloader
from kibitz_server.directory.rules import Rules
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.directory.tails import Tails
from kibitz_server.housebots.catalog import BotLauncher
from kibitz_server.housebots.house_bots import HouseBots
from kibitz_server.lobby.commands import VacateSeat
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.entries import Opened
from kibitz_server.lobby.runner import LobbyContext, LobbyRunner
from kibitz_server.lobby.state import LobbyState
from kibitz_server.lobby.views import lobby_brief
from kibitz_server.match.checkpoint import Checkpoints, checkpoint_interval, code_digest
from kibitz_server.match.commands import Leave
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.runner import MatchContext, MatchRunner
from kibitz_server.match.shown import seat_in
from kibitz_server.match.watched import WatchedMatch
from kibitz_server.metrics import Metrics
from kibitz_server.net.connections import Connections, counted_address
from kibitz_server.net.log_runner import LogRunner
from kibitz_server.net.peer import RETRY_AFTER_MS, Peer
from kibitz_server.rating.log import RatingLog
from kibitz_server.storage.interface import Store
from kibitz_server.storage.quarantine import Quarantine
from kibitz_server.storage.streams import CallWaiter, Stream

LOG = logging.getLogger("kibitz.directory")
_KEY_LETTERS = "bcdfghjkmnpqrstvwxz23456789"
"""No vowels and no look-alikes, because people read lobby keys aloud to each other."""
_KEY_LENGTH = 6
_LONG_KEY_LENGTH = 8
"""The length of keys if the store cannot look up closed lobbies or those of other nodes. They are
long enough that no key repeats by chance."""


class Directory:
    """The lobbies and matches of one server."""

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop,
        clock: Callable[[], int],
        lag: Callable[[], int] = int,
        store: Store,
        games: Mapping[str, Game],
        launcher: BotLauncher | None,
        url: str,
        metrics: Metrics,
        name: str,
        guests: Guests,
        organizer: str | None = None,
        connections: Connections,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        rules: Rules | None = None,
        operators: Collection[str] = (),
    ) -> None:
        """`clock` returns monotonic milliseconds.

        `lag` returns the milliseconds by which the clock has stopped so far because the server
        stood still. Without `rules`, the rules of all games must be loaded already, or may be
        loaded on the event loop. `operators` are the names of the accounts that may abort matches.
        `launcher` starts house bots, if there are any, which connect to `url`.
        """
        self.loop = loop
        self.clock = clock
        self.store = store
        self.games = games
        self.rules = Rules.all_loaded() if rules is None else rules
        self.name = name
        self.connections = connections
        self.spawn = spawn
        self._metrics = metrics
        self._restored = False
        self.quarantine = Quarantine(store)
        self.registry = registry = Registry()
        self.matches = registry.matches
        self.lobbies = registry.lobbies
        self.tickets = Tickets(loop.time)
        self.accounts = Accounts(
            store, guests, self.is_busy, self.tickets, operators=operators, organizer=organizer
        )
        self.rating_log = RatingLog(store)
        rated = RatedMatches(self.rating_log, self.accounts, games)
        self.house_bots = HouseBots(launcher, spawn, url, self.accounts, registry.house_bot_ended)
        self.substitutes = Substitutes(loop, clock, self.house_bots, registry, connections)
        self._match_context = self._make_match_context(lag, rated)
        self.starter = self._make_starter(rated)
        self._lobby_context = self._make_lobby_context()
        self.tails = self._make_tails()
        """The followed matches of other nodes; None for a single server."""
        self.others = None if store.nodes is None else OtherNodes(store.nodes.url, loop.time)
        """The lobbies and matches of the other nodes; None for a single server."""
        self.hall = Hall(loop, spawn, registry, self.rating_log, self.others)
        self.recovery = self._make_recovery()
        self.reloader = LogReloader(loop, spawn, store, registry, self.recovery)
        self.failover = self._make_failover()
        """Transfers lobbies between nodes; None for a single server."""

    def _make_match_context(self, lag: Callable[[], int], rated: RatedMatches) -> MatchContext:
        return MatchContext(
            loop=self.loop,
            clock=self.clock,
            lag=lag,
            store=self.store,
            metrics=self._metrics,
            checkpoints=Checkpoints(code_digest()),
            checkpoint_interval=lambda: checkpoint_interval(len(self.matches)),
            rate=rated.record,
            want_substitute=self.substitutes.want,
            over=self._match_over,
            log_lost=lambda runner, error: self.reloader.lost(runner, error),
        )

    def _make_starter(self, rated: RatedMatches) -> MatchStarter:
        return MatchStarter(
            self._match_context,
            server_name=self.name,
            games=self.games,
            rules=self.rules,
            rated=rated,
            registry=self.registry,
            connections=self.connections,
            spawn=self.spawn,
        )

    def _make_lobby_context(self) -> LobbyContext:
        return LobbyContext(
            loop=self.loop,
            clock=self.clock,
            store=self.store,
            connections=self.connections,
            house_bots=self.house_bots,
            room=MatchRoom(self.registry, self.connections.quotas),
            plies=self.registry.plies,
            begin_match=self.starter.begin,
            vacate_seat=self._vacate_seat,
            members_changed=self.registry.update_memberships,
            closed=self._lobby_closed,
            log_lost=lambda runner, error: self.reloader.lost(runner, error),
        )

    def _make_tails(self) -> Tails | None:
        if self.store.nodes is None:
            return None
        most = self.connections.quotas.matches_elsewhere
        return Tails(
            self.loop, self.clock, self.spawn, self.store.nodes, self.games, most, self.rules
        )

    def _make_recovery(self) -> Recovery:
        return Recovery(
            self.store,
            self.registry,
            self.quarantine,
            Loader(self._match_context, self._lobby_context, self.games),
            self.rules,
            self.substitutes,
            self.connections,
            self.starter.begin,
            self.tails,
        )

    def _make_failover(self) -> Failover | None:
        nodes, others = self.store.nodes, self.others
        if nodes is None or others is None:
            return None
        return Failover(
            nodes,
            self.store,
            self.recovery,
            self.registry,
            self.substitutes,
            self.connections,
            HallSharing(
                nodes, self.registry, others, self.tickets, self.connections, self.loop.time
            ),
            self._metrics.moved_lobbies,
        )

    # --- startup and shutdown ------------------------------------------------------------------

    def restore(self) -> None:
        """Restore all open matches and lobbies from disk.

        Blocks; for startup. Matches and lobbies that cannot be restored are set aside, and do not
        affect the others. Raises `StoreError` if the database itself cannot be read.
        """
        self._restore(self.recovery.read())

    async def restore_when_loaded(self) -> None:
        """Like `restore`, once the rules of the open matches are loaded."""
        logs = self.recovery.read()
        await self.recovery.load_rules(logs)
        self._restore(logs)

    def _restore(self, logs: Sequence[StoredLog]) -> None:
        self.recovery.list_finished()
        self.recovery.restore(logs)
        self._restored = True

    @property
    def open(self) -> bool:
        """Whether players may connect: the server is up and not a standby node."""
        return self.up and (self.failover is None or self.failover.serving)

    @property
    def up(self) -> bool:
        """Whether pages are served; true for standby nodes too."""
        return self._restored and not self.registry.draining

    def ready(self) -> bool:
        """Return whether new matches may start."""
        return self.open and self.store.healthy

    def stop(self) -> None:
        """Start no more matches, and stop all runners; the next start continues their logs."""
        self.registry.draining = self.connections.draining = True
        self.hall.stop()
        if self.tails is not None:
            self.tails.stop()
        runners: list[LogRunner] = [*self.matches.values(), *self.lobbies.values()]
        for runner in runners:
            runner.suspend()
            runner.pending.leave_unanswered()

    def send_farewell(self) -> None:
        """Announce the shutdown to all connections, and close them."""
        farewell = Farewell(
            code=Code.UNAVAILABLE,
            message="the server is restarting; matches continue afterwards",
            retry_after_ms=RETRY_AFTER_MS,
        )
        for peer in list(self.connections.peers):
            if peer.identity is not None:
                peer.send(farewell)
            peer.close(1012, "the server is restarting")

    def gauges(self) -> Mapping[str, int]:
        """Return the current gauges, by their names in `/metrics`."""
        gauges = {
            "connections": len(self.connections.peers),
            "players": len(self.connections.players),
            "spectators": sum(len(match.watchers) for match in self.matches.values()),
            "matches_live": len(self.matches),
            "lobbies_open": len(self.lobbies),
            "house_bots": self.house_bots.count,
            "damaged": self.quarantine.count,
            "ready": int(self.ready()),
        }
        if self.failover is not None:
            gauges["node_serving"] = int(self.failover.serving)
        if self.tails is not None:
            gauges["spectators"] += self.tails.spectators
            gauges["matches_elsewhere"] = self.tails.followed
        return gauges

    # --- opening and lookup ----------------------------------------------------------------

    def open_lobby(
        self,
        host: Player,
        settings: LobbySettings,
        peer: Peer,
        request: int,
        *,
        seek_s: int | None = None,
        start: BranchStart | None = None,
    ) -> LobbyRunner:
        """Open a lobby with valid settings, answer its host, and return the lobby.

        `start` has the first plies of its match if the settings name a branch. `seek_s` is the
        number of seconds that a seek waits; None for any other lobby.
        """
        games = dict.fromkeys(item.game for item in settings.programme)
        opened = Opened(
            lobby=self._new_lobby_key(),
            host=host,
            settings=settings,
            invite=secrets.token_urlsafe(6),
            created=utc_now(),
            seed=secrets.randbits(256),
            seek_s=seek_s,
            start=start,
            address=counted_address(peer),
            hidden=[name for name in games if self.games[name].info.hidden],
            balanced=[name for name in games if self.games[name].info.balanced],
            drawn=settings.rated,
            request=peer.request_key(request),
        )
        context = self._lobby_context
        engine, step = LobbyEngine.new(
            opened, self.clock(), limits=self.connections.rate_limits, room=context.room
        )
        head = opened.model_dump_json().encode()
        lobby = LobbyRunner(context, engine, LobbyState(opened), Stream(0, opened.lobby, "lobby"))
        self.store.create(lobby.stream, head, owner=None, waiter=lobby)
        self.registry.add_lobby(lobby)
        lobby.open(step, peer, request)
        return lobby

    def _new_lobby_key(self) -> str:
        while True:
            length = _KEY_LENGTH if self.store.remembers_closed else _LONG_KEY_LENGTH
            key = "".join(secrets.choice(_KEY_LETTERS) for _ in range(length))
            if key not in self.lobbies and not self.store.exists(key):
                return key

    def other_urls(self) -> list[str]:
        """Return the URLs of the other serving nodes."""
        return [] if self.others is None else self.others.urls

    def watched(self, key: str) -> WatchedMatch | None:
        """Return a match that can be watched here: running, just finished, or followed."""
        match = self.registry.find_match(key)
        return match if match is not None or self.tails is None else self.tails.get(key)

    async def find_elsewhere(self, key: str) -> Elsewhere | None:
        """Return where an open lobby or match is according to the database.

        Returns None if it is on this node, is not open, or was set aside. Raises `BetweenNodes` and
        `StoreError`.
        """
        nodes, others = self.store.nodes, self.others
        if nodes is None or others is None or self.quarantine.reason(key) is not None:
            return None
        owner = await nodes.owner(key)
        if owner is None or key in self.lobbies or key in self.matches:
            return None
        lobby, node = owner
        place = None if node is None else others.at(lobby, node)
        if place is None:
            raise BetweenNodes(f"lobby {lobby} is moving to another node")
        return place

    def finished_match(self, engine: MatchEngine, tail: int) -> MatchRunner:
        """Return the runner of a finished match that is not in memory."""
        key = engine.state.setup.match
        stream = Stream(0, key, "match", tail=tail, durable=tail, closed=True)
        return MatchRunner(self._match_context, engine, stream, listed=False)

    def is_busy(self, player: str) -> bool:
        """Return whether a guest is connected, has a seat or a lobby, or has a reserved seat.

        A standby node does not know this, so it treats everybody as busy.
        """
        if self.failover is not None and not self.failover.serving:
            return True
        if self.others is not None and self.others.is_busy(player):
            return True
        there = player in self.connections.players or self.registry.is_busy(player)
        return there or self.registry.is_expected(player)

    # --- events from matches and lobbies ------------------------------------------------------

    def _match_over(self, match: MatchRunner) -> None:
        """Handle the end of a match, which is durable and announced, and notify its lobby soon.

        The lobby's work takes as long as several moves. So moves that became durable in the same
        batch are sent first.
        """
        result = match.engine.state.result
        if result is None:
            raise AssertionError("a finished match must have a result")
        self.registry.remove_match(match)
        self.substitutes.match_over(match)
        self._metrics.finished[result.cause] += 1
        LOG.info("match %s ended after %d plies: %s", match.key, result.plies, result.cause)
        self.registry.keep_finished(match)
        brief = match.shown.brief()
        self.registry.note_finished(brief, listed=match.listed)
        if match.listed:
            self.registry.ended_here.append(brief)
        self.loop.call_soon(self._tell_lobby, match, brief, result)

    def _tell_lobby(self, match: MatchRunner, brief: MatchBrief, result: Result) -> None:
        lobby = self.registry.lobby_of(match)
        if lobby is not None:
            try:
                lobby.match_ended(brief, result)
            except Exception:
                LOG.exception("lobby %s: cannot handle the end of match %s", lobby.key, match.key)

    def _vacate_seat(self, vacate: VacateSeat) -> None:
        """Take a player out of a running match."""
        match = self.matches.get(vacate.match)
        seat = None if match is None else seat_in(match.engine.state.players, vacate.player)
        if match is not None and seat is not None:
            match.command(Leave(seat, vacate.reason))

    def _lobby_closed(self, lobby: LobbyRunner) -> None:
        """Close the log of a closed lobby, after the announcement."""
        self.registry.remove_lobby(lobby)
        brief = lobby_brief(lobby.engine.state).model_dump_json().encode()
        self.registry.closing[lobby.key] = lobby
        forget = CallWaiter(lambda _: self.registry.closing.pop(lobby.key, None))
        self.store.finish(lobby.stream, None, brief, forget)
