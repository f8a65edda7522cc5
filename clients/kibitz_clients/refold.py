"""A recorded match played again: entries in, and what one viewer saw of them out.

The server has a fold of its own, which decides; this one only repeats what was decided. It
shows a match as the server showed it while it ran (`server/kibitz_server/view.py` has the
rules), so that somebody may look through the eyes of each seat afterwards.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from kibitz_clients import clockface
from kibitz_games.api import OVER, Game, GameError
from kibitz_games.play import Play
from kibitz_protocol.clocks import Clock
from kibitz_protocol.messages import Event
from kibitz_protocol.records import (
    Aborted,
    Cause,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Moved,
    Noted,
    Resigned,
    Setup,
)
from kibitz_protocol.values import Fields

Eyes: TypeAlias = int | None
"""Who looks: a seat from 0, `PUBLIC`, or None, who sees everything."""
PUBLIC: Final = -1
"""A spectator who sees what everybody may know while the match runs."""


class Refold:
    """The rules at one recorded match, in the version that it was played by.

    Raises `GameError`, `ValidationError` for a setup that the game does not offer, and
    `ValueError` for a seat that the match does not have.
    """

    def __init__(self, game: Game, setup: Setup, eyes: Eyes = None) -> None:
        seats = len(setup.seats)
        if eyes is not None and not PUBLIC <= eyes < seats:
            raise ValueError(f"expected a seat from 0 to {seats - 1}, not {eyes}")
        game = game.under(setup.rules_version)
        self._game = game
        self._setup = setup
        self._eyes = eyes
        self._play = Play(game, game.Options.read(setup.options), seats, deal=setup.deal)
        self._ply = 0
        self._over = False
        self._flagged = False
        control = setup.time_control
        self._clocks = [clockface.full(control)] * seats if control.limited else None

    @property
    def to_act(self) -> int:
        return OVER if self._over else self._play.to_act

    def view(self) -> Fields:
        """Return what the viewer knows now."""
        game, state = self._game, self._play.state
        if self._eyes is None or not game.info.hidden:
            return game.dump(game.full_view(state))
        return game.dump(game.view(state, None if self._eyes == PUBLIC else self._eyes))

    def take(self, entry: Entry) -> Event:
        """Apply an entry. Raises `GameError` or `ValidationError` where the rules forbid it."""
        if self.to_act == OVER:
            raise GameError(f"expected no entry after the end, not {entry.kind!r}")
        changed = self._apply(entry)
        view = self.view() if changed else None
        return Event.model_construct(
            match=self._setup.match,
            ply=self._ply,
            to_act=self.to_act,
            entry=self._seen(entry),
            view=view,
            clocks=None if self._clocks is None else list(self._clocks),
        )

    def _seen(self, entry: Entry) -> Entry:
        """Return what the viewer is told of an entry; who sees everything is told everything."""
        if self._eyes is None or not self._game.info.hidden:
            return entry
        if isinstance(entry, Moved | Flagged | Noted) and entry.seat != self._eyes:
            return Hidden(seq=entry.seq, at_ms=entry.at_ms)
        if isinstance(entry, Forfeited) and entry.seat != self._eyes:
            return entry.model_copy(update={"detail": ""})
        return entry

    def _apply(self, entry: Entry) -> bool:
        """Return whether the entry changed what is seen of the game."""
        match entry:
            case Moved():
                self._move(entry)
            case Flagged():
                return self._flag(entry)
            case Resigned(seat=seat):
                self._drop(seat)
            case Forfeited(seat=seat, cause=cause):
                self._abandon() if cause is Cause.ABANDONED else self._drop(seat)
            case Aborted():
                self._over = True
            case _:
                return False
        return True

    def _move(self, entry: Moved) -> None:
        self._check_turn(entry)
        self._play.apply(self._game.Move.read(entry.action))
        self._ply += 1
        self._charge(entry)

    def _check_turn(self, entry: Moved | Flagged) -> None:
        if (entry.ply, entry.seat) != (self._ply, self.to_act):
            raise GameError(
                f"expected ply {self._ply} of seat {self.to_act}, "
                f"not ply {entry.ply} of seat {entry.seat}"
            )

    def _charge(self, entry: Moved) -> None:
        if self._clocks is None:
            return
        control, clock = self._setup.time_control, self._clocks[entry.seat]
        left = clockface.spend(control, clock, entry.elapsed_ms - entry.allowance_ms)
        self._set_clock(entry.seat, clockface.flagged(control) if self._flagged else left)
        self._flagged = False

    def _flag(self, entry: Flagged) -> bool:
        """Let a flag fall; where the game skips the turn then, that is all that happens in it."""
        self._set_clock(entry.seat, Clock())
        self._flagged = self._game.info.on_flag != "skip"
        if self._flagged:
            return False
        self._check_turn(entry)
        self._play.skip()
        self._ply += 1
        self._set_clock(entry.seat, clockface.flagged(self._setup.time_control))
        return True

    def _set_clock(self, seat: int, clock: Clock) -> None:
        if self._clocks is not None:
            self._clocks = [*self._clocks[:seat], clock, *self._clocks[seat + 1 :]]

    def _drop(self, seat: int) -> None:
        self._play.drop(seat)
        self._over = not self._game.info.drops
        self._flagged = False

    def _abandon(self) -> None:
        for seat in range(len(self._setup.seats)):
            if self._play.to_act != OVER:
                self._play.drop(seat)
        self._over = True
