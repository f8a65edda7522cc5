"""The hall: everybody who is here, every lobby, every match, and who may ask for what.

A request arrives here paid for and decoded. It is looked up in a table by its type and carried
out by the lobby's room or the match's table; the hall itself knows who is connected, checks
rights that no single lobby or match can check, makes matches that lobbies begin, and restores
everything at the start. A match that is over stays a while, so that a move whose answer was
lost on the way can be answered again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial

from pydantic import ValidationError

from kibitz_games.api import Game, GameError, InvalidSetup
from kibitz_protocol import messages
from kibitz_protocol.messages import (
    VERSIONS,
    ClientMessage,
    Done,
    EventList,
    Farewell,
    GameLine,
    GameList,
    Limits,
    LobbyList,
    MatchList,
    Welcome,
)
from kibitz_protocol.records import Cause, Player, Result, SeatResult, Setup
from kibitz_protocol.refusals import CloseCode, Code
from kibitz_protocol.rooms import HouseSeat, LobbySettings, MatchBrief, ProgrammeItem
from kibitz_protocol.values import MAX_FRAME
from kibitz_server import lobby as rules
from kibitz_server import match as match_rules
from kibitz_server import record, roll
from kibitz_server.accounts import Accounts, Admission, Denied, Guests, Identity
from kibitz_server.credits import Bucket, Tariff
from kibitz_server.history import events
from kibitz_server.house import Employee, Staff
from kibitz_server.lobby import Lobby
from kibitz_server.metrics import Figures
from kibitz_server.peer import Peer
from kibitz_server.room import Room
from kibitz_server.scribe import Scribe
from kibitz_server.stand_in import StandIns
from kibitz_server.store import Store, Stored, StoreError, Stream
from kibitz_server.table import Table, viewer_of
from kibitz_server.view import REFEREE

LOG = logging.getLogger("kibitz.hall")
LINGERING = 256
"""Matches that are over and still in memory."""
LISTED_FINISHED = 50
"""Finished matches in lists."""
RETRY_AFTER_MS = 1000
"""What clients are told to wait when the server goes down."""


class Hall:
    """All of one server but its sockets."""

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop,
        clock: Callable[[], int],
        store: Store,
        games: Mapping[str, Game],
        staff: Staff,
        figures: Figures,
        name: str,
        guests: Guests,
        tariff: Tariff,
        quotas: Quotas,
        spawn: Callable[[Awaitable[None]], None],
    ) -> None:
        self.loop = loop
        self.clock = clock
        self.store = store
        self.figures = figures
        self.scribe = Scribe()
        self.tables: dict[str, Table] = {}
        self.rooms: dict[str, Room] = {}
        self.staff = staff
        self.accounts = Accounts(store, guests, self._is_busy)
        self._games = games
        self._name = name
        self._tariff = tariff
        self._quotas = quotas
        self._spawn = spawn
        self._stand_ins = StandIns(self)
        self._peers: set[Peer] = set()
        self._addresses: dict[str, Address] = {}
        self._present: dict[str, list[Peer]] = {}
        """The connections of each player, the newest last."""
        self._purses: dict[str, Bucket] = {}
        """The bucket of each player who is present."""
        self._ties: dict[str, set[str]] = {}
        """The lobbies that each player hosts or is a member of."""
        self._seats: dict[str, set[str]] = {}
        """The running matches that each player has, or had, a seat at."""
        self._lingering: OrderedDict[str, Table] = OrderedDict()
        self._finished: deque[MatchBrief] = deque(maxlen=LISTED_FINISHED)
        self._emptied: asyncio.Future[None] | None = None
        self._hired = 0
        self._open = False
        self._draining = False
        self._requests: Mapping[type[ClientMessage], Callable[..., None]] = {
            messages.ListGames: self._list_games,
            messages.ListLobbies: self._list_lobbies,
            messages.ListMatches: self._list_matches,
            messages.Host: self._host,
            messages.Join: self._join,
            messages.Leave: self._leave,
            messages.Kick: self._kick,
            messages.Ready: self._say_ready,
            messages.Start: self._start,
            messages.Rematch: self._rematch,
            messages.Close: self._close,
            messages.Watch: self._watch,
            messages.Unwatch: self._unwatch,
            messages.Rejoin: self._rejoin,
            messages.Resign: self._resign,
            messages.LeaveMatch: self._leave_match,
            messages.Note: self._note,
            messages.History: self._history,
        }

    # --- beginning and end ------------------------------------------------------------------

    def restore(self) -> None:
        """Take up every match and lobby that the disk says is open. Blocks; for the start."""
        for line in reversed(self.store.summaries("match", LISTED_FINISHED)):
            self._finished.append(MatchBrief.model_validate_json(line))
        for stored in self.store.load("match"):
            self._restore_match(stored)
        for stored in self.store.load("lobby"):
            self._restore_lobby(stored)
        for room in list(self.rooms.values()):
            self._resume_lobby(room)
        for table in list(self.tables.values()):
            table.listed = self._is_listed(table)
            table.resume()
        self._open = True

    def ready(self) -> bool:
        return self._open and not self._draining and self.store.healthy

    def stop(self) -> None:
        """Begin nothing more and let every match stand as it is."""
        self._draining = True
        for table in self.tables.values():
            table.suspend()
        for room in self.rooms.values():
            room.suspend()

    def farewell(self) -> None:
        """Tell everybody that the server goes down, and close their connections."""
        news = Farewell(
            code=Code.UNAVAILABLE,
            message="the server restarts; matches go on after it",
            retry_after_ms=RETRY_AFTER_MS,
        )
        for peer in list(self._peers):
            if peer.identity is not None:
                peer.tell(news)
            peer.close(1012, "the server restarts")

    async def empty(self) -> None:
        """Wait until every socket is closed."""
        if self._peers:
            self._emptied = self.loop.create_future()
            await self._emptied

    def abort_peers(self) -> None:
        for peer in list(self._peers):
            peer.abort()

    def lost(self, peer: Peer) -> None:
        self._peers.discard(peer)
        if not self._peers and self._emptied is not None and not self._emptied.done():
            self._emptied.set_result(None)
        address = self._addresses.get(peer.address)
        if address is None:
            return
        address.count -= 1
        # A flooder that comes back at once finds its bucket as empty as it left it.
        full = address.bucket.level(self.loop.time()) >= address.bucket.rate.burst
        if address.count <= 0 and full:
            del self._addresses[peer.address]

    def gauges(self) -> Mapping[str, int]:
        return {
            "connections": len(self._peers),
            "players": len(self._present),
            "spectators": sum(len(table.watchers) for table in self.tables.values()),
            "matches_live": len(self.tables),
            "lobbies_open": len(self.rooms),
            "house_bots": self.staff.count,
            "ready": int(self.ready()),
        }

    # --- what peers ask (peer.Desk) ---------------------------------------------------------

    def admit(self, peer: Peer) -> bool:
        self._peers.add(peer)
        room = not self._draining and len(self._peers) <= self._quotas.connections
        if peer.local:
            return room
        address = self._addresses.get(peer.address)
        if address is None:
            bucket = Bucket(self._tariff.address, self.loop.time())
            address = self._addresses[peer.address] = Address(bucket)
        address.count += 1
        peer.share(address.bucket)
        return room and address.count <= self._quotas.connections_an_address

    def move(self, peer: Peer, move: messages.Move) -> None:
        table = self.tables.get(move.match)
        if table is not None and peer.identity is not None:
            if not table.move(peer, move):
                peer.owe(1)
            return
        peer.owe(1)
        if self._greeted(peer, move.id) is not None:
            self._move_after_end(peer, move)

    def request(self, peer: Peer, message: ClientMessage) -> None:
        if isinstance(message, messages.Hello):
            self._hello(peer, message)
            return
        identity = self._greeted(peer, message.id)
        if identity is None:
            return
        try:
            self._requests[type(message)](peer, identity, message)
        except Exception:
            LOG.exception("request %s failed", type(message).__name__)
            peer.refuse(message.id, Code.INTERNAL, "the request could not be carried out")

    def gone(self, peer: Peer) -> None:
        holdings = list(peer.holdings.values())
        peer.holdings.clear()
        for holding in holdings:
            holding.disconnected(peer)
        identity = peer.identity
        if identity is None:
            return
        peers = self._present.get(identity.key, [])
        if peer in peers:
            peers.remove(peer)
        if not peers and self._present.pop(identity.key, None) is not None:
            self._purses.pop(identity.key, None)
            for room in self._rooms_of(identity.key):
                room.do(rules.Disconnected(identity.key))

    # --- hello ------------------------------------------------------------------------------

    def _greeted(self, peer: Peer, request: int) -> Identity | None:
        if peer.identity is None:
            peer.refuse(request, Code.HELLO_FIRST, "say hello first")
        return peer.identity

    def _hello(self, peer: Peer, hello: messages.Hello) -> None:
        if peer.identity is not None:
            peer.refuse(hello.id, Code.WRONG_STATE, "this connection has said hello", hint="")
            return
        known = sorted(set(hello.versions) & set(VERSIONS))
        if not known:
            spoken = ", ".join(map(str, VERSIONS))
            self._turn_away(peer, hello.id, Code.VERSION, f"this server speaks version {spoken}")
            return
        if self._draining or not self._open:
            peer.refuse(
                hello.id,
                Code.UNAVAILABLE,
                "the server is starting or going down",
                retry_after_ms=RETRY_AFTER_MS,
            )
            return
        try:
            admission = self.accounts.identify(hello, peer.bearer, local=peer.local)
        except Denied as denied:
            self._turn_away(peer, hello.id, denied.code, str(denied))
            return
        peer.capabilities = hello.capabilities
        self._arrive(peer, admission.identity)
        welcome = partial(self._welcome, peer, hello.id, known[-1], admission)
        if admission.fresh:
            self.accounts.save(admission, welcome)
        else:
            welcome(True)

    def _turn_away(self, peer: Peer, request: int, code: Code, message: str) -> None:
        peer.refuse(request, code, message)
        peer.close(CloseCode.NO_HELLO, message)

    def _arrive(self, peer: Peer, identity: Identity) -> None:
        peer.greeted(identity)
        purse = self._purses.get(identity.key)
        if purse is None:
            purse = self._purses[identity.key] = Bucket(self._tariff.account, self.loop.time())
        peer.share(purse)
        self._present.setdefault(identity.key, []).append(peer)

    def _welcome(
        self, peer: Peer, request: int, version: int, admission: Admission, saved: bool
    ) -> None:
        if peer.leaving:
            return
        if not saved:
            self._turn_away(peer, request, Code.UNAVAILABLE, "the database cannot be written")
            return
        identity = admission.identity
        key = identity.key
        rooms = self._rooms_of(key)
        unfinished = [table.key for table in self._tables_of(key) if table.unfinished_for(key)]
        peer.answer(
            Welcome(
                re=request,
                version=version,
                player=key,
                name=identity.player.name,
                kind=identity.player.kind,
                resume=admission.resume,
                server=self._name,
                limits=Limits(
                    frame_bytes=MAX_FRAME,
                    messages_per_second=self._tariff.socket.per_second,
                    burst=int(self._tariff.socket.burst),
                    lobbies=self._quotas.lobbies,
                ),
                seats=unfinished,
                lobbies=[room.key for room in rooms if key in room.lobby.roll.members],
            )
        )
        for room in rooms:
            room.do(rules.Connected(key))
            room.post_to(peer, key)
        self._stand_ins.came(key, peer)

    # --- lists ------------------------------------------------------------------------------

    @cached_property
    def _game_lines(self) -> list[GameLine]:
        return [
            GameLine(
                name=game.info.name,
                title=game.info.title,
                summary=game.info.summary,
                rules_version=game.info.rules_version,
                seats=list(game.info.seats),
                hidden=game.info.hidden,
                options_schema=game.Options.model_json_schema(),
                move_schema=game.Move.model_json_schema(),
            )
            for game in self._games.values()
        ]

    def _list_games(self, peer: Peer, identity: Identity, request: messages.ListGames) -> None:
        bots = self.staff.personalities()
        peer.answer(GameList(re=request.id, games=self._game_lines, personalities=bots))

    def _list_lobbies(self, peer: Peer, identity: Identity, request: messages.ListLobbies) -> None:
        shown = [
            room.lobby.brief()
            for room in self.rooms.values()
            if room.lobby.settings.listed or room.key in self._ties.get(identity.key, ())
        ]
        peer.answer(LobbyList(re=request.id, lobbies=shown))

    def _list_matches(self, peer: Peer, identity: Identity, request: messages.ListMatches) -> None:
        if request.lobby is not None:
            room = self.rooms.get(request.lobby)
            if room is None or not room.lobby.may_watch(identity.key):
                peer.refuse(request.id, Code.NO_SUCH_LOBBY, f"no lobby {request.lobby!r} to see")
                return
        live = [
            table.brief()
            for table in self.tables.values()
            if (request.lobby is None and table.listed)
            or (request.lobby is not None and table.match.setup.lobby == request.lobby)
        ]
        over = [brief for brief in self._finished if request.lobby in (None, brief.lobby)]
        peer.answer(MatchList(re=request.id, matches=live + over[::-1]))

    # --- lobbies ----------------------------------------------------------------------------

    def _host(self, peer: Peer, identity: Identity, request: messages.Host) -> None:
        trouble = self._objection(request.settings, identity)
        if trouble is not None:
            peer.refuse(request.id, *trouble)
            return
        opened = roll.Opened(
            lobby=self._lobby_key(),
            host=identity.player,
            settings=request.settings,
            invite=secrets.token_urlsafe(6),
            created=_utc(),
            seed=secrets.randbits(64),
            hidden=[
                item.game
                for item in request.settings.programme
                if self._games[item.game].info.hidden
            ],
        )
        lobby, effects = Lobby.new(opened, self.clock())
        head = opened.model_dump_json().encode()
        room = Room(self, lobby, Stream(0, lobby.id, "lobby"))
        room.stream = self.store.create("lobby", lobby.id, head, owner=None, waiter=room)
        self.rooms[room.key] = room
        self._tie(identity.key, room)
        room.open(effects, peer, request.id)

    def _objection(self, settings: LobbySettings, identity: Identity) -> tuple[Code, str] | None:
        """Say why the player cannot open a lobby with these settings."""
        if self._draining or not self.store.healthy:
            return Code.UNAVAILABLE, "the server cannot begin anything new now"
        hosted = [
            room for room in self._rooms_of(identity.key) if room.lobby.host.player == identity.key
        ]
        if len(hosted) >= self._quotas.lobbies:
            return Code.LIMIT, f"{len(hosted)} lobbies of yours are open, which is the limit"
        if not settings.name.isprintable():
            return Code.BAD_OPTION, "settings.name: expected printable characters"
        for index, item in enumerate(settings.programme):
            trouble = self._game_trouble(item, f"settings.programme.{index}")
            if trouble is not None:
                return trouble
        return self._house_trouble(settings) or rules.objection(settings)

    def _game_trouble(self, item: ProgrammeItem, path: str) -> tuple[Code, str] | None:
        game = self._games.get(item.game)
        if game is None:
            return Code.UNKNOWN_GAME, f"{path}.game: no game {item.game!r} on this server"
        try:
            options = game.Options.model_validate(item.options)
            game.start(options, item.seats, game.deal(options, item.seats, item.seed or 0))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            return Code.BAD_OPTION, f"{path}.options.{where}: {first['msg']}"
        except InvalidSetup as error:
            code = Code.BAD_SEATS if error.path == "seats" else Code.BAD_OPTION
            return code, f"{path}.{error}"
        except GameError as error:
            return Code.BAD_OPTION, f"{path}: {error}"
        return None

    def _house_trouble(self, settings: LobbySettings) -> tuple[Code, str] | None:
        wanted = [spec.personality for spec in settings.seats if isinstance(spec, HouseSeat)]
        if settings.conduct.stand_in is not None:
            wanted.append(settings.conduct.stand_in)
        for personality in wanted:
            if not self.staff.knows(personality):
                return Code.UNKNOWN_PERSONALITY, f"no house bot {personality!r} on this server"
        return None

    def _lobby_key(self) -> str:
        """Return a code that people can read to each other: no vowels, no look-alikes."""
        while True:
            key = "".join(secrets.choice("bcdfghjkmnpqrstvwxz23456789") for _ in range(6))
            if key not in self.rooms and not self.store.knows(key):
                return key

    def _room(self, peer: Peer, request: int, key: str) -> Room | None:
        room = self.rooms.get(key)
        if room is None:
            peer.refuse(request, Code.NO_SUCH_LOBBY, f"no lobby {key!r}")
        return room

    def _join(self, peer: Peer, identity: Identity, request: messages.Join) -> None:
        room = self._room(peer, request.id, request.lobby)
        if room is None:
            return
        if self._stand_ins.expects(identity.key):
            peer.answer(Done(re=request.id))
        elif request.role == "spectator":
            self._enter_as_spectator(room, peer, identity, request)
        elif room.join(peer, identity.player, request.invite, request.id):
            room.unwatch(peer)
            self._tie(identity.key, room)
            room.changed()

    def _enter_as_spectator(
        self, room: Room, peer: Peer, identity: Identity, request: messages.Join
    ) -> None:
        if not room.lobby.may_watch(identity.key):
            peer.refuse(request.id, Code.NOT_WATCHABLE, "this lobby lets no spectators in")
            return
        peer.answer(Done(re=request.id))
        peer.holdings[room.key] = room
        room.watch(peer)

    def _leave(self, peer: Peer, identity: Identity, request: messages.Leave) -> None:
        room = self._room(peer, request.id, request.lobby)
        if room is None:
            return
        if identity.key not in room.lobby.roll.members and room.unwatch(peer):
            peer.holdings.pop(room.key, None)
            peer.answer(Done(re=request.id))
            room.changed()
            return
        left = room.do(rules.Leave(identity.key), peer, request.id)
        if left and room.lobby.host.player != identity.key:
            self.untied(identity.key, room)

    def _kick(self, peer: Peer, identity: Identity, request: messages.Kick) -> None:
        self._command(peer, request.id, request.lobby, rules.Kick(identity.key, request.player))

    def _say_ready(self, peer: Peer, identity: Identity, request: messages.Ready) -> None:
        self._command(peer, request.id, request.lobby, rules.Ready(identity.key, request.ready))

    def _start(self, peer: Peer, identity: Identity, request: messages.Start) -> None:
        self._command(peer, request.id, request.lobby, rules.Start(identity.key))

    def _rematch(self, peer: Peer, identity: Identity, request: messages.Rematch) -> None:
        self._command(peer, request.id, request.lobby, rules.Rematch(identity.key))

    def _close(self, peer: Peer, identity: Identity, request: messages.Close) -> None:
        self._command(peer, request.id, request.lobby, rules.Close(identity.key))

    def _command(self, peer: Peer, request: int, lobby: str, command: rules.Command) -> None:
        room = self._room(peer, request, lobby)
        if room is not None:
            room.do(command, peer, request)

    # --- matches ----------------------------------------------------------------------------

    def _table(self, peer: Peer, request: int, key: str) -> Table | None:
        table = self.tables.get(key) or self._lingering.get(key)
        if table is None:
            peer.refuse(request, Code.NO_SUCH_MATCH, f"no running match {key!r}")
        return table

    def _watch(self, peer: Peer, identity: Identity, request: messages.Watch) -> None:
        table = self._table(peer, request.id, request.match)
        if table is None:
            return
        room = self.rooms.get(table.match.setup.lobby or "")
        if table.seat_owned_by(identity.key) is not None:
            peer.refuse(request.id, Code.NOT_WATCHABLE, "you play in this match; rejoin it")
        elif table.match.result is not None:
            where = f"its record is at /records/{table.key}.jsonl"
            peer.refuse(request.id, Code.OVER, "the match is over", hint=where)
        elif not table.gallery.open or (
            room is not None and not room.lobby.may_watch(identity.key)
        ):
            peer.refuse(request.id, Code.NOT_WATCHABLE, "the host shows this match to nobody")
        else:
            peer.holdings[table.key] = table
            table.watch(peer, request.id)

    def _unwatch(self, peer: Peer, identity: Identity, request: messages.Unwatch) -> None:
        table = self.tables.get(request.match)
        if table is not None:
            table.unwatch(peer)
            if table.seat_of(peer) is None:
                peer.holdings.pop(table.key, None)
        peer.answer(Done(re=request.id))

    def _rejoin(self, peer: Peer, identity: Identity, request: messages.Rejoin) -> None:
        table = self.tables.get(request.match) or self._lingering.get(request.match)
        if table is None:
            self._with_finished(
                peer,
                request.id,
                request.match,
                lambda table: table.rejoin(peer, identity.key, request),
            )
            return
        if table.seat_owned_by(identity.key) is not None and table.match.result is None:
            peer.holdings[table.key] = table
        table.rejoin(peer, identity.key, request)

    def _resign(self, peer: Peer, identity: Identity, request: messages.Resign) -> None:
        table = self._table(peer, request.id, request.match)
        if table is not None:
            table.resign(peer, request)

    def _leave_match(self, peer: Peer, identity: Identity, request: messages.LeaveMatch) -> None:
        table = self._table(peer, request.id, request.match)
        if table is not None:
            table.leave(peer, request.id)

    def _note(self, peer: Peer, identity: Identity, request: messages.Note) -> None:
        table = self._table(peer, request.id, request.match)
        if table is not None:
            table.note(peer, request.id, request.text)

    def _move_after_end(self, peer: Peer, move: messages.Move) -> None:
        """Answer a move of a match that is over: the one that ended it may come again."""
        table = self._lingering.get(move.match)
        if table is not None:
            table.move_again(peer, move)
            return
        self._with_finished(peer, move.id, move.match, lambda table: table.move_again(peer, move))

    def _with_finished(
        self, peer: Peer, request: int, match: str, then: Callable[[Table], None]
    ) -> None:
        """Load a match that was over before it is asked for, and go on with it."""

        async def load() -> None:
            table = await self._load_finished(match)
            if table is None:
                peer.refuse(request, Code.NO_SUCH_MATCH, f"no match {match!r}")
            else:
                self._linger(table)
                then(table)

        self._spawn(load())

    async def _load_finished(self, match: str) -> Table | None:
        found = await self.store.transcript(match)
        if found is None:
            return None
        setup = record.read_setup(found.head)
        game = self._games.get(setup.game)
        if game is None:
            return None
        folded = await asyncio.to_thread(record.fold, game, [found.head, *found.lines])
        if folded.result is None:
            return None
        tail = len(found.lines)
        stream = Stream(0, match, "match", tail=tail, durable=tail, closed=True)
        return Table(self, folded, stream, listed=False)

    def _history(self, peer: Peer, identity: Identity, request: messages.History) -> None:
        self._spawn(self._tell_history(peer, identity, request))

    async def _tell_history(
        self, peer: Peer, identity: Identity, request: messages.History
    ) -> None:
        """Answer with events as this viewer may see them; read and folded in a thread."""
        table = self.tables.get(request.match)
        if table is None or table.match.result is not None:
            found = await self.store.transcript(request.match)
            if found is None:
                peer.refuse(request.id, Code.NO_SUCH_MATCH, f"no match {request.match!r}")
                return
            setup, lines, viewer = record.read_setup(found.head), found.lines, REFEREE
            own = _seat_in(setup, identity.key)
        else:
            eyes = viewer_of(table, peer)
            if eyes is None:
                peer.refuse(request.id, Code.NOT_WATCHABLE, "watch or rejoin the match first")
                return
            seated = table.seat_of(peer) is not None
            last = table.stream.durable if seated else table.gallery.seq
            lines = await self.store.lines(table.stream, 1, last)
            setup, viewer, own = table.match.setup, eyes, table.seat_of(peer)
        game = self._games.get(setup.game)
        if game is None:
            peer.refuse(request.id, Code.UNKNOWN_GAME, f"no game {setup.game!r} on this server")
            return
        told, more = await asyncio.to_thread(
            events, game, setup, lines, viewer, request.first, request.count, own=own
        )
        peer.answer(EventList(re=request.id, match=request.match, events=told, more=more))

    # --- what tables need (table.Floor) -----------------------------------------------------

    def over(self, table: Table) -> None:
        result = table.match.result
        if result is None:
            raise AssertionError("a match without a result is not over")
        self.tables.pop(table.key, None)
        for player in table.match.players:
            self._unseat(player.player, table.key)
        for player in table.match.setup.seats:
            self._unseat(player.player, table.key)
        for peer in table.peers():
            peer.holdings.pop(table.key, None)
        self._stand_ins.over(table)
        self.figures.ended(result.cause)
        self._linger(table)
        brief = table.brief()
        if table.listed:
            self._finished.append(brief)
        room = self.rooms.get(table.match.setup.lobby or "")
        if room is not None:
            room.match_ended(brief)
            room.result(table.key, result)

    def unwritten(self, table: Table, error: StoreError) -> None:
        """Take a match up again from what the disk has of it."""
        LOG.error("the log of match %s: %s", table.key, error)
        if self._draining or self.tables.get(table.key) is not table:
            return
        try:
            stored = self.store.reload(table.key)
            fresh = self._restored_table(stored)
        except Exception:
            LOG.exception("match %s cannot be read again; the next start takes it up", table.key)
            del self.tables[table.key]
            for peer in table.peers():
                peer.close(1013, "the database cannot be used")
            return
        self.tables[table.key] = fresh
        for peer in table.peers():
            peer.holdings[table.key] = fresh
        fresh.listed = table.listed
        self._stand_ins.moved(table, fresh)
        fresh.inherit(table)

    def want_stand_in(self, table: Table, want: match_rules.WantStandIn) -> None:
        self._stand_ins.wanted(table, want)

    # --- what rooms need (room.Estate) ------------------------------------------------------

    def peer_of(self, player: str) -> Peer | None:
        peers = self._present.get(player)
        return peers[-1] if peers else None

    def begin(self, room: Room, begin: rules.Begin) -> None:
        if begin.match in self.tables or self._draining:
            return
        planned = begin.planned
        settings = room.lobby.settings
        try:
            game = self._games[planned.item.game]
            setup = self._setup(room, begin, game)
            match = match_rules.Match.new(game, setup)
        except Exception:
            LOG.exception("match %s cannot begin", begin.match)
            room.result(begin.match, _infrastructure(len(planned.players)))
            return
        table = Table(self, match, Stream(0, begin.match, "match"), listed=settings.listed)
        table.stream = self.store.create(
            "match", begin.match, record.line(setup), owner=room.key, waiter=table
        )
        self.tables[table.key] = table
        for player in match.players:
            self._seats.setdefault(player.player, set()).add(table.key)
        table.begin(partial(self._seat, table))
        room.match_started(table.brief())

    def _seat(self, table: Table, player: Player) -> Peer | None:
        peer = self.peer_of(player.player)
        if peer is not None:
            peer.holdings[table.key] = table
        return peer

    def _setup(self, room: Room, begin: rules.Begin, game: Game) -> Setup:
        planned = begin.planned
        item = planned.item
        settings = room.lobby.settings
        options = game.Options.model_validate(item.options)
        seed = f"{planned.seed:016x}"
        return Setup(
            match=begin.match,
            lobby=room.key,
            number=planned.number,
            game=item.game,
            rules_version=game.info.rules_version,
            options=game.dump(options),
            seats=list(planned.players),
            deal=dict(game.deal(options, item.seats, planned.seed)),
            seed=seed,
            commitment=record.commitment(seed),
            time_control=item.time_control,
            conduct=settings.conduct,
            spectating=settings.spectating,
            started=_utc(),
            server=self._name,
        )

    def vacate(self, vacate: rules.Vacate) -> None:
        table = self.tables.get(vacate.match)
        if table is not None:
            table.vacate(vacate.player)

    def hire(
        self,
        personality: str,
        lobby: str,
        former: Player | None,
        ended: Callable[[Employee, Player], None],
    ) -> tuple[Employee, Admission]:
        """Start a house bot once its secret is on the disk, where its hello looks it up."""
        self._hired += 1
        employee = Employee()
        admission = self.accounts.house(
            personality, self._hired, former, lambda saved: start(saved)
        )
        player = admission.identity.player

        def gone(employee: Employee) -> None:
            for table in self._tables_of(player.player):
                table.crashed(player.player, employee.last_words)
            ended(employee, player)

        def start(saved: bool) -> None:
            if saved:
                self.staff.hire(employee, personality, lobby, admission.resume, gone)
            else:
                employee.fail("its identity could not be written")
                gone(employee)

        return employee, admission

    def plies(self, matches: Sequence[str]) -> Mapping[str, int]:
        return {key: self.tables[key].gallery.ply for key in matches if key in self.tables}

    def untied(self, player: str, room: Room) -> None:
        tied = self._ties.get(player)
        if tied is not None:
            tied.discard(room.key)
            if not tied:
                del self._ties[player]

    def room_closed(self, room: Room) -> None:
        self.rooms.pop(room.key, None)
        for player in [room.lobby.host.player, *room.lobby.roll.members]:
            self.untied(player, room)
        for peer in room.spectators:
            peer.holdings.pop(room.key, None)
        brief = room.lobby.brief().model_dump_json().encode()
        self.store.finish(room.stream, None, brief)

    def room_unwritten(self, room: Room, error: StoreError) -> None:
        """Take a lobby up again from what the disk has of it."""
        LOG.error("the log of lobby %s: %s", room.key, error)
        if self._draining or self.rooms.get(room.key) is not room:
            return
        for employee, _ in room.staff.values():
            employee.dismiss()
        del self.rooms[room.key]
        try:
            fresh = self._restore_lobby(self.store.reload(room.key))
        except Exception:
            LOG.exception("lobby %s cannot be read again; the next start takes it up", room.key)
            return
        self._resume_lobby(fresh)
        for player in [fresh.lobby.host.player, *fresh.lobby.roll.members]:
            if self.peer_of(player) is not None:
                fresh.do(rules.Connected(player))
        for peer in room.spectators:
            peer.holdings[room.key] = fresh
            fresh.watch(peer)

    # --- restoring --------------------------------------------------------------------------

    def _restored_table(self, stored: Stored) -> Table:
        setup = record.read_setup(stored.head)
        game = self._games[setup.game]
        entries = [record.read_entry(line) for line in stored.lines]
        match = match_rules.Match.restore(game, setup, entries)
        table = Table(self, match, stored.stream, listed=False)
        if setup.spectating.delay_ms or setup.spectating.delay_plies:
            table.gallery.recall(match_rules.Match.replay(game, setup, entries), self.clock())
        for player in match.players:
            self._seats.setdefault(player.player, set()).add(table.key)
        return table

    def _restore_match(self, stored: Stored) -> None:
        """Take a match up; one that this server cannot read stays as it is on the disk."""
        try:
            table = self._restored_table(stored)
        except Exception:
            LOG.exception("match %s cannot be restored", stored.stream.key)
            return
        self.tables[table.key] = table

    def _restore_lobby(self, stored: Stored) -> Room:
        entries = [roll.ENTRY.validate_json(line) for line in [stored.head, *stored.lines]]
        room = Room(self, Lobby.restore(entries, self.clock()), stored.stream)
        self.rooms[room.key] = room
        for player in [room.lobby.host.player, *room.lobby.roll.members]:
            self._tie(player, room)
        return room

    def _resume_lobby(self, room: Room) -> None:
        """Tell a lobby which of its matches exist, and how those ended that it did not hear of."""
        there = {key for key in room.lobby.roll.running if key in self.tables}
        ended: dict[str, Result] = {}
        for key in room.lobby.roll.running:
            summary = None if key in there else self.store.summary(key)
            if summary is not None:
                result = MatchBrief.model_validate_json(summary).result
                ended[key] = result or _infrastructure(0)
        room.do(rules.Resume(there | ended.keys()))
        for key, result in ended.items():
            room.result(key, result)

    def _is_listed(self, table: Table) -> bool:
        room = self.rooms.get(table.match.setup.lobby or "")
        return room is not None and room.lobby.settings.listed

    # --- who is where -----------------------------------------------------------------------

    def _linger(self, table: Table) -> None:
        self._lingering[table.key] = table
        if len(self._lingering) > LINGERING:
            self._lingering.popitem(last=False)

    def _tie(self, player: str, room: Room) -> None:
        self._ties.setdefault(player, set()).add(room.key)

    def _unseat(self, player: str, match: str) -> None:
        seats = self._seats.get(player)
        if seats is not None:
            seats.discard(match)
            if not seats:
                del self._seats[player]

    def _rooms_of(self, player: str) -> list[Room]:
        return [self.rooms[key] for key in self._ties.get(player, ()) if key in self.rooms]

    def _tables_of(self, player: str) -> list[Table]:
        return [
            self.tables[key] for key in sorted(self._seats.get(player, ())) if key in self.tables
        ]

    def _is_busy(self, player: str) -> bool:
        """Whether a guest's name is still in use."""
        return bool(player in self._present or self._ties.get(player) or self._seats.get(player))

    def seat_stand_in(self, table: Table, seat: int, player: Player, cause: Cause) -> bool:
        """Give a seat to a stand-in that is connected; return whether it took it."""
        peer = self.peer_of(player.player)
        if peer is None:
            return False
        self._seats.setdefault(player.player, set()).add(table.key)
        peer.holdings[table.key] = table
        if table.replace(seat, player, cause, peer):
            return True
        peer.holdings.pop(table.key, None)
        self._unseat(player.player, table.key)
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """How much of the server one address or player may take."""

    connections: int = 10_000
    connections_an_address: int = 200
    """Loopback is not counted."""
    lobbies: int = 8
    """Open lobbies that one player may host."""


class Address:
    """An address that connections come from."""

    __slots__ = ("bucket", "count")

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self.count = 0


def _seat_in(setup: Setup, player: str) -> int | None:
    for seat, owner in enumerate(setup.seats):
        if owner.player == player:
            return seat
    return None


def _utc() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _infrastructure(seats: int) -> Result:
    """Return the result of a match that the server could not play."""
    return Result(
        seats=[SeatResult(rank=1, score=0.0) for _ in range(seats)],
        cause=Cause.INFRASTRUCTURE,
        reason="it could not begin",
        plies=0,
    )
