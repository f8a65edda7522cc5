"""The counter: where requests are handed in, and answered or refused.

A request arrives paid for and decoded. It is looked up in a table by its type; the counter
checks what no single lobby or match can check, and hands it over to the lobby's room or the
match's table, which answers. Nothing here is kept from one request to the next.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeVar

from pydantic import ValidationError
from websockets.frames import CloseCode as Standard

from kibitz_games.api import GameError, InvalidSetup
from kibitz_protocol import messages, printable
from kibitz_protocol.messages import (
    VERSIONS,
    ClientMessage,
    Done,
    GameLine,
    GameList,
    Ladders,
    Limits,
    LobbyList,
    MatchList,
    Welcome,
)
from kibitz_protocol.refusals import CloseCode, Code
from kibitz_protocol.rooms import (
    Arrangement,
    LadderTable,
    LobbySettings,
    ProgrammeItem,
)
from kibitz_protocol.values import MAX_FRAME
from kibitz_server import lobby as rules
from kibitz_server.accounts import Admission, Denied, Identity
from kibitz_server.archive import Archive, Declined
from kibitz_server.door import Door, address_of
from kibitz_server.hall import Hall, house_seats
from kibitz_server.hosting import house_objection, item_objection
from kibitz_server.jobs import Busy, Jobs
from kibitz_server.peer import RETRY_AFTER_MS, Peer
from kibitz_server.room import Room
from kibitz_server.table import Table

LOG = logging.getLogger("kibitz.counter")
_T = TypeVar("_T")


class Counter:
    """Serves the peers (`peer.Desk`)."""

    def __init__(self, hall: Hall, door: Door) -> None:
        self._hall = hall
        self._door = door
        self._archive = Archive(hall, Jobs(hall.loop))
        self._requests: Mapping[type[ClientMessage], Callable[..., None]] = {
            messages.ListGames: self._list_games,
            messages.ListLobbies: self._list_lobbies,
            messages.ListMatches: self._list_matches,
            messages.AskLadder: self._ladder,
            messages.Host: self._host,
            messages.Join: self._join,
            messages.Leave: self._leave,
            messages.Kick: self._kick,
            messages.Ready: self._say_ready,
            messages.Start: self._start,
            messages.Rematch: self._rematch,
            messages.Close: self._close,
            messages.Arrange: self._arrange,
            messages.Watch: self._watch,
            messages.Unwatch: self._unwatch,
            messages.Rejoin: self._rejoin,
            messages.Resign: self._resign,
            messages.LeaveMatch: self._leave_match,
            messages.Note: self._note,
            messages.AskReport: self._report,
            messages.History: self._history,
        }

    # --- what peers ask ---------------------------------------------------------------------

    def admit(self, peer: Peer) -> bool:
        return self._door.admit(peer, open_=self._hall.open)

    def relocate(self, peer: Peer) -> bool:
        return self._door.relocate(peer)

    def lost(self, peer: Peer) -> None:
        self._door.lost(peer)

    def gone(self, peer: Peer) -> None:
        holdings = list(peer.holdings.values())
        peer.holdings.clear()
        for holding in holdings:
            try:
                holding.disconnected(peer)
            except Exception:
                LOG.exception("the end of a connection could not be told")
        if peer.identity is not None and self._door.depart(peer, peer.identity):
            try:
                for room in self._hall.rooms_of(peer.identity.key):
                    room.do(rules.Disconnected(peer.identity.key))
            except Exception:
                LOG.exception("the end of a connection could not be told")

    def move(self, peer: Peer, move: messages.Move) -> None:
        table = self._hall.tables.get(move.match)
        if table is not None and peer.identity is not None:
            try:
                accepted = table.move(peer, move)
            except Exception:
                LOG.exception("request Move failed")
                peer.fail(move.id)
                return
            if not accepted:
                peer.owe(1)
            return
        peer.owe(1)
        if self._greeted(peer, move.id) is not None:
            self._move_after_end(peer, move)

    def request(self, peer: Peer, message: ClientMessage) -> None:
        """Carry a request out, or refuse it: each is answered, whatever raises."""
        try:
            if isinstance(message, messages.Hello):
                self._hello(peer, message)
                return
            identity = self._greeted(peer, message.id)
            if identity is not None:
                self._requests[type(message)](peer, identity, message)
        except Exception:
            LOG.exception("request %s failed", type(message).__name__)
            peer.fail(message.id)
            if isinstance(message, messages.Hello):
                peer.close(Standard.INTERNAL_ERROR, "hello failed")

    def _spawn(self, peer: Peer, request: int, work: Awaitable[None]) -> None:
        """Carry out a request that has to wait for the disk, and answer it when that raises."""

        async def answered() -> None:
            try:
                await work
            except Exception:
                LOG.exception("request %d failed", request)
                peer.fail(request)

        self._hall.spawn(answered())

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
        if not self._hall.open:
            peer.refuse(
                hello.id,
                Code.UNAVAILABLE,
                "the server is starting or going down",
                retry_after_ms=RETRY_AFTER_MS,
            )
            return
        try:
            admission = self._hall.accounts.identify(hello, peer.bearer, local=peer.local)
        except Denied as denied:
            self._turn_away(peer, hello.id, denied.code, str(denied))
            return
        peer.capabilities = hello.capabilities
        peer.instance = hello.instance
        peer.token = admission.token
        self._door.arrive(peer, admission.identity)
        welcome = partial(self._welcome, peer, hello.id, known[-1], admission)
        if admission.fresh:
            self._hall.accounts.save(admission, welcome)
        else:
            welcome(True)

    def _turn_away(self, peer: Peer, request: int, code: Code, message: str) -> None:
        peer.refuse(request, code, message)
        peer.close(CloseCode.NO_HELLO, message)

    def _welcome(
        self, peer: Peer, request: int, version: int, admission: Admission, saved: bool
    ) -> None:
        if peer.leaving:
            return
        if not saved:
            self._turn_away(peer, request, Code.UNAVAILABLE, "the database cannot be written")
            return
        try:
            self._let_in(peer, request, version, admission)
        except Exception:
            LOG.exception("request Hello failed")
            peer.fail(request)
            peer.close(Standard.INTERNAL_ERROR, "hello failed")

    def _let_in(self, peer: Peer, request: int, version: int, admission: Admission) -> None:
        identity = admission.identity
        key = identity.key
        rooms = self._hall.rooms_of(key)
        unfinished = [table.key for table in self._hall.tables_of(key) if table.unfinished_for(key)]
        peer.answer(
            Welcome(
                re=request,
                version=version,
                player=key,
                name=identity.player.name,
                kind=identity.player.kind,
                resume=admission.resume,
                server=self._hall.name,
                limits=Limits(
                    frame_bytes=MAX_FRAME,
                    messages_per_second=self._door.tariff.socket.per_second,
                    burst=int(self._door.tariff.socket.burst),
                    lobbies=self._door.quotas.lobbies,
                    house_bots=self._door.quotas.house_bots,
                ),
                seats=unfinished,
                lobbies=[room.key for room in rooms if key in room.lobby.roll.members],
            )
        )
        for room in rooms:
            room.do(rules.Connected(key))
            room.post_to(peer, key)
        self._hall.stand_ins.came(key, peer)

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
            for game in self._hall.games.values()
        ]

    def _list_games(self, peer: Peer, identity: Identity, request: messages.ListGames) -> None:
        bots = self._hall.staff.personalities()
        peer.answer(GameList(re=request.id, games=self._game_lines, personalities=bots))

    def _list_lobbies(self, peer: Peer, identity: Identity, request: messages.ListLobbies) -> None:
        ties = self._hall.ties.get(identity.key, ())
        shown = {
            room.stream.number: room
            for room in self._hall.rooms.values()
            if room.lobby.settings.listed or room.key in ties
        }
        rooms, last, more = _page(shown, request.after, request.limit)
        briefs = [room.lobby.brief() for room in rooms]
        peer.answer(LobbyList(re=request.id, lobbies=briefs, more=more, last=last))

    def _list_matches(self, peer: Peer, identity: Identity, request: messages.ListMatches) -> None:
        if request.lobby is not None:
            room = self._hall.rooms.get(request.lobby)
            if room is None or not room.lobby.may_watch(identity.key):
                peer.refuse(request.id, Code.NO_SUCH_LOBBY, f"no lobby {request.lobby!r} to see")
                return
        shown = {
            table.stream.number: table
            for table in self._hall.tables.values()
            if (request.lobby is None and table.listed)
            or (request.lobby is not None and table.match.setup.lobby == request.lobby)
        }
        tables, last, more = _page(shown, request.after, request.limit)
        briefs = [table.brief() for table in tables]
        if not more:
            over = [brief for brief in self._hall.finished if request.lobby in (None, brief.lobby)]
            briefs += over[::-1]
        peer.answer(MatchList(re=request.id, matches=briefs, more=more, last=last))

    def _ladder(self, peer: Peer, identity: Identity, request: messages.AskLadder) -> None:
        if request.game is not None and request.game not in self._hall.games:
            peer.refuse(request.id, Code.UNKNOWN_GAME, f"no game {request.game!r} on this server")
            return
        self._spawn(peer, request.id, self._tell_ladder(peer, request))

    async def _tell_ladder(self, peer: Peer, request: messages.AskLadder) -> None:
        ladder = await self._hall.ledger.ladder()
        games = ladder.games() if request.game is None else [request.game]
        first = request.first - 1
        tables = []
        for game in games:
            lines = ladder.lines(game)
            part = lines[first : first + request.count]
            tables.append(
                LadderTable(game=game, players=len(lines), matches=ladder.matches(game), lines=part)
            )
        peer.answer(Ladders(re=request.id, games=tables))

    # --- lobbies ----------------------------------------------------------------------------

    def _host(self, peer: Peer, identity: Identity, request: messages.Host) -> None:
        trouble = self._objection(request.settings, identity, peer)
        if trouble is not None:
            peer.refuse(request.id, *trouble)
            return
        self._hall.open_room(identity.player, request.settings, peer, request.id)

    def _objection(
        self, settings: LobbySettings, identity: Identity, peer: Peer
    ) -> tuple[Code, str] | None:
        """Say why the player cannot open a lobby with these settings."""
        if not self._hall.ready():
            return Code.UNAVAILABLE, "the server cannot begin anything new now"
        full = self._crowding(settings, identity, peer)
        if full is not None:
            return Code.LIMIT, full
        if not all(map(printable.is_safe, settings.name)):
            return Code.BAD_OPTION, "settings.name: expected printable characters"
        for index, item in enumerate(settings.programme):
            trouble = self._game_trouble(item, f"settings.programme.{index}")
            if trouble is not None:
                return trouble
        balanced = {name for name, game in self._hall.games.items() if game.info.balanced}
        return rules.objection(settings, balanced) or house_objection(settings, self._hall.staff)

    def _crowding(self, settings: LobbySettings, identity: Identity, peer: Peer) -> str | None:
        """Say which limit another lobby of these settings would be beyond."""
        everybodys = list(self._hall.rooms.values())
        own = [room for room in everybodys if room.lobby.host.player == identity.key]
        address = address_of(peer)
        near = [room for room in everybodys if address is not None and room.address == address]
        quotas, bots = self._door.quotas, house_seats(settings)
        for rooms, most, most_bots, whose in (
            (own, quotas.lobbies, quotas.house_bots, "of yours"),
            (near, quotas.lobbies_an_address, quotas.house_bots_an_address, "of your address"),
            (everybodys, quotas.lobbies_in_all, quotas.house_bots_in_all, "on this server"),
        ):
            if len(rooms) >= most:
                return f"{len(rooms)} lobbies {whose} are open, which is the limit"
            there = sum(house_seats(room.lobby.settings) for room in rooms)
            if bots and there + bots > most_bots:
                return (
                    f"{there} house bots {whose} have seats, and with {bots} more it would be"
                    f" more than {most_bots}, which is the limit"
                )
        return None

    def _game_trouble(self, item: ProgrammeItem, path: str) -> tuple[Code, str] | None:
        game = self._hall.games.get(item.game)
        if game is None:
            return Code.UNKNOWN_GAME, f"{path}.game: no game {item.game!r} on this server"
        try:
            options = game.Options.read(item.options)
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
        flaw = item.time_control.flaw
        return None if flaw is None else (Code.BAD_OPTION, f"{path}.time_control: {flaw}")

    def _room(self, peer: Peer, request: int, key: str) -> Room | None:
        room = self._hall.rooms.get(key)
        if room is None:
            self._refuse_absent(peer, request, key, Code.NO_SUCH_LOBBY, f"no lobby {key!r}")
        return room

    def _refuse_absent(self, peer: Peer, request: int, key: str, code: Code, message: str) -> None:
        """Refuse what is about a match or lobby that is not there, or was set aside."""
        if self._hall.quarantine.reason(key) is not None:
            # The reason itself may tell what is hidden in the match.
            code, message = Code.DAMAGED, f"the log of {key!r} is damaged: it does not go on"
        peer.refuse(request, code, message)

    def _join(self, peer: Peer, identity: Identity, request: messages.Join) -> None:
        room = self._room(peer, request.id, request.lobby)
        if room is None:
            return
        if self._hall.stand_ins.expects(identity.key):
            peer.answer(Done(re=request.id))
        elif request.role == "spectator":
            self._enter_as_spectator(room, peer, identity, request)
        elif room.join(peer, identity.player, request.invite, request.id):
            room.unwatch(peer)
            self._hall.tie(identity.key, room)
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
            self._hall.untied(identity.key, room)

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

    def _arrange(self, peer: Peer, identity: Identity, request: messages.Arrange) -> None:
        room = self._room(peer, request.id, request.lobby)
        if room is None:
            return
        trouble = self._arranged_trouble(room, request.matches)
        if trouble is not None:
            peer.refuse(request.id, *trouble)
            return
        hidden = {name for name, game in self._hall.games.items() if game.info.hidden}
        room.do(rules.Arrange(identity.key, request.matches, hidden), peer, request.id)

    def _arranged_trouble(
        self, room: Room, matches: Sequence[Arrangement]
    ) -> tuple[Code, str] | None:
        """Say why a match cannot be; those of one kind, which differ in seeds, are looked at once.

        What is known already was looked at when it was arranged.
        """
        seen: set[str] = set()
        for index, each in enumerate(matches):
            kind = each.item.model_copy(update={"seed": None}).model_dump_json()
            if each.tag in room.lobby.roll.tags or kind in seen:
                continue
            seen.add(kind)
            path = f"matches.{index}.item"
            trouble = self._game_trouble(each.item, path) or item_objection(
                each.item, path, room.lobby.settings, self._hall.staff
            )
            if trouble is not None:
                return trouble
        return None

    def _command(self, peer: Peer, request: int, lobby: str, command: rules.Command) -> None:
        room = self._room(peer, request, lobby)
        if room is not None:
            room.do(command, peer, request)

    # --- matches ----------------------------------------------------------------------------

    def _table(self, peer: Peer, request: int, key: str) -> Table | None:
        table = self._hall.tables.get(key) or self._hall.lingering.get(key)
        if table is None:
            message = f"no running match {key!r}"
            self._refuse_absent(peer, request, key, Code.NO_SUCH_MATCH, message)
        return table

    def _refuse_no_match(self, peer: Peer, request: int, match: str) -> None:
        self._refuse_absent(peer, request, match, Code.NO_SUCH_MATCH, f"no match {match!r}")

    def _watch(self, peer: Peer, identity: Identity, request: messages.Watch) -> None:
        table = self._table(peer, request.id, request.match)
        if table is None:
            return
        room = self._hall.rooms.get(table.match.setup.lobby or "")
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
        table = self._hall.tables.get(request.match)
        if table is not None:
            table.unwatch(peer)
            if table.seat_of(peer) is None:
                peer.holdings.pop(table.key, None)
        peer.answer(Done(re=request.id))

    def _rejoin(self, peer: Peer, identity: Identity, request: messages.Rejoin) -> None:
        table = self._hall.tables.get(request.match) or self._hall.lingering.get(request.match)
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
        table = self._hall.lingering.get(move.match)
        if table is not None:
            table.move_again(peer, move)
            return
        self._with_finished(peer, move.id, move.match, lambda table: table.move_again(peer, move))

    def _with_finished(
        self, peer: Peer, request: int, match: str, then: Callable[[Table], None]
    ) -> None:
        """Load a match that was over before it is asked for, and go on with it."""

        async def load(identity: Identity) -> None:
            then(await self._archive.finished(peer, identity, match))

        self._work_on(peer, request, load)

    def _report(self, peer: Peer, identity: Identity, request: messages.AskReport) -> None:
        async def tell(identity: Identity) -> None:
            peer.answer(await self._archive.report(peer, identity, request))

        self._work_on(peer, request.id, tell)

    def _history(self, peer: Peer, identity: Identity, request: messages.History) -> None:
        async def tell(identity: Identity) -> None:
            peer.answer(await self._archive.history(peer, identity, request))

        self._work_on(peer, request.id, tell)

    def _work_on(
        self, peer: Peer, request: int, work: Callable[[Identity], Awaitable[None]]
    ) -> None:
        """Carry out a request that takes a while, and refuse it where it cannot be."""
        identity = peer.identity
        if identity is not None:
            self._spawn(peer, request, self._answered(peer, request, work(identity)))

    async def _answered(self, peer: Peer, request: int, work: Awaitable[None]) -> None:
        try:
            await work
        except Declined as declined:
            peer.refuse(request, declined.code, str(declined))
        except Busy as busy:
            wait = busy.retry_after_ms
            peer.refuse(request, Code.RATE_LIMITED, str(busy), retry_after_ms=wait)


def _page(shown: Mapping[int, _T], after: int, limit: int) -> tuple[list[_T], int, bool]:
    """Return what is numbered after `after`, the last number, and whether more follow."""
    numbers = sorted(number for number in shown if number > after)
    page = numbers[:limit]
    return [shown[number] for number in page], page[-1] if page else after, len(numbers) > limit
