"""Pairs of plays of one game that a seat and the public cannot distinguish.

The seat plays the same moves in both. The other seats play differently in the two plays, as long as
the views of the seat and of the public remain equal, which is checked after every turn. If two
servers host these plays and send different bytes to the seat or the public, they leak information.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kibitz_games.core.game import TERMINAL, Game, IllegalAction, Json, Model, State

Wire: TypeAlias = dict[str, Any]
PlayedState: TypeAlias = tuple[State, str | None]
"""A state's views for the seat and the public; None if the game is over."""
Kind: TypeAlias = Literal["move", "skip", "drop"]
SKIP_SHARE = 0.25
"""The share of the others' turns that are skipped, in games that can skip turns."""


@dataclass(frozen=True)
class PairedTurn:
    """An action of `seat`: a move in each play, a skipped turn in both, or a drop-out."""

    kind: Kind
    seat: int
    moves: tuple[Wire, Wire] = ({}, {})
    illegal: tuple[Wire, ...] = ()
    """Moves that are legal somewhere in this game but not now."""


@dataclass(frozen=True)
class PlayPair:
    """Two unfinished plays that look the same to `seat`."""

    game: Game
    seats: int
    seat: int
    deals: tuple[Mapping[str, Json], Mapping[str, Json]]
    turns: tuple[PairedTurn, ...]
    turns_apart: int
    """The number of turns after which the states differed."""
    options: Model

    @property
    def different_turns(self) -> list[PairedTurn]:
        return [turn for turn in self.turns if turn.moves[0] != turn.moves[1]]


def draw_pair(
    game: Game,
    seats: int,
    seat: int,
    seed: int,
    *,
    plies: int,
    deals: tuple[Mapping[str, Json], Mapping[str, Json]] | None = None,
    options: Model | None = None,
) -> PlayPair:
    """Draw a pair of up to `plies` turns; both have the same deal unless two are given.

    Raises `AssertionError` if the seat's legal moves reveal hidden information.
    """
    chosen = game.Options() if options is None else options
    if deals is None:
        dealt = game.deal(chosen, seats, seed)
        deals = (dealt, dealt)
    return _PairBuilder(game, chosen, seats, seat, seed, deals).build(plies)


class _PairBuilder:
    def __init__(
        self,
        game: Game,
        options: Model,
        seats: int,
        seat: int,
        seed: int,
        deals: tuple[Mapping[str, Json], Mapping[str, Json]],
    ) -> None:
        self._game = game
        self._options = options
        self._seats = seats
        self._seat = seat
        self._deals = deals
        self._chance = random.Random(f"twins {seed}")
        self._states = [game.start(options, seats, deal) for deal in deals]
        self._moves_seen: dict[str, Wire] = {}
        """Moves that were legal at some time, by text."""

    def build(self, plies: int) -> PlayPair:
        first, second = self._states
        assert self._observation(first) == self._observation(second), (
            "the deals can be distinguished"
        )
        turns: list[PairedTurn] = []
        apart = 0
        while len(turns) < plies and (turn := self._turn()) is not None:
            turns.append(turn)
            apart += self._states[0].tobytes() != self._states[1].tobytes()
        turns += self._forfeit()
        seats, seat = self._seats, self._seat
        return PlayPair(self._game, seats, seat, self._deals, tuple(turns), apart, self._options)

    def _observation(self, state: State) -> str | None:
        """Return the views of the seat and the public as text; None if the game is over."""
        game = self._game
        if game.to_act(state) == TERMINAL:
            return None
        views = [game.view(state, viewer).to_wire() for viewer in (self._seat, None)]
        return json.dumps([game.to_act(state), views])

    def _played(self, state: State, action: int) -> PlayedState:
        played = state.copy()
        self._game.play(played, action)
        return played, self._observation(played)

    def _turn(self) -> PairedTurn | None:
        """Play one turn in both plays, if there are turns that look the same."""
        acting = self._game.to_act(self._states[0])
        if acting == self._seat:
            return self._own_move()
        return self._skipped_turn(acting) or self._other_move(acting)

    def _own_move(self) -> PairedTurn | None:
        """Play the same move in both plays."""
        game, (first, second) = self._game, self._states
        assert game.legal(first) == game.legal(second), "the legal moves reveal a secret"
        assert game.count_legal(first) == game.count_legal(second), (
            "the number of legal moves reveals a secret"
        )
        for action in self._shuffled(game.legal(first)):
            wire = self._wire(first, action)
            if self._accept([self._played(state, action) for state in self._states]):
                return PairedTurn("move", self._seat, (wire, wire), self._illegal_moves(first))
        return None

    def _skipped_turn(self, acting: int) -> PairedTurn | None:
        if self._game.info.on_flag != "skip" or self._chance.random() >= SKIP_SHARE:
            return None
        ends = [self._played(state, self._game.skip(state)) for state in self._states]
        return PairedTurn("skip", acting) if self._accept(ends) else None

    def _other_move(self, acting: int) -> PairedTurn | None:
        """Play a move in each play; different moves if they look the same."""
        choices = [self._moves_and_results(state) for state in self._states]
        pairs = sorted(itertools.product(*choices), key=lambda pair: pair[0][0] == pair[1][0])
        for (wire, end), (other_wire, other_end) in pairs:
            if self._accept([end, other_end]):
                return PairedTurn("move", acting, (wire, other_wire))
        return None

    def _moves_and_results(self, state: State) -> list[tuple[Wire, PlayedState]]:
        actions = self._shuffled(self._game.legal(state))
        return [(self._wire(state, action), self._played(state, action)) for action in actions]

    def _wire(self, state: State, action: int) -> Wire:
        wire: Wire = self._game.encode(state, action).to_wire()
        self._moves_seen[json.dumps(wire)] = wire
        return wire

    def _accept(self, ends: Sequence[PlayedState]) -> bool:
        (first, seen), (second, also) = ends
        if seen is None or seen != also:
            return False
        self._states = [first, second]
        return True

    def _shuffled(self, actions: list[int]) -> list[int]:
        return self._chance.sample(actions, len(actions))

    def _illegal_moves(self, state: State) -> tuple[Wire, ...]:
        """Return two moves that the game refuses in the current state."""
        refused: list[Wire] = []
        for key in self._chance.sample(sorted(self._moves_seen), min(40, len(self._moves_seen))):
            try:
                self._game.decode(state, self._game.Move.model_validate(self._moves_seen[key]))
            except IllegalAction:
                refused.append(self._moves_seen[key])
        return tuple(refused[:2])

    def _forfeit(self) -> list[PairedTurn]:
        """Drop another seat, if both plays then continue and still look the same."""
        if self._seats < 3 or not self._game.info.drops:
            return []
        for gone in self._shuffled([seat for seat in range(self._seats) if seat != self._seat]):
            ends = []
            for state in self._states:
                dropped = state.copy()
                self._game.forfeit(dropped, gone)
                ends.append((dropped, self._observation(dropped)))
            changed = all(
                s.tobytes() != e.tobytes() for s, (e, _) in zip(self._states, ends, strict=True)
            )
            if changed and self._accept(ends):
                return [PairedTurn("drop", gone)]
        return []
