"""A position of any game on which moves can be played and taken back, like a chess library's board.

Bots, replays, clients, training and tests use it. It has no clocks; the server has a match state of
its own that adds them. ::

    position = Position(registry.get("number-merge"), seed=7)
    while position.outcome is None:
        position.push(position.legal[0])
    position.pop()
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

from kibitz_games.core.game import TERMINAL, Game, IllegalAction, Json, Model, Outcome, State
from kibitz_games.core.integers import integer
from kibitz_games.core.scene import Scene
from kibitz_games.core.text_view import scene_text


@dataclass(frozen=True, slots=True)
class Played:
    """The seat to act played this action."""

    seat: int
    action: int


@dataclass(frozen=True, slots=True)
class Forfeited:
    """A seat left the match."""

    seat: int


HistoryEntry: TypeAlias = Played | Forfeited


@dataclass
class Position:
    """A game state and the actions that led to it.

    `options` and `seats` default to the game's defaults; `deal`, the random part of the setup, is
    drawn from `seed` unless given. Raises `InvalidSetup`. A position may also start in the middle
    of a match: see `from_state` and `from_view`.

    Actions are the small integers of `Game.legal`; `push_move` also accepts wire moves and moves as
    people write them. The position has the only reference to `state`, so a search may change it in
    place as long as it restores it.
    """

    game: Game
    options: Model | None = None
    seats: int | None = None
    seed: int = 0
    deal: Mapping[str, Json] | None = None
    history: list[HistoryEntry] = field(default_factory=list, init=False)
    """The actions since the first state, oldest first; `push` appends and `pop` removes."""

    def __post_init__(self) -> None:
        self.options = self.game.Options() if self.options is None else self.options
        self.seats = self.game.info.seats[0] if self.seats is None else self.seats
        if self.deal is None:
            self.deal = self.game.deal(self.options, self.seats, self.seed)
        self.state: State = self.game.start(self.options, self.seats, self.deal)

    @classmethod
    def from_state(cls, game: Game, state: State) -> Self:
        """Return a position with a copy of `state`; its `options` and `deal` are unknown (None)."""
        made = cls.__new__(cls)
        made.game, made.options, made.seed, made.deal = game, None, 0, None
        made.seats, made.state, made.history = int(state["seats"]), state.copy(), []
        return made

    @classmethod
    def from_view(cls, game: Game, view: Model, seed: int = 0) -> Self:
        """Return a position that is consistent with a view: the actual one if nothing is hidden.

        In a game with hidden information, the hidden part is drawn from `seed`; different seeds
        give different positions that the viewer cannot distinguish.
        """
        return cls.from_state(game, game.sample(view, seed))

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, with options as JSON: option classes of earlier rules cannot be
        pickled.
        """
        options = None if self.options is None else self.options.to_wire()
        return vars(self) | {"options": options}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)
        if fields["options"] is not None:
            self.options = self.game.Options.model_validate(fields["options"])

    def copy(self) -> Self:
        """Return an independent copy, with its own state and history."""
        made = self.from_state(self.game, self.state)
        made.options, made.seats, made.seed, made.deal = (
            self.options,
            self.seats,
            self.seed,
            self.deal,
        )
        made.history = self.history.copy()
        return made

    @property
    def to_act(self) -> int:
        """The seat to act, or `TERMINAL` (-1) when the match is over."""
        return self.game.to_act(self.state)

    @property
    def legal(self) -> list[int]:
        """The legal actions in a fixed order, empty exactly when the match is over."""
        return self.game.legal(self.state)

    @property
    def outcome(self) -> Outcome | None:
        """The ranks, scores and reason for the end, or None until the match is over."""
        return self.game.outcome(self.state)

    @property
    def key(self) -> int:
        """The 64-bit hash of the position and the seat to act (Zobrist key)."""
        return int(self.state["key"])

    def push(self, action: int) -> None:
        """Play a legal action. It is not checked: the behavior for any other action is undefined.

        Raises `TypeError` if `action` is not an integer (see `integers.integer`).
        """
        number = integer(action)
        if number is None:
            raise TypeError(f"expected an action such as position.legal[0], not {action!r:.80}")
        action, seat = number, self.to_act
        self.game.play(self.state, action)
        self.history.append(Played(seat, action))

    def push_move(self, move: Model | str) -> int:
        """Play a move from the wire or as a person writes it, and return its action.

        Raises `IllegalAction` and changes nothing if the move cannot be parsed or is illegal.
        """
        wire = self.game.notation.parse(move) if isinstance(move, str) else move
        action = self.game.decode(self.state, wire)
        self.push(action)
        return action

    def pop(self) -> int:
        """Take back the last action and return it.

        Raises `IllegalAction` if no action was played, or if a seat has left since, which cannot be
        undone.
        """
        match self.history[-1:]:
            case [Played(action=action)]:
                self.game.undo(self.state, action)
                self.history.pop()
                return action
            case _:
                raise IllegalAction("no action to take back")

    def skip(self) -> None:
        """Skip the turn as if time had run out, in a game whose `on_flag` is ``skip``."""
        self.push(self.game.skip(self.state))

    def forfeit(self, seat: int) -> None:
        """Remove a seat from the match; this cannot be undone."""
        self.game.forfeit(self.state, seat)
        self.history.append(Forfeited(seat))

    def replay(self, entries: Iterable[HistoryEntry]) -> None:
        """Repeat the history of another position with the same first state."""
        for entry in entries:
            match entry:
                case Played(action=action):
                    self.push(action)
                case Forfeited(seat=seat):
                    self.forfeit(seat)

    def move(self, action: int) -> Model:
        """Return the wire move for an action."""
        move: Model = self.game.encode(self.state, action)
        return move

    def format(self, action: int) -> str:
        """Return an action as a person writes it."""
        return self.game.notation.format(self.move(action))

    def view(self, seat: int | None = None) -> Model:
        """Return the view of a seat or the public."""
        view: Model = self.game.view(self.state, seat)
        return view

    def scene(self, seat: int | None = None) -> Scene:
        """Return the scene for a seat or the public."""
        return self.game.scene(self.view(seat))

    def text_view(self, seat: int | None = None) -> str:
        """Return the view of a seat or the public as text."""
        return scene_text(self.scene(seat))

    def random_playout(self, source: random.Random) -> Outcome:
        """Play a copy to the end with uniformly random legal actions, and return the outcome.

        This position does not change. Every match ends within `GameInfo.max_plies`.
        """
        game, state = self.game, self.state.copy()
        while game.to_act(state) != TERMINAL:
            game.play(state, source.choice(game.legal(state)))
        outcome = game.outcome(state)
        assert outcome is not None, "a finished match has an outcome"
        return outcome
