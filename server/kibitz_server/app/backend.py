"""The parts of one server, from its store to its request handlers, and how they are connected.

`Backend` builds them. Each part receives only those that it uses, and none receives the backend.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from kibitz_games.core.game import Game
from kibitz_protocol.wire.messages import Farewell
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.sign_in import Accounts, Guests
from kibitz_server.accounts.tickets import Tickets
from kibitz_server.directory.archive import Archive
from kibitz_server.directory.directory import Directory
from kibitz_server.directory.failover import Failover
from kibitz_server.directory.hall import Hall
from kibitz_server.directory.hall_sharing import HallSharing
from kibitz_server.directory.loading import Loader
from kibitz_server.directory.lobby_matches import LobbyMatches
from kibitz_server.directory.match_room import MatchRoom
from kibitz_server.directory.other_nodes import OtherNodes
from kibitz_server.directory.rated import RatedMatches
from kibitz_server.directory.recovery import Recovery, StoredLog
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.reload import LogReloader
from kibitz_server.directory.rules import Rules
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.directory.tails import Tails
from kibitz_server.handlers.answering import Answers
from kibitz_server.handlers.hello import HelloHandler
from kibitz_server.handlers.hosting import Hosting
from kibitz_server.handlers.lists import ListHandlers
from kibitz_server.handlers.lobbies import LobbyHandlers
from kibitz_server.handlers.matches import MatchHandlers
from kibitz_server.handlers.requests import RequestHandlers
from kibitz_server.handlers.seeks import SeekHandler
from kibitz_server.handlers.watching import WatchHandlers
from kibitz_server.housebots.catalog import BotLauncher
from kibitz_server.housebots.house_bots import HouseBots
from kibitz_server.lobby.runner import LobbyContext
from kibitz_server.match.checkpoint import Checkpoints, checkpoint_interval, code_digest
from kibitz_server.match.runner import MatchContext
from kibitz_server.metrics import Metrics
from kibitz_server.net.connections import Connections
from kibitz_server.net.log_runner import LogRunner
from kibitz_server.net.peer import RETRY_AFTER_MS
from kibitz_server.rating.log import RatingLog
from kibitz_server.storage.interface import Store
from kibitz_server.storage.quarantine import Quarantine


class Backend:
    """One server without its sockets: the only server of its database, or one of several nodes."""

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
        self._loop = loop
        self._clock = clock
        self._spawn = spawn
        self._games = games
        self._metrics = metrics
        self.store = store
        self.connections = connections
        self.rules = Rules.all_loaded() if rules is None else rules
        self.tickets = Tickets(loop.time)
        self.registry = registry = Registry()
        self.directory = self._make_directory()
        self.accounts = Accounts(
            store, guests, self.is_busy, self.tickets, operators=operators, organizer=organizer
        )
        self.rating_log = RatingLog(store)
        rated = RatedMatches(self.rating_log, self.accounts, games)
        self.house_bots = HouseBots(launcher, spawn, url, self.accounts, registry.house_bot_ended)
        self.substitutes = Substitutes(loop, clock, self.house_bots, registry, connections)
        matches = self._make_match_context(lag, rated)
        self.lobby_matches = LobbyMatches(
            matches, name, games, self.rules, rated, registry, self.substitutes, connections, spawn
        )
        lobbies = self._make_lobby_context()
        self.hall = Hall(loop, spawn, registry, self.rating_log, self.directory.others)
        self.recovery = self._make_recovery(Loader(matches, lobbies, games))
        self.reloader = LogReloader(loop, spawn, store, registry, self.recovery)
        self.failover = self._make_failover()
        """Transfers lobbies between nodes; None for a single server."""
        self.handlers = self._make_handlers(name, matches, lobbies)

    def _make_directory(self) -> Directory:
        nodes, tails = self.store.nodes, None
        if nodes is not None:
            most = self.connections.quotas.matches_elsewhere
            tails = Tails(
                self._loop, self._clock, self._spawn, nodes, self._games, most, self.rules
            )
        others = OtherNodes(None if nodes is None else nodes.url, self._loop.time)
        return Directory(self.registry, Quarantine(self.store), others, nodes, tails)

    def _make_match_context(self, lag: Callable[[], int], rated: RatedMatches) -> MatchContext:
        return MatchContext(
            loop=self._loop,
            clock=self._clock,
            lag=lag,
            store=self.store,
            metrics=self._metrics,
            checkpoints=Checkpoints(code_digest()),
            checkpoint_interval=lambda: checkpoint_interval(len(self.registry.matches)),
            rate=rated.record,
            want_substitute=self.substitutes.want,
            over=lambda match: self.lobby_matches.end(match),
            log_lost=lambda runner, error: self.reloader.lost(runner, error),
        )

    def _make_lobby_context(self) -> LobbyContext:
        registry = self.registry
        return LobbyContext(
            loop=self._loop,
            clock=self._clock,
            store=self.store,
            connections=self.connections,
            house_bots=self.house_bots,
            room=MatchRoom(registry, self.connections.quotas),
            plies=registry.plies,
            begin_match=self.lobby_matches.begin,
            vacate_seat=registry.vacate_seat,
            members_changed=registry.update_memberships,
            closed=registry.close_lobby,
            log_lost=lambda runner, error: self.reloader.lost(runner, error),
        )

    def _make_recovery(self, loader: Loader) -> Recovery:
        return Recovery(
            self.store,
            self.registry,
            self.directory.quarantine,
            loader,
            self.rules,
            self.substitutes,
            self.connections,
            self.lobby_matches.begin,
            self.directory.tails,
        )

    def _make_failover(self) -> Failover | None:
        registry, nodes, connections = self.registry, self.store.nodes, self.connections
        if nodes is None:
            return None
        others, time = self.directory.others, self._loop.time
        return Failover(
            nodes,
            self.store,
            self.recovery,
            registry,
            self.substitutes,
            connections,
            HallSharing(nodes, registry, others, self.tickets, connections, time),
            self._metrics.moved_lobbies,
        )

    def _make_handlers(
        self, name: str, matches: MatchContext, lobbies: LobbyContext
    ) -> RequestHandlers:
        """Return the handlers of all requests; `name` is the server's name in a welcome."""
        directory, connections, games = self.directory, self.connections, self._games
        archive = Archive(directory, matches, games, self.rules)
        answers = Answers(directory, archive, self.tickets, self.rules, self._spawn)
        bots = self.house_bots.catalog
        hosting = Hosting(directory, games, self.accounts, lobbies, self.ready)
        return RequestHandlers(
            self.registry,
            connections,
            HelloHandler(
                directory,
                self.accounts,
                connections,
                self.substitutes,
                answers,
                name,
                lambda: self.open,
            ),
            ListHandlers(directory, games, bots, self.hall, self.rating_log, answers),
            LobbyHandlers(self.registry, archive, hosting, self.substitutes, answers),
            MatchHandlers(directory, archive, self.accounts, connections, answers),
            SeekHandler(directory, hosting, answers),
            WatchHandlers(directory, answers, self._spawn),
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

    @property
    def open(self) -> bool:
        """Whether players may connect: the server is not shutting down and not a standby node."""
        serves = self.failover is None or self.failover.serving
        return serves and not self.registry.draining

    def ready(self) -> bool:
        """Return whether new matches may start."""
        return self.open and self.store.healthy

    def stop(self) -> None:
        """Start no more matches, and stop all runners; the next start continues their logs."""
        registry, tails = self.registry, self.directory.tails
        registry.draining = self.connections.draining = True
        self.hall.stop()
        if tails is not None:
            tails.stop()
        runners: list[LogRunner] = [*registry.matches.values(), *registry.lobbies.values()]
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
        registry, tails = self.registry, self.directory.tails
        gauges = {
            "connections": len(self.connections.peers),
            "players": len(self.connections.players),
            "spectators": sum(len(match.watchers) for match in registry.matches.values()),
            "matches_live": len(registry.matches),
            "lobbies_open": len(registry.lobbies),
            "house_bots": self.house_bots.count,
            "damaged": self.directory.quarantine.count,
            "ready": int(self.ready()),
        }
        if self.failover is not None:
            gauges["node_serving"] = int(self.failover.serving)
        if tails is not None:
            gauges["spectators"] += tails.spectators
            gauges["matches_elsewhere"] = tails.followed
        return gauges

    def is_busy(self, player: str) -> bool:
        """Return whether a guest is connected, has a seat or a lobby, or has a reserved seat.

        A standby node does not know this, so it treats everybody as busy.
        """
        if self.failover is not None and not self.failover.serving:
            return True
        registry = self.registry
        return (
            player in self.connections.players
            or registry.is_busy(player)
            or registry.is_expected(player)
            or self.directory.others.is_busy(player)
        )
