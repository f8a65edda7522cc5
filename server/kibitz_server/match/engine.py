"""The match engine: commands and the time in, effects and the next deadline out.

It does no input or output, reads no clock and draws no random numbers. Everything durable about a
match is its `MatchState`. Every entry passes through `MatchState.apply`, whether a command has just
made it or a log gives it back, so restoring the log of a match gives the live one again, byte for
byte, and from any entry on.

The log omits only facts about the present moment: when the turn was opened, how often a seat has
sent an illegal move, which substitutes have been asked for. A restart resets these, and charges the
downtime to nobody.

The caller's part. `now` is a monotonic clock in whole milliseconds. The effects of a `Step` are
carried out in order, and nothing of an `Append` is told before its entry is durable. Whenever
`state.turn` has changed and the match goes on, the seat `state.to_act` is sent `your_turn` and then
`open_turn` is called; its clock runs from there. `tick` is called when the deadline of the last
`Step` has come, and once after a restore: it anchors the match to the caller's clock and settles
what a crash has cut off. `lag` is how much time the caller's clock has left out so far because the
server stood still; what of it fell into a turn is only noted in the turn's entry.

A turn is measured from `open_turn` to the arrival of the move, and an allowance for the network is
taken off. The allowance is the socket's own round trip as the server measured it (the shortest of
its last pings). It is at most `ALLOWANCE_CAP_MS` and at most the rest of the seat's lag bank
(`kibitz_protocol.wire.lag`), so a peer that delays its pongs empties its bank. The flag's timer
waits longer than the clock by the most that the turn may be allowed, so that nobody is flagged by
the network inside the allowance.

A turn whose `lag` exceeds what the match forgives is not played any more: the match is aborted, by
the move or by the flag that would end the turn.

    turn comes (Moved, a drop, Replaced)
       | open_turn(now)               the clock of the seat to act runs
       v
    turn open --Play in time--------------------------------> Moved, the next turn comes
       |  \\--Play refused: stale, not your turn -->  nothing
       |  \\--Play refused: illegal --> Noted, and at last Forfeited
       |
       +--flag, by a late Play or by tick--> Flagged --> Forfeited | Moved (random)
       |                                        \\--> the next turn comes (skip)

    seat there --Leave--> away --Return in its grace--> there
                            \\--grace over--> Forfeited | WantSubstitute --> Replaced | Forfeited
                             \\--grace of everybody over--> Forfeited(abandoned), the end
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias, assert_never

from pydantic import ValidationError
from pydantic_core import to_json

from kibitz_games.core.game import Game, IllegalAction
from kibitz_protocol.wire.clocks import until_flag
from kibitz_protocol.wire.lag import ALLOWANCE_CAP_MS, allowance
from kibitz_protocol.wire.messages import Move
from kibitz_protocol.wire.records import (
    Aborted,
    Cause,
    Commented,
    Entry,
    Flagged,
    Forfeited,
    Left,
    Moved,
    Noted,
    RefusedMove,
    Replaced,
    Resigned,
    Returned,
    Setup,
)
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.unchecked import construct
from kibitz_protocol.wire.values import Action
from kibitz_protocol.wire.visibility import comment_audience
from kibitz_server.match import absences
from kibitz_server.match.answered_moves import find_entry
from kibitz_server.match.budget import MOVE_COMMENTS, NOTES, RETURNS, comment_size, cut
from kibitz_server.match.commands import (
    Abort,
    Accepted,
    AddComment,
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
    Resign,
    Return,
    Step,
    WantSubstitute,
)
from kibitz_server.match.sent_digest import fold, next_digests
from kibitz_server.match.state import NO_SEATS, MatchState
from kibitz_server.match.visibility import EntryView, MatchViews

MAX_COMMENTS: Final = 2000
"""Comments that one match takes: each is an entry of its log, and kept for good."""
_ACTION_CHARS: Final = 1000
"""The number of characters that the log keeps of an action that was refused as illegal ..."""
_NOTE_CHARS: Final = 2000
"""... and of the message about it."""
SentMove: TypeAlias = Move | Play
"""A move of the seat to act, as it has come or as a command."""


class _TooLate(Exception):
    """The flag had fallen when the move came."""


class _StoodTooLong(Exception):
    """The server has stood still for longer than the match forgives."""


class MatchEngine:
    """Decides what commands and timers do to one match."""

    __slots__ = (
        "_due",
        "_flag_at",
        "_illegal_counts",
        "_lag",
        "_lag_at_open",
        "_opened_at",
        "_origin",
        "_substitutes_wanted",
        "_turn_ms",
        "_uncharged_ms",
        "state",
        "views",
    )

    def __init__(self, state: MatchState) -> None:
        self.state = state
        """Changed by the engine alone."""
        self.views = MatchViews(state)
        self._origin: int | None = None
        """The caller's time at which the match's own time was 0."""
        self._due: int | None = None
        """The match's time at which `tick` is due, or None."""
        self._opened_at: int | None = None
        """The time at which the present turn was opened."""
        self._flag_at: int | None = None
        """The time at which the flag of the open turn falls, including the largest allowance."""
        self._turn_ms = 0
        """The milliseconds that the open turn may be charged before its flag falls."""
        self._uncharged_ms = 0
        """How long the present turn was open before it was closed and reopened."""
        self._lag = 0
        """The time that the caller's clock has left out so far ..."""
        self._lag_at_open = 0
        """... and its value when the present turn was opened."""
        self._illegal_counts = [0] * len(state.players)
        self._substitutes_wanted: frozenset[int] = NO_SEATS
        """The absent seats that a substitute has been asked for."""

    @classmethod
    def new(cls, game: Game, setup: Setup) -> MatchEngine:
        """Start a match. Raises `InvalidSetup`, `ValidationError` (options), `BrokenLog`."""
        return cls(MatchState(game, setup))

    @classmethod
    def restore(cls, game: Game, setup: Setup, entries: Iterable[Entry]) -> MatchEngine:
        """Return the match that `entries` lead to; call `tick` once before anything else."""
        return cls.resume(MatchState(game, setup), entries)

    @classmethod
    def resume(cls, state: MatchState, entries: Iterable[Entry]) -> MatchEngine:
        """Return a match that continues with `entries`; call `tick` once before anything else."""
        engine = cls(state)
        fold(engine.views, entries)
        return engine

    # --- commands ---------------------------------------------------------------------------

    def handle(self, command: Command, now: int, lag: int = 0) -> Step:
        """Carry out a command: after the timers that are due, before those that it makes due.

        Others may have been waiting for a player who now leaves, drops out or returns.
        """
        at = self._match_time(now)
        self._lag = lag
        due = self._due
        before = [] if due is None or due > at else self._run_due_timers(at)
        effects = self._play(command, at) if type(command) is Play else self._execute(command, at)
        if before:
            effects = before + effects
        due = self._due
        if due is not None and due <= at:
            effects += self._run_due_timers(at)
        return Step(effects, self.deadline)

    def play_in_turn(
        self, seat: int, move: SentMove, rtt_ms: int, now: int, lag: int = 0
    ) -> EntryView | None:
        """Carry out a move whose only effects are its entry and perhaps the end, as `handle` would.

        Nearly every move is one. Returns its entry, or None with nothing changed; then call
        `handle`. `rtt_ms` is the socket's round trip. There is no deadline afterwards, because
        nobody is away and the next turn is not open yet.
        """
        state, at, due = self.state, self._match_time(now), self._due
        if seat != state.to_act or move.ply != state.ply:
            return None
        if state.away or (due is not None and due <= at):
            return None
        self._lag = lag
        try:
            return self._move(seat, move, rtt_ms, at)
        except (_TooLate, _StoodTooLong, ValidationError, IllegalAction):
            return None

    def tick(self, now: int, lag: int = 0) -> Step:
        """Carry out the timers that are due."""
        at = self._match_time(now)
        self._lag = lag
        self._due = self._next_due()
        return Step(self._run_due_timers(at), self.deadline)

    def open_turn(self, now: int, lag: int = 0) -> int | None:
        """Start the clock of the seat to act, whose turn is durable and sent; return the deadline.

        If the turn is open already its clock keeps running; if the match is over nothing happens.
        """
        state, at = self.state, self._match_time(now)
        if self._opened_at is None and state.result is None:
            self._opened_at = at
            self._lag = self._lag_at_open = lag
            if state.clocks is not None:
                self._turn_ms = until_flag(state.control, state.clocks[state.to_act])
                most = min(ALLOWANCE_CAP_MS, state.lag_left[state.to_act])
                self._flag_at = at + self._turn_ms + most
            self._due = self._next_due()
        return self.deadline

    def close_turn(self, now: int, lag: int = 0) -> int | None:
        """Stop the clock of the open turn, as if it had not been opened; return the deadline.

        The server is what keeps the seat from answering, so the seat's thinking time is not
        charged. It counts toward the standstill that the match forgives.
        """
        self._uncharged_ms = self._open_ms(now, lag)
        self._opened_at = self._flag_at = None
        self._due = self._next_due()
        return self.deadline

    def go_on_from(self, former: MatchEngine, now: int, lag: int = 0) -> None:
        """Restart the turn that is open at `former`, an engine of the same match."""
        if former.state.began == self.state.began:
            self._uncharged_ms = former._open_ms(now, lag)

    @property
    def deadline(self) -> int | None:
        """The caller's time at which `tick` is due, or None."""
        return None if self._due is None or self._origin is None else self._due + self._origin

    def left_ms(self, now: int) -> int | None:
        """Return how much time the seat to act has left, None without a clock."""
        total = self.state.left_ms
        if total is None or self._opened_at is None:
            return total
        return max(0, total - max(0, self._match_time(now) - self._opened_at))

    def return_wait_ms(self, seat: int, now: int) -> int | None:
        """Return the milliseconds until a seat may return once more, 0 for now, None for never."""
        used = self.state.used.get(RETURNS.key(seat), 0)
        return RETURNS.wait_ms(used, self._match_time(now))

    def _execute(self, command: Command, at: int) -> list[Effect]:
        match command:
            case Play():
                return self._play(command, at)
            case Resign():
                return self._resign(command, at)
            case Leave():
                return self._leave(command, at)
            case Return():
                return self._return(command, at)
            case Replace():
                return self._replace(command, at)
            case Forfeit():
                return self._forfeit(command, at)
            case Note():
                return self._note(command, at)
            case AddComment():
                return self._comment(command, at)
            case Abort():
                return self._abort(command, at)
            case _:
                assert_never(command)

    def _play(self, play: Play, at: int) -> list[Effect]:
        state, seat = self.state, play.seat
        known = find_entry(state.answered, play.ply, seat, play.id)
        if known is not None:
            return [Accepted(seat, play.id, known)]
        if state.result is not None or seat in state.departed:
            return [self._refuse_over(seat, play.id)]
        if play.ply != state.ply:
            return [self._refuse(play, Code.STALE, f"the match is at ply {state.ply}")]
        if seat != state.to_act:
            return [self._refuse(play, Code.NOT_YOUR_TURN, f"seat {state.to_act + 1} is to act")]
        try:
            view = self._move(seat, play, play.rtt_ms, at)
        except _StoodTooLong:
            return [*self._abort_after_standstill(at), self._refuse_over(seat, play.id)]
        except _TooLate:
            return [*self._drop_flag(at), *self._run_due_timers(at), self._refuse_late(play)]
        except ValidationError as error:
            return self._refuse_illegal(play, Code.MALFORMED, _validation_message(error), at)
        except IllegalAction as error:
            return self._refuse_illegal(play, Code.ILLEGAL, str(error), at)
        return self._effects_of(view, play.id)

    def _move(self, seat: int, move: SentMove, rtt_ms: int, at: int) -> EntryView:
        """Make the entry of a move of the seat to act.

        Raises, with nothing changed, `_StoodTooLong`, `_TooLate`, `ValidationError`,
        `IllegalAction`.
        """
        state = self.state
        opened, elapsed, lag = self._turn_time(at)
        if lag and not state.forgives(lag, at):
            raise _StoodTooLong
        allowed = allowance(elapsed, rtt_ms, state.lag_left[seat]) if rtt_ms > 0 else 0
        if self._is_late(elapsed - allowed):
            raise _TooLate
        action = state.decode(move.action)
        comment = move.comment
        if comment is not None and comment_size(comment) > state.left_of(MOVE_COMMENTS, seat, at):
            comment = cut(comment)
        values = {
            "seq": state.seq + 1,
            "at_ms": at,
            "kind": "move",
            "ply": state.ply,
            "seat": seat,
            "action": self._encode_action(action),
            "elapsed_ms": elapsed,
            "allowance_ms": allowed,
            "wait_ms": opened - state.turn_at,
            "lag_ms": lag or None,
            "id": move.id,
            "comment": comment,
        }
        return self._advance(construct(Moved, values), action)

    def _turn_time(self, at: int) -> tuple[int, int, int]:
        """Return when the turn was opened, its duration, and the lag, which is not included."""
        before = self._uncharged_ms
        if self._opened_at is None:
            return at, 0, before
        # A caller may date a command back, so that it comes before a deadline.
        elapsed, lag = at - self._opened_at, self._lag - self._lag_at_open
        return self._opened_at, elapsed if elapsed > 0 else 0, before + (lag if lag > 0 else 0)

    def _open_ms(self, now: int, lag: int) -> int:
        """Return how long the present turn has been open in all, standstill included."""
        self._lag = lag
        _, elapsed, stood = self._turn_time(self._match_time(now))
        return elapsed + stood

    def _is_late(self, charged: int) -> bool:
        state = self.state
        if state.clocks is None:
            return False
        if self._flag_at is not None:
            return charged >= self._turn_ms
        return charged >= until_flag(state.control, state.clocks[state.to_act])

    def _refuse_illegal(self, play: Play, code: Code, message: str, at: int) -> list[Effect]:
        seat = play.seat
        self._illegal_counts[seat] += 1
        hint = self._hint(code)
        effects: list[Effect] = [Refuse(seat, play.id, code, message, self.state.ply, hint)]
        effects += self._append(self._refusal_note(play, code, message, at))
        if self._illegal_counts[seat] >= self.state.setup.conduct.max_illegal:
            detail = f"{self._illegal_counts[seat]} illegal moves"
            # The message may describe hidden parts of the position.
            if not self.state.game.info.hidden:
                detail = f"{detail}, the last: {message}"
            effects += self._forfeit_seat(seat, Cause.ILLEGAL, detail, at)
        return effects

    def _hint(self, code: Code) -> str:
        """Return a hint after a wrong action: an action that is legal now for the seat to act."""
        game = self.state.game
        legal = game.legal(self.state.game_state)
        action = to_json(self._encode_action(legal[0])).decode()
        if code is Code.MALFORMED:
            return f"an action of {game.info.name} looks like {action}"
        return f"choose a legal action, for example {action}"

    def _refusal_note(self, play: Play, code: Code, message: str, at: int) -> Noted:
        """Return the note of an illegal move for the seat's own record; `max_illegal` bounds
        them."""
        sent = to_json(play.action).decode()[:_ACTION_CHARS]
        refused = RefusedMove(ply=play.ply, code=code, action=sent, id=play.id)
        text = f"refused as {code}: {message}"[:_NOTE_CHARS]
        return Noted(seq=self.state.seq + 1, at_ms=at, seat=play.seat, text=text, refused=refused)

    def _resign(self, command: Resign, at: int) -> list[Effect]:
        if not self.state.still_plays(command.seat):
            return [self._refuse_over(command.seat)]
        return self._append(Resigned(seq=self.state.seq + 1, at_ms=at, seat=command.seat))

    def _leave(self, command: Leave, at: int) -> list[Effect]:
        seat = command.seat
        if self.state.result is not None or seat in self.state.departed:
            return [self._refuse_over(seat)]
        known = self.state.away.get(seat)
        for_good = command.reason in absences.GONE_FOR_GOOD
        if known is not None and (known.reason in absences.GONE_FOR_GOOD or not for_good):
            return []  # the first absence counts, unless the player now leaves for good
        grace = 0 if for_good else self.state.setup.conduct.grace_ms
        entry = Left(
            seq=self.state.seq + 1,
            at_ms=at,
            seat=seat,
            reason=command.reason,
            grace_ms=grace,
            restart=True if command.restart else None,
        )
        effects = self._append(entry)
        if not self.state.forgives(0, at):
            effects += self._abort_after_standstill(at)
        return effects

    def _return(self, command: Return, at: int) -> list[Effect]:
        seat = command.seat
        if self.state.result is not None or seat in self.state.departed:
            return [self._refuse_over(seat)]
        owner = self.state.players[seat].player
        if command.player is not None and command.player != owner:
            message = f"seat {seat + 1} is played by {self.state.players[seat].name} now"
            return [Refuse(seat, None, Code.NOT_SEATED, message, self.state.ply)]
        if seat not in self.state.away and not command.takeover:
            return []
        takeover: Literal[True] | None = True if command.takeover else None
        entry = Returned(seq=self.state.seq + 1, at_ms=at, seat=seat, takeover=takeover)
        return self._append(entry)

    def _replace(self, command: Replace, at: int) -> list[Effect]:
        seat = command.seat
        if self.state.result is not None or seat in self.state.departed:
            return [self._refuse_over(seat)]
        if seat not in self.state.away:
            message = f"the player of seat {seat + 1} is there"
            return [Refuse(seat, None, Code.WRONG_STATE, message, self.state.ply)]
        entry = Replaced(
            seq=self.state.seq + 1, at_ms=at, seat=seat, player=command.player, cause=command.cause
        )
        return self._append(entry)

    def _forfeit(self, command: Forfeit, at: int) -> list[Effect]:
        if not self.state.still_plays(command.seat):
            return [self._refuse_over(command.seat)]
        return self._forfeit_seat(command.seat, command.cause, command.detail, at)

    def _note(self, command: Note, at: int) -> list[Effect]:
        if self.state.result is not None:
            return [self._refuse_over(command.seat)]
        left = self.state.left_of(NOTES, command.seat, at)
        if command.is_own and len(command.text) > left:
            message = (
                f"the notes of this seat have {left} characters left: {NOTES.at_once} at once and"
                f" {NOTES.per_hour} more an hour, at most {NOTES.most} in a match"
            )
            hint = "write less, or keep the notes in a file of your own"
            return [Refuse(command.seat, None, Code.LIMIT, message, self.state.ply, hint)]
        entry = Noted(seq=self.state.seq + 1, at_ms=at, seat=command.seat, text=command.text)
        return self._append(entry)

    def _comment(self, command: AddComment, at: int) -> list[Effect]:
        state, setup = self.state, self.state.setup
        seat = -1 if command.seat is None else command.seat
        if state.result is not None:
            return [self._refuse_over(seat)]
        audience = comment_audience(setup, command.seat, state.game.info.hidden)
        if audience is None:
            message = "the host lets nobody comment on this match"
            return [Refuse(seat, None, Code.NO_COMMENTS, message, state.ply)]
        if state.comments >= MAX_COMMENTS:
            message = f"the match has {MAX_COMMENTS} comments, and takes no more"
            return [Refuse(seat, None, Code.LIMIT, message, state.ply)]
        entry = Commented(
            seq=state.seq + 1,
            at_ms=at,
            ply=command.ply,
            author=command.author,
            seat=command.seat,
            audience=audience,
            text=command.text,
        )
        return self._append(entry)

    def _abort(self, command: Abort, at: int) -> list[Effect]:
        if self.state.result is not None:
            return [self._refuse_over(-1)] if command.operator else []
        entry = Aborted(
            seq=self.state.seq + 1,
            at_ms=at,
            detail=command.detail[:200],
            operator=True if command.operator else None,
        )
        return self._append(entry)

    def _abort_after_standstill(self, at: int) -> list[Effect]:
        """End a match in which the server stood still for longer than the match forgives."""
        _, _, lag = self._turn_time(at)
        stood_s = (self.state.standstill_ms + lag) / 1000
        detail = f"the server stood still for {stood_s:.1f} s, more than the match forgives"
        return self._abort(Abort(detail), at)

    # --- timers -----------------------------------------------------------------------------

    def _match_time(self, now: int) -> int:
        """Return the match's own time; the first call anchors it to the caller's."""
        if self._origin is None:
            self._origin = now - self.state.at_ms
        at, last = now - self._origin, self.state.at_ms
        return at if at > last else last

    def _next_due(self) -> int | None:
        """Return when the next timer is due; call again after every change of the timers."""
        state = self.state
        if state.result is not None:
            return None
        if not state.away:
            return state.at_ms if state.flagged else self._flag_at
        flag = self._flag_due()
        absence = absences.next_due(state, self._substitutes_wanted)
        if absence is None:
            return flag
        return absence.at_ms if flag is None else min(flag, absence.at_ms)

    def _flag_due(self) -> int | None:
        if self.state.flagged:
            return self.state.at_ms
        return None if self.state.to_act in self._substitutes_wanted else self._flag_at

    def _run_due_timers(self, at: int) -> list[Effect]:
        effects: list[Effect] = []
        while self._due is not None and self._due <= at:
            effects += self._run_timer(self._due, at)
        return effects

    def _run_timer(self, due: int, at: int) -> list[Effect]:
        state = self.state
        if self._flag_due() == due:
            return self._apply_flag_policy(at) if state.flagged else self._drop_flag(at)
        absence = absences.next_due(state, self._substitutes_wanted)
        assert absence is not None, "a deadline is a flag's or an absent seat's"
        seat, cause = absence.seat, absence.cause
        conduct = state.setup.conduct
        if cause is not Cause.ABANDONED and conduct.on_leave == "replace" and conduct.stand_in:
            self._substitutes_wanted |= {seat}
            self._due = self._next_due()
            return [WantSubstitute(seat, conduct.stand_in, cause)]
        detail = absences.DEPARTURE_TEXTS[state.away[seat].reason]
        return self._forfeit_seat(seat, cause, detail, at)

    def _drop_flag(self, at: int) -> list[Effect]:
        _, elapsed, lag = self._turn_time(at)
        if lag and not self.state.forgives(lag, at):
            return self._abort_after_standstill(at)
        entry = Flagged(
            seq=self.state.seq + 1,
            at_ms=at,
            ply=self.state.ply,
            seat=self.state.to_act,
            elapsed_ms=elapsed,
            lag_ms=lag or None,
        )
        return self._append(entry)

    def _apply_flag_policy(self, at: int) -> list[Effect]:
        """Apply the game's flag policy after a flag has fallen."""
        match self.state.game.info.on_flag:
            case "forfeit":
                return self._forfeit_seat(self.state.to_act, *self._late_cause(), at)
            case "random":
                return self._move_for_seat(self._random_action(), at)
            case "skip":
                raise AssertionError("a turn that is skipped is over with its flag")

    def _late_cause(self) -> tuple[Cause, str]:
        """Return the real cause of a fallen flag: an absent player did not think too long."""
        gone = self.state.away.get(self.state.to_act)
        if gone is None:
            return Cause.TIME, "the flag fell"
        text = absences.DEPARTURE_TEXTS[gone.reason]
        return absences.cause_of(gone), f"{text} before the flag fell"

    def _random_action(self) -> int:
        """Draw a legal action from the seed and the ply: the same one in every replay."""
        legal = self.state.game.legal(self.state.game_state)
        drawn = hashlib.sha256(f"{self.state.setup.seed}:flag:{self.state.ply}".encode()).digest()
        return legal[int.from_bytes(drawn[:8], "big") % len(legal)]

    def _move_for_seat(self, action: int, at: int) -> list[Effect]:
        entry = Moved(
            seq=self.state.seq + 1,
            at_ms=at,
            ply=self.state.ply,
            seat=self.state.to_act,
            action=self._encode_action(action),
        )
        return self._append(entry, action)

    def _forfeit_seat(self, seat: int, cause: Cause, detail: str, at: int) -> list[Effect]:
        entry = Forfeited(
            seq=self.state.seq + 1, at_ms=at, seat=seat, cause=cause, detail=detail[:200]
        )
        return self._append(entry)

    # --- into the state ---------------------------------------------------------------------

    def _append(self, entry: Entry, action: int | None = None) -> list[Effect]:
        """Make an entry of the log; `action` is its own, if decoded."""
        return self._effects_of(self._advance(entry, action))

    def _effects_of(self, view: EntryView, request: int | None = None) -> list[Effect]:
        """Return the effects of an entry; `request` is the request that it answers."""
        effects: list[Effect] = [Append(view.entry, view, request)]
        result = self.state.result
        if result is not None:
            effects.append(MatchOver(result))
        return effects

    def _advance(self, entry: Entry, action: int | None = None) -> EntryView:
        """Apply an entry, and update the fields that are not in the log."""
        state = self.state
        began = state.began
        view = self.views.advance(entry, action)
        if state.sent:
            state.sent = next_digests(state.sent, view)
        if state.began != began:
            self._opened_at = self._flag_at = None  # the turn that has come is not open yet
            self._uncharged_ms = 0
        if self._substitutes_wanted:
            still = [seat for seat in self._substitutes_wanted if seat in state.away]
            self._substitutes_wanted = frozenset(still)
        self._due = self._next_due()
        return view

    # --- small questions --------------------------------------------------------------------

    def _encode_action(self, action: int) -> Action:
        wire: Action = self.state.game.encode(self.state.game_state, action).to_wire()
        return wire

    def _refuse(self, play: Play, code: Code, message: str) -> Refuse:
        return Refuse(play.seat, play.id, code, message, self.state.ply)

    def _refuse_over(self, seat: int, request: int | None = None) -> Refuse:
        message = (
            "the match is over" if self.state.result else f"seat {seat + 1} is out of the play"
        )
        return Refuse(seat, request, Code.OVER, message, self.state.ply)

    def _refuse_late(self, play: Play) -> Refuse:
        code = (
            Code.OVER
            if self.state.result is not None or play.seat in self.state.departed
            else Code.STALE
        )
        return self._refuse(play, code, "the time of this turn was up before the move came")


def _validation_message(error: ValidationError) -> str:
    """Return which part of an action has the wrong shape, and what was expected there."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(["action", *map(str, first["loc"])])
    return f"{path}: {first['msg'].removeprefix('Value error, ').lower()}"[:300]
