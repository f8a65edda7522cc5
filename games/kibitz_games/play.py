"""A play of a game as a small fold of entries: for replays, clients, training and tests.

The server has a fold of its own, with clocks and causes; this one knows only the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from kibitz_games.api import Game, IllegalAction, Json, Model, Outcome
from kibitz_games.scene import Scene


@dataclass(frozen=True, slots=True)
class Acted:
    """The seat to act did this."""

    seat: int
    action: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """A seat left the play."""

    seat: int


Entry: TypeAlias = Acted | Dropped


@dataclass
class Play:
    """One play; `entries` and the setup determine the state.

    `options` and `seats` default to the game's own defaults; `deal` is drawn from `seed` unless
    given. Raises `InvalidSetup`.
    """

    game: Game
    options: Model | None = None
    seats: int | None = None
    seed: int = 0
    deal: Mapping[str, Json] | None = None
    entries: list[Entry] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.options = self.game.Options() if self.options is None else self.options
        self.seats = self.game.info.seats[0] if self.seats is None else self.seats
        if self.deal is None:
            self.deal = self.game.deal(self.options, self.seats, self.seed)
        self.state = self.game.start(self.options, self.seats, self.deal)

    @property
    def to_act(self) -> int:
        """The seat to act, or `api.OVER`."""
        return self.game.to_act(self.state)

    @property
    def legal(self) -> list[int]:
        """The legal actions."""
        return self.game.legal(self.state)

    @property
    def outcome(self) -> Outcome | None:
        """The outcome, or None while the play goes on."""
        return self.game.outcome(self.state)

    def act(self, action: int) -> None:
        """Apply a legal action; behaviour is undefined for any other."""
        seat = self.to_act
        self.game.play(self.state, action)
        self.entries.append(Acted(seat, action))

    def apply(self, move: Model | str) -> int:
        """Apply a wire move, or its text, and return the action; raises `IllegalAction`."""
        wire = self.game.parse(move) if isinstance(move, str) else move
        action = self.game.decode(self.state, wire)
        self.act(action)
        return action

    def skip(self) -> None:
        """Let the turn pass as if the time had run out, in a game that skips then."""
        self.act(self.game.skip(self.state))

    def drop(self, seat: int) -> None:
        """Take a seat out of the play."""
        self.game.drop(self.state, seat)
        self.entries.append(Dropped(seat))

    def undo(self) -> None:
        """Take back the last entry, which must be an action."""
        match self.entries[-1:]:
            case [Acted(action=action)]:
                self.game.undo(self.state, action)
                self.entries.pop()
            case _:
                raise IllegalAction("there is no action to take back")

    def extend(self, entries: Iterable[Entry]) -> None:
        """Apply entries of another play of the same setup."""
        for entry in entries:
            match entry:
                case Acted(action=action):
                    self.act(action)
                case Dropped(seat=seat):
                    self.drop(seat)

    def view(self, seat: int | None = None) -> Model:
        """Return what a seat, or the public, may know."""
        return self.game.view(self.state, seat)

    def scene(self, seat: int | None = None) -> Scene:
        """Draw what a seat, or the public, may know."""
        return self.game.scene(self.view(seat))
