"""The runner of one match: its engine, its log, its clock, the players' connections, spectators.

Everything that a match produces goes to the store first, and into the pending queue. When the store
reports an entry durable, the items waiting for it are released in order: events to all who see the
match, the answer to the requester, and finally the next turn. So nothing is announced that a crash
could take back. The clock of a turn starts when the turn is sent, so it does not include writing
the move before it.

    request --> engine.handle --> effects --Append--> store ...commit... durable --> released
                  (events; answers and refusals, which depend on the entries before them; turns)

A seat is answered on its present connection only. A newer connection of the seat's player
replaces the older one, which is closed, once the claim was found valid.

When something in here raises, the match ends or is reloaded from its log, and nothing else is
affected (`match/recovery.py`). If the log cannot be written, this runner is closed and the match is
reloaded from the disk (`directory/reload.py`). Lost entries were never announced: their requests
are refused as `unavailable`, and another runner takes the connections over. A request in which
something raised is refused as `internal`.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, assert_never

from kibitz_protocol.wire.codec import encode, encode_entry
from kibitz_protocol.wire.frames import done_frame
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.messages import Move
from kibitz_protocol.wire.recordfile import footer_line
from kibitz_protocol.wire.records import Cause, Player, Replaced, Result, Setup
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.unchecked import construct
from kibitz_protocol.wire.visibility import WantedViews
from kibitz_server.match.budget import RETURNS
from kibitz_server.match.checkpoint import Checkpoints, is_due, next_checkpoint
from kibitz_server.match.commands import (
    Abort,
    Accepted,
    Append,
    Command,
    Effect,
    Forfeit,
    Leave,
    MatchOver,
    Note,
    Play,
    Refuse,
    Replace,
    Return,
    WantSubstitute,
)
from kibitz_server.match.engine import MatchEngine, SentMove
from kibitz_server.match.recovery import recover
from kibitz_server.match.seats import SeatPeers
from kibitz_server.match.spectators import Spectators
from kibitz_server.match.visibility import EntryView
from kibitz_server.match.watched import WatchedMatch, seat_in
from kibitz_server.metrics import Metrics
from kibitz_server.net.loop_clock import Deadline
from kibitz_server.net.peer import Peer
from kibitz_server.net.send_queue import SendQueue
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.interface import Store
from kibitz_server.storage.pending import HeldAnswer, PendingQueue, Release
from kibitz_server.storage.streams import Stream, Waiter

LOG = logging.getLogger("kibitz.match")
CRASH_NOTICE_S = 0.5
"""Seconds that a house bot's lost connection waits for news that its process has crashed: only the
first reason for a seat's absence counts."""
NO_SEAT_HERE = "no seat at this match on this connection"
SEAT_IS_OUT = "the match goes on without this seat, and its end is told to it too"
"""The message to a seat that is out of a match, in place of the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchContext:
    """The services that the runners of a server's matches share."""

    loop: AbstractEventLoop
    clock: Callable[[], int]
    """Monotonic milliseconds."""
    lag: Callable[[], int]
    """The milliseconds that the clock has left out so far."""
    store: Store
    metrics: Metrics
    checkpoints: Checkpoints
    checkpoint_interval: Callable[[], int]
    """The number of entries that a match may have beyond its checkpoint."""
    rate: Callable[[Setup, Result], None]
    """Counts a match on the rating list, in the batch that closes its log."""
    want_substitute: Callable[[MatchRunner, WantSubstitute], None]
    """Finds a house bot; then the seat is given to it, or forfeited."""
    over: Callable[[MatchRunner], None]
    """Called when the match is over, durably, and the end was announced."""
    log_lost: Callable[[MatchRunner, StoreError], None]
    """Reloads a match whose log could not be written; this runner is no longer usable."""
    recover: Callable[[str], None]
    """Continues after something has raised while a match was announcing news.

    It takes the match's key. If a runner and its queue referred to each other, they would stay in
    memory until a garbage collection.
    """


class MatchRunner(WatchedMatch):
    """The runner of one match: carries out commands and announces what has become durable."""

    __slots__ = (
        "_checkpoint_at",
        "_checkpointed",
        "_context",
        "_deadline",
        "_durable_at",
        "_sent_turn",
        "_timer",
        "_timer_at",
        "_told_ply",
        "broken",
        "closed",
        "deferred",
        "engine",
        "listed",
        "pending",
        "seats",
    )

    def __init__(
        self,
        context: MatchContext,
        engine: MatchEngine,
        stream: Stream,
        *,
        listed: bool,
        checkpointed: int = 0,
    ) -> None:
        """`checkpointed` is the entry that the stored checkpoint was made after, 0 without one."""
        setup = engine.state.setup
        self._context = context
        self.engine = engine
        self.listed = listed
        """Whether lists show the match to everybody."""
        self.closed = False
        """Whether this runner carries out nothing any more."""
        self.broken = False
        """Whether an error means that the match must be reloaded from its log."""
        self.deferred: list[Command] = []
        """Commands of the server itself that came while this runner was closed."""
        self.pending = PendingQueue(
            f"match {setup.match}", stream, partial(context.recover, setup.match)
        )
        # The part of the match that may be announced: its state is ahead of the disk while
        # entries are being written.
        self._told_ply = engine.state.ply
        self.seats = SeatPeers(len(engine.state.players))
        self._checkpoint_at = next_checkpoint(setup.match, engine.state.seq)
        """The entry at which to check whether a checkpoint is due."""
        self._checkpointed = checkpointed
        """The entry that the last checkpoint was made after."""
        self._durable_at = 0
        """The time at which the store last reported something durable."""
        self._sent_turn = -1
        """The newest turn that was sent and opened."""
        self._deadline: int | None = None
        """The engine's deadline as of its last step."""
        self._timer: Deadline | None = None
        self._timer_at = 0
        spectators = Spectators(
            engine.views, self.pending.when_settled, lambda: engine.left_ms(context.clock())
        )
        super().__init__(engine.state, stream, spectators)
        engine.views.drawn = spectators.delayed is not None

    # --- beginning --------------------------------------------------------------------------

    def start(self, seated: Callable[[Player], Peer | None]) -> None:
        """Start a new match, whose setup is being written, with the players who are connected."""
        for seat, player in enumerate(self.engine.state.players):
            peer = seated(player)
            if peer is not None:
                self._seat(seat, peer, "started")
        for seat, peer in enumerate(self.seats.peers):
            if peer is None:
                self.command(Leave(seat, "disconnect"))

    def await_players(self) -> None:
        """Open no turn of a seat until its player reconnects: the server was what was away."""
        self.seats.unclaimed = frozenset(
            seat for seat, peer in enumerate(self.seats.peers) if peer is None
        )

    def await_all(self) -> None:
        """Open no turn until its player reconnects: the server is about to disconnect everybody.

        The open turn then starts anew, as after a restart.
        """
        self.seats.unclaim()
        self._sent_turn = -1
        try:
            self._deadline = self.engine.close_turn(self._context.clock(), self._context.lag())
        except Exception:
            LOG.exception("the turn of match %s cannot be closed", self.key)
            recover(self)

    def resume(self) -> None:
        """Continue after a restart, with nobody connected yet."""
        self.seats.unclaim()
        self._finish_interrupted()
        state = self.engine.state
        left = [s for s in self.seats.unclaimed if s not in state.away and s not in state.departed]
        for seat in left:
            self.command(Leave(seat, "disconnect", restart=seat == left[0]))
        self._schedule()

    def take_over(self, former: MatchRunner) -> None:
        """Take the connections of a runner whose log was lost, and send them the present state.

        If it was handed back because something raised, the match ends here.
        """
        self.broken = former.broken
        self.engine.go_on_from(former.engine, self._context.clock(), self._context.lag())
        self.seats.unclaimed = former.seats.unclaimed
        self._finish_interrupted()
        for seat, peer in enumerate(former.seats.peers):
            if peer is not None and not peer.leaving:
                self._seat(seat, peer, "rejoined")
        for peer in former.watchers:
            peer.send_queue.caught_up(former.spectators)
            self.pending.when_settled(partial(self.admit_spectator, peer))
        for seat, peer in enumerate(self.seats.peers):
            away = seat in self.engine.state.away
            if peer is None and not away:
                self.command(Leave(seat, "disconnect"))
            elif peer is not None and away:
                self.command(Return(seat))
        if self.broken:
            self.abort("internal error")
        elif self.pending.settled:
            self._send_turn(self._context.clock())
        for command in former.deferred:
            self.command(command)

    def _finish_interrupted(self) -> None:
        """Settle what a crash has cut off."""
        try:
            result = self.engine.state.result
            if result is None:
                step = self.engine.tick(self._context.clock(), self._context.lag())
                self._deadline = step.deadline
                self._apply(step.effects)
            elif not self.stream.closed:
                self.close_log(result, self)
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            recover(self)

    # --- commands ---------------------------------------------------------------------------

    def move(self, peer: Peer, move: Move) -> bool:
        """Carry out a move; return whether it was a new one and accepted."""
        if self.closed:
            self.pending.turn_away(peer, move.id)
            return False
        state, request = self.engine.state, move.id
        seat, before = state.to_act, state.ply
        if seat >= 0 and self.seats.peers[seat] is peer:
            if self._play_in_turn(seat, peer, move):
                return state.ply > before
        else:
            seat_here = self.seat_of(peer)
            if seat_here is None:
                self.refuse_unseated(peer, request, NO_SEAT_HERE)
                return False
            seat = seat_here
        self.command(_play(seat, peer, move), peer, request)
        return state.ply > before

    def _play_in_turn(self, seat: int, peer: Peer, move: Move) -> bool:
        """Carry out a move of the seat to act; return False if `handle` has to."""
        engine = self.engine
        try:
            now, lag = self._arrival_time(), self._context.lag()
            view = engine.play_in_turn(seat, move, peer.round_trip.ms, now, lag)
            if view is None:
                return False
            self._deadline = None
            entry = view.entry
            line = encode_entry(entry)
            self._context.store.append(self.stream, entry.seq, line, self)
            self.pending.hold(entry.seq, _PlayedMove(self, view, line, peer, move.id, now))
            if engine.state.result is not None:
                self.close_log(engine.state.result)
            elif self.stream.tail >= self._checkpoint_at:
                self._consider_checkpoint()
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._recover_from(peer, move.id)
        self._schedule()
        return True

    def command(self, command: Command, peer: Peer | None = None, request: int = 0) -> None:
        """Let the engine carry out a command, and perform its effects."""
        if self.closed:
            if peer is None:
                self.deferred.append(command)
            else:
                self.pending.turn_away(peer, request)
            return
        try:
            now = self._arrival_time()
            step = self.engine.handle(command, now, self._context.lag())
            self._deadline = step.deadline
            self._apply(step.effects, peer, request, now)
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            self._recover_from(peer, request)
        self._schedule()

    def _recover_from(self, peer: Peer | None, request: int) -> None:
        """Continue after a command has raised, and answer its request."""
        recover(self)
        self.pending.fail(peer, request)

    def execute(self, command: Command) -> Refuse | None:
        """Carry out a command; return its refusal, or None.

        If something raised, the refusal has the code `INTERNAL`.
        """
        try:
            return self.carry_out(command)
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            recover(self)
            return Refuse(-1, None, Code.INTERNAL, "the match cannot go on", self.engine.state.ply)
        finally:
            self._schedule()

    def carry_out(self, command: Command) -> Refuse | None:
        """As `execute`, but raise the errors of the engine and the store."""
        step = self.engine.handle(command, self._arrival_time(), self._context.lag())
        self._deadline = step.deadline
        self._apply([effect for effect in step.effects if not isinstance(effect, Refuse)])
        return next((effect for effect in step.effects if isinstance(effect, Refuse)), None)

    # --- what the directory and the lobby do --------------------------------------------------

    def vacate(self, player: str, reason: Literal["left", "kicked"] = "left") -> None:
        """Remove a player who has left the lobby, or was removed from it."""
        seat = self.seat_owned_by(player)
        if seat is not None:
            self.command(Leave(seat, reason))

    def disconnected(self, peer: Peer) -> None:
        """Handle a closed connection; the seat's grace begins."""
        super().disconnected(peer)
        for seat in self.seats.release(peer):
            if self.engine.state.players[seat].kind == "house":
                self._context.loop.call_later(CRASH_NOTICE_S, self._mark_disconnected, seat)
            else:
                self._mark_disconnected(seat)

    def _mark_disconnected(self, seat: int) -> None:
        if self.seats.peers[seat] is None:
            self.command(Leave(seat, "disconnect"))

    def house_bot_ended(self, player: str, last_words: str) -> None:
        """Handle the end of a house bot's process; its last lines go into the record."""
        seat = self.seat_owned_by(player)
        if seat is None or self.engine.state.result is not None:
            return
        if last_words:
            self.command(Note(seat, last_words[-2000:], is_own=False))
        self.command(Leave(seat, "crash"))

    def replace(self, seat: int, player: Player, cause: Cause, peer: Peer) -> bool:
        """Seat a substitute; return whether the seat was still available."""
        if self.closed:
            return False  # the match asks for a substitute again when it was loaded
        self.command(Replace(seat, player, cause))
        state = self.engine.state
        if state.result is not None or state.players[seat] != player:
            return False
        self.seats.mark_claimed(seat)
        self._seat(seat, peer, "started")
        return True

    def note_takeover(self, seat: int) -> None:
        """Log that a seat's connection belongs to another program than the seat."""
        self.command(Return(seat, takeover=True))

    def forfeit(self, seat: int, cause: Cause, detail: str) -> None:
        self.command(Forfeit(seat, cause, detail))

    def abort(self, detail: str) -> None:
        """End the match, which the server cannot continue."""
        if self.engine.state.result is None:
            self.command(Abort(detail))

    def suspend(self) -> None:
        """Stop the timers for a shutdown; the next start continues the log."""
        self.closed = True
        self._cancel_timer()

    # --- what others ask --------------------------------------------------------------------

    def seat_of(self, peer: Peer) -> int | None:
        """Return the seat whose commands come on this connection."""
        return self.seats.seat_of(peer)

    @property
    def is_stored(self) -> bool:
        """Whether the disk has the match, so that it may be announced."""
        return self.stream.durable >= 0

    @property
    def shown_ply(self) -> int:
        """The newest ply that spectators may see."""
        delayed = self.spectators.delayed
        return self._told_ply if delayed is None else delayed.ply

    def seat_owned_by(self, player: str) -> int | None:
        """Return the present seat of a player, even if the disk does not have it yet."""
        return seat_in(self.engine.state.players, player)

    def peers(self) -> list[Peer]:
        """Return the connections that are seated here or watch."""
        return [peer for peer in self.seats.peers if peer is not None] + list(self.watchers)

    def unfinished_for(self, player: str) -> bool:
        """Return whether the player still has to play here, or to receive the end.

        As long as something waits for the disk, the match has not ended, whatever its state.
        """
        seat = self.seat_known_of(player)
        if seat is None:
            return False
        state = self.engine.state
        settled = self.pending.settled and state.seq <= self.stream.durable and not self.closed
        return not settled or (seat not in state.departed and state.result is None)

    def brief(self) -> MatchBrief:
        """Return the match's line in a list, as spectators may see it."""
        ply = self.shown_ply if self.result is None else self.engine.state.ply
        return self._brief(self.players, ply, self.result)

    def _brief(self, players: Sequence[Player], ply: int, result: Result | None) -> MatchBrief:
        setup = self.engine.state.setup
        values = {
            "match": setup.match,
            "lobby": setup.lobby,
            "number": setup.number,
            "block": setup.block,
            "game": setup.game,
            "seats": list(players),
            "ply": ply,
            "time_control": setup.time_control,
            "watchable": self.spectators.open,
            "result": result,
            "tag": setup.tag,
            "void": False,
            "order": None,
        }
        return construct(MatchBrief, values)

    # --- effects ------------------------------------------------------------------------------

    def durable(self, seq: int) -> None:
        """Announce everything up to entry `seq`, which the store has made durable."""
        now = self._durable_at = self._context.clock()
        if self.pending.durable(seq):
            self._send_turn(now)

    def lost(self, error: StoreError) -> None:
        """Handle lost entries: they are not on the disk, were never announced, and do not count."""
        self.suspend()
        self.pending.lost()
        self._context.log_lost(self, error)

    def reload(self) -> None:
        """Reload the match from its log once the disk has all of it."""
        self.suspend()
        error = StoreError("the match was ahead of its log")
        self.pending.reload_when_durable(lambda: self._context.log_lost(self, error))

    def give_up(self, message: str) -> list[Peer]:
        """Stop, refuse all waiting requests, and return the connections of this runner."""
        self.suspend()
        self.pending.lost(message)
        self.result = self.engine.state.result
        peers = self.peers()
        self._context.over(self)
        return peers

    def _apply(
        self,
        effects: list[Effect],
        peer: Peer | None = None,
        request: int = 0,
        now: int = 0,
    ) -> None:
        """Perform the engine's effects; `now` is when the request of a peer arrived."""
        for effect in effects:
            if isinstance(effect, Append):
                self._append(effect, peer, request, now)
            else:
                self._perform(effect, peer, request)
        if self.stream.tail >= self._checkpoint_at and self.engine.state.result is None:
            self._consider_checkpoint()

    def _append(self, append: Append, peer: Peer | None, request: int, now: int) -> None:
        """Write an entry, and hold back its announcement."""
        entry, view, answered = append
        line = encode_entry(entry)
        self._context.store.append(self.stream, entry.seq, line, self)
        release: Release
        if answered is not None and peer is not None:
            release = _PlayedMove(self, view, line, peer, request, now)
        else:
            release = partial(self._publish, view, line)
        self.pending.hold(entry.seq, release)
        if isinstance(entry, Replaced):
            self.pending.hold(entry.seq, partial(self._show_players, self.engine.state.players))

    def _show_players(self, players: tuple[Player, ...]) -> None:
        self.players = players

    def _perform(
        self,
        effect: Accepted | Refuse | MatchOver | WantSubstitute,
        peer: Peer | None,
        request: int,
    ) -> None:
        """Perform the engine's effects other than entries."""
        match effect:
            case Accepted(_, id, seq) if peer is not None:
                answer = partial(self._answer_move, peer, id, seq)
                self.pending.hold_answer(seq, peer, id, answer)
            case Refuse() if peer is not None:
                # It speaks of the match as it is, which may not be on the disk yet.
                refuse = partial(self.refuse, peer, request, effect)
                self.pending.hold_answer(self.engine.state.seq, peer, request, refuse)
            case Accepted() | Refuse():
                pass
            case MatchOver(result):
                self.close_log(result)
            case WantSubstitute():
                self._context.want_substitute(self, effect)
            case _:
                assert_never(effect)

    def _consider_checkpoint(self) -> None:
        """Write a checkpoint if one is due.

        It only saves time at the next start.
        """
        seq = self.engine.state.seq
        if self.stream.tail != seq:
            return
        self._checkpoint_at = next_checkpoint(self.key, seq)
        if not is_due(seq, self._checkpointed, self._context.checkpoint_interval()):
            return
        self._checkpointed = seq
        try:
            data = self._context.checkpoints.write(self.engine.state, self.stream.chain)
            self._context.store.write_checkpoint(self.stream, data)
        except Exception:
            LOG.exception("match %s gets no checkpoint", self.key)

    def append_line(self, seq: int, line: bytes) -> None:
        """Append an entry to the log that the engine has not made."""
        self._context.store.append(self.stream, seq, line, self)

    # --- telling ------------------------------------------------------------------------------

    def tell_move(
        self, view: EntryView, line: bytes, peer: Peer, request: int, arrived: int
    ) -> None:
        """Send everybody a move, and its answer to the connection that it came on."""
        self._publish(view, line, peer, done_frame(request, view.entry.seq))
        peer.unanswered.discard(request)
        self._context.metrics.move_ms[self._durable_at - arrived] += 1

    def _answer_move(self, peer: Peer, request: int, seq: int) -> None:
        """Answer a resent move."""
        peer.unanswered.discard(request)
        peer.send_queue.send(done_frame(request, seq))

    def refuse_unseated(self, peer: Peer, request: int, message: str) -> None:
        """Refuse a request from a connection without a seat, once the players are on the disk."""
        if self.closed and self.result is None:
            self.pending.turn_away(peer, request)
        else:
            refuse = partial(peer.refuse, request, Code.NOT_SEATED, message)
            self.pending.hold_answer(self.stream.tail, peer, request, refuse)

    def may_return(self, seat: int, peer: Peer, request: int) -> bool:
        """Return whether a seat may return once more; otherwise refuse the request."""
        wait_ms = self.engine.return_wait_ms(seat, self._context.clock())
        if wait_ms is None:
            message = f"this seat has come back {RETURNS.most} times, which is the most in a match"
            peer.refuse(request, Code.LIMIT, message, hint="")
        elif wait_ms:
            message = f"this seat has come back too often, wait {wait_ms} ms"
            peer.refuse(request, Code.RATE_LIMITED, message, retry_after_ms=wait_ms)
        return wait_ms == 0

    def refuse(self, peer: Peer, request: int, refusal: Refuse) -> None:
        """Answer a request that was refused by the engine."""
        code = refusal.code
        goes_on = code is Code.OVER and self.engine.state.result is None
        peer.refuse(
            request,
            code,
            refusal.message,
            hint=SEAT_IS_OUT if goes_on else refusal.hint,
            ply=refusal.ply if code is Code.STALE else None,
        )

    def _publish(
        self, view: EntryView, line: bytes, asker: Peer | None = None, answer: bytes = b""
    ) -> None:
        """Send everybody a durable entry, whose line in the log is `line`.

        The answer to the requester follows it.
        """
        self._told_ply = view.ply
        spectators = self.spectators
        # Entries that wait for delayed spectators may be drawn for a later spectator.
        delayed = drawn = spectators.delayed is not None
        watched = {} if delayed else spectators.queues
        # All frames are made before the first one goes out, so an error sends nothing.
        outgoing: list[tuple[SendQueue, bytes]] = []
        frame, shown_to = b"", ""
        for seat, peer in enumerate(self.seats.subscribers):
            if peer is None:
                continue
            if peer.views != shown_to or not view.alike:
                shown_to = peer.views
                frame = view.frame(seat, shown_to, line)
                drawn = drawn or shown_to == "drawn"
            if peer is asker:
                outgoing.append((peer.send_queue, frame + answer))
                answer = b""
            else:
                outgoing.append((peer.send_queue, frame))
        shown = view.spectator_frames(spectators.viewer, watched.values(), line) if watched else {}
        self.engine.views.drawn = drawn or "drawn" in shown
        for queue, frame in outgoing:
            queue.send(frame)
        if asker is not None and answer:
            asker.send_queue.send(answer)
        for queue, wanted in watched.items():
            queue.send_droppable(shown[wanted], spectators)
        if delayed:
            spectators.delay(view, self._durable_at)

    def _send_turn(self, now: int) -> None:
        """Send the turn and start its clock, now that everything before it is durable and sent."""
        if self.broken:
            return
        engine, state = self.engine, self.engine.state
        try:
            new = state.result is None and state.turn != self._sent_turn
            if new and state.to_act not in self.seats.unclaimed:
                self._sent_turn = state.turn
                peer = self.seats.subscribers[state.to_act]
                if peer is not None:
                    peer.send_queue.send(engine.views.turn_frame(wanted=peer.views))
                self._deadline = engine.open_turn(now, self._context.lag())
            engine.views.release()
        except Exception:
            LOG.exception("the turn of match %s cannot be sent", self.key)
            recover(self)
        self._schedule()

    def _seat(self, seat: int, peer: Peer, why: Literal["started", "rejoined"]) -> None:
        """Give a seat to a connection, and show it the match when all of it is durable."""
        self.seats.peers[seat] = peer
        self.pending.when_settled(partial(self.admit, seat, peer, why))

    def admit(self, seat: int, peer: Peer, why: Literal["started", "rejoined"]) -> None:
        """Show a seat's connection the match from now on: a snapshot first, then the news."""
        if self.seats.peers[seat] is not peer:
            return
        self.seats.subscribers[seat] = peer
        engine, state = self.engine, self.engine.state
        left = engine.left_ms(self._context.clock())
        snapshot = engine.views.snapshot(seat, why, seat, left)
        peer.send_queue.send(engine.views.snapshot_frame(snapshot, seat, peer.views))
        if state.result is not None:
            peer.send_queue.send(self._finished_frame(peer.views))
        elif state.to_act == seat:
            self._resend_turn(peer)

    def _resend_turn(self, peer: Peer) -> None:
        """Resend a turn that was opened already; any other is sent when it is opened."""
        now = self._context.clock()
        if self.engine.state.turn == self._sent_turn:
            left = self.engine.left_ms(now)
            peer.send_queue.send(self.engine.views.turn_frame(left, peer.views))
        elif self.pending.settled:
            self._send_turn(now)

    def put_on_wall(self, peer: Peer) -> None:
        """Show the match to a connection that begins to watch many: each in its turn."""
        self.watchers[peer] = None
        if not self.closed:  # else the runner that takes over shows it
            self.pending.when_settled(partial(self._admit_to_wall, peer))

    def _admit_to_wall(self, peer: Peer) -> None:
        if peer in self.watchers and not peer.leaving:
            self.spectators.add_waiting(peer.send_queue, peer.views)
            if self.result is not None:  # it ended while the disk was busy
                self.spectators.finish(self._finished_frame, [peer.send_queue])
            peer.send_queue.catch_up()

    # --- the end ----------------------------------------------------------------------------

    def close_log(self, result: Result, waiter: Waiter | None = None) -> None:
        """Close the log in the batch of its last entry, then announce the end.

        If that entry is on the disk already, the runner itself waits for the end to be durable.
        """
        sent = [*self.engine.state.sent] or None
        footer = footer_line(self.stream.chain, result, sent)
        summary = encode(self._brief(self.engine.state.players, self.engine.state.ply, result))
        self._context.store.finish(self.stream, footer, summary, waiter)
        self.pending.hold_for_commit(self.stream.tail, self._announce_end)
        self._context.rate(self.engine.state.setup, result)

    def _announce_end(self) -> None:
        self.result = self.engine.state.result
        try:
            self._tell_end()
        finally:  # whatever raises there, the match is over, and its lobby continues
            self._cancel_timer()
            self._context.over(self)

    def _tell_end(self) -> None:
        frame = cache(self._finished_frame)
        for peer in self.seats.subscribers:
            if peer is not None:
                peer.send_queue.send(frame(peer.views))
        self.spectators.publish_rest()
        self.spectators.finish(frame)

    def _finished_frame(self, wanted: WantedViews) -> bytes:
        return self.engine.views.finished_frame(f"/records/{self.key}.jsonl", wanted)

    # --- the timer --------------------------------------------------------------------------

    def _arrival_time(self) -> int:
        """Return the arrival time of a command that is read now, for the match to judge.

        A passed deadline is not carried out before its timer has had the sockets read. Commands
        read until then come before it: those moves were in time, though not read in time.
        """
        now, due = self._context.clock(), self._deadline
        return now if due is None or now < due else due - 1

    def _schedule(self) -> None:
        """Have the timer fire by the next deadline; firing too early is cheaper than
        rescheduling."""
        due = self._deadline
        if self.spectators.delayed is not None:
            late = self.spectators.deadline()
            if late is not None and (due is None or late < due):
                due = late
        if due is None or self.closed or (self._timer is not None and self._timer_at <= due):
            return
        self._cancel_timer()
        self._timer_at = due
        self._timer = Deadline(self._context.loop, self._context.clock, due, self._tick)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._timer = None
        now = self._context.clock()
        if self.closed:
            return
        try:
            self.spectators.publish_due(now)
            step = self.engine.tick(now, self._context.lag())
            self._deadline = step.deadline
            self._apply(step.effects)
        except Exception:
            LOG.exception("match %s cannot go on", self.key)
            recover(self)
        self._schedule()


class _PlayedMove(HeldAnswer):
    """A move that waits for the disk; then everybody is sent it, and its player the answer.

    One object instead of an answer and a call, since there is one for each move.
    """

    __slots__ = ("_arrived", "_line", "_player", "_runner", "_view")

    def __init__(
        self,
        runner: MatchRunner,
        view: EntryView,
        line: bytes,
        player: Peer,
        request: int,
        arrived: int,
    ) -> None:
        self.peer = player
        self.number = request
        self._runner = runner
        self._view = view
        self._line = line
        self._player = player
        self._arrived = arrived

    def __call__(self) -> None:
        self._runner.tell_move(self._view, self._line, self._player, self.number, self._arrived)


def _play(seat: int, peer: Peer, move: SentMove) -> Play:
    """Return the command of a move that has come on the connection of a seat."""
    return Play(seat, move.id, move.ply, move.action, move.comment, peer.round_trip.ms)
