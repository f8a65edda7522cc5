"""A table: one match, its log, its clock, the players' connections and the spectators.

Everything that a match makes goes to the store first, and into `_held`. When the store says
that an entry is on the disk, what is held up to it is released, in order: events to all who
see the match, the answer to whom it concerns, at last the next turn. So nobody is told what a
crash could take back, and the clock of a turn starts when the turn is sent, not before the
disk was done with the move before it.

    request --> match.handle --> effects --Append--> store ...commit... durable --> told
                 (events; answers and refusals, which speak of what is before them; turns)

A seat is answered on its present connection only. A newer connection of the seat's player
replaces the older one, which is closed, once the claim was found valid.

When something in here raises, the match ends with cause `infrastructure`, and nothing else
does. The match and its log never disagree: where an entry has changed the match and could not be
appended, or where the log cannot be written, the table is closed, and the match is loaded again as
the disk has it (`reloads.py`). Nobody was told anything of what was lost: another table inherits
the connections and carries out the requests that were lost, or have come since (`pending.py`).
A request in which something raised is refused as `internal`.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Literal, Protocol, TypeAlias, assert_never

from websockets.frames import CloseCode as Standard

from kibitz_protocol.codec import encode
from kibitz_protocol.messages import Done, Finished, Move, Rejoin, Resign, ServerMessage
from kibitz_protocol.records import Aborted, Cause, Footer, Player, Result, Setup
from kibitz_protocol.refusals import CloseCode, Code
from kibitz_protocol.rooms import MatchBrief
from kibitz_server import match as rules
from kibitz_server.checkpoint import first_after
from kibitz_server.database import StoreError
from kibitz_server.door import same_program
from kibitz_server.gallery import Gallery
from kibitz_server.match import Command, Effect, Match, Play
from kibitz_server.outbox import text_frame
from kibitz_server.peer import Peer
from kibitz_server.pending import Backlog, Request, requests_in
from kibitz_server.record import line
from kibitz_server.scribe import Scribe, done_frame
from kibitz_server.server_clock import Deadline
from kibitz_server.store import Store, Stream, Waiter
from kibitz_server.verdict import by_departure, verdict
from kibitz_server.view import PUBLIC, Sight

LOG = logging.getLogger("kibitz.table")
CRASH_NOTICE_S = 0.5
"""How long a house bot's lost connection waits for the word that its process has crashed:
the first reason for which a seat is away is the one that counts."""
Held: TypeAlias = Callable[[], None]
"""How a request is refused that a table cannot carry out, and another one soon can."""
OUT = "the match goes on without this seat, and its end is told to it too"
"""What is said to a seat that is out of a match, instead of that the match is over."""


class MoveFigures(Protocol):
    """What tables count."""

    def moved(self, milliseconds: int) -> None: ...

    def refused(self, code: Code) -> None: ...


class Floor(Protocol):
    """What a table needs around it."""

    loop: AbstractEventLoop
    clock: Callable[[], int]
    lag: Callable[[], int]
    """How many milliseconds the clock has left out so far."""
    store: Store
    scribe: Scribe

    @property
    def figures(self) -> MoveFigures: ...

    def over(self, table: Table) -> None:
        """The match is over, durably, and everybody was told."""

    def unwritten(self, table: Table, error: StoreError) -> None:
        """The log could not be written: load the match again, `table` is of no use any more."""

    def rate(self, setup: Setup, result: Result) -> None:
        """Count a match on the ladder, in the batch that closes its log."""

    def keep(self, table: Table) -> None:
        """Write a checkpoint of the match, in the batch of its last entry."""

    def want_stand_in(self, table: Table, want: rules.WantStandIn) -> None:
        """Find a house bot, then `replace` or `forfeit` the seat."""


class Table:
    """The shell around one match."""

    __slots__ = (
        "_cold",
        "_floor",
        "_held",
        "_keep_at",
        "_news",
        "_now",
        "_sockets",
        "_timer",
        "_timer_at",
        "_told_turn",
        "backlog",
        "broken",
        "closed",
        "gallery",
        "listed",
        "match",
        "stream",
        "watchers",
    )

    def __init__(self, floor: Floor, match: Match, stream: Stream, *, listed: bool) -> None:
        seats = len(match.players)
        self._floor = floor
        self.match = match
        self.stream = stream
        self.listed = listed
        """Whether lists show the match to everybody."""
        self.closed = False
        """Whether nothing is carried out here any more."""
        self.broken = False
        """Whether something raised after which the match has to be read from its log again."""
        self.backlog: Backlog[Table] | None = None
        """What is to be done once the match was loaded again; None while its log is sound."""
        self._held: deque[tuple[int, Held]] = deque()
        """What may be told once the entry of that number is durable."""
        self._sockets: list[Peer | None] = [None] * seats
        """Per seat the connection whose commands count."""
        self._news: list[Peer | None] = [None] * seats
        """Per seat the connection that is told what happens; it follows `_sockets`."""
        self._keep_at = first_after(match.setup.match, match.seq)
        """The entry at which the next checkpoint is due."""
        self._now = 0
        """When the store last said that something is durable."""
        self._told_turn = -1
        """The newest turn that was sent and opened."""
        self._cold: set[int] = set()
        """Seats that nobody has come back to since a restart: no turn is opened for them."""
        self._timer: Deadline | None = None
        self._timer_at = 0
        self.watchers: dict[Peer, None] = {}
        self.gallery = Gallery(match, floor.scribe.event, self._when_settled, floor.clock)

    # --- beginning --------------------------------------------------------------------------

    def begin(self, seated: Callable[[Player], Peer | None]) -> None:
        """Start a new match, whose setup is on its way to the disk, with who is connected."""
        for seat, player in enumerate(self.match.players):
            peer = seated(player)
            if peer is not None:
                self._sockets[seat] = peer
                self._when_settled(self._entrance(seat, peer, "started"))
        for seat, peer in enumerate(self._sockets):
            if peer is None:
                self.command(rules.Leave(seat, "disconnect"))

    def resume(self) -> None:
        """Go on after a restart, where nobody is connected yet."""
        self._cold = set(range(len(self._sockets)))
        self._begin_again()
        for seat in self._cold:
            if seat not in self.match.away and seat not in self.match.out:
                self.command(rules.Leave(seat, "disconnect"))
        self._arm()

    def inherit(self, former: Table) -> None:
        """Take the connections of a table whose log was lost, and tell them where things are.

        When it was given back because something raised, the match ends here.
        """
        self.broken = former.broken
        self._begin_again()
        for seat, peer in enumerate(former._sockets):
            if peer is not None and not peer.leaving:
                self._sockets[seat] = peer
                self._when_settled(self._entrance(seat, peer, "rejoined"))
        for peer in former.watchers:
            self._when_settled(partial(self._let_watch, peer))
        for seat, peer in enumerate(self._sockets):
            if peer is None and seat not in self.match.away:
                self.command(rules.Leave(seat, "disconnect"))
            elif peer is not None and seat in self.match.away:
                self.command(rules.Return(seat))
        if self.broken:
            self.abort("internal error")
        elif not self._held:
            self._turn_guarded()
        if former.backlog is not None:
            for request in former.backlog.take():
                self._again(request)

    def _again(self, request: Request[Table]) -> None:
        try:
            request.again(self)
        except Exception:
            LOG.exception("match %s: a request that was lost", self.key)
            request.fail()

    def _begin_again(self) -> None:
        """Settle what a crash has cut off."""
        try:
            result = self.match.result
            if result is None:
                self._carry_out(self.match.tick(self._floor.clock(), self._floor.lag()))
            elif not self.stream.closed:
                self._finish(result, self)
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._break()

    # --- requests ---------------------------------------------------------------------------

    def move(self, peer: Peer, move: Move) -> bool:
        """Carry out a move; return whether it was a new one and accepted."""
        if self.closed:
            # Whose seat it is may depend on who is still waiting to come back.
            self._put_off(Request(lambda table: table.move(peer, move), peer, move.id))
            return False
        seat = self.match.to_act
        if seat < 0 or self._sockets[seat] is not peer:
            found = self.seat_of(peer)
            if found is None:
                peer.refuse(move.id, Code.NOT_SEATED, "no seat at this match on this connection")
                return False
            seat = found
        play = Play(seat, move.id, move.ply, move.action, move.comment, peer.rtt_ms)
        before = self.match.ply
        self.command(play, peer, move.id)
        return self.match.ply > before

    def move_again(self, peer: Peer, move: Move) -> None:
        """Answer a move of a match that is over, as before if it was answered before."""
        player = peer.identity
        seat = None if player is None else self.seat_owned_by(player.key)
        if seat is None:
            peer.refuse(move.id, Code.NOT_SEATED, "you had no seat at this match")
        else:
            play = Play(seat, move.id, move.ply, move.action, move.comment)
            self.command(play, peer, move.id)

    def resign(self, peer: Peer, request: Resign) -> None:
        """The player gives up, of its own will or because its program failed."""
        fault = request.fault
        if self.seat_of(peer) in self.match.taken_over:
            detail = "resigned by a connection that had taken the seat over"
            cause = Cause.TAKEOVER
            self._seated(peer, request.id, lambda seat: rules.Forfeit(seat, cause, detail))
            return
        if fault is None:
            self._seated(peer, request.id, rules.Resign)
            return
        cause = Cause(fault)
        self._seated(peer, request.id, lambda seat: rules.Forfeit(seat, cause, request.detail))

    def leave(self, peer: Peer, request: int) -> None:
        """The player goes away for good."""
        self._seated(peer, request, lambda seat: rules.Leave(seat, "left"))

    def note(self, peer: Peer, request: int, text: str) -> None:
        self._seated(peer, request, lambda seat: rules.Note(seat, text))

    def rejoin(self, peer: Peer, player: str, request: Rejoin) -> None:
        """Give a seat to its player's newest connection.

        Where the older one is open and another program's, that is written down: whoever knows a
        player's secret can take its seat, but not so that nobody sees it.
        """
        seat = self.seat_owned_by(player)
        if seat is None:
            peer.refuse(request.id, Code.NOT_SEATED, "you have no seat at this match")
            return

        def come_again(table: Table) -> None:
            if not peer.leaving:
                table.rejoin(peer, player, request)

        again = Request(come_again, peer, request.id)
        if self.closed:
            self._put_off(again)
            return
        former = self._sockets[seat]
        if former is not None and former.leaving:
            former = None
        self._sockets[seat] = peer
        self._news[seat] = None
        self._cold.discard(seat)
        if former is not None and former is not peer:
            former.close(CloseCode.REPLACED, "a newer connection took the seat")
        takeover = former is not None and not same_program(former, peer)
        if takeover or seat in self.match.away:
            self.command(rules.Return(seat, player, takeover))
        entrance = self._entrance(seat, peer, "rejoined")

        def enter() -> None:
            peer.answer(Done(re=request.id))
            entrance()

        again.answer = enter
        self._when_settled(again)

    def watch(self, peer: Peer, request: int) -> None:
        """Let a spectator in, whom the hall found entitled to it."""

        def enter() -> None:
            peer.answer(Done(re=request))
            self._let_watch(peer)

        def come_again(table: Table) -> None:
            if not peer.leaving:
                table.watch(peer, request)

        again = Request(come_again, peer, request, enter)
        if self.closed:
            self._put_off(again)
        else:
            self._when_settled(again)

    def _let_watch(self, peer: Peer) -> None:
        if not peer.leaving:
            self.watchers[peer] = None
            self.gallery.enter(peer.outbox)

    def unwatch(self, peer: Peer) -> None:
        self.watchers.pop(peer, None)
        self.gallery.leave(peer.outbox)

    # --- what the hall and the lobby do -----------------------------------------------------

    def vacate(self, player: str) -> None:
        """The player has left the lobby, and with it the match."""
        seat = self.seat_owned_by(player)
        if seat is not None:
            self.command(rules.Leave(seat, "left"))

    def disconnected(self, peer: Peer) -> None:
        """A connection is gone; the seat's grace begins."""
        self.unwatch(peer)
        for seat, held in enumerate(self._sockets):
            if held is peer:
                self._sockets[seat] = self._news[seat] = None
                if self.match.players[seat].kind == "house":
                    self._floor.loop.call_later(CRASH_NOTICE_S, self._miss, seat)
                else:
                    self._miss(seat)

    def _miss(self, seat: int) -> None:
        if self._sockets[seat] is None:
            self.command(rules.Leave(seat, "disconnect"))

    def crashed(self, player: str, last_words: str) -> None:
        """A house bot's process has ended; its last lines go into the record."""
        seat = self.seat_owned_by(player)
        if seat is None or self.match.result is not None:
            return
        if last_words:
            self.command(rules.Note(seat, last_words[-2000:]))
        self.command(rules.Leave(seat, "crash"))

    def replace(self, seat: int, player: Player, cause: Cause, peer: Peer) -> bool:
        """Seat a stand-in; return whether the seat was still to be had."""
        if self.closed:
            return False  # the match asks for a stand-in again when it was loaded
        self.command(rules.Replace(seat, player, cause))
        if self.match.result is not None or self.match.players[seat] != player:
            return False
        self._cold.discard(seat)
        self._sockets[seat] = peer
        self._when_settled(self._entrance(seat, peer, "started"))
        return True

    def taken_over(self, seat: int) -> None:
        """Write down that a seat's connection is not that of the program that it belongs to."""
        self.command(rules.Return(seat, takeover=True))

    def forfeit(self, seat: int, cause: Cause, detail: str) -> None:
        self.command(rules.Forfeit(seat, cause, detail))

    def abort(self, detail: str) -> None:
        """End the match: the server cannot go on with it."""
        if self.match.result is None:
            self.command(rules.Abort(detail))

    def suspend(self) -> None:
        """Stop the timers: the server goes down, and the log goes on at the next start."""
        self.closed = True
        self._disarm()

    # --- what others ask --------------------------------------------------------------------

    @property
    def key(self) -> str:
        return self.match.setup.match

    def seat_of(self, peer: Peer) -> int | None:
        """Return the seat whose commands come on this connection."""
        for seat, held in enumerate(self._sockets):
            if held is peer:
                return seat
        return None

    def seat_owned_by(self, player: str) -> int | None:
        for seat, owner in enumerate(self.match.players):
            if owner.player == player:
                return seat
        return None

    def peers(self) -> list[Peer]:
        """Return the connections that are seated here or watch."""
        return [peer for peer in self._sockets if peer is not None] + list(self.watchers)

    def unfinished_for(self, player: str) -> bool:
        """Whether the player still has to play here, or has to be told of the end.

        As long as something waits for the disk, the match has not ended, whatever it says.
        """
        seat = self.seat_owned_by(player)
        if seat is None:
            return False
        settled = not self._held and self.match.seq <= self.stream.durable and not self.closed
        return not settled or (seat not in self.match.out and self.match.result is None)

    def brief(self) -> MatchBrief:
        """Return the match's line in a list, as spectators may see it."""
        setup = self.match.setup
        return MatchBrief(
            match=setup.match,
            lobby=setup.lobby,
            number=setup.number,
            block=setup.block,
            game=setup.game,
            seats=list(self.match.players),
            ply=self.gallery.ply if self.match.result is None else self.match.ply,
            time_control=setup.time_control,
            watchable=self.gallery.open,
            result=self.match.result,
            tag=setup.tag,
        )

    # --- the mechanism ----------------------------------------------------------------------

    def command(self, command: Command, peer: Peer | None = None, request: int = 0) -> None:
        """Let the match carry out a command, and do what it asks for."""
        if self.closed:
            self._put_off(
                Request(lambda table: table.command(command, peer, request), peer, request)
            )
            return
        try:
            now = self._arrival()
            effects = self.match.handle(command, now, self._floor.lag())
            self._carry_out(effects, peer, request, now, command)
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._break()
            self._fail(peer, request)
        if self._timer is None:
            self._arm()

    def _fail(self, peer: Peer | None, request: int) -> None:
        """Answer a request that raised, unless it is answered later."""
        waiting = requests_in(held for _, held in self._held)
        if self.backlog is not None:
            waiting += self.backlog.waiting()
        if peer is not None and not any(each.is_of(peer, request) for each in waiting):
            peer.fail(request)

    def durable(self, seq: int) -> None:
        """The store has everything up to entry `seq`: tell it."""
        held = self._held
        self._now = self._floor.clock()
        told: list[Held] = []
        """Keeps what was just shown alive: the next turn shows the same view."""
        trouble = False
        while held and held[0][0] <= seq:
            told.append(held.popleft()[1])
            trouble |= not self._tell(told[-1])
        if trouble:
            self._break()
        elif not held:
            self._turn_guarded()

    def lost(self, error: StoreError) -> None:
        """What was appended is not on the disk: nothing of it was told, nothing of it counts."""
        self.suspend()
        self._keep_requests()
        self._floor.unwritten(self, error)

    def _keep_requests(self) -> Backlog[Table]:
        """Drop what waits for the disk, but for the requests, which are carried out again."""
        if self.backlog is None:
            self.backlog = Backlog()
        for _, told in self._held:
            if isinstance(told, Request):
                self.backlog.add(told)
        self._held.clear()
        return self.backlog

    def _put_off(self, request: Request[Table]) -> None:
        """Keep a request until the match was loaded again; there is no answer before."""
        if self.backlog is not None:
            self.backlog.add(request)
        else:
            request.refuse("the server is going down")

    def _seated(self, peer: Peer, request: int, command: Callable[[int], Command]) -> None:
        """Carry out a command of a seat and answer it when it is durable."""
        again: Request[Table] = Request(
            lambda table: table._seated(peer, request, command), peer, request
        )
        if self.closed:
            self._put_off(again)
            return
        seat = self.seat_of(peer)
        if seat is None:
            peer.refuse(request, Code.NOT_SEATED, "no seat at this match on this connection")
            return
        before = self.match.seq
        refusal = self._refusal_of(command(seat))
        if refusal is not None and refusal.code is Code.INTERNAL:
            self._refuse(peer, request, refusal)
            return
        seq = self.match.seq if self.match.seq > before else None
        if refusal is None:
            again.answer = partial(peer.answer, Done(re=request, seq=seq))
        else:
            again.answer = partial(self._refuse, peer, request, refusal)
        self._hold(self.match.seq, again)

    def _refusal_of(self, command: Command) -> rules.Refuse | None:
        """Carry out a command that is answered by its only effect, a refusal, or not at all."""
        try:
            effects = self.match.handle(command, self._arrival(), self._floor.lag())
            refusals = [effect for effect in effects if isinstance(effect, rules.Refuse)]
            self._carry_out([effect for effect in effects if effect not in refusals])
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._break()
            return rules.Refuse(-1, None, Code.INTERNAL, "the match cannot go on", self.match.ply)
        self._arm()
        return refusals[0] if refusals else None

    def _carry_out(
        self,
        effects: list[Effect],
        peer: Peer | None = None,
        request: int = 0,
        now: int = 0,
        command: Command | None = None,
    ) -> None:
        """Do what the match asks for; `now` is when the request of a peer arrived."""
        arrived: int | None = None
        for effect in effects:
            match effect:
                case rules.Append(entry, sight):
                    text = line(entry)
                    self._floor.store.append(self.stream, entry.seq, text, self)
                    self._held.append((entry.seq, partial(self._show, sight, text)))
                    arrived = now
                case rules.Accepted(_, id, seq):
                    answer = partial(self._acknowledge, peer, id, seq, arrived)
                    again = partial(_command, command, peer, request)
                    self._hold(seq, Request(again, peer, id, answer))
                case rules.Refuse():
                    if peer is not None:
                        # It speaks of the match as it is, which may not be on the disk yet.
                        refuse = partial(self._refuse, peer, request, effect)
                        again = partial(_command, command, peer, request)
                        self._hold(self.match.seq, Request(again, peer, request, refuse))
                case rules.Finished(result):
                    self._finish(result)
                case rules.WantStandIn():
                    self._floor.want_stand_in(self, effect)
                case _:
                    assert_never(effect)
        if self.stream.tail >= self._keep_at and self.match.result is None:
            self._keep()

    def _keep(self) -> None:
        """Write a checkpoint. It saves time at the next start; without it nothing is lost."""
        if self.stream.tail != self.match.seq:
            return
        self._keep_at = first_after(self.key, self.match.seq)
        try:
            self._floor.keep(self)
        except Exception:
            LOG.exception("match %s gets no checkpoint", self.key)

    def _hold(self, seq: int, told: Held) -> None:
        """Tell now what is durable already, and nothing before what is held."""
        if self._held or seq > self.stream.durable:
            self._held.append((seq, told))
        elif not self._tell(told):
            self._break()

    def _tell(self, told: Held) -> bool:
        """Tell, and return whether that went well; a request that it answers is answered."""
        try:
            told()
        except Exception:
            LOG.exception("match %s cannot be told", self.key)
            if isinstance(told, Request):
                told.fail()
            return False
        return True

    def _when_settled(self, told: Held) -> None:
        """Tell once nothing of the match waits for the disk any more.

        What has been added since is ahead of it then; others who wait for the same are not.
        """
        if not self._held and self.match.seq <= self.stream.durable:
            if not self._tell(told):
                self._break()
            return
        seq = self.match.seq

        def tell() -> None:
            if self.match.seq == seq:
                told()
            else:
                self._when_settled(told)

        held: Held = tell
        if isinstance(told, Request):
            held = Request(told.again, told.peer, told.number, tell)
        self._held.append((seq, held))

    def _acknowledge(self, peer: Peer | None, request: int, seq: int, arrived: int | None) -> None:
        """Answer a move; one that was sent again has not arrived anew."""
        if peer is not None:
            peer.unanswered.discard(request)
            peer.outbox.send(done_frame(request, seq))
        if arrived is not None:
            self._floor.figures.moved(self._now - arrived)

    def _refuse(self, peer: Peer, request: int, refusal: rules.Refuse) -> None:
        code = refusal.code
        goes_on = code is Code.OVER and self.match.result is None
        peer.refuse(
            request,
            code,
            refusal.message,
            hint=OUT if goes_on else refusal.hint,
            ply=refusal.ply if code is Code.STALE else None,
        )

    def _show(self, sight: Sight, text: bytes) -> None:
        """Show everybody a durable entry, whose line in the log is `text`."""
        scribe = self._floor.scribe
        for seat, peer in enumerate(self._news):
            if peer is not None:
                event = sight.event(seat)
                own = text if event.entry is sight.entry else None
                peer.outbox.send(scribe.event(event, own))
        self.gallery.show(sight, self._now)

    def _turn_guarded(self) -> None:
        if not self.broken and not self._tell(self._turn):
            self._break()

    def _turn(self) -> None:
        """Send the turn and start its clock, now that all before it is durable and told."""
        match = self.match
        new = match.result is None and match.turn != self._told_turn
        if new and match.to_act not in self._cold:
            self._told_turn = match.turn
            peer = self._news[match.to_act]
            if peer is not None:
                peer.outbox.send(self._floor.scribe.turn(match.your_turn()))
            match.open_turn(self._floor.clock(), self._floor.lag())
        self._arm()

    def _entrance(
        self, seat: int, peer: Peer, why: Literal["started", "rejoined"]
    ) -> Callable[[], None]:
        """Return what makes a connection hear of the match: a snapshot first, then the news."""

        def enter() -> None:
            if self._sockets[seat] is not peer:
                return
            self._news[seat] = peer
            match = self.match
            peer.tell(match.snapshot(seat, why, seat, self._floor.clock()))
            if match.result is not None:
                peer.tell(self._ending())
            elif match.to_act == seat:
                self._repeat_turn(peer)

        return enter

    def _repeat_turn(self, peer: Peer) -> None:
        """Send a turn that was opened already; one that was not is sent when it is."""
        match = self.match
        if match.turn == self._told_turn:
            peer.tell(match.your_turn(self._floor.clock()))
        elif not self._held:
            self._turn()

    # --- the end ----------------------------------------------------------------------------

    def _finish(self, result: Result, waiter: Waiter | None = None) -> None:
        """Close the log in the batch of its last entry, and tell the end after it.

        Where that entry is on the disk already, the table itself waits for the end to be.
        """
        footer = line(Footer(result=result, hash=self.stream.chain))
        self._floor.store.finish(self.stream, footer, encode(self.brief()), waiter)
        self._held.append((self.stream.tail, self._tell_end))
        self._floor.rate(self.match.setup, result)

    def _tell_end(self) -> None:
        self.gallery.reveal()
        frame = text_frame(encode(self._ending()))
        for peer in self._news:
            if peer is not None:
                peer.outbox.send(frame)
        self.gallery.tell(frame)
        self._disarm()
        self._floor.over(self)

    def _ending(self) -> Finished:
        return self.match.finished(f"/records/{self.key}.jsonl")

    def _break(self) -> None:
        """Something raised: end this match and nothing else."""
        if self.closed:
            return
        if not self.broken and not self._in_step():
            self._give_back()
            return
        if self.match.result is not None:
            if not self.stream.closed:
                self._give_up()
            return
        try:
            self._carry_out(self.match.handle(rules.Abort("internal error"), self._arrival()))
        except Exception:
            LOG.exception("match %s cannot even be aborted", self.key)
            self._cut_off()

    def _in_step(self) -> bool:
        """Whether the log has every entry that has changed the match, and its end if it ended."""
        ended = self.match.result is not None
        return self.match.seq == self.stream.tail and ended == self.stream.closed

    def _give_back(self) -> None:
        """Have the match loaded again, as its log has it, once the disk has all of that."""
        self.broken = True
        self.suspend()
        self.backlog = Backlog()

        def hand_over() -> None:
            self.stream.failed = True  # whatever the store still means to do with it
            self._keep_requests()
            self._floor.unwritten(self, StoreError("the match was ahead of its log"))

        self._hold(self.stream.tail, hand_over)

    def _cut_off(self) -> None:
        """Write the end that the match itself cannot make any more."""
        outcome = by_departure(len(self._sockets), [*self.match.out])
        result = verdict(outcome, self.match.out, Cause.INFRASTRUCTURE, self.match.ply)
        seq = self.stream.tail + 1
        entry = Aborted(seq=seq, at_ms=self.match.at_ms, detail="internal error")
        self.match.result = result
        try:
            self._floor.store.append(self.stream, seq, line(entry), self)
            self._finish(result)
        except Exception:
            LOG.exception("match %s cannot be ended", self.key)
            self._give_up()

    def _give_up(self) -> None:
        """Leave the match as its log has it, for the next start."""
        LOG.error("match %s is given up; the next start takes it up", self.key)
        self.suspend()
        backlog: Backlog[Table] = self._keep_requests()
        backlog.refuse("the match cannot go on")
        for peer in self.peers():
            peer.close(Standard.INTERNAL_ERROR, "the match cannot go on")
        self._floor.over(self)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- the timer --------------------------------------------------------------------------

    def _arrival(self) -> int:
        """Return when a command that is read now has come, for the match to judge.

        A deadline that is over is not carried out before its timer has had the sockets read. What
        is read until then comes before it: the move that was in time, though not read in time.
        """
        now, due = self._floor.clock(), self.match.deadline()
        return now if due is None or now < due else due - 1

    def _arm(self) -> None:
        """Have the timer fire by the next deadline; one that fires too early costs less."""
        try:
            self._set_timer()
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._break()

    def _set_timer(self) -> None:
        due = self.match.deadline()
        late = self.gallery.deadline()
        if late is not None and (due is None or late < due):
            due = late
        if due is None or self.closed:
            return
        if self._timer is not None:
            if self._timer_at <= due:
                return
            self._timer.cancel()
        floor = self._floor
        self._timer_at = due
        self._timer = Deadline(floor.loop, floor.clock, due, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now = self._floor.clock()
        if self.closed:
            return
        try:
            self.gallery.shift(now)
            self._carry_out(self.match.tick(now, self._floor.lag()))
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._break()
        self._arm()


def _command(command: Command | None, peer: Peer | None, request: int, table: Table) -> None:
    if command is not None:
        table.command(command, peer, request)


def viewer_of(table: Table, peer: Peer) -> int | None:
    """Return as whom a connection sees a match: a seat, the spectators' eyes, or not at all."""
    seat = table.seat_of(peer)
    if seat is not None:
        return seat
    if peer.outbox in table.gallery.viewers:
        return table.gallery.eyes if table.gallery.eyes is not None else PUBLIC
    return None


def encoded(message: ServerMessage) -> bytes:
    """Return a message as a frame that can be sent to many."""
    return text_frame(encode(message))
