"""The hall: every lobby and every match, and what they need of each other.

It makes the matches that lobbies begin, tells lobbies how matches ended, hires house bots,
knows who has a seat where, and restores everything at the start, or when a log could not be
written. A match that is over stays a while, so that a move whose answer was lost on the way
can be answered again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sqlite3
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from pydantic import ValidationError

from kibitz_games.api import Game
from kibitz_protocol.messages import (
    Farewell,
    LobbyClosed,
)
from kibitz_protocol.records import Cause, Footer, Player, Result, SeatResult, Setup
from kibitz_protocol.refusals import Code
from kibitz_protocol.rooms import HouseSeat, LobbySettings, MatchBrief
from kibitz_server import checkpoint, ladder, record, roll, sources
from kibitz_server import lobby as rules
from kibitz_server import match as match_rules
from kibitz_server.accounts import Accounts, Admission, Guests
from kibitz_server.checkpoint import Checkpoints
from kibitz_server.database import NotStored, StoreError, explained
from kibitz_server.door import Door, address_of
from kibitz_server.house import Employee, Staff
from kibitz_server.ledger import Ledger
from kibitz_server.lobby import Lobby
from kibitz_server.metrics import Figures
from kibitz_server.peer import RETRY_AFTER_MS, Peer
from kibitz_server.quarantine import Quarantine
from kibitz_server.reloads import Reloads
from kibitz_server.room import Room
from kibitz_server.scribe import Scribe
from kibitz_server.stand_in import StandIns
from kibitz_server.store import Store, Stored, Stream
from kibitz_server.table import Table

LOG = logging.getLogger("kibitz.hall")
LINGERING = 256
"""Matches that are over and still in memory."""
LISTED_FINISHED = 50
"""Finished matches in lists."""
DAMAGED = "its log is damaged"
"""The reason in the result of a match that was set aside."""


@dataclass(frozen=True, slots=True)
class _Closing:
    """Waits until the disk has the end of a lobby, which can be read from there then."""

    closing: dict[str, Room]
    key: str

    def durable(self, seq: int) -> None:
        self.closing.pop(self.key, None)

    def lost(self, error: StoreError) -> None:
        self.closing.pop(self.key, None)


class Hall:
    """The lobbies and matches of one server."""

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop,
        clock: Callable[[], int],
        lag: Callable[[], int] = lambda: 0,
        store: Store,
        games: Mapping[str, Game],
        staff: Staff,
        figures: Figures,
        name: str,
        guests: Guests,
        door: Door,
        spawn: Callable[[Awaitable[None]], None],
    ) -> None:
        self.loop = loop
        self.clock = clock
        self.lag = lag
        self.store = store
        self.quarantine = Quarantine(store)
        self._checkpoints = Checkpoints(sources.digest())
        self.ledger = Ledger(store)
        self.figures = figures
        self.scribe = Scribe()
        self.tables: dict[str, Table] = {}
        self.rooms: dict[str, Room] = {}
        self.staff = staff
        self.accounts = Accounts(store, guests, self.is_busy)
        self.games = games
        self.name = name
        self.door = door
        self.spawn = spawn
        self.stand_ins = StandIns(self)
        self.reloads = Reloads(self)
        self.ties: dict[str, set[str]] = {}
        """The lobbies that each player hosts or is a member of."""
        self._seats: dict[str, set[str]] = {}
        """The running matches that each player has, or had, a seat at."""
        self.lingering: OrderedDict[str, Table] = OrderedDict()
        self.closing: dict[str, Room] = {}
        """Lobbies that are closed, until the disk has it."""
        self.finished: deque[MatchBrief] = deque(maxlen=LISTED_FINISHED)
        self._hired = 0
        self._restored = False
        self._draining = False

    # --- beginning and end ------------------------------------------------------------------

    def restore(self) -> None:
        """Take up every match and lobby that the disk says is open. Blocks; for the start.

        What cannot be taken up is set aside; nothing that is wrong with one stops the others.
        Raises `StoreError` where the file itself cannot be read.
        """
        with explained(self.store.path):
            self._restore()
        self._restored = True

    def _restore(self) -> None:
        for line in reversed(self.store.summaries("match", LISTED_FINISHED)):
            self._list_finished(line)
        matches, lobbies = self.store.load("match"), self.store.load("lobby")
        self.quarantine.open()
        for stored in matches:
            self._restore_match(stored)
        for stored in lobbies:
            self._restore_lobby(stored)
        for room in list(self.rooms.values()):
            self._resume_lobby(room)
        for table in list(self.tables.values()):
            table.listed = self._is_listed(table)
            table.resume()
            self._end_without_lobby(table)

    @property
    def open(self) -> bool:
        """Whether anybody may come in."""
        return self._restored and not self._draining

    @property
    def draining(self) -> bool:
        """Whether the server goes down."""
        return self._draining

    def ready(self) -> bool:
        """Whether matches may begin."""
        return self.open and self.store.healthy

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
        for peer in list(self.door.peers):
            if peer.identity is not None:
                peer.tell(news)
            peer.close(1012, "the server restarts")

    def gauges(self) -> Mapping[str, int]:
        return {
            "connections": len(self.door.peers),
            "players": len(self.door.players),
            "spectators": sum(len(table.watchers) for table in self.tables.values()),
            "matches_live": len(self.tables),
            "lobbies_open": len(self.rooms),
            "house_bots": self.staff.count,
            "damaged": self.quarantine.count,
            "ready": int(self.ready()),
        }

    # --- opening and finding ----------------------------------------------------------------

    def open_room(self, host: Player, settings: LobbySettings, peer: Peer, request: int) -> None:
        """Open a lobby whose settings nobody objects to."""
        games = dict.fromkeys(item.game for item in settings.programme)
        opened = roll.Opened(
            lobby=self._lobby_key(),
            host=host,
            settings=settings,
            invite=secrets.token_urlsafe(6),
            created=_utc(),
            seed=secrets.randbits(64),
            hidden=[name for name in games if self.games[name].info.hidden],
            balanced=[name for name in games if self.games[name].info.balanced],
        )
        lobby, effects = Lobby.new(opened, self.clock())
        room = Room(self, lobby, Stream(0, lobby.id, "lobby"))
        head = opened.model_dump_json().encode()
        room.address = address_of(peer)
        room.stream = self.store.create("lobby", lobby.id, head, owner=None, waiter=room)
        self.rooms[room.key] = room
        self.tie(host.player, room)
        room.open(effects, peer, request)

    def _lobby_key(self) -> str:
        """Return a code that people can read to each other: no vowels, no look-alikes."""
        while True:
            key = "".join(secrets.choice("bcdfghjkmnpqrstvwxz23456789") for _ in range(6))
            if key not in self.rooms and not self.store.knows(key):
                return key

    def take_up(self, match: match_rules.Match, tail: int) -> Table:
        """Keep a match for a while that was over before it is asked for."""
        key = match.setup.match
        stream = Stream(0, key, "match", tail=tail, durable=tail, closed=True)
        table = Table(self, match, stream, listed=False)
        self.linger(table)
        return table

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
        self.stand_ins.over(table)
        self.figures.ended(result.cause)
        self.linger(table)
        brief = table.brief()
        if table.listed:
            self.finished.append(brief)
        room = self.rooms.get(table.match.setup.lobby or "")
        if room is not None:
            room.match_ended(brief)
            room.result(table.key, result)

    def unwritten(self, table: Table, error: StoreError) -> None:
        LOG.error("the log of match %s: %s", table.key, error)
        if not self._draining and self.tables.get(table.key) is table:
            self.reloads.add(table)

    # --- what was lost and loaded again (reloads.Directory) ---------------------------------

    def table_reloaded(self, former: Table, stored: Stored) -> None:
        fresh = self._restored_table(stored)
        ended = stored.stream.closed  # a commit in doubt that has happened after all
        self.tables[former.key] = fresh
        for peer in list(self.door.peers):
            if peer.holdings.get(former.key) is former:
                peer.holdings[former.key] = fresh
        fresh.listed = former.listed
        self.stand_ins.moved(former, fresh)
        fresh.inherit(former)
        if ended:
            self.over(fresh)

    def table_gone(self, former: Table, error: StoreError) -> None:
        """Give up a match: one of which the disk has nothing is begun again by its lobby.

        One that cannot be read is set aside, and its lobby hears that it has ended.
        """
        if not isinstance(error, NotStored):
            self.quarantine.add("match", former.key, error)
        self.tables.pop(former.key, None)
        self.stand_ins.over(former)
        for player in former.match.setup.seats:
            self._unseat(player.player, former.key)
        if former.backlog is not None:
            former.backlog.refuse("the log of the match cannot be read")
        for peer in former.peers():
            peer.holdings.pop(former.key, None)
            if not isinstance(error, NotStored):
                peer.close(1013, "the log of the match cannot be read")
        room = self.rooms.get(former.match.setup.lobby or "")
        planned = None if room is None else room.lobby.roll.running.get(former.key)
        if room is None or planned is None:
            return
        if isinstance(error, NotStored):
            self.begin(room, rules.Begin(former.key, planned))
        else:
            room.result(former.key, _infrastructure(len(planned.players), DAMAGED))

    def room_reloaded(self, former: Room, stored: Stored) -> None:
        fresh = self._restored_lobby(stored)
        fresh.reloads, fresh.address = former.reloads, former.address
        self._resume_lobby(fresh)
        for player in [fresh.lobby.host.player, *fresh.lobby.roll.members]:
            if self.peer_of(player) is not None:
                fresh.do(rules.Connected(player))
        for peer in former.spectators:
            peer.holdings[former.key] = fresh
        fresh.inherit(former)
        for player in fresh.lobby.roll.members:
            self.tie(player, fresh)

    def room_gone(self, former: Room, error: StoreError) -> None:
        """Give up a lobby, and tell whom it concerns; one that cannot be read is set aside."""
        if not isinstance(error, NotStored):
            self.quarantine.add("lobby", former.key, error)
        self.rooms.pop(former.key, None)
        if former.backlog is not None:
            former.backlog.refuse("the log of the lobby cannot be written")
        players = [former.lobby.host.player, *former.lobby.roll.members]
        news = LobbyClosed(lobby=former.key, reason="closed")
        for peer in dict.fromkeys([*map(self.peer_of, players), *former.spectators]):
            if peer is not None:
                peer.tell(news)
        for player in players:
            self.untied(player, former)
        for peer in former.spectators:
            peer.holdings.pop(former.key, None)
        for table in list(self.tables.values()):
            self._end_without_lobby(table)

    def keep(self, table: Table) -> None:
        self.store.keep(table.stream, self._checkpoints.write(table.match, table.stream.chain))

    def rate(self, setup: Setup, result: Result) -> None:
        if setup.rated is None or not ladder.counts(result):
            return
        entrants = [
            _entrant(player, key) for player, key in zip(setup.seats, setup.rated, strict=True)
        ]
        ranks = [seat.rank for seat in result.seats]
        self.ledger.enter(
            ladder.Counted(
                match=setup.match,
                game=setup.game,
                entrants=entrants,
                ranks=ranks,
                ended=int(time.time()),
            )
        )

    def want_stand_in(self, table: Table, want: match_rules.WantStandIn) -> None:
        if self.staff.count < self.door.quotas.house_bots_in_all:
            self.stand_ins.wanted(table, want)
        else:  # the match is in the middle of asking, and is told when it has asked
            full = "the server has as many house bots as it may"
            self.loop.call_soon(table.forfeit, want.seat, want.cause, full)

    # --- what rooms need (room.Estate) ------------------------------------------------------

    def peer_of(self, player: str) -> Peer | None:
        return self.door.peer_of(player)

    def begin(self, room: Room, begin: rules.Begin) -> None:
        if begin.match in self.tables or self._draining:
            return
        if self.store.knows(begin.match):
            # The lobby's log is older than the match: a backup, or a log that lost its end.
            LOG.error("match %s cannot begin: there is one of that name", begin.match)
            room.result(begin.match, _infrastructure(len(begin.planned.players)))
            return
        planned = begin.planned
        settings = room.lobby.settings
        try:
            if self.store.knows(begin.match):
                raise StoreError("its log exists, and could not be taken up")
            game = self.games[planned.item.game]
            setup = self._setup(room, begin, game)
            match = match_rules.Match.new(game, setup)
            table = Table(self, match, Stream(0, begin.match, "match"), listed=settings.listed)
            table.stream = self.store.create(
                "match", begin.match, record.line(setup), owner=room.key, waiter=table
            )
        except Exception:
            LOG.exception("match %s cannot begin", begin.match)
            room.result(begin.match, _infrastructure(len(planned.players)))
            return
        self.tables[table.key] = table
        for player in match.players:
            self._seats.setdefault(player.player, set()).add(table.key)
        table.begin(partial(self._seat, table))
        if settings.arranged:
            # An event, where each player is one program: somebody else may have its secret.
            for seat, player in enumerate(match.players):
                if self.door.shared(player.player):
                    table.taken_over(seat)
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
        options = game.Options.read(item.options)
        seed = f"{planned.seed:016x}"
        return Setup(
            match=begin.match,
            lobby=room.key,
            number=planned.number,
            block=planned.block,
            tag=planned.tag,
            rated=self._rated(room, planned.players) if settings.rated else None,
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
            server=self.name,
        )

    def _rated(self, room: Room, players: Sequence[Player]) -> list[str] | None:
        """Return who the players are on the ladder; None where this match cannot be rated."""
        entrants = ladder.entrants_of([self._entrant(room, player) for player in players])
        return None if entrants is None else [each.key for each in entrants]

    def _entrant(self, room: Room, player: Player) -> ladder.Entrant | None:
        key = room.lobby.personality(player.player)
        if key is None and self.accounts.is_account(player.player):
            key = player.player
        return None if key is None else _entrant(player, key)

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
            for table in self.tables_of(player.player):
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
        tied = self.ties.get(player)
        if tied is not None:
            tied.discard(room.key)
            if not tied:
                del self.ties[player]

    def room_closed(self, room: Room) -> None:
        self.rooms.pop(room.key, None)
        for player in [room.lobby.host.player, *room.lobby.roll.members]:
            self.untied(player, room)
        for peer in room.spectators:
            peer.holdings.pop(room.key, None)
        brief = room.lobby.brief().model_dump_json().encode()
        self.closing[room.key] = room
        self.store.finish(room.stream, None, brief, _Closing(self.closing, room.key))

    def room_unwritten(self, room: Room, error: StoreError) -> None:
        LOG.error("the log of lobby %s: %s", room.key, error)
        if self._draining or self.rooms.get(room.key) is not room:
            return
        for employee, _ in room.staff.values():
            employee.dismiss()
        self.reloads.add(room)

    # --- restoring --------------------------------------------------------------------------

    def _restored_table(self, stored: Stored) -> Table:
        setup = record.read_setup(stored.head)
        game = self._game_of(setup, stored.stream.key)
        late = bool(setup.spectating.delay_ms or setup.spectating.delay_plies)
        match = None if late else self._resumed(game, setup, stored)
        if match is None:
            stored = self._whole(stored)
            match = match_rules.Match.restore(game, setup, map(record.read_entry, stored.lines))
        table = Table(self, match, stored.stream, listed=False)
        if late:
            entries = map(record.read_entry, stored.lines)
            table.gallery.recall(match_rules.Match.replay(game, setup, entries), self.clock())
        for player in match.players:
            self._seats.setdefault(player.player, set()).add(table.key)
        return table

    def _resumed(self, game: Game, setup: Setup, stored: Stored) -> match_rules.Match | None:
        """Return a match from its checkpoint and what followed, None where that cannot be."""
        kept = stored.checkpoint
        found = None if kept is None else self._checkpoints.read(kept.data, game, setup)
        if kept is None or found is None or (kept.seq, kept.link) != (found.seq, found.link):
            return None
        try:
            return checkpoint.resume(
                game, setup, found, [record.read_entry(line) for line in stored.lines]
            )
        except match_rules.BrokenLog as error:
            LOG.warning("match %s: its checkpoint is of no use: %s", setup.match, error)
            return None

    def _whole(self, stored: Stored) -> Stored:
        return stored if stored.checkpoint is None else self.store.whole(stored)

    def _game_of(self, setup: Setup, key: str) -> Game:
        if setup.match != key:
            raise match_rules.BrokenLog(f"its setup is that of match {setup.match!r}")
        game = self.games.get(setup.game)
        if game is None:
            raise match_rules.BrokenLog(f"this server has no game {setup.game!r}")
        return game

    def _restore_match(self, stored: Stored) -> None:
        """Take a match up, or set it aside and leave it as it is on the disk."""
        try:
            table = self._restored_table(stored)
        except sqlite3.Error:
            raise  # the disk fails: that says nothing about the match
        except Exception as error:
            LOG.debug("match %s cannot be restored", stored.stream.key, exc_info=True)
            self.quarantine.add("match", stored.stream.key, error)
        else:
            self.tables[table.key] = table

    def _restore_lobby(self, stored: Stored) -> None:
        try:
            self._restored_lobby(stored)
        except Exception as error:
            LOG.debug("lobby %s cannot be restored", stored.stream.key, exc_info=True)
            self.quarantine.add("lobby", stored.stream.key, error)

    def _restored_lobby(self, stored: Stored) -> Room:
        entries = [roll.ENTRY.validate_json(line) for line in [stored.head, *stored.lines]]
        room = Room(self, Lobby.restore(entries, self.clock()), stored.stream)
        self.rooms[room.key] = room
        for player in [room.lobby.host.player, *room.lobby.roll.members]:
            self.tie(player, room)
        return room

    def _resume_lobby(self, room: Room) -> None:
        """Tell a lobby which of its matches exist, and how those ended that it did not hear of."""
        running = room.lobby.roll.running
        there = {key for key in running if key in self.tables}
        ended: dict[str, Result] = {}
        for key, planned in running.items():
            result = None if key in there else self._result_of(key, len(planned.players))
            if result is not None:
                ended[key] = result
        room.do(rules.Resume(there | ended.keys()))
        for key, result in ended.items():
            room.result(key, result)

    def _result_of(self, match: str, seats: int) -> Result | None:
        """Return how a match ended that is not running; None where there never was one."""
        if not self.store.knows(match):
            return None
        found = _result_in_brief(self.store.summary(match)) or _result_in_footer(
            self.store.footer(match)
        )
        return found or _infrastructure(seats, DAMAGED)

    def _list_finished(self, line: bytes) -> None:
        try:
            self.finished.append(MatchBrief.model_validate_json(line))
        except ValidationError:
            LOG.warning("the summary of a finished match is damaged: lists do not show it")

    def _end_without_lobby(self, table: Table) -> None:
        """End a match whose lobby is set aside, where it cannot be played on without it.

        People and bots who come by themselves play it to its end, and the result counts. A house
        bot is started by its lobby, so nobody would play for it.
        """
        match = table.match
        lobby = match.setup.lobby
        if lobby is None or lobby in self.rooms or self.quarantine.reason(lobby) is None:
            return
        if any(p.kind == "house" and s not in match.out for s, p in enumerate(match.players)):
            table.abort("the log of its lobby is damaged")

    def _is_listed(self, table: Table) -> bool:
        room = self.rooms.get(table.match.setup.lobby or "")
        return room is not None and room.lobby.settings.listed

    # --- who is where -----------------------------------------------------------------------

    def linger(self, table: Table) -> None:
        self.lingering[table.key] = table
        if len(self.lingering) > LINGERING:
            self.lingering.popitem(last=False)

    def tie(self, player: str, room: Room) -> None:
        self.ties.setdefault(player, set()).add(room.key)

    def _unseat(self, player: str, match: str) -> None:
        seats = self._seats.get(player)
        if seats is not None:
            seats.discard(match)
            if not seats:
                del self._seats[player]

    def rooms_of(self, player: str) -> list[Room]:
        return [self.rooms[key] for key in sorted(self.ties.get(player, ())) if key in self.rooms]

    def tables_of(self, player: str) -> list[Table]:
        return [
            self.tables[key] for key in sorted(self._seats.get(player, ())) if key in self.tables
        ]

    def forget_finished(self, keys: Collection[str]) -> None:
        """Matches are deleted from the disk, and stand in no list any more."""
        kept = [brief for brief in self.finished if brief.match not in keys]
        if len(kept) < len(self.finished):
            self.finished = deque(kept, maxlen=LISTED_FINISHED)
        for key in keys:
            self.lingering.pop(key, None)

    def is_busy(self, player: str) -> bool:
        """Whether a guest is connected, or has a seat or a lobby."""
        return bool(player in self.door.players or self.ties.get(player) or self._seats.get(player))

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


def house_seats(settings: LobbySettings) -> int:
    """Return for how many seats a lobby has a process of the server."""
    return sum(isinstance(seat, HouseSeat) for seat in settings.seats)


def _entrant(player: Player, key: str) -> ladder.Entrant:
    """Return who a player is on the ladder; house bots go by their personality."""
    name = key if player.kind == "house" else player.name
    return ladder.Entrant(key=key, name=name, kind=player.kind)


def _utc() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _infrastructure(seats: int, reason: str = "it could not begin") -> Result:
    """Return the result of a match that the server could not play."""
    return Result(
        seats=[SeatResult(rank=1, score=0.0) for _ in range(seats)],
        cause=Cause.INFRASTRUCTURE,
        reason=reason,
        plies=0,
    )


def _result_in_brief(line: bytes | None) -> Result | None:
    try:
        return None if line is None else MatchBrief.model_validate_json(line).result
    except ValidationError:
        return None


def _result_in_footer(line: bytes | None) -> Result | None:
    try:
        return None if line is None else Footer.model_validate_json(line).result
    except ValidationError:
        return None
