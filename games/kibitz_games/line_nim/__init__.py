"""Line-Nim: the hexagonal misère Nim, with the rules of `rules` on the maps of `maps`."""

from __future__ import annotations

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
from kibitz_games.kernels import box, lay
from kibitz_games.line_nim import drawing, rules, wire
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim.wire import Move, Options, View
from kibitz_games.scene import Scene

_M = TypeVar("_M", bound=Model)


class LineNim(Game):
    """Lines of cells are crossed out until one of two players has to take the last cell."""

    info: ClassVar[GameInfo] = GameInfo(
        name="line-nim",
        title="Line-Nim",
        summary="Cross out one to three hexagons in a row; who takes the last one loses. For two.",
        rules_version=1,
        seats=(2,),
        on_flag="random",
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
        moves = np.empty(rules.WIDEST, np.int32)
        count = rules.generate_in(box(state), lay(moves))
        listed: list[int] = moves[:count].tolist()
        return listed

    def play(self, state: State, action: int) -> None:
        rules.play_in(box(state), action)

    def undo(self, state: State, action: int) -> None:
        rules.undo_in(box(state), action)

    def drop(self, state: State, seat: int) -> None:
        """Let the other seat win; nothing changes once the play is over."""
        if not 0 <= seat < rules.SEATS:
            raise GameError(f"expected seat 0 or 1, not {seat}")
        if int(state["side"]) != OVER:
            rules.drop(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        if int(state["side"]) != OVER:
            return None
        reason = rules.REASONS[int(state["end"])]
        lost = int(state["loser"])
        return Outcome((2, 1) if lost == 0 else (1, 2), (float(lost), 1.0 - lost), reason)

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
        return [wire.travelling(action) for action in actions]

    def text(self, move: Model) -> str:
        return wire.text(_as(Move, move))

    def parse(self, text: str) -> wire.Move:
        return wire.parse(text)

    def spellings(self, move: Model) -> tuple[str, ...]:
        return wire.spellings(_as(Move, move))

    def touches(self, move: Model) -> tuple[str, ...]:
        return wire.touches(_as(Move, move))

    def scene(self, view: Model) -> Scene:
        return drawing.scene(_as(View, view))

    def actions(self, state: State) -> int:
        return len(geo.LINES)

    def features(self, view: Model, seat: int) -> Features:
        """Return two planes over the map, [y, x]: cells that are free, and cells that are gone."""
        return wire.features(_as(View, view), seat)

    def dump(self, model: Model) -> dict[str, Any]:
        return wire.dump(model) if isinstance(model, View) else super().dump(model)


def _as(kind: type[_M], model: Model) -> _M:
    """Check that a model is this game's own."""
    if not isinstance(model, kind):
        raise TypeError(f"expected a {kind.__name__} of line-nim, not {model!r}")
    return model


GAME = LineNim()
