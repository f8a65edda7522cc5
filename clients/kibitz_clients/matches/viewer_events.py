"""Replays a recorded match: turns its entries into the events of one viewer, with all views.

Legality and results were decided by the server; the replayer only repeats its decisions. It shows a
match as the server showed it live, by the rules of `kibitz_protocol.wire.visibility`, so a finished
match can be seen from each seat's viewpoint.
"""

from __future__ import annotations

from typing import TypeAlias

from kibitz_games.core.game import TERMINAL, Game, GameError, Model
from kibitz_games.core.position import Position
from kibitz_protocol.wire.clocks import EMPTY_CLOCK, Clock, after_flag, full_clock, spend
from kibitz_protocol.wire.messages import Event
from kibitz_protocol.wire.records import (
    Aborted,
    Cause,
    Entry,
    Flagged,
    Forfeited,
    Moved,
    Resigned,
    Setup,
)
from kibitz_protocol.wire.values import Fields
from kibitz_protocol.wire.visibility import PUBLIC, Viewer, redact, view_changing

Viewpoint: TypeAlias = Viewer | None
"""The viewpoint on a record: a seat from 0, `PUBLIC`, or None, which shows everything."""


class NoSuchSeatError(ValueError):
    """The match has no such seat; the message is a sentence."""


class Replayer:
    """The rules of one recorded match, in the version that it was played with.

    Raises `GameError`, `ValidationError` for a setup that the game does not support, and
    `ValueError` for a seat that the match does not have.
    """

    def __init__(self, game: Game, setup: Setup, viewpoint: Viewpoint = None) -> None:
        seats = len(setup.seats)
        if viewpoint is not None and not PUBLIC <= viewpoint < seats:
            raise NoSuchSeatError(f"expected a seat from 1 to {seats}, not {viewpoint + 1}")
        game = game.at_version(setup.rules_version)
        self._game = game
        self._setup = setup
        self._viewpoint = viewpoint
        self._position = Position(
            game, game.Options.from_wire(setup.options), seats, deal=setup.deal
        )
        self._ply = 0
        self._over = False
        self._flagged = False
        control = setup.time_control
        self._clocks = [full_clock(control)] * seats if control.limited else None

    @property
    def to_act(self) -> int:
        return TERMINAL if self._over else self._position.to_act

    def view(self) -> Fields:
        """Return the viewer's current view."""
        game, state = self._game, self._position.state
        seen: Model
        if self._viewpoint is None or not game.info.hidden:
            seen = game.referee_view(state)
        else:
            seen = game.view(state, None if self._viewpoint == PUBLIC else self._viewpoint)
        return seen.to_wire()

    def apply(self, entry: Entry) -> Event:
        """Apply an entry. Raises `GameError` or `ValidationError` if the rules forbid it."""
        if self.to_act == TERMINAL:
            raise GameError(f"expected no entry after the end, not {entry.kind!r}")
        self._apply(entry)
        changing = view_changing(flag_skips=self._game.info.on_flag == "skip")
        return Event.model_construct(
            match=self._setup.match,
            ply=self._ply,
            to_act=self.to_act,
            entry=self._visible_entry(entry),
            view=self.view() if type(entry) in changing else None,
            clocks=None if self._clocks is None else list(self._clocks),
        )

    def _visible_entry(self, entry: Entry) -> Entry:
        """Return the part of an entry that the viewer may see.

        A game without hidden information has only one viewpoint, and its record is public after the
        end, including comments.
        """
        if self._viewpoint is None or not self._game.info.hidden:
            return entry
        return redact(entry, self._viewpoint, hidden=True)

    def _apply(self, entry: Entry) -> None:
        match entry:
            case Moved():
                self._move(entry)
            case Flagged():
                self._flag(entry)
            case Resigned(seat=seat):
                self._forfeit_seat(seat)
            case Forfeited(seat=seat, cause=cause):
                self._forfeit_all() if cause is Cause.ABANDONED else self._forfeit_seat(seat)
            case Aborted():
                self._over = True
            case _:
                pass

    def _move(self, entry: Moved) -> None:
        self._check_turn(entry)
        self._position.push_move(self._game.Move.from_wire(entry.action))
        self._ply += 1
        self._charge(entry)

    def _check_turn(self, entry: Moved | Flagged) -> None:
        if (entry.ply, entry.seat) != (self._ply, self.to_act):
            raise GameError(
                f"expected ply {self._ply} of seat {self.to_act + 1}, "
                f"not ply {entry.ply} of seat {entry.seat + 1}"
            )

    def _charge(self, entry: Moved) -> None:
        if self._clocks is None:
            return
        control, clock = self._setup.time_control, self._clocks[entry.seat]
        left = spend(control, clock, entry.elapsed_ms - entry.allowance_ms)
        if left is None or self._flagged:
            left = after_flag(control)
        self._set_clock(entry.seat, left)
        self._flagged = False

    def _flag(self, entry: Flagged) -> None:
        """Apply a fallen flag; in some games it skips the turn."""
        self._set_clock(entry.seat, EMPTY_CLOCK)
        self._flagged = self._game.info.on_flag != "skip"
        if not self._flagged:
            self._check_turn(entry)
            self._position.skip()
            self._ply += 1
            self._set_clock(entry.seat, after_flag(self._setup.time_control))

    def _set_clock(self, seat: int, clock: Clock) -> None:
        if self._clocks is not None:
            self._clocks = [*self._clocks[:seat], clock, *self._clocks[seat + 1 :]]

    def _forfeit_seat(self, seat: int) -> None:
        self._position.forfeit(seat)
        self._over = not self._game.info.drops
        self._flagged = False

    def _forfeit_all(self) -> None:
        for seat in range(len(self._setup.seats)):
            if self._position.to_act != TERMINAL:
                self._position.forfeit(seat)
        self._over = True
