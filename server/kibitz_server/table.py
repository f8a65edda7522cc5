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
does. The match and its log never disagree: where an entry has changed the match and could not
be appended, or where the log cannot be written, the table is closed and given back to the hall,
which loads the match again as the disk has it. Every request is answered all the same: refused
as `internal` where something raised, as `unavailable` where nothing was written of it.
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
from kibitz_server.database import StoreError
from kibitz_server.gallery import Gallery
from kibitz_server.match import Command, Effect, Match, Play
from kibitz_server.outbox import text_frame
from kibitz_server.peer import Peer
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
_LATER = (Code.UNAVAILABLE, "nothing can be written just now; ask again in a while")
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

    def want_stand_in(self, table: Table, want: rules.WantStandIn) -> None:
        """Find a house bot, then `replace` or `forfeit` the seat."""


class Table:
    """The shell around one match."""

    __slots__ = (
        "_cold",
        "_entering",
        "_floor",
        "_held",
        "_news",
        "_now",
        "_sockets",
        "_timer",
        "_timer_at",
        "_told_turn",
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
        self._held: deque[tuple[int, Held, Peer | None, int]] = deque()
        """What may be told once the entry of that number is durable, and which request of whom it
        answers, if any."""
        self._entering: dict[Peer, int] = {}
        """Connections that are to be let in, by request, once the match is settled."""
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
                self._when_settled(self._admission(peer, former, seat))
        for peer in dict.fromkeys([*former.watchers, *former._entering]):
            if self.seat_of(peer) is None and not peer.leaving:
                self._when_settled(self._admission(peer, former, None))
        for seat, peer in enumerate(self._sockets):
            if peer is None and seat not in self.match.away:
                self.command(rules.Leave(seat, "disconnect"))
            elif peer is not None and seat in self.match.away:
                self.command(rules.Return(seat))
        if self.broken:
            self.abort("internal error")
        elif not self._held:
            self._turn_guarded()

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

    def _admission(self, peer: Peer, former: Table, seat: int | None) -> Held:
        """Return what lets a connection of a former table in, and answers it if it had asked."""
        request = former._entering.pop(peer, None)

        def admit() -> None:
            if request is not None:
                peer.answer(Done(re=request))
            if seat is not None:
                self._entrance(seat, peer, "rejoined")()
            elif not peer.leaving:
                self._let_watch(peer)

        return admit

    # --- requests ---------------------------------------------------------------------------

    def move(self, peer: Peer, move: Move) -> bool:
        """Carry out a move; return whether it was a new one and accepted."""
        if self.closed:
            peer.fail(move.id, *_LATER)
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
        self._enter(peer, request.id, self._entrance(seat, peer, "rejoined"))

    def watch(self, peer: Peer, request: int) -> None:
        """Let a spectator in, whom the hall found entitled to it."""

        def enter() -> None:
            if not peer.leaving:
                self._let_watch(peer)

        self._enter(peer, request, enter)

    def _let_watch(self, peer: Peer) -> None:
        self.watchers[peer] = None
        self.gallery.enter(peer.outbox)

    def _enter(self, peer: Peer, request: int, entrance: Held) -> None:
        """Answer a request and let its connection in, once the match is settled."""
        self._entering[peer] = request

        def enter() -> None:
            if self._entering.get(peer) == request:
                del self._entering[peer]
            peer.answer(Done(re=request))
            entrance()

        self._when_settled(enter, peer, request)

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
        """Return the connections that are seated here, watch, or are about to."""
        seated = [peer for peer in self._sockets if peer is not None]
        return list(dict.fromkeys([*seated, *self.watchers, *self._entering]))

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
            if peer is not None:
                peer.fail(request, *_LATER)
            return
        try:
            now = self._arrival()
            lag = self._floor.lag()
            self._carry_out(self.match.handle(command, now, lag), peer, request, now)
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._break()
            self._fail(peer, request)
        if self._timer is None:
            self._arm()

    def _fail(self, peer: Peer | None, request: int) -> None:
        """Answer a request that raised, unless its answer only waits for the disk."""
        waits = any(each[2] is peer and each[3] == request for each in self._held)
        if peer is not None and not waits:
            peer.fail(request)

    def durable(self, seq: int) -> None:
        """The store has everything up to entry `seq`: tell it."""
        held = self._held
        self._now = self._floor.clock()
        told: list[Held] = []
        """Keeps what was just shown alive: the next turn shows the same view."""
        trouble = False
        while held and held[0][0] <= seq:
            _, tell, peer, request = held.popleft()
            told.append(tell)
            trouble |= not self._tell(tell, peer, request)
        if trouble:
            self._break()
        elif not held:
            self._turn_guarded()

    def lost(self, error: StoreError) -> None:
        """What was appended is not on the disk: nothing of it was told, nothing of it counts."""
        self.suspend()
        self._drop_held()
        self._floor.unwritten(self, error)

    def _drop_held(self) -> None:
        """Refuse what can only be answered by what is not on the disk; who enters is let in."""
        held, self._held = self._held, deque()
        for _, _, peer, request in held:
            if peer is not None and self._entering.get(peer) != request:
                peer.fail(request, *_LATER)

    def _seated(self, peer: Peer, request: int, command: Callable[[int], Command]) -> None:
        """Carry out a command of a seat and answer it when it is durable."""
        seat = self.seat_of(peer)
        if seat is None:
            peer.refuse(request, Code.NOT_SEATED, "no seat at this match on this connection")
            return
        before = self.match.seq
        if self.closed:
            peer.fail(request, *_LATER)
            return
        made = command(seat)
        refusal = self._refusal_of(made)
        if refusal is not None:
            self._refuse(peer, request, refusal)
            return
        seq = self.match.seq if self.match.seq > before else None
        answer = partial(peer.answer, Done(re=request, seq=seq))
        self._hold(self.match.seq, answer, peer, request)

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
        self, effects: list[Effect], peer: Peer | None = None, request: int = 0, now: int = 0
    ) -> None:
        """Do what the match asks for; `now` is when the request of a peer arrived."""
        arrived: int | None = None
        for effect in effects:
            match effect:
                case rules.Append(entry, sight):
                    text = line(entry)
                    self._floor.store.append(self.stream, entry.seq, text, self)
                    self._held.append((entry.seq, partial(self._show, sight, text), None, 0))
                    arrived = now
                case rules.Accepted(_, id, seq):
                    told = partial(self._acknowledge, peer, id, seq, arrived)
                    self._hold(seq, told, peer, id)
                case rules.Refuse():
                    if peer is not None:
                        self._refuse(peer, request, effect)
                case rules.Finished(result):
                    self._finish(result)
                case rules.WantStandIn():
                    self._floor.want_stand_in(self, effect)
                case _:
                    assert_never(effect)

    def _hold(self, seq: int, told: Held, peer: Peer | None = None, request: int = 0) -> None:
        """Tell now what is durable already, and nothing before what is held."""
        if not self._held and seq <= self.stream.durable:
            if not self._tell(told, peer, request):
                self._break()
        else:
            self._held.append((seq, told, peer, request))

    def _tell(self, told: Held, peer: Peer | None, request: int) -> bool:
        """Tell, and return whether that went well; the request that it answers is answered."""
        try:
            told()
        except Exception:
            LOG.exception("match %s cannot be told", self.key)
            if peer is not None:
                peer.fail(request)
            return False
        return True

    def _when_settled(self, told: Held, peer: Peer | None = None, request: int = 0) -> None:
        """Tell once nothing of the match waits for the disk any more.

        What has been added since is ahead of it then; others who wait for the same are not.
        """
        if not self._held and self.match.seq <= self.stream.durable:
            if not self._tell(told, peer, request):
                self._break()
            return
        seq = self.match.seq

        def tell() -> None:
            if self.match.seq == seq:
                told()
            else:
                self._when_settled(told, peer, request)

        self._held.append((seq, tell, peer, request))

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
            hint=OUT if goes_on else None,
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
        if not self.broken and not self._tell(self._turn, None, 0):
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
        self._held.append((self.stream.tail, self._tell_end, None, 0))
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

        def hand_over() -> None:
            self.stream.failed = True  # whatever the store still means to do with it
            self._drop_held()
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
        self._drop_held()
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
