"""The directory: every lobby and every match of a server, and what they need of each other.

It makes the matches that lobbies begin, tells lobbies how matches ended, and is the context of
both kinds of runners. Where things are is the `Registry`'s, what is on the disk is taken up by
`Recovery`, house bots are started by `BotStarter` and put in the place of players by
`Substitutes`, ratings are `RatedMatches`', and `Hall` tells what there is to see.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kibitz_games.core.game import Game
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lobbies import LobbySettings, MatchBrief
from kibitz_protocol.wire.messages import Farewell
from kibitz_protocol.wire.records import Cause, Player, Result, Setup
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.accounts import Accounts, Guests
from kibitz_server.accounts.tickets import Tickets
from kibitz_server.directory.bot_starter import IdentifiedBotStarter
from kibitz_server.directory.failover import Failover
from kibitz_server.directory.hall import Hall
from kibitz_server.directory.hall_sharing import HallSharing
from kibitz_server.directory.loading import Loader, games_of
from kibitz_server.directory.match_room import MatchRoom
from kibitz_server.directory.match_setup import aborted_result, match_setup, utc_now
from kibitz_server.directory.other_nodes import BetweenNodes, Elsewhere, OtherNodes
from kibitz_server.directory.rated import RatedMatches
from kibitz_server.directory.recovery import Recovery
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.rules import Rules
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.directory.tails import Tails
from kibitz_server.housebots.process import BotStarter, HouseBots
from kibitz_server.lobby.budget import lobby_limits
from kibitz_server.lobby.commands import BeginMatch, VacateSeat
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.entries import Opened
from kibitz_server.lobby.room import Room
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.lobby.views import lobby_brief
from kibitz_server.match.checkpoint import checkpoint_interval
from kibitz_server.match.commands import WantSubstitute
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.recovery import recover
from kibitz_server.match.runner import MatchRunner
from kibitz_server.match.watched import WatchedMatch
from kibitz_server.metrics import Metrics
from kibitz_server.net.connections import Connections, counted_address
from kibitz_server.net.peer import RETRY_AFTER_MS, Peer
from kibitz_server.rating.log import RatingLog
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.interface import Store
from kibitz_server.storage.quarantine import Quarantine
from kibitz_server.storage.streams import Stream

LOG = logging.getLogger("kibitz.directory")
_KEY_LETTERS = "bcdfghjkmnpqrstvwxz23456789"
"""No vowels and no look-alikes: people read a lobby's key to each other."""
_KEY_LENGTH = 6
_LONG_KEY_LENGTH = 8
"""Where the store does not know the keys of lobbies that are closed, here or at other nodes, keys
are so long that none is met again by chance."""


@dataclass(frozen=True, slots=True)
class _CloseWaiter:
    """Waits until the disk has the end of a lobby, which can be read from there then."""

    closing: dict[str, LobbyRunner]
    key: str

    def durable(self, seq: int) -> None:
        self.closing.pop(self.key, None)

    def lost(self, error: StoreError) -> None:
        self.closing.pop(self.key, None)


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
        house_bots: HouseBots,
        metrics: Metrics,
        name: str,
        guests: Guests,
        organizer: str | None = None,
        connections: Connections,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        rules: Rules | None = None,
        operators: Collection[str] = (),
    ) -> None:
        """`clock` counts monotonic milliseconds, `lag` those that it has left out so far.

        Without `rules` those of all games are loaded already, or may be loaded on the loop.
        `operators` are the names of the accounts that may abort matches.
        """
        self.loop = loop
        self.clock = clock
        self.lag = lag
        self.store = store
        self.games = games
        self.rules = Rules.all_loaded() if rules is None else rules
        self.name = name
        self.metrics = metrics
        self.connections = connections
        self.house_bots = house_bots
        self.spawn = spawn
        self.quarantine = Quarantine(store)
        self.registry = Registry()
        self.matches = self.registry.matches
        self.lobbies = self.registry.lobbies
        self.recently_finished = self.registry.recently_finished
        self.closing = self.registry.closing
        self.room: Room = MatchRoom(self.registry, connections.quotas)
        self.lobby_limits = lobby_limits(connections.rate_limits)
        self.tickets = Tickets(loop.time)
        self.accounts = Accounts(
            store, guests, self.is_busy, self.tickets, operators=operators, organizer=organizer
        )
        self.rating_log = RatingLog(store)
        self.substitutes = Substitutes(self)
        self._rated = RatedMatches(self.rating_log, self.accounts, games)
        self.bot_starter: BotStarter = IdentifiedBotStarter(
            self.accounts, house_bots, self.registry
        )
        self.hall = Hall(self)
        self._loader = Loader(self, store, games)
        self.tails: Tails | None = None
        """The matches of other nodes that are watched here; None for a single server."""
        if store.nodes is not None:
            most = connections.quotas.matches_elsewhere
            self.tails = Tails(loop, clock, spawn, store.nodes, games, most, self.rules)
        self.recovery = Recovery(
            self,
            registry=self.registry,
            quarantine=self.quarantine,
            loader=self._loader,
            substitutes=self.substitutes,
            connections=connections,
            spawn=spawn,
            rules=self.rules,
            tails=self.tails,
        )
        self.others: OtherNodes | None = None
        """What the other nodes have; None for a single server."""
        self.failover: Failover | None = None
        """What a node does about lobbies that change their owners; None for a single server."""
        if store.nodes is not None:
            self.others = OtherNodes(store.nodes.url, loop.time)
            sharing = HallSharing(
                store.nodes, self.registry, self.others, self.tickets, connections, loop.time
            )
            self.failover = Failover(
                store.nodes,
                store,
                self.recovery,
                self.registry,
                self.substitutes,
                connections,
                sharing,
                metrics.moved_lobbies,
            )
        self._restored = False
        self._draining = False

    # --- beginning and end ------------------------------------------------------------------

    def restore(self) -> None:
        """Take up every match and lobby that the disk says is open. Blocks; for the start.

        What cannot be taken up is set aside; nothing that is wrong with one stops the others.
        Raises `StoreError` where the file itself cannot be read.
        """
        self.recovery.restore(self.recovery.read())
        self._restored = True

    async def restore_when_loaded(self) -> None:
        """As `restore`, once the rules of the open matches are loaded."""
        found = self.recovery.read()
        await self.rules.load(games_of(found.matches))
        self.recovery.restore(found)
        self._restored = True

    @property
    def open(self) -> bool:
        """Whether anybody may come in: the server is up, and no node that stands by."""
        return self.up and (self.failover is None or self.failover.serving)

    @property
    def up(self) -> bool:
        """Whether pages are served, which a node that stands by does as well."""
        return self._restored and not self._draining

    def ready(self) -> bool:
        """Whether matches may begin."""
        return self.open and self.store.healthy

    def stop(self) -> None:
        """Begin nothing more and let every match and lobby stand as it is."""
        self._draining = self.recovery.draining = True
        self.hall.stop()
        if self.tails is not None:
            self.tails.stop()
        runners: list[MatchRunner | LobbyRunner] = [*self.matches.values(), *self.lobbies.values()]
        for runner in runners:
            runner.suspend()
            runner.pending.leave_unanswered()

    def send_farewell(self) -> None:
        """Tell everybody that the server goes down, and close their connections."""
        farewell = Farewell(
            code=Code.UNAVAILABLE,
            message="the server restarts; matches go on after it",
            retry_after_ms=RETRY_AFTER_MS,
        )
        for peer in list(self.connections.peers):
            if peer.identity is not None:
                peer.send(farewell)
            peer.close(1012, "the server restarts")

    def gauges(self) -> Mapping[str, int]:
        """Return what is there now, by the names of `/metrics`."""
        found = {
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
            found["node_serving"] = int(self.failover.serving)
        if self.tails is not None:
            found["spectators"] += self.tails.spectators
            found["matches_elsewhere"] = self.tails.followed
        return found

    # --- opening and finding ----------------------------------------------------------------

    def open_lobby(
        self,
        host: Player,
        settings: LobbySettings,
        peer: Peer,
        request: int,
        *,
        seek_s: int | None = None,
    ) -> LobbyRunner:
        """Open a lobby whose settings have no problem, answer its host, and return it.

        `seek_s` is how long a seek waits; None for any other lobby.
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
            address=counted_address(peer),
            hidden=[name for name in games if self.games[name].info.hidden],
            balanced=[name for name in games if self.games[name].info.balanced],
            drawn=settings.rated,
        )
        engine, step = LobbyEngine.new(
            opened, self.clock(), limits=self.lobby_limits, room=self.room
        )
        head = opened.model_dump_json().encode()
        lobby = LobbyRunner(self, engine, Stream(0, opened.lobby, "lobby"))
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
        """Return where the other nodes are reached that serve beside this one."""
        return [] if self.others is None else self.others.urls

    def watched(self, key: str) -> WatchedMatch | None:
        """Return a match that can be watched here: it runs, is just over, or is followed."""
        found = self.matches.get(key) or self.recently_finished.get(key)
        return found if found is not None or self.tails is None else self.tails.get(key)

    async def find_elsewhere(self, key: str) -> Elsewhere | None:
        """Return where an open lobby or match is, as the database has it; None where it is here.

        None is also what is not open, or set aside. Raises `BetweenNodes`, and `StoreError`.
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
            raise BetweenNodes(f"lobby {lobby} changes its node")
        return place

    def finished_match(self, engine: MatchEngine, tail: int) -> MatchRunner:
        """Return the runner of a match that was over before it is asked for."""
        key = engine.state.setup.match
        stream = Stream(0, key, "match", tail=tail, durable=tail, closed=True)
        return MatchRunner(self, engine, stream, listed=False)

    def is_busy(self, player: str) -> bool:
        """Whether a guest is connected, or has a seat or a lobby, or one is kept for it.

        A node that stands by does not know, and takes everybody for busy.
        """
        if self.failover is not None and not self.failover.serving:
            return True
        if self.others is not None and self.others.is_busy(player):
            return True
        there = player in self.connections.players or self.registry.is_busy(player)
        return there or self.registry.is_expected(player)

    # --- what matches need (match.runner.RunnerContext) -------------------------------------

    def match_over(self, match: MatchRunner) -> None:
        """A match is over, durably, and everybody was told: its lobby hears of it soon.

        What a lobby does about it takes as long as several moves: those that were made durable with
        the end are written first.
        """
        result = match.engine.state.result
        if result is None:
            raise AssertionError("a match without a result is not over")
        self.registry.remove_match(match)
        self.substitutes.match_over(match)
        self.metrics.ended(result.cause)
        self.registry.keep_finished(match)
        brief = match.brief()
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
                LOG.exception("lobby %s: the end of match %s", lobby.key, match.key)

    def match_log_lost(self, match: MatchRunner, error: StoreError) -> None:
        """Have a match loaded again."""
        self.recovery.match_log_lost(match, error)

    def recover_match(self, key: str) -> None:
        """Go on after something has raised that a match told."""
        match = self.matches.get(key)
        if match is not None:
            recover(match)

    def rate(self, setup: Setup, result: Result) -> None:
        """Count a match on the ladder, in the batch that closes its log."""
        self._rated.record(setup, result)

    @property
    def checkpoint_interval(self) -> int:
        """How many entries a match may have beyond its checkpoint."""
        return checkpoint_interval(len(self.matches))

    def write_checkpoint(self, match: MatchRunner) -> None:
        """Write a checkpoint of a match, in the batch of its last entry."""
        self._loader.write_checkpoint(match)

    def want_substitute(self, match: MatchRunner, want: WantSubstitute) -> None:
        """Start a substitute for a seat, or forfeit the seat where there is no room for one."""
        if self.house_bots.count < self.connections.quotas.house_bots_in_all:
            self.substitutes.start(match, want)
        else:  # the match is in the middle of asking, and is told when it has asked
            full = "the server has as many house bots as it may"
            self.loop.call_soon(match.forfeit, want.seat, want.cause, full)

    # --- what lobbies need (lobby.runner.LobbyContext) --------------------------------------

    def peer_of(self, player: str) -> Peer | None:
        """Return a player's newest connection."""
        return self.connections.peer_of(player)

    def plies(self, matches: Sequence[str]) -> Mapping[str, int]:
        """Return the plies of running matches, as spectators may know them."""
        return self.registry.plies(matches)

    def begin_match(self, lobby: LobbyRunner, begin: BeginMatch) -> None:
        """Make the match that a lobby begins; one that cannot begin counts as aborted."""
        if begin.match in self.matches or self._draining:
            return
        if not self.rules.are_loaded([begin.planned.item.game]):
            self.spawn(partial(self._begin_when_loaded, lobby, begin))
            return
        if lobby.restored and self.store.exists(begin.match):
            # The lobby's log is older than the match: a backup, or a log that lost its end.
            LOG.error("match %s cannot begin: there is one of that name", begin.match)
            match = None
        else:
            match = self._create_match(lobby, begin)
        if match is None:
            lobby.match_lost(begin.match, aborted_result(len(begin.planned.players)))
            return
        self.registry.add_match(match)
        # First, so that it is told before what else waits for the match to be on the disk.
        match.pending.hold(0, partial(self._tell_of_start, match, match.brief()))
        match.start(partial(self._seated_peer, match))
        if lobby.engine.state.settings.arranged:
            # An event, where each player is one program: somebody else may have its secret.
            for seat, player in enumerate(match.engine.state.players):
                if self.connections.has_several_programs(player.player):
                    match.note_takeover(seat)

    def _tell_of_start(self, match: MatchRunner, brief: MatchBrief) -> None:
        lobby = self.registry.lobby_of(match)
        if lobby is not None:
            lobby.match_started(brief)

    async def _begin_when_loaded(self, lobby: LobbyRunner, begin: BeginMatch) -> None:
        """Make a match once its rules are loaded, if its lobby still has it then."""
        await self.rules.load([begin.planned.item.game])
        if self.lobbies.get(lobby.key) is not lobby or lobby.closed:
            return  # whoever has the lobby now begins the match
        if begin.match in lobby.engine.state.running:
            self.begin_match(lobby, begin)

    def _create_match(self, lobby: LobbyRunner, begin: BeginMatch) -> MatchRunner | None:
        """Return a new match whose setup is on its way to the disk; None where that raises."""
        state = lobby.engine.state
        try:
            game = self.games[begin.planned.item.game]
            rated = self._rated.keys(state, begin.planned)
            setup = match_setup(state, begin, game, rated=rated, server=self.name)
            engine = MatchEngine.new(game, setup)
            stream = Stream(0, begin.match, "match")
            match = MatchRunner(self, engine, stream, listed=state.settings.listed)
            self.store.create(stream, encode(setup), owner=lobby.key, waiter=match)
        except Exception:
            LOG.exception("match %s cannot begin", begin.match)
            return None
        return match

    def _seated_peer(self, match: MatchRunner, player: Player) -> Peer | None:
        peer = self.peer_of(player.player)
        if peer is not None:
            peer.subscriptions[match.key] = match
        return peer

    def vacate_seat(self, vacate: VacateSeat) -> None:
        """Let a player leave a running match."""
        match = self.matches.get(vacate.match)
        if match is not None:
            match.vacate(vacate.player, vacate.reason)

    def members_changed(self, lobby: LobbyRunner) -> None:
        """Somebody has joined the lobby, or is no member any more."""
        self.registry.update_memberships(lobby)

    def lobby_closed(self, lobby: LobbyRunner) -> None:
        """A lobby is closed, and everybody was told: close its log."""
        self.registry.remove_lobby(lobby)
        brief = lobby_brief(lobby.engine.state).model_dump_json().encode()
        self.closing[lobby.key] = lobby
        self.store.finish(lobby.stream, None, brief, _CloseWaiter(self.closing, lobby.key))

    def lobby_log_lost(self, lobby: LobbyRunner, error: StoreError) -> None:
        """Have a lobby loaded again."""
        self.recovery.lobby_log_lost(lobby, error)

    # --- what substitutes need (SubstituteContext) ------------------------------------------

    def seat_substitute(self, match: MatchRunner, seat: int, player: Player, cause: Cause) -> bool:
        """Give a seat to a substitute that is connected; return whether it took it."""
        peer = self.peer_of(player.player)
        if peer is None:
            return False
        self.registry.add_seat(player.player, match)
        peer.subscriptions[match.key] = match
        if match.replace(seat, player, cause, peer):
            return True
        peer.subscriptions.pop(match.key, None)
        self.registry.remove_seat(player.player, match)
        return False
