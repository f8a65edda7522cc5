"""Number merge for two, with the rules of `rules`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from kibitz_games.api import (
    OVER,
    Features,
    Game,
    GameError,
    GameInfo,
    Json,
    Model,
    Outcome,
    State,
)
from kibitz_games.kernels import box
from kibitz_games.number_merge import drawing, rules, wire
from kibitz_games.number_merge.wire import Move, Options, View
from kibitz_games.scene import Scene

_M = TypeVar("_M", bound=Model)


class NumberMerge(Game):
    """The row of numbers that two players add up, neighbour by neighbour."""

    info: ClassVar[GameInfo] = GameInfo(
        name="number-merge",
        title="Number merge",
        summary="Add up neighbours in a row of numbers; sums above a threshold score; two players.",
        rules_version=1,
        seats=(rules.SEATS,),
        balanced=True,
        max_plies=rules.MAX_PLIES,
    )
    Options: ClassVar[type[Model]] = Options
    Move: ClassVar[type[Model]] = Move
    View: ClassVar[type[Model]] = View

    def deal(self, options: Model, seats: int, seed: int) -> dict[str, Json]:
        return wire.deal(_as(Options, options), seed)

    def start(self, options: Model, seats: int, deal: Mapping[str, Json]) -> State:
        return wire.start(_as(Options, options), seats, deal)

    def to_act(self, state: State) -> int:
        return int(state["side"])

    def legal(self, state: State) -> list[int]:
        return list(range(self.count(state)))

    def count(self, state: State) -> int:
        return 0 if int(state["side"]) == OVER else int(state["count"]) - 1

    def play(self, state: State, action: int) -> None:
        rules.play_in(box(state), action)

    def undo(self, state: State, action: int) -> None:
        rules.undo_in(box(state), action)

    def drop(self, state: State, seat: int) -> None:
        if not 0 <= seat < rules.SEATS:
            raise GameError(f"there is no seat {seat}")
        if int(state["side"]) != OVER:
            rules.drop(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        if int(state["side"]) != OVER:
            return None
        scores = np.zeros(rules.SEATS)
        rules.returns(state, scores)
        ranks = tuple(1 if score == scores.max() else 2 for score in scores)
        points = tuple(map(float, state["score"]))
        return Outcome(ranks, tuple(scores.tolist()), rules.REASONS[int(state["end"])], points)

    def view(self, state: State, seat: int | None) -> wire.View:
        return wire.view(state)

    def full_view(self, state: State) -> wire.View:
        return wire.view(state)

    def sample(self, view: Model, seed: int) -> State:
        return wire.restore(_as(View, view))

    def decode(self, state: State, move: Model) -> int:
        return wire.decode(state, _as(Move, move))

    def encode(self, state: State, action: int) -> wire.Move:
        return wire.encode(action)

    def moves(self, state: State, actions: Sequence[int]) -> list[dict[str, Any]]:
        return [_travelling(action) for action in actions]

    def text(self, move: Model) -> str:
        return wire.text(_as(Move, move))

    def parse(self, text: str) -> wire.Move:
        return wire.parse(text)

    def touches(self, move: Model) -> tuple[str, ...]:
        left = _as(Move, move).index
        return (str(left), str(left + 1))

    def scene(self, view: Model) -> Scene:
        return drawing.scene(_as(View, view))

    def actions(self, state: State) -> int:
        return rules.LONGEST - 1

    def features(self, view: Model, seat: int) -> Features:
        """Return the numbers as shares of their total, then the lead and the threshold."""
        return wire.features(_as(View, view), seat)


def _as(kind: type[_M], model: Model) -> _M:
    """Check that a model is this game's own."""
    if not isinstance(model, kind):
        raise TypeError(f"expected a {kind.__name__} of number-merge, not {model!r}")
    return model


@functools.cache
def _travelling(action: int) -> dict[str, Any]:
    """Return a move as it travels; every turn lists them all, so each is made once."""
    return GAME.dump(wire.encode(action))


GAME = NumberMerge()
