"""Runs one match: its engine, log, clock, players' connections and spectators.

The runner writes each entry to the store and puts the messages about it into the pending queue.
When the store reports the entry as durable, the queue releases them in order: events to all
viewers, the answer to the requester, and finally the next turn. So a crash cannot undo anything
announced. A turn's clock starts when the turn is sent, so it excludes the time for writing the
previous move.

    request --> engine.handle --> effects --Append--> store ...commit... durable --> released
                  (events; answers and refusals, which depend on the entries before them; turns)

Only a seat's current connection can send commands for it. A newer connection of the same player
replaces the older one, which is closed.

If the log cannot be written, or after an exception, this runner is closed, and a new one that is
loaded from the log takes over the connections (`net/log_runner.py`). Lost entries were never
announced, and the requests that caused them are refused as `unavailable`. After an exception the
match ends, in the new runner if this one is ahead of its log. The request is refused as `internal`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, assert_never
from weakref import WeakMethod

from kibitz_protocol.wire.codec import encode, encode_entry
from kibitz_protocol.wire.messages import Move
from kibitz_protocol.wire.recordfile import footer_line
from kibitz_protocol.wire.records import Replaced, Result, Setup
from kibitz_protocol.wire.refusals import Code
from kibitz_server.match.checkpoint import Checkpoints, is_due, next_checkpoint
from kibitz_server.match.commands import (
    Abort,
    Accepted,
    Append,
    Command,
    Effect,
    Leave,
    MatchOver,
    Play,
    Refuse,
    WantSubstitute,
)
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.news import MatchNews, answer_move
from kibitz_server.match.shown import match_brief
from kibitz_server.match.spectators import Spectators
from kibitz_server.match.watched import WatchedMatch
from kibitz_server.metrics import Metrics
from kibitz_server.net.log_runner import LogRunner, RunnerContext
from kibitz_server.net.peer import Peer
from kibitz_server.storage.streams import Stream, Waiter

LOG = logging.getLogger("kibitz.match")
CRASH_NOTICE_S = 0.5
"""Seconds to wait, after a house bot's connection is lost, for a report that its process has
crashed. Only the first reason for a seat's absence counts, and a crash is the better explanation.
"""
NO_SEAT_HERE = "this connection has no seat in this match"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchContext(RunnerContext):
    """The services shared by all match runners of a server."""

    lag: Callable[[], int]
    """The milliseconds by which the clock has stopped so far because the server stood still."""
    metrics: Metrics
    checkpoints: Checkpoints
    checkpoint_interval: Callable[[], int]
    """Returns how many entries after its checkpoint a match may have."""
    rate: Callable[[Setup, Result], None]
    """Rates a match, in the batch that closes its log."""
    want_substitute: Callable[[MatchRunner, WantSubstitute], None]
    """Finds a house bot, and gives it the seat or forfeits the seat."""
    over: Callable[[MatchRunner], None]
    """Called when the end of the match is durable and announced."""


class MatchRunner(LogRunner, WatchedMatch):
    """Runs one match: carries out commands and announces durable entries."""

    MAX_FAILURES: ClassVar = 0
    context: MatchContext

    def __init__(
        self,
        context: MatchContext,
        engine: MatchEngine,
        stream: Stream,
        *,
        listed: bool,
        checkpointed: int = 0,
    ) -> None:
        """`checkpointed` is the last entry in the stored checkpoint, 0 without a checkpoint."""
        # A weak reference, because a cycle would keep a finished match until a garbage collection.
        LogRunner.__init__(self, context, stream, WeakMethod(self.recover))
        self.engine = engine
        self.listed = listed
        """Whether public lists include the match."""
        self.deferred: list[Command] = []
        """The server's own commands that arrived while this runner was closed."""
        self._checkpoint_at = next_checkpoint(self.key, engine.state.seq)
        """The entry at which to check whether a checkpoint is due."""
        self._checkpointed = checkpointed
        """The last entry in the last checkpoint."""
        self._sent_turn = -1
        """The newest turn that was sent and opened."""
        self._deadline: int | None = None
        """The engine's deadline as of its last step."""
        spectators = Spectators(
            engine.views, self.pending.when_settled, lambda: engine.left_ms(context.clock())
        )
        WatchedMatch.__init__(
            self, engine.state, stream, spectators, seats=len(engine.state.players)
        )
        engine.views.drawn = spectators.delayed is not None
        self.news = MatchNews(engine.views, self.seats, self.shown, spectators, context.metrics)

    def await_all(self) -> None:
        """Open no turn until its player reconnects.

        Called before the server disconnects everybody. The open turn then starts again, as after a
        restart.
        """
        self.seats.unclaim()
        self._sent_turn = -1
        try:
            self._deadline = self.engine.close_turn(self.context.clock(), self.context.lag())
        except Exception:
            LOG.exception("match %s failed", self.key)
            self.fail()

    # --- commands ---------------------------------------------------------------------------

    def move(self, peer: Peer, move: Move) -> bool:
        """Carry out a move; return whether it was new and accepted."""
        if self.closed:
            self.pending.turn_away(peer, move.id)
            return False
        state, request = self.engine.state, move.id
        seat, before = state.to_act, state.ply
        if seat < 0 or self.seats.peers[seat] is not peer:
            seat_here = self.seats.seat_of(peer)
            if seat_here is None:
                refuse = partial(peer.refuse, request, Code.NOT_SEATED, NO_SEAT_HERE)
                self.hold_answer(peer, request, refuse)
                return False
            seat = seat_here
        play = Play(seat, request, move.ply, move.action, move.comment, peer.round_trip.ms)
        self.command(play, peer, request)
        return state.ply > before

    def command(
        self, command: Command, peer: Peer | None = None, request: int = 0, key: str | None = None
    ) -> Sequence[Effect] | None:
        """Pass a command to the engine, and carry out its effects; return them.

        If the command cannot be carried out, this answers the client's request and returns None.
        `key` is the key of the request, which the log records.
        """
        if self.closed:
            if peer is None:
                self.deferred.append(command)
            else:
                self.pending.turn_away(peer, request)
            return None
        effects: list[Effect] | None = None
        try:
            now, due = self.context.clock(), self._deadline
            if due is not None and now >= due:
                # After a deadline has passed, the server reads all pending input before the
                # deadline's timer fires. Commands read until then arrived in time.
                now = due - 1
            effects = self.engine.handle(command, now, self.context.lag(), key)
            self._deadline = self.engine.deadline
            self._apply(effects, peer, request, now)
        except Exception:
            LOG.exception("match %s failed", self.key)
            self.fail(peer, request)
            effects = None
        self.schedule()
        return effects

    # --- for the directory and the lobby --------------------------------------------------

    def disconnected(self, peer: Peer) -> None:
        """Handle a closed connection; the seat's grace period begins."""
        super().disconnected(peer)
        for seat in self.seats.release(peer):
            if self.engine.state.players[seat].kind == "house":
                self.context.loop.call_later(CRASH_NOTICE_S, self._mark_disconnected, seat)
            else:
                self._mark_disconnected(seat)

    def _mark_disconnected(self, seat: int) -> None:
        if self.seats.peers[seat] is None:
            self.command(Leave(seat, "disconnect"))

    # --- queries --------------------------------------------------------------------

    def peers(self) -> list[Peer]:
        """Return the connections that play or watch the match."""
        return [peer for peer in self.seats.peers if peer is not None] + list(self.watchers)

    # --- effects ------------------------------------------------------------------------------

    def durable(self, seq: int) -> None:
        """Announce everything up to entry `seq`, which is now durable."""
        now = self.news.durable_at = self.context.clock()
        if self.pending.durable(seq):
            self.send_turn(now)

    def _apply(
        self, effects: list[Effect], peer: Peer | None = None, request: int = 0, now: int = 0
    ) -> None:
        """Carry out the engine's effects; `now` is the arrival time of the peer's request."""
        for effect in effects:
            match effect:
                case Append():
                    self._append(effect, peer, request, now)
                case Accepted(_, id, seq) if peer is not None:
                    answer = partial(answer_move, peer, id, seq)
                    self.pending.hold_answer(seq, peer, id, answer)
                case Refuse() if peer is not None:
                    # A refusal describes the current state of the match, which may not be on disk
                    # yet.
                    refuse = partial(self.news.refuse, peer, request, effect)
                    self.pending.hold_answer(self.engine.state.seq, peer, request, refuse)
                case Accepted() | Refuse():
                    pass
                case MatchOver(result):
                    self.close_log(result)
                case WantSubstitute():
                    self.context.want_substitute(self, effect)
                case _:
                    assert_never(effect)
        if self.stream.tail >= self._checkpoint_at and self.engine.state.result is None:
            self._consider_checkpoint()

    def _append(self, append: Append, peer: Peer | None, request: int, now: int) -> None:
        """Write an entry, and announce it when it is durable."""
        entry, view, answered = append
        line = encode_entry(entry)
        self.context.store.append(self.stream, entry.seq, line, self)
        if answered is not None and peer is not None:
            answer = partial(self.news.publish_move, view, line, peer, request, now)
            self.pending.hold_answer(entry.seq, peer, request, answer)
        else:
            self.pending.hold(entry.seq, partial(self.news.publish, view, line))
        if isinstance(entry, Replaced):
            shown = partial(self.shown.show_players, self.engine.state.players)
            self.pending.hold(entry.seq, shown)

    def _consider_checkpoint(self) -> None:
        """Write a checkpoint if one is due; it only speeds up the next start."""
        seq = self.engine.state.seq
        if self.stream.tail != seq:
            return
        self._checkpoint_at = next_checkpoint(self.key, seq)
        if not is_due(seq, self._checkpointed, self.context.checkpoint_interval()):
            return
        self._checkpointed = seq
        try:
            data = self.context.checkpoints.write(self.engine.state, self.stream.chain)
            self.context.store.write_checkpoint(self.stream, data)
        except Exception:
            LOG.exception("cannot write a checkpoint of match %s", self.key)

    def recover(self) -> None:
        """End the match if all of its state is in the log; otherwise have it reloaded and ended."""
        state = self.engine.state
        if self.failures or state.result is not None or state.seq != self.stream.tail:
            super().recover()
        else:
            self.failures = 1
            self.command(Abort("internal error"))

    # --- turns and seats ----------------------------------------------------------------------

    def send_turn(self, now: int) -> None:
        """Send the turn and start its clock. All earlier entries must be durable and sent."""
        if self.failures:
            return
        engine, state = self.engine, self.engine.state
        try:
            new = state.result is None and state.turn != self._sent_turn
            if new and state.to_act not in self.seats.unclaimed:
                self._sent_turn = state.turn
                self.news.send_new_turn(state.to_act)
                self._deadline = engine.open_turn(now, self.context.lag())
        except Exception:
            LOG.exception("match %s failed", self.key)
            self.fail()
        self.schedule()

    def admit(self, seat: int, peer: Peer, why: Literal["started", "rejoined"]) -> None:
        """Send a seat's connection a snapshot of the match, and all further events."""
        if self.seats.peers[seat] is not peer:
            return
        self.seats.subscribers[seat] = peer
        now, state = self.context.clock(), self.engine.state
        left = self.engine.left_ms(now)
        self.news.send_snapshot(seat, why, left)
        if state.result is not None:
            peer.send_queue.send(self.news.end_frame(peer.views))
        elif state.to_act == seat:
            if state.turn == self._sent_turn:
                self.news.resend_turn(seat, left)
            elif self.pending.settled:
                self.send_turn(now)

    def put_on_wall(self, peer: Peer) -> None:
        """Add the match to a connection that watches many, and gets their snapshots one by one."""
        self.watchers[peer] = None

        def show() -> None:
            if peer in self.watchers and not peer.leaving:
                self.news.show_on_wall(peer)

        if not self.closed:  # otherwise the runner that takes over shows the match
            self.pending.when_settled(show)

    # --- the end ----------------------------------------------------------------------------

    def close_log(self, result: Result, waiter: Waiter | None = None) -> None:
        """Close the log in the batch of its last entry, then announce the end.

        If that entry is already on disk, pass a `waiter`, which is notified when the log is closed.
        """
        sent = [*self.engine.state.sent] or None
        footer = footer_line(self.stream.chain, result, sent)
        state = self.engine.state
        summary = encode(match_brief(state.setup, state.players, state.ply, result))
        self.context.store.finish(self.stream, footer, summary, waiter)
        self.pending.hold_for_commit(self.stream.tail, self._announce_end)
        self.context.rate(self.engine.state.setup, result)

    def _announce_end(self) -> None:
        self.shown.result = self.engine.state.result
        try:
            self.news.send_end()
        finally:  # even after an exception the match is over, and its lobby continues
            self._cancel_timer()
            self.context.over(self)

    # --- the timer --------------------------------------------------------------------------

    def schedule(self) -> None:
        """Make sure that a timer fires at the next deadline."""
        due = self._deadline
        if self.spectators.delayed is not None:
            late = self.spectators.deadline()
            if late is not None and (due is None or late < due):
                due = late
        if due is not None and (self._timer is None or due < self._timer_at):
            self.wake_at(due)

    def run_due(self, now: int) -> None:
        try:
            self.spectators.publish_due(now)
            effects = self.engine.tick(now, self.context.lag())
            self._deadline = self.engine.deadline
            self._apply(effects)
        except Exception:
            LOG.exception("match %s failed", self.key)
            self.fail()
        self.schedule()
