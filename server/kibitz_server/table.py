"""A table: one match, its log, its clock, the players' connections and the spectators.

Everything that a match makes goes to the store first, and into `_held`. When the store says
that an entry is on the disk, what is held up to it is released, in order: events to all who
see the match, the answer to whom it concerns, at last the next turn. So nobody is told what a
crash could take back, and the clock of a turn starts when the turn is sent, not before the
disk was done with the move before it.

    request --> match.handle --> effects --Append--> store ...commit... durable --> _release
                                    \\--Refuse--> at once          (Accepted, Finished, turns)

A seat is answered on its present connection only. A newer connection of the seat's player
replaces the older one, which is closed, once the claim was found valid.

When something in here raises, the match ends with cause `infrastructure`, and nothing else
does. When the log cannot be written, the table is given back to the hall, which loads the
match again as the disk has it.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Literal, Protocol, TypeAlias, assert_never

from kibitz_protocol.codec import encode
from kibitz_protocol.messages import Done, Finished, Move, Rejoin, Resign, ServerMessage
from kibitz_protocol.records import Aborted, Cause, Footer, Player, Result, SeatResult, Setup
from kibitz_protocol.refusals import CloseCode, Code
from kibitz_protocol.rooms import MatchBrief
from kibitz_server import match as rules
from kibitz_server.database import StoreError
from kibitz_server.gallery import Gallery
from kibitz_server.match import Command, Effect, Match, Play
from kibitz_server.outbox import text_frame
from kibitz_server.peer import Peer
from kibitz_server.record import line
from kibitz_server.scribe import Scribe, done_frame
from kibitz_server.server_clock import Deadline
from kibitz_server.store import Store, Stream
from kibitz_server.view import PUBLIC, Sight

LOG = logging.getLogger("kibitz.table")
CRASH_NOTICE_S = 0.5
"""How long a house bot's lost connection waits for the word that its process has crashed:
the first reason for which a seat is away is the one that counts."""
Held: TypeAlias = Callable[[], None]


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

    def want_stand_in(self, table: Table, want: rules.WantStandIn) -> None:
        """Find a house bot, then `replace` or `forfeit` the seat."""


class Table:
    """The shell around one match."""

    __slots__ = (
        "_cold",
        "_floor",
        "_held",
        "_news",
        "_now",
        "_sockets",
        "_timer",
        "_timer_at",
        "_told_turn",
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
        self._held: deque[tuple[int, Held]] = deque()
        """What may be told once the entry of that number is durable."""
        self._sockets: list[Peer | None] = [None] * seats
        """Per seat the connection whose commands count."""
        self._news: list[Peer | None] = [None] * seats
        """Per seat the connection that is told what happens; it follows `_sockets`."""
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
        now = self._floor.clock()
        self._carry_out(self.match.tick(now, self._floor.lag()))
        for seat in self._cold:
            if seat not in self.match.away and seat not in self.match.out:
                self.command(rules.Leave(seat, "disconnect"))
        self._arm()

    def inherit(self, former: Table) -> None:
        """Take the connections of a table whose log was lost, and tell them where things are."""
        for seat, peer in enumerate(former._sockets):
            if peer is not None and not peer.leaving:
                self._sockets[seat] = peer
                self._entrance(seat, peer, "rejoined")()
        for peer in former.watchers:
            self.watchers[peer] = None
            self.gallery.enter(peer.outbox)
        for seat, peer in enumerate(self._sockets):
            if peer is None and seat not in self.match.away:
                self.command(rules.Leave(seat, "disconnect"))
        self._turn()

    # --- requests ---------------------------------------------------------------------------

    def move(self, peer: Peer, move: Move) -> bool:
        """Carry out a move; return whether it was a new one and accepted."""
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
        """Give a seat to its player's newest connection."""
        seat = self.seat_owned_by(player)
        if seat is None:
            peer.refuse(request.id, Code.NOT_SEATED, "you have no seat at this match")
            return
        former = self._sockets[seat]
        self._sockets[seat] = peer
        self._news[seat] = None
        self._cold.discard(seat)
        if former is not None and former is not peer:
            former.close(CloseCode.REPLACED, "a newer connection took the seat")
        if seat in self.match.away:
            self.command(rules.Return(seat, player))
        entrance = self._entrance(seat, peer, "rejoined")

        def enter() -> None:
            peer.answer(Done(re=request.id))
            entrance()

        self._when_settled(enter)

    def watch(self, peer: Peer, request: int) -> None:
        """Let a spectator in, whom the hall found entitled to it."""

        def enter() -> None:
            peer.answer(Done(re=request))
            if not peer.leaving:
                self.watchers[peer] = None
                self.gallery.enter(peer.outbox)

        self._when_settled(enter)

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
        self.command(rules.Replace(seat, player, cause))
        if self.match.result is not None or self.match.players[seat] != player:
            return False
        self._cold.discard(seat)
        self._sockets[seat] = peer
        self._when_settled(self._entrance(seat, peer, "started"))
        return True

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
        """Whether the player still has to play here."""
        seat = self.seat_owned_by(player)
        return seat is not None and seat not in self.match.out and self.match.result is None

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
            return
        try:
            now = self._arrival()
            lag = self._floor.lag()
            self._carry_out(self.match.handle(command, now, lag), peer, request, now)
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._break()
        if self._timer is None:
            self._arm()

    def durable(self, seq: int) -> None:
        """The store has everything up to entry `seq`: tell it."""
        held = self._held
        self._now = self._floor.clock()
        told: list[Held] = []
        """Keeps what was just shown alive: the next turn shows the same view."""
        try:
            while held and held[0][0] <= seq:
                told.append(held.popleft()[1])
                told[-1]()
            if not held:
                self._turn()
        except Exception:
            LOG.exception("match %s cannot be told", self.key)
            self._break()

    def lost(self, error: StoreError) -> None:
        """What was appended is not on the disk: nothing of it was told, nothing of it counts."""
        self.suspend()
        self._held.clear()
        self._floor.unwritten(self, error)

    def _seated(self, peer: Peer, request: int, command: Callable[[int], Command]) -> None:
        """Carry out a command of a seat and answer it when it is durable."""
        seat = self.seat_of(peer)
        if seat is None:
            peer.refuse(request, Code.NOT_SEATED, "no seat at this match on this connection")
            return
        before = self.match.seq
        if self.closed:
            peer.refuse(request, Code.UNAVAILABLE, "the server is going down")
            return
        made = command(seat)
        refusal = self._refusal_of(made)
        if refusal is not None:
            peer.refuse(request, refusal.code, refusal.message)
            return
        seq = self.match.seq if self.match.seq > before else None
        self._hold(self.match.seq, lambda: peer.answer(Done(re=request, seq=seq)))

    def _refusal_of(self, command: Command) -> rules.Refuse | None:
        """Carry out a command that is answered by its only effect, a refusal, or not at all."""
        try:
            effects = self.match.handle(command, self._arrival(), self._floor.lag())
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._break()
            return rules.Refuse(-1, None, Code.INTERNAL, "the match cannot go on", self.match.ply)
        refusals = [effect for effect in effects if isinstance(effect, rules.Refuse)]
        self._carry_out([effect for effect in effects if effect not in refusals])
        self._arm()
        return refusals[0] if refusals else None

    def _carry_out(
        self, effects: list[Effect], peer: Peer | None = None, request: int = 0, now: int = 0
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
                    self._hold(seq, partial(self._acknowledge, peer, id, seq, arrived))
                case rules.Refuse(_, _, code, message, ply):
                    self._refuse(peer, request, code, message, ply)
                case rules.Finished(result):
                    self._finish(result)
                case rules.WantStandIn():
                    self._floor.want_stand_in(self, effect)
                case _:
                    assert_never(effect)

    def _hold(self, seq: int, told: Held) -> None:
        """Tell now what is durable already, and nothing before what is held."""
        if not self._held and seq <= self.stream.durable:
            told()
        else:
            self._held.append((seq, told))

    def _when_settled(self, told: Held) -> None:
        """Tell once nothing of the match waits for the disk any more.

        What has been added since is ahead of it then; others who wait for the same are not.
        """
        if not self._held and self.match.seq <= self.stream.durable:
            told()
            return
        seq = self.match.seq

        def tell() -> None:
            if self.match.seq == seq:
                told()
            else:
                self._when_settled(told)

        self._held.append((seq, tell))

    def _acknowledge(self, peer: Peer | None, request: int, seq: int, arrived: int | None) -> None:
        """Answer a move; one that was sent again has not arrived anew."""
        if peer is not None:
            peer.outbox.send(done_frame(request, seq))
        if arrived is not None:
            self._floor.figures.moved(self._now - arrived)

    def _refuse(self, peer: Peer | None, request: int, code: Code, message: str, ply: int) -> None:
        if peer is not None:
            peer.refuse(request, code, message, ply=ply if code is Code.STALE else None)

    def _show(self, sight: Sight, text: bytes) -> None:
        """Show everybody a durable entry, whose line in the log is `text`."""
        scribe = self._floor.scribe
        for seat, peer in enumerate(self._news):
            if peer is not None:
                event = sight.event(seat)
                own = text if event.entry is sight.entry else None
                peer.outbox.send(scribe.event(event, own))
        self.gallery.show(sight, self._now)

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

    def _finish(self, result: Result) -> None:
        """Close the log in the batch of its last entry, and tell the end after it."""
        footer = line(Footer(result=result, hash=self.stream.chain))
        self._floor.store.finish(self.stream, footer, encode(self.brief()))
        self._floor.rate(self.match.setup, result)
        self._held.append((self.match.seq, self._tell_end))

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
        try:
            if self.match.result is None:
                self._carry_out(
                    self.match.handle(rules.Abort("internal error"), self._floor.clock())
                )
        except Exception:
            LOG.exception("match %s cannot even be aborted", self.key)
            self._cut_off()

    def _cut_off(self) -> None:
        """Write the end that the match itself cannot make any more."""
        if self.closed:
            return
        seats = [SeatResult(rank=1, score=0.0) for _ in self._sockets]
        result = Result(
            seats=seats, cause=Cause.INFRASTRUCTURE, reason="internal error", plies=self.match.ply
        )
        seq = self.stream.tail + 1
        entry = Aborted(seq=seq, at_ms=self.match.at_ms, detail="internal error")
        self._held.clear()
        self.match.result = result
        try:
            self._floor.store.append(self.stream, seq, line(entry), self)
            self._finish(result)
        except StoreError:
            self.suspend()
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
        try:
            self.gallery.shift(now)
            self._carry_out(self.match.tick(now, self._floor.lag()))
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._break()
        self._arm()


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
