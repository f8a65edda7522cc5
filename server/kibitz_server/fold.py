"""What the log of a match determines: setup and entries, folded into everything durable.

The game's state, the clocks, who is away, who has dropped out and the result change in
`Fold._apply` and nowhere else, one entry at a time. It is where an entry that a command has
just made and one that comes out of a log meet, so a restored match is the live one.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, Self, assert_never

from kibitz_games.api import OVER, Game, Outcome, State, UnknownRules
from kibitz_protocol.clocks import Clock
from kibitz_protocol.records import (
    Aborted,
    Cause,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Left,
    Moved,
    Noted,
    Player,
    Replaced,
    Resigned,
    Result,
    Returned,
    Setup,
)
from kibitz_protocol.values import Action
from kibitz_server import clock as ledger
from kibitz_server.trusted import lean
from kibitz_server.verdict import Departure, by_departure, tied, verdict
from kibitz_server.view import Sight, Views

_SHOWN: Final = frozenset({Moved, Resigned, Forfeited})
"""Entries that change the state of every game, and with it what viewers see."""


class BrokenLog(ValueError):
    """Setup and entries that do not belong together; the message names the entry."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Since when a seat is away, and until when it may return; times of the match."""

    reason: Literal["left", "disconnect", "crash"]
    since_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What the entries so far have led to, but for the game's state: the values of a `Fold`."""

    seq: int
    at_ms: int
    ply: int
    to_act: int
    turn: int
    turn_at: int
    clocks: list[Clock] | None
    players: tuple[Player, ...]
    away: dict[int, Absence]
    out: dict[int, Departure]
    flagged: bool
    result: Result | None
    last: list[tuple[int, int, int] | None]
    taken_over: frozenset[int]


class Fold:
    """The durable part of a match."""

    __slots__ = (
        "_last",
        "_turn_at",
        "_views",
        "at_ms",
        "away",
        "clocks",
        "flagged",
        "game",
        "out",
        "players",
        "ply",
        "result",
        "seq",
        "setup",
        "state",
        "taken_over",
        "to_act",
        "turn",
    )

    def __init__(self, game: Game, setup: Setup, state: State | None = None) -> None:
        """Begin with the first state of the game, or with one that is known already."""
        game = _rules(game, setup)
        seats = len(setup.seats)
        control = setup.time_control
        if state is None:
            options = game.Options.read(setup.options)
            state = game.start(options, seats, setup.deal)
        self.game = game
        self.setup = lean(setup)
        self.state: State = state
        self.seq = 0
        self.at_ms = 0
        """When the last entry was made, in milliseconds of the match."""
        self.ply = 0
        self.to_act = game.to_act(self.state)
        self.turn = 0
        """The entry that brought the present turn; a new number means a new `your_turn`."""
        self.clocks: list[Clock] | None = (
            [ledger.full(control)] * seats if control.limited else None
        )
        """Per seat; a new list whenever one changes, so that what was shown stays as it was."""
        self.players: tuple[Player, ...] = tuple(setup.seats)
        self.away: dict[int, Absence] = {}
        self.out: dict[int, Departure] = {}
        """The seats that dropped out, in that order."""
        self.taken_over: frozenset[int] = frozenset()
        """The seats that another connection took while their own was open."""
        self.flagged = False
        """Whether the flag of the seat to act has fallen and its consequence is not logged yet.
        Never where a game skips: there the flag is a turn that has passed."""
        self.result: Result | None = None
        self._last: list[tuple[int, int, int] | None] = [None] * seats
        """Per seat the request id, ply and entry of its last move. One is enough: a seat is
        answered before it hears of its next turn, so only its last move can be sent again."""
        self._turn_at = 0
        """When the present turn came, in the match's time."""
        self._views: weakref.ref[Views] | None = None
        """What viewers see of the present state, while somebody is still to be told of it."""

    @classmethod
    def restore(cls, game: Game, setup: Setup, entries: Iterable[Entry]) -> Self:
        """Return the match that `entries` lead to; call `tick` once before anything else."""
        match = cls(game, setup)
        for entry in entries:
            match._apply(entry)
        return match

    @classmethod
    def resume(
        cls, game: Game, setup: Setup, kept: Kept, state: State, entries: Iterable[Entry]
    ) -> Self:
        """Return the match that `entries` lead to from what `kept` and `state` say.

        The same as `restore` with all entries; `state` is the match's own from now on.
        """
        match = cls(game, setup, state)
        match._take(kept)
        for entry in entries:
            match._apply(entry)
        return match

    @classmethod
    def replay(cls, game: Game, setup: Setup, entries: Iterable[Entry]) -> Iterator[Sight]:
        """Yield what viewers saw of each entry; an unused sight costs no view."""
        match = cls(game, setup)
        for entry in entries:
            yield match.advance(entry)

    def advance(self, entry: Entry) -> Sight:
        """Go on by an entry of the log, and return what viewers saw of it."""
        self._apply(entry)
        return self._sight(entry)

    def copy(self) -> Self:
        """Return a match at the same entry that goes on by itself; no views are shared."""
        other = copy.copy(self)
        other.state = self.state.copy()
        other.away = self.away.copy()
        other.out = self.out.copy()
        other._last = self._last.copy()
        other._views = None
        return other

    def kept(self) -> Kept:
        """Return all that the entries so far determine, but for `state`."""
        return Kept(
            seq=self.seq,
            at_ms=self.at_ms,
            ply=self.ply,
            to_act=self.to_act,
            turn=self.turn,
            turn_at=self._turn_at,
            clocks=self.clocks,
            players=self.players,
            away=dict(self.away),
            out=dict(self.out),
            flagged=self.flagged,
            result=self.result,
            last=self._last.copy(),
            taken_over=self.taken_over,
        )

    def _take(self, kept: Kept) -> None:
        own = self.setup.seats
        self.seq, self.at_ms = kept.seq, kept.at_ms
        self.ply, self.to_act = kept.ply, kept.to_act
        self.turn, self._turn_at = kept.turn, kept.turn_at
        self.clocks = kept.clocks
        self.players = tuple(
            mine if mine == player else player
            for mine, player in zip(own, kept.players, strict=True)
        )
        self.away, self.out = dict(kept.away), dict(kept.out)
        self.flagged = kept.flagged
        self.result = kept.result
        self._last = kept.last.copy()
        self.taken_over = kept.taken_over

    # --- one entry after the other ----------------------------------------------------------

    def _apply(self, entry: Entry, action: int | None = None) -> None:
        """Change the match by one entry; `action` is the entry's own, if already decoded."""
        if entry.seq != self.seq + 1 or entry.at_ms < self.at_ms or self.result is not None:
            raise BrokenLog(f"entry {entry.seq} does not follow entry {self.seq}")
        before = self.seq, self.at_ms
        self.seq, self.at_ms = entry.seq, entry.at_ms
        try:
            self._change(entry, action)
        except BaseException:
            self.seq, self.at_ms = before  # the number is free for the entry that aborts
            raise

    def _change(self, entry: Entry, action: int | None) -> None:
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
                self._there_again(entry.seat)
                if entry.takeover:
                    self.taken_over |= {entry.seat}
            case Replaced():
                self._apply_replace(entry)
            case Aborted():
                self._conclude(Cause.INFRASTRUCTURE, by_departure(len(self.players), [*self.out]))
            case Noted() | Hidden():
                pass  # a published record hides notes; a hidden move is missed by the next one
            case _:
                assert_never(entry)

    def _apply_move(self, entry: Moved, action: int | None) -> None:
        if entry.ply != self.ply or entry.seat != self.to_act:
            raise BrokenLog(f"entry {entry.seq} is not the turn of seat {self.to_act}")
        if action is None:
            action = self._decode_logged(entry)
        if self.clocks is not None:
            self._charge(entry, self.clocks[entry.seat])
        if entry.id is not None:
            self._last[entry.seat] = (entry.id, entry.ply, entry.seq)
        self._step(action)

    def _step(self, action: int) -> None:
        self._let_go()
        self.game.play(self.state, action)
        self.ply += 1
        self._next_turn()

    def _charge(self, entry: Moved, clock: Clock) -> None:
        control = self.setup.time_control
        if self.flagged:
            left: Clock | None = ledger.flagged(control)
        else:
            left = ledger.spend(control, clock, entry.elapsed_ms - entry.allowance_ms)
        if left is None:
            raise BrokenLog(f"entry {entry.seq} is a move after the flag")
        self._set_clock(entry.seat, left)

    def _apply_flag(self, entry: Flagged) -> None:
        turn = (entry.ply, entry.seat) == (self.ply, self.to_act)
        if not turn or self.clocks is None or self.flagged:
            raise BrokenLog(f"entry {entry.seq} is a flag that cannot fall")
        if self.game.info.on_flag == "skip":
            self._set_clock(entry.seat, ledger.flagged(self.setup.time_control))
            self._step(self.game.skip(self.state))
        else:
            self._set_clock(entry.seat, ledger.EMPTY)
            self.flagged = True

    def _set_clock(self, seat: int, clock: Clock) -> None:
        clocks = self.clocks
        assert clocks is not None, "only a match with clocks has one to set"
        self.clocks = [*clocks[:seat], clock, *clocks[seat + 1 :]]

    def _apply_leave(self, entry: Left) -> None:
        until = entry.at_ms + entry.grace_ms
        self.away[entry.seat] = Absence(entry.reason, entry.at_ms, until)

    def _there_again(self, seat: int) -> None:
        self.away.pop(seat, None)

    def _apply_replace(self, entry: Replaced) -> None:
        seat = entry.seat
        self.players = (*self.players[:seat], entry.player, *self.players[seat + 1 :])
        self._last[seat] = None
        self._there_again(seat)
        if seat == self.to_act:
            self._come(seat)

    def _apply_drop(self, seat: int, departure: Departure) -> None:
        if departure.cause is Cause.ABANDONED:
            self._abandon()
            return
        self._let_go()
        self.out[seat] = departure
        self._there_again(seat)
        self.game.drop(self.state, seat)
        acting = self.to_act
        self.to_act = self.game.to_act(self.state)
        if self.to_act == OVER or not self.game.info.drops:
            self._conclude(departure.cause)
        elif acting == seat or self.to_act != acting:
            self._come(self.to_act)
        else:
            self.turn = self.seq  # the same seat, but it sees and may do something else now

    def _abandon(self) -> None:
        """Everybody is gone: who has not finished shares what is left to win."""
        self._let_go()
        playing = [seat for seat in range(len(self.players)) if self._in_play(seat)]
        for seat in playing:
            self.out[seat] = Departure(Cause.ABANDONED)
            if self.game.to_act(self.state) != OVER:
                self.game.drop(self.state, seat)
        outcome = self.game.outcome(self.state)
        if outcome is not None:
            outcome = tied(outcome, playing)
        self._conclude(Cause.ABANDONED, outcome)

    def _next_turn(self) -> None:
        self.to_act = self.game.to_act(self.state)
        if self.to_act == OVER:
            self._conclude(Cause.RULES)
        else:
            self._come(self.to_act)

    def _come(self, seat: int) -> None:
        """The turn of `seat` has come."""
        self.to_act = seat
        self.turn = self.seq
        self.flagged = False
        self._turn_at = self.at_ms

    def _conclude(self, cause: Cause, outcome: Outcome | None = None) -> None:
        if outcome is None:
            outcome = self.game.outcome(self.state)
        if outcome is None:
            outcome = by_departure(len(self.players), [*self.out])
        self.result = verdict(outcome, self.out, cause, self.ply, self.taken_over)
        self._come(OVER)

    def _let_go(self) -> None:
        """Before the state changes: views of it that are still to be asked for keep a copy."""
        views = self._views() if self._views is not None else None
        if views is not None:
            views.keep()
        self._views = None

    def _seen(self) -> Views:
        views = self._views() if self._views is not None else None
        if views is None:
            views = Views(self.game, self.state)
            self._views = weakref.ref(views)
        return views

    # --- what others ask ---------------------------------------------------------------------

    def _in_play(self, seat: int) -> bool:
        """Whether `seat` still takes part: it has neither dropped out nor finished.

        A game drops a seat that has finished without effect, so a drop on trial tells.
        """
        if self.result is not None or seat in self.out:
            return False
        trial = self.state.copy()
        self.game.drop(trial, seat)
        return bool(trial.tobytes() != self.state.tobytes())

    def _skips(self, entry: Entry) -> bool:
        return type(entry) is Flagged and self.game.info.on_flag == "skip"

    def _decode(self, action: Action) -> int:
        return self.game.decode(self.state, self.game.Move.read(action))

    def _decode_logged(self, entry: Moved) -> int:
        try:
            return self._decode(entry.action)
        except ValueError as error:
            raise BrokenLog(f"entry {entry.seq} is not legal: {error}") from error

    def _sight(self, entry: Entry) -> Sight:
        return Sight(
            self.setup.match,
            entry,
            self.ply,
            self.to_act,
            self.clocks,
            self._seen() if type(entry) in _SHOWN or self._skips(entry) else None,
            self.game.info.hidden,
        )


def _rules(game: Game, setup: Setup) -> Game:
    """Return the rules that a match began under, which it is played to its end by."""
    played = f"a match of {setup.game} with rules version {setup.rules_version}"
    if setup.game != game.info.name:
        raise BrokenLog(f"{played}, not of {game.info.name}")
    try:
        return game.under(setup.rules_version)
    except UnknownRules as error:
        raise BrokenLog(f"{played}: {error}") from None
