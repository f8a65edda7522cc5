"""The state of a match, computed from its log of setup and entries (event sourcing).

Only `MatchState.apply` changes the game's state, the clocks, absences, departures and the result,
one entry at a time. It handles both new entries from commands and old entries from a log, so a
restored match equals the live one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self, assert_never

from pydantic_core import to_json

from kibitz_games.core.game import TERMINAL, Game, Model, Outcome, State, UnknownRules
from kibitz_protocol.wire.clocks import (
    EMPTY_CLOCK,
    Clock,
    after_flag,
    full_clock,
    spend,
    until_flag,
)
from kibitz_protocol.wire.lag import ALLOWANCE_CAP_MS, RESTART_MS, after_move, standstill_cap
from kibitz_protocol.wire.records import (
    Aborted,
    AbsenceReason,
    Cause,
    Commented,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Left,
    Moved,
    Noted,
    Player,
    Replaced,
    Requested,
    Resigned,
    Result,
    Returned,
    Setup,
)
from kibitz_protocol.wire.unchecked import all_without_fields_set
from kibitz_protocol.wire.values import Action, Scalar, without_nulls
from kibitz_server.match.answered_moves import (
    AnsweredMove,
    pack_move,
    packed,
    unpacked,
    without_seat,
)
from kibitz_server.match.budget import (
    CUT_COMMENT,
    MOVE_COMMENTS,
    NOTES,
    RETURNS,
    Allowance,
    comment_size,
)
from kibitz_server.match.result import Departure, match_result, rank_by_departure, tie

MAX_REQUESTS: Final = 128
"""The number of latest requests, besides moves, that a match remembers to answer resent ones."""
NO_SEATS: Final[frozenset[int]] = frozenset()
"""Shared by all matches, because an empty set takes 216 bytes and most matches need no other."""


class BrokenLog(ValueError):
    """The entries do not fit the setup or each other; the message names the entry."""


@dataclass(frozen=True, slots=True)
class Absence:
    """The start of a seat's absence and the end of its grace period, in the match's time."""

    reason: AbsenceReason
    since_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class SavedState:
    """The part of a match's state that checkpoints contain: all fields without the game's state."""

    seq: int
    at_ms: int
    ply: int
    to_act: int
    turn: int
    turn_at: int
    clocks: list[Clock] | None
    players: tuple[Player, ...]
    away: dict[int, Absence]
    departed: dict[int, Departure]
    flagged: bool
    result: Result | None
    answered: list[AnsweredMove]
    taken_over: frozenset[int]
    began: int
    comments: int = 0
    sent: tuple[str, ...] = ()
    lag_left: tuple[int, ...] = ()
    standstill_ms: int = 0
    used: dict[str, int] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)


class MatchState:
    """The durable part of a match."""

    __slots__ = (
        "answered",
        "at_ms",
        "away",
        "began",
        "clocks",
        "comments",
        "control",
        "departed",
        "flagged",
        "game",
        "game_state",
        "lag_left",
        "players",
        "ply",
        "requests",
        "result",
        "sent",
        "seq",
        "setup",
        "standstill_ms",
        "taken_over",
        "to_act",
        "turn",
        "turn_at",
        "used",
    )

    def __init__(self, game: Game, setup: Setup, game_state: State | None = None) -> None:
        """Start with the game's initial state, or with a given one."""
        game = _rules_of(game, setup)
        seats = len(setup.seats)
        control = setup.time_control
        if game_state is None:
            options = read_options(game, setup.options)
            game_state = game.start(options, seats, setup.deal)
        self.game = game
        self.setup = all_without_fields_set(setup)
        self.control = self.setup.time_control
        """The seats' time control."""
        self.game_state: State = game_state
        self.seq = 0
        self.at_ms = 0
        """The time of the last entry, in milliseconds of match time."""
        self.ply = 0
        self.to_act = game.to_act(self.game_state)
        self.turn = 0
        """The entry that began the current turn; whenever it changes, `your_turn` is sent."""
        self.began = 0
        """The entry at which the clock of the seat to act started.

        Unlike `turn`, it stays if only the seat's view and legal actions change.
        """
        self.clocks: list[Clock] | None = [full_clock(control)] * seats if control.limited else None
        """The clock of each seat. A change creates a new list; views refer to the old one."""
        self.players: tuple[Player, ...] = tuple(setup.seats)
        self.away: dict[int, Absence] = {}
        self.departed: dict[int, Departure] = {}
        """The seats that dropped out, in order."""
        self.taken_over: frozenset[int] = NO_SEATS
        """The seats that another connection took over while the previous one was open."""
        self.flagged = False
        """Whether the flag of the seat to act has fallen, while the log has no entry for the
        consequence yet. Always false if a fallen flag only skips the turn.
        """
        self.result: Result | None = None
        self.answered = bytearray()
        """The moves by request id, to recognize resent ones (`answered_moves`)."""
        self.turn_at = 0
        """The start of the current turn, in the match's time."""
        self.comments = 0
        """The number of comments."""
        lag = self.setup.lag
        self.lag_left: tuple[int, ...] = (lag.bank_ms if lag else ALLOWANCE_CAP_MS,) * seats
        """Each seat's remaining lag bank."""
        self.standstill_ms = 0
        """The milliseconds forgiven so far for the server's standstills and restarts."""
        self.used: dict[str, int] = {}
        """How much of each allowance each seat has used (`budget`)."""
        self.requests: dict[str, int] = {}
        """The entry numbers of the latest requests except moves, by the requests' keys."""
        self.sent: tuple[str, ...] = ("",) * seats if game.info.hidden else ()
        """The digest of the data sent to each seat (`sent_digest`); empty if the game has no hidden
        information or the digests are unknown."""

    @classmethod
    def restore(cls, game: Game, setup: Setup, entries: Iterable[Entry]) -> Self:
        """Return the match after `entries`."""
        match = cls(game, setup)
        for entry in entries:
            match.apply(entry)
        return match

    @classmethod
    def resume(
        cls, game: Game, setup: Setup, kept: SavedState, state: State, entries: Iterable[Entry]
    ) -> Self:
        """Return the match after `entries`, starting from `kept` and `state`.

        Equal to `restore` with all entries; the match owns `state` from then on.
        """
        match = cls(game, setup, state)
        match._load(kept)
        for entry in entries:
            match.apply(entry)
        return match

    def copy(self) -> Self:
        """Return an independent copy of the match at the same entry."""
        return self.resume(self.game, self.setup, self.save(), self.game_state.copy(), ())

    def save(self) -> SavedState:
        """Return everything computed from the entries so far, except the game's state."""
        return SavedState(
            seq=self.seq,
            at_ms=self.at_ms,
            ply=self.ply,
            to_act=self.to_act,
            turn=self.turn,
            turn_at=self.turn_at,
            clocks=self.clocks,
            players=self.players,
            away=dict(self.away),
            departed=dict(self.departed),
            flagged=self.flagged,
            result=self.result,
            answered=unpacked(self.answered),
            taken_over=self.taken_over,
            began=self.began,
            comments=self.comments,
            sent=self.sent,
            lag_left=self.lag_left,
            standstill_ms=self.standstill_ms,
            used=dict(self.used),
            requests=dict(self.requests),
        )

    def _load(self, kept: SavedState) -> None:
        for each in fields(kept):
            setattr(self, each.name, getattr(kept, each.name))
        self.players = tuple(
            mine if mine == player else player
            for mine, player in zip(self.setup.seats, kept.players, strict=True)
        )
        self.away, self.departed = dict(kept.away), dict(kept.departed)
        self.used, self.requests = dict(kept.used), dict(kept.requests)
        self.answered = packed(kept.answered)

    # --- applying entries ----------------------------------------------------------

    def apply(self, entry: Entry, action: int | None = None) -> None:
        """Apply one entry; `action` is its decoded action, if available."""
        seq, at = entry.seq, entry.at_ms
        if seq != self.seq + 1 or at < self.at_ms or self.result is not None:
            raise BrokenLog(f"entry {seq} does not follow entry {self.seq}")
        before = self.seq, self.at_ms
        self.seq, self.at_ms = seq, at
        try:
            if type(entry) is Moved:
                self._apply_move(entry, action)
            else:
                self._apply_change(entry, action)
                if isinstance(entry, Requested) and entry.request is not None:
                    self._remember(entry.request)
        except BaseException:
            self.seq, self.at_ms = before  # free for the entry that aborts the match
            raise

    def _apply_change(self, entry: Entry, action: int | None) -> None:
        match entry:
            case Moved():
                self._apply_move(entry, action)
            case Flagged():
                self._apply_flag(entry)
            case Resigned():
                self._apply_drop(entry.seat, Departure(Cause.RESIGNATION))
            case Forfeited():
                self._apply_drop(entry.seat, Departure(entry.cause, entry.detail))
            case Left():
                self._apply_leave(entry)
            case Returned():
                self._mark_present(entry.seat)
                self._use(RETURNS, entry.seat, 1)
                if entry.takeover:
                    self.taken_over |= {entry.seat}
            case Replaced():
                self._apply_replace(entry)
            case Aborted():
                self._end(
                    Cause.ABORTED if entry.operator else Cause.INFRASTRUCTURE,
                    rank_by_departure(len(self.players), [*self.departed]),
                )
            case Commented():
                self.comments += 1
            case Noted():
                if entry.refused is None:
                    self._use(NOTES, entry.seat, len(entry.text))
            case Hidden():
                pass  # a note in a published record, which cannot contain hidden moves
            case _:
                assert_never(entry)

    def _apply_move(self, entry: Moved, action: int | None) -> None:
        seat, ply = self.to_act, self.ply
        if entry.ply != ply or entry.seat != seat:
            raise BrokenLog(f"entry {entry.seq} is not the turn of seat {seat}")
        if action is None:
            try:
                action = self.decode(entry.action)
            except ValueError as error:
                raise BrokenLog(f"entry {entry.seq} is not legal: {error}") from error
        if self.clocks is not None and not (entry.id is None and in_opening(self)):
            self._charge(entry, self.clocks[seat])
        self.standstill_ms += entry.lag_ms or 0
        if entry.comment is not None and entry.comment.text != CUT_COMMENT:
            self._use(MOVE_COMMENTS, seat, comment_size(entry.comment))
        if (request := entry.id) is not None:
            self._refill_bank(seat, entry.allowance_ms)
            self.answered += pack_move(ply, seat, request, self.seq)
        self._make_move(action)

    def _use(self, allowance: Allowance, seat: int, amount: int) -> None:
        key = allowance.key(seat)
        self.used[key] = self.used.get(key, 0) + amount

    def _remember(self, request: str) -> None:
        self.requests[request] = self.seq
        if len(self.requests) > MAX_REQUESTS:
            del self.requests[next(iter(self.requests))]

    def left_of(self, allowance: Allowance, seat: int, at_ms: int) -> int:
        """Return a seat's remaining allowance at a time of the match."""
        return allowance.left(self.used.get(allowance.key(seat), 0), at_ms)

    def _make_move(self, action: int) -> None:
        acting = self.game.play_turn(self.game_state, action)
        self.ply += 1
        if acting == TERMINAL:
            self.to_act = acting
            self._end(Cause.RULES)
        else:
            self._begin_turn(acting)

    def _charge(self, entry: Moved, clock: Clock) -> None:
        control = self.control
        if self.flagged:
            left: Clock | None = after_flag(control)
        else:
            left = spend(control, clock, entry.elapsed_ms - entry.allowance_ms)
        if left is None:
            raise BrokenLog(f"entry {entry.seq} is a move after the flag")
        self._set_clock(self.to_act, left)

    def _refill_bank(self, seat: int, allowed_ms: int) -> None:
        lag, banks = self.setup.lag, self.lag_left
        if lag is not None and (allowed_ms or banks[seat] != lag.bank_ms):
            left = after_move(lag, banks[seat], allowed_ms)
            self.lag_left = (*banks[:seat], left, *banks[seat + 1 :])

    def _apply_flag(self, entry: Flagged) -> None:
        turn = (entry.ply, entry.seat) == (self.ply, self.to_act)
        skips, opening = self.game.info.on_flag == "skip", in_opening(self)
        can_fall = skips if opening else self.clocks is not None
        if not turn or not can_fall or self.flagged:
            raise BrokenLog(f"entry {entry.seq} is a flag that cannot fall")
        self.standstill_ms += entry.lag_ms or 0
        if skips:
            if self.clocks is not None and not opening:
                self._set_clock(entry.seat, after_flag(self.control))
            self._make_move(self.game.skip(self.game_state))
        else:
            self._set_clock(entry.seat, EMPTY_CLOCK)
            self.flagged = True

    def _set_clock(self, seat: int, clock: Clock) -> None:
        assert self.clocks is not None, "only a match with clocks can set a clock"
        clocks = self.clocks.copy()
        clocks[seat] = clock
        self.clocks = clocks

    def _apply_leave(self, entry: Left) -> None:
        until = entry.at_ms + entry.grace_ms
        self.away[entry.seat] = Absence(entry.reason, entry.at_ms, until)
        if entry.restart:
            self.standstill_ms += RESTART_MS

    def _mark_present(self, seat: int) -> None:
        self.away.pop(seat, None)

    def _apply_replace(self, entry: Replaced) -> None:
        seat = entry.seat
        self.players = (*self.players[:seat], entry.player, *self.players[seat + 1 :])
        self.answered = without_seat(self.answered, seat)
        self._mark_present(seat)
        if seat == self.to_act:
            self._begin_turn(seat)

    def _apply_drop(self, seat: int, departure: Departure) -> None:
        if departure.cause is Cause.ABANDONED:
            self._abandon()
            return
        self.departed[seat] = departure
        self._mark_present(seat)
        self.game.forfeit(self.game_state, seat)
        acting = self.to_act
        self.to_act = self.game.to_act(self.game_state)
        if self.to_act == TERMINAL or not self.game.info.drops:
            self._end(departure.cause)
        elif acting == seat or self.to_act != acting:
            self._begin_turn(self.to_act)
        else:
            self.turn = self.seq  # the same seat, but its view and legal actions have changed

    def _abandon(self) -> None:
        """End the match because all players are gone; unfinished seats share the best free rank."""
        playing = [seat for seat in range(len(self.players)) if self.still_plays(seat)]
        for seat in playing:
            self.departed[seat] = Departure(Cause.ABANDONED)
            if self.game.to_act(self.game_state) != TERMINAL:
                self.game.forfeit(self.game_state, seat)
        outcome = self.game.outcome(self.game_state)
        if outcome is not None:
            outcome = tie(outcome, playing)
        self._end(Cause.ABANDONED, outcome)

    def _begin_turn(self, seat: int) -> None:
        """Begin the turn of `seat`."""
        self.to_act = seat
        self.turn = self.began = self.seq
        self.flagged = False
        self.turn_at = self.at_ms

    def _end(self, cause: Cause, outcome: Outcome | None = None) -> None:
        if outcome is None:
            outcome = self.game.outcome(self.game_state)
        if outcome is None:
            outcome = rank_by_departure(len(self.players), [*self.departed])
        self.result = match_result(outcome, self.departed, cause, self.ply, self.taken_over)
        self._begin_turn(TERMINAL)

    # --- queries ---------------------------------------------------------------------

    @property
    def left_ms(self) -> int | None:
        """The time of the seat to act at the start of its turn; None without a clock."""
        if self.clocks is None or self.result is not None:
            return None
        clock = self.clocks[self.to_act]
        return until_flag(self.control, clock)

    def forgives(self, standstill_ms: int, at_ms: int) -> bool:
        """Return whether the match forgives another `standstill_ms` of standstill by `at_ms`.

        A match without clocks forgives any standstill, because no player gains time by it.
        """
        lag = self.setup.lag
        if lag is None or self.clocks is None:
            return True
        return self.standstill_ms + standstill_ms <= standstill_cap(lag, at_ms)

    def still_plays(self, seat: int) -> bool:
        """Return whether `seat` is still playing: it has neither dropped out nor finished.

        Drops the seat in a copy of the game's state: if that changes nothing, the seat has
        finished.
        """
        if self.result is not None or seat in self.departed:
            return False
        trial = self.game_state.copy()
        self.game.forfeit(trial, seat)
        return bool(trial.tobytes() != self.game_state.tobytes())

    def decode(self, sent: Mapping[str, Scalar | None]) -> int:
        """Return the action of a move. Raises `ValidationError` and `IllegalAction`."""
        action, _ = self.read_move(sent)
        return action

    def read_move(self, sent: Mapping[str, Scalar | None]) -> tuple[int, Action]:
        """Return the action of a move, and the move as the game writes it.

        Raises `ValidationError` and `IllegalAction`.
        """
        if None in sent.values():
            sent = without_nulls(sent)
        game: Game = self.game
        model: type[Model] = game.Move
        move, written = _read_move(model, to_json(sent))
        action = game.decode(self.game_state, move)
        return action, self.encode(action) if game.info.many_forms else written

    def encode(self, action: int) -> Action:
        wire: Action = self.game.encode(self.game_state, action).to_wire()
        return wire


def in_opening(match: MatchState) -> bool:
    """Return whether the match is still repeating the plies of the match that it branches from."""
    branch = match.setup.branch
    return branch is not None and match.ply < branch.ply


@functools.lru_cache(maxsize=4096)
def _read_move(model: type[Model], text: bytes) -> tuple[Model, Action]:
    """Parse a move, and write it again as the model does, whose order of fields may differ.

    Cached, because moves are immutable and the same few moves recur.
    """
    move = model.from_json(text)
    return move, move.to_wire()


def read_options(game: Game, sent: Mapping[str, Any]) -> Model:
    """Return a match's options as the game's model, shared between matches.

    Raises `ValidationError`.
    """
    model: type[Model] = game.Options
    return _read_options(model, to_json(sent))


@functools.lru_cache(maxsize=256)
def _read_options(model: type[Model], text: bytes) -> Model:
    """Parse options; cached, because they are immutable and all matches of a program share them."""
    return model.from_json(text)


def _rules_of(game: Game, setup: Setup) -> Game:
    """Return the rules of the version with which a match began."""
    played = f"a match of {setup.game} with rules version {setup.rules_version}"
    if setup.game != game.info.name:
        raise BrokenLog(f"{played}, not of {game.info.name}")
    try:
        return game.at_version(setup.rules_version)
    except UnknownRules as error:
        raise BrokenLog(f"{played}: {error}") from None
