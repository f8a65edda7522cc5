"""Five in a row for two: gomoku on boards of 5 to 20, freestyle or with exactly five."""

from __future__ import annotations

import random
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
from kibitz_games.five_in_a_row import drawing, rules, wire
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_games.five_in_a_row.wire import Move, Options, View
from kibitz_games.kernels import box, lay
from kibitz_games.scene import Scene

_M = TypeVar("_M", bound=Model)


class FiveInARow(Game):
    """Two colours of stones; five of one colour in an unbroken line win."""

    info: ClassVar[GameInfo] = GameInfo(
        name="five-in-a-row",
        title="Five in a row",
        summary="Put five of your stones in an unbroken line before the other does; for two.",
        rules_version=1,
        seats=(2,),
        on_flag="forfeit",
        balanced=True,
        max_plies=rules.MAX_PLIES,
        legal_rule="any empty cell; in a match with swap, the fourth turn is a colour instead",
    )
    Options: ClassVar[type[Model]] = Options
    Move: ClassVar[type[Model]] = Move
    View: ClassVar[type[Model]] = View

    def deal(self, options: Model, seats: int, seed: int) -> dict[str, Json]:
        """Draw the seat that begins, unless the options say it."""
        drawn = _as(Options, options).first == "random"
        return {"first": random.Random(seed).randrange(2)} if drawn else {}

    def start(self, options: Model, seats: int, deal: Mapping[str, Json]) -> State:
        return wire.start(_as(Options, options), seats, deal)

    def to_act(self, state: State) -> int:
        return int(state["side"])

    def legal(self, state: State) -> list[int]:
        moves = np.empty(rules.WIDEST, np.int32)
        count = rules.generate_in(box(state), lay(moves))
        actions: list[int] = moves[:count].tolist()
        return actions

    def count(self, state: State) -> int:
        return int(rules.count_in(box(state)))

    def play(self, state: State, action: int) -> None:
        rules.play_in(box(state), action)

    def undo(self, state: State, action: int) -> None:
        rules.undo_in(box(state), action)

    def drop(self, state: State, seat: int) -> None:
        """Take `seat` out, so that the other has won; nothing changes when the play is over."""
        if not 0 <= seat < 2:
            raise GameError(f"there is no seat {seat}; expected 0 or 1")
        if int(state["side"]) != OVER:
            rules.drop(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        if int(state["side"]) != OVER:
            return None
        reason, winner = rules.REASONS[int(state["end"])], int(state["winner"])
        if winner < 0:
            return Outcome((1, 1), (0.5, 0.5), reason)
        ranks = (1, 2) if winner == 0 else (2, 1)
        return Outcome(ranks, (float(winner == 0), float(winner == 1)), reason)

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
        return [wire.dump_move(wire.encode(action)) for action in actions]

    def text(self, move: Model) -> str:
        return wire.text(_as(Move, move))

    def parse(self, text: str) -> wire.Move:
        return wire.parse(text)

    def touches(self, move: Model) -> tuple[str, ...]:
        return (wire.text(_as(Move, move)),)

    def scene(self, view: Model) -> Scene:
        return drawing.scene(_as(View, view))

    def actions(self, state: State) -> int:
        return geo.CELLS

    def features(self, view: Model, seat: int) -> Features:
        """Return three planes over the board: own, the other's, and 1 with colours chosen."""
        return wire.features(_as(View, view), seat)

    def dump(self, model: Model) -> dict[str, Any]:
        return wire.dump(model) if isinstance(model, View) else super().dump(model)


def _as(kind: type[_M], model: Model) -> _M:
    """Check that a model is this game's own."""
    if not isinstance(model, kind):
        raise TypeError(f"expected a {kind.__name__} of five-in-a-row, not {model!r}")
    return model


GAME = FiveInARow()
