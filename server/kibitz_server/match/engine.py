"""The match engine turns commands and the time into effects and the next deadline.

It does no I/O, reads no clock and draws no random numbers. All durable data of a match is in its
`MatchState`. Every entry passes through `MatchState.apply`, whether it comes from a command or from
a log. So replaying a match's log, from any entry on, reproduces the live match byte for byte.

The log omits only transient facts: when the turn was opened, how many illegal moves a seat has
sent, which substitutes have been requested. A restart resets these, and charges no player for the
downtime.

The caller's obligations: `now` must be a monotonic clock in whole milliseconds. Carry out effects
in order, and announce an `Append` only after its entry is durable. Whenever `state.turn` has
changed and the match is not over, send `your_turn` to the seat `state.to_act` and then call
`open_turn`, which starts the seat's clock. Call `tick` when the `deadline` is reached, and once
after a restore: it anchors the match to the caller's clock and completes what a crash has
interrupted. `lag` is the total time by which the caller's clock has stopped so far because the
server stood still. The log has this time only as part of the entry that ends a turn.

`MatchClock` measures turns. The engine creates the entries of moves and decides when timers are
due. Pure functions of the state create all other entries: `decisions` (commands and fallen flags),
`refusals` (illegal moves).

A turn's duration is measured from `open_turn` to the arrival of the move, minus an allowance for
the network. The allowance is the socket's round trip as measured by the server (the shortest of its
last pings). It is limited to `ALLOWANCE_CAP_MS` and to the seat's remaining lag bank
(`kibitz_protocol.wire.lag`), so a peer that delays its pongs only drains its bank. The flag's timer
fires after the time on the clock plus the largest allowance that the turn may get, so that network
delay within the allowance cannot make a flag fall.

If a turn's `lag` exceeds what the match forgives, the move or flag that would end the turn aborts
the match instead.

    turn begins (Moved, a drop, Replaced)
       | open_turn(now)               the clock of the seat to act runs
       v
    turn open --Play in time--------------------------------> Moved, the next turn begins
       |  \\--Play refused: stale, not your turn -->  nothing
       |  \\--Play refused: illegal --> Noted, eventually Forfeited
       |
       +--flag, by a late Play or by tick--> Flagged --> Forfeited | Moved (random)
       |                                        \\--> the next turn begins (skip)

    present --Leave--> absent --Return within the grace period--> present
                         \\--period over--> Forfeited | WantSubstitute --> Replaced | Forfeited
                          \\--everybody's period over--> Forfeited(abandoned), the end
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationError

from kibitz_games.core.game import Game, IllegalAction
from kibitz_protocol.wire.clocks import until_flag
from kibitz_protocol.wire.lag import ALLOWANCE_CAP_MS, allowance
from kibitz_protocol.wire.records import Cause, Entry, Flagged, Left, Moved, Requested, Setup
from kibitz_protocol.wire.unchecked import construct
from kibitz_server.match import absences
from kibitz_server.match.budget import MOVE_COMMENTS, RETURNS, comment_size, cut
from kibitz_server.match.commands import (
    Append,
    Command,
    Effect,
    MatchOver,
    Play,
    Refuse,
    WantSubstitute,
)
from kibitz_server.match.decisions import OtherCommand, aborted, after_flag, decide, forfeited
from kibitz_server.match.refusals import (
    answer_out_of_turn,
    refuse_illegal,
    refuse_late,
    refuse_over,
)
from kibitz_server.match.sent_digest import fold, next_digests
from kibitz_server.match.state import NO_SEATS, MatchState
from kibitz_server.match.visibility import MatchViews


class MatchClock:
    """The match's own time, and how long the current turn has been open."""

    __slots__ = (
        "_lag_at_open",
        "_opened_at",
        "_origin",
        "_state",
        "_turn_ms",
        "flag_at",
        "lag",
        "uncharged_ms",
    )

    def __init__(self, state: MatchState) -> None:
        self._state = state
        self._origin: int | None = None
        """The caller's time at which the match's time was 0."""
        self._opened_at: int | None = None
        """The time at which the current turn was opened."""
        self._turn_ms = 0
        """The milliseconds that the open turn may be charged before its flag falls."""
        self.flag_at: int | None = None
        """The time at which the flag of the open turn falls, including the largest allowance."""
        self.uncharged_ms = 0
        """How long the current turn was already open before it was last closed; not charged."""
        self.lag = 0
        """The total time by which the caller's clock has stopped so far."""
        self._lag_at_open = 0
        """The value of `lag` when the current turn was opened."""

    def read(self, now: int) -> int:
        """Return the match's own time; the first call anchors it to the caller's."""
        last = self._state.at_ms
        if self._origin is None:
            self._origin = now - last
        at = now - self._origin
        return at if at > last else last

    def to_caller(self, at: int) -> int:
        """Convert a time on the match's own clock to the caller's time."""
        assert self._origin is not None, "the clock must be read before it is used"
        return at + self._origin

    def open_turn(self, at: int) -> None:
        """Start the clock of the seat to act, unless it runs already or the match is over."""
        state = self._state
        if self._opened_at is not None or state.result is not None:
            return
        self._opened_at = at
        self._lag_at_open = self.lag
        if state.clocks is not None:
            self._turn_ms = until_flag(state.control, state.clocks[state.to_act])
            most = min(ALLOWANCE_CAP_MS, state.lag_left[state.to_act])
            self.flag_at = at + self._turn_ms + most

    def end_turn(self) -> None:
        """Forget the current turn; the next one is opened separately."""
        self._opened_at = self.flag_at = None
        self.uncharged_ms = 0

    def close_turn(self, at: int) -> None:
        """Stop the clock of the open turn, as if it had not been opened."""
        self.uncharged_ms = self.open_ms(at)
        self._opened_at = self.flag_at = None

    def measure(self, at: int) -> tuple[int, int, int]:
        """Return when the turn was opened, its duration (without lag) and the lag in it."""
        before = self.uncharged_ms
        if self._opened_at is None:
            return at, 0, before
        # `elapsed` may be negative: a caller may backdate a command to just before a deadline.
        elapsed, lag = at - self._opened_at, self.lag - self._lag_at_open
        return self._opened_at, elapsed if elapsed > 0 else 0, before + (lag if lag > 0 else 0)

    def open_ms(self, at: int) -> int:
        """Return how long the current turn has been open, including the server's standstills."""
        _, elapsed, stood = self.measure(at)
        return elapsed + stood

    def is_late(self, charged: int) -> bool:
        """Return whether the flag falls if the turn is charged this many milliseconds."""
        state = self._state
        if state.clocks is None:
            return False
        if self.flag_at is not None:
            return charged >= self._turn_ms
        return charged >= until_flag(state.control, state.clocks[state.to_act])

    def left_ms(self, at: int) -> int | None:
        """Return the time left of the seat to act; None without a clock."""
        total = self._state.left_ms
        if total is None or self._opened_at is None:
            return total
        return max(0, total - max(0, at - self._opened_at))


class MatchEngine:
    """Decides how commands and timers change one match."""

    __slots__ = (
        "_clock",
        "_due",
        "_illegal_counts",
        "_substitutes_wanted",
        "deadline",
        "state",
        "views",
    )

    def __init__(self, state: MatchState) -> None:
        self.state = state
        """Only the engine changes it."""
        self.views = MatchViews(state)
        self._clock = MatchClock(state)
        self.deadline: int | None = None
        """The caller's time at which `tick` is due, or None."""
        self._due: int | None = None
        """The match's time at which `tick` is due, or None."""
        self._illegal_counts = [0] * len(state.players)
        self._substitutes_wanted: frozenset[int] = NO_SEATS
        """The absent seats for which a substitute was requested."""

    @classmethod
    def new(cls, game: Game, setup: Setup) -> MatchEngine:
        """Start a match. Raises `InvalidSetup`, `ValidationError` (options), `BrokenLog`."""
        return cls(MatchState(game, setup))

    @classmethod
    def restore(cls, game: Game, setup: Setup, entries: Iterable[Entry]) -> MatchEngine:
        """Return the match after `entries`; call `tick` once before anything else."""
        return cls.resume(MatchState(game, setup), entries)

    @classmethod
    def resume(cls, state: MatchState, entries: Iterable[Entry]) -> MatchEngine:
        """Return a match that continues with `entries`; call `tick` once before anything else."""
        engine = cls(state)
        fold(engine.views, entries)
        return engine

    def handle(
        self, command: Command, now: int, lag: int = 0, request: str | None = None
    ) -> list[Effect]:
        """Carry out the timers that are due, then a command, then the timers that it made due.

        A command can make timers due: for instance, if the last present player leaves. `request` is
        the key of the client's request for the command; moves need none.
        """
        clock = self._clock
        at = clock.read(now)
        clock.lag = lag
        due = self._due
        effects = [] if due is None or due > at else self._run_due_timers(at)
        effects += (
            self._play(command, at)
            if isinstance(command, Play)
            else self._execute(command, at, request)
        )
        if self._due is not None:
            effects += self._run_due_timers(at)
        return effects

    def tick(self, now: int, lag: int = 0) -> list[Effect]:
        """Carry out all timers that are due."""
        at = self._clock.read(now)
        self._clock.lag = lag
        self._set_deadline()
        return self._run_due_timers(at)

    def open_turn(self, now: int, lag: int = 0) -> int | None:
        """Start the clock of the seat to act, and return the deadline.

        The turn must be durable and sent. If the turn is already open, its clock keeps running; if
        the match is over, nothing happens.
        """
        clock = self._clock
        clock.lag = lag
        clock.open_turn(clock.read(now))
        self._set_deadline()
        return self.deadline

    def close_turn(self, now: int, lag: int = 0) -> int | None:
        """Stop the clock of the open turn, as if it had not been opened; return the deadline.

        Meant for times when the seat cannot answer because of the server. The time is not charged
        to the seat, but counts toward the standstill that the match forgives.
        """
        clock = self._clock
        clock.lag = lag
        clock.close_turn(clock.read(now))
        self._set_deadline()
        return self.deadline

    def go_on_from(self, former: MatchEngine, now: int, lag: int = 0) -> None:
        """Continue the turn that is open in `former`, another engine of the same match."""
        if former.state.began == self.state.began:
            clock = former._clock
            clock.lag = lag
            self._clock.uncharged_ms = clock.open_ms(clock.read(now))

    def left_ms(self, now: int) -> int | None:
        """Return the time left of the seat to act; None without a clock."""
        return self._clock.left_ms(self._clock.read(now))

    def return_wait_ms(self, seat: int, now: int) -> int | None:
        """Return the milliseconds until a player may reconnect to a seat; None if never again."""
        used = self.state.used.get(RETURNS.key(seat), 0)
        return RETURNS.wait_ms(used, self._clock.read(now))

    # --- commands ---------------------------------------------------------------------------

    def _play(self, play: Play, at: int) -> list[Effect]:
        state, clock = self.state, self._clock
        seat, request, ply, sent, comment, rtt_ms = play
        if seat != state.to_act or ply != state.ply:
            return [answer_out_of_turn(state, play)]
        opened, elapsed, lag = clock.measure(at)
        if lag and not state.forgives(lag, at):
            return [*self._abort_after_standstill(at), refuse_over(state, seat, request)]
        allowed = allowance(elapsed, rtt_ms, state.lag_left[seat]) if rtt_ms > 0 else 0
        if clock.is_late(elapsed - allowed):
            return [*self._drop_flag(at), *self._run_due_timers(at), refuse_late(state, play)]
        try:
            action, logged = state.read_move(sent)
        except (ValidationError, IllegalAction) as error:
            return self._refuse_illegal(play, error, at)
        if comment is not None and comment_size(comment) > state.left_of(MOVE_COMMENTS, seat, at):
            comment = cut(comment)
        values = {
            "seq": state.seq + 1,
            "at_ms": at,
            "kind": "move",
            "ply": ply,
            "seat": seat,
            "action": logged,
            "elapsed_ms": elapsed,
            "allowance_ms": allowed,
            "wait_ms": opened - state.turn_at,
            "lag_ms": lag or None,
            "id": request,
            "comment": comment,
        }
        return self._append(construct(Moved, values), action, request)

    def _refuse_illegal(
        self, play: Play, error: ValidationError | IllegalAction, at: int
    ) -> list[Effect]:
        state, seat = self.state, play.seat
        self._illegal_counts[seat] += 1
        refusal, note = refuse_illegal(state, play, error, at)
        effects = [refusal, *self._append(note)]
        if self._illegal_counts[seat] >= state.setup.conduct.max_illegal:
            detail = f"{self._illegal_counts[seat]} illegal moves"
            # The message may reveal hidden parts of the position.
            if not state.game.info.hidden:
                detail = f"{detail}, the last: {refusal.message}"
            effects += self._append(forfeited(state, seat, Cause.ILLEGAL, detail, at))
        return effects

    def _execute(self, command: OtherCommand, at: int, request: str | None) -> list[Effect]:
        """Carry out a command other than a move."""
        decision = decide(self.state, command, at)
        if decision is None:
            return []
        if isinstance(decision, Refuse):
            return [decision]
        if request is not None and isinstance(decision, Requested):
            decision = decision.model_copy(update={"request": request})
        effects = self._append(decision)
        if isinstance(decision, Left) and not self.state.forgives(0, at):
            effects += self._abort_after_standstill(at)
        return effects

    def _abort_after_standstill(self, at: int) -> list[Effect]:
        """End a match in which the server stood still for longer than the match forgives."""
        _, _, lag = self._clock.measure(at)
        stood_s = (self.state.standstill_ms + lag) / 1000
        detail = f"the server stood still for {stood_s:.1f} s, more than the match forgives"
        return self._append(aborted(self.state, detail, at))

    # --- timers -----------------------------------------------------------------------------

    def _set_deadline(self) -> None:
        """Determine the next timer. Call this after everything that changes a timer."""
        state = self.state
        due: int | None = None
        if state.away and state.result is None:
            due = self._flag_due()
            absence = absences.next_due(state, self._substitutes_wanted)
            if absence is not None and (due is None or absence.at_ms < due):
                due = absence.at_ms
        elif state.result is None:
            due = state.at_ms if state.flagged else self._clock.flag_at
        self._due = due
        self.deadline = None if due is None else self._clock.to_caller(due)

    def _flag_due(self) -> int | None:
        if self.state.flagged:
            return self.state.at_ms
        return None if self.state.to_act in self._substitutes_wanted else self._clock.flag_at

    def _run_due_timers(self, at: int) -> list[Effect]:
        effects: list[Effect] = []
        while self._due is not None and self._due <= at:
            if self._flag_due() != self._due:
                effects += self._give_up_absent_seat(at)
            elif self.state.flagged:
                effects += self._append(after_flag(self.state, at))
            else:
                effects += self._drop_flag(at)
        return effects

    def _drop_flag(self, at: int) -> list[Effect]:
        state = self.state
        _, elapsed, lag = self._clock.measure(at)
        if lag and not state.forgives(lag, at):
            return self._abort_after_standstill(at)
        entry = Flagged(
            seq=state.seq + 1,
            at_ms=at,
            ply=state.ply,
            seat=state.to_act,
            elapsed_ms=elapsed,
            lag_ms=lag or None,
        )
        return self._append(entry)

    def _give_up_absent_seat(self, at: int) -> list[Effect]:
        """Forfeit the seat whose grace period has ended, or request a substitute."""
        state = self.state
        absence = absences.next_due(state, self._substitutes_wanted)
        assert absence is not None, "a deadline must come from a flag or an absent seat"
        seat, cause = absence.seat, absence.cause
        conduct = state.setup.conduct
        if cause is not Cause.ABANDONED and conduct.on_leave == "replace" and conduct.stand_in:
            self._substitutes_wanted |= {seat}
            self._set_deadline()
            return [WantSubstitute(seat, conduct.stand_in, cause)]
        detail = absences.DEPARTURE_TEXTS[state.away[seat].reason]
        return self._append(forfeited(state, seat, cause, detail, at))

    # --- applying entries -------------------------------------------------------------------

    def _append(
        self, entry: Entry, action: int | None = None, request: int | None = None
    ) -> list[Effect]:
        """Apply an entry to the state, and update the data that is not in the log.

        `action` is the entry's decoded action, if available; `request` is the request that it
        answers.
        """
        state = self.state
        began = state.began
        view = self.views.advance(entry, action)
        if state.sent:
            state.sent = next_digests(state.sent, view)
        if state.began != began:
            self._clock.end_turn()
        if self._substitutes_wanted:
            still = [seat for seat in self._substitutes_wanted if seat in state.away]
            self._substitutes_wanted = frozenset(still)
        self._set_deadline()
        effects: list[Effect] = [Append(entry, view, request)]
        if state.result is not None:
            effects.append(MatchOver(state.result))
        return effects
