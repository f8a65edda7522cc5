"""Tanks: four of them in the fog, with the rules of `rules` on the board of `geometry`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from kibitz_games.api import OVER, Features, Game, GameError, GameInfo, Json, Model, Outcome, State
from kibitz_games.kernels import box
from kibitz_games.scene import Scene
from kibitz_games.tanks import drawing, rules, sampling, wire
from kibitz_games.tanks.wire import Move, Options, View

_M = TypeVar("_M", bound=Model)
_LEGAL = list(range(rules.UP, rules.FIRE + 1))
_MOVES = [move.model_dump(mode="json") for move in wire.MOVES]


class Tanks(Game):
    """Four tanks explore a board that each sees only a cone of, and shoot at each other."""

    info: ClassVar[GameInfo] = GameInfo(
        name="tanks",
        title="Tanks",
        summary="Explore a board in the fog and shoot whom you see; four players.",
        rules_version=2,
        seats=(4,),
        hidden=True,
        on_flag="skip",
        balanced=True,
        max_plies=rules.MAX_TURNS,
    )
    earlier: ClassVar[Mapping[int, Mapping[str, Json]]] = {
        # A tank that was destroyed stayed on the local boards that had it elsewhere.
        1: {"memory": "also-destroyed"},
    }
    Options: ClassVar[type[Model]] = Options
    Move: ClassVar[type[Model]] = Move
    View: ClassVar[type[Model]] = View

    def deal(self, options: Model, seats: int, seed: int) -> dict[str, Json]:
        return {}

    def start(self, options: Model, seats: int, deal: Mapping[str, Json]) -> State:
        return wire.start(_as(Options, options), seats)

    def to_act(self, state: State) -> int:
        return int(state["side"])

    def legal(self, state: State) -> list[int]:
        return [] if int(state["side"]) == OVER else _LEGAL.copy()

    def count(self, state: State) -> int:
        return 0 if int(state["side"]) == OVER else rules.WIDEST

    def play(self, state: State, action: int) -> None:
        rules.play_in(box(state), action)

    def undo(self, state: State, action: int) -> None:
        rules.undo_in(box(state), action)

    def skip(self, state: State) -> int:
        return rules.SKIP

    def drop(self, state: State, seat: int) -> None:
        """Take `seat` out; nothing changes for one whose tank is a wreck or that has dropped."""
        if not 0 <= seat < rules.SEATS:
            raise GameError(f"expected a seat from 0 to {rules.SEATS - 1}, not {seat}")
        acts = int(state["fell"][seat]) == 0 and int(state["left"][seat]) == 0
        if int(state["side"]) != OVER and acts:
            rules.drop(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        if int(state["side"]) != OVER:
            return None
        ranks, scores = np.zeros(rules.SEATS, np.int32), np.zeros(rules.SEATS)
        rules.ranks(state, ranks)
        rules.returns(state, scores)
        reason = rules.REASONS[int(state["end"])]
        points = tuple(float(rules.score(state, seat)) for seat in range(rules.SEATS))
        return Outcome(tuple(ranks.tolist()), tuple(scores.tolist()), reason, points)

    def view(self, state: State, seat: int | None) -> wire.View:
        return wire.view(state, rules.PUBLIC if seat is None else seat)

    def full_view(self, state: State) -> wire.View:
        return wire.view(state, rules.REFEREE)

    def sample(self, view: Model, seed: int) -> State:
        return sampling.sample(_as(View, view), seed)

    def decode(self, state: State, move: Model) -> int:
        return wire.decode(state, _as(Move, move))

    def encode(self, state: State, action: int) -> wire.Move:
        return wire.encode(action)

    def moves(self, state: State, actions: Sequence[int]) -> list[dict[str, Any]]:
        return [_MOVES[action - rules.UP] for action in actions]

    def text(self, move: Model) -> str:
        return _as(Move, move).action

    def parse(self, text: str) -> wire.Move:
        return wire.parse(text)

    def spellings(self, move: Model) -> tuple[str, ...]:
        return wire.spellings(_as(Move, move))

    def touches(self, move: Model) -> tuple[str, ...]:
        return (_as(Move, move).action,)

    def scene(self, view: Model) -> Scene:
        return drawing.scene(_as(View, view))

    def actions(self, state: State) -> int:
        return rules.FIRE + 1

    def features(self, view: Model, seat: int) -> Features:
        """Return the own map in eleven planes; see `wire.features`."""
        return wire.features(_as(View, view), seat)

    def dump(self, model: Model) -> dict[str, Any]:
        return wire.dump(model) if isinstance(model, View) else super().dump(model)


def _as(kind: type[_M], model: Model) -> _M:
    """Check that a model is this game's own."""
    if not isinstance(model, kind):
        raise TypeError(f"expected a {kind.__name__} of tanks, not {model!r}")
    return model


GAME = Tanks()
