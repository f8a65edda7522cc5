"""Chinese Checkers for two to six, with the rules of `rules` on the boards of `geometry`."""

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
from kibitz_games.chinese_checkers import drawing, rules, wire
from kibitz_games.chinese_checkers.wire import Move, Options, View
from kibitz_games.kernels import box, lay
from kibitz_games.scene import Scene

_M = TypeVar("_M", bound=Model)


class ChineseCheckers(Game):
    """The race of pegs into the opposite triangle."""

    info: ClassVar[GameInfo] = GameInfo(
        name="chinese-checkers",
        title="Chinese Checkers",
        summary="Hop your pegs across the star into the opposite corner; two to six players.",
        rules_version=2,
        seats=(2, 3, 4, 5, 6),
        max_plies=rules.MAX_PLIES,
    )
    earlier: ClassVar[Mapping[int, Mapping[str, Json]]] = {
        # Everybody's pegs filled a goal, and a repetition was ranked by distance.
        1: {"win": "any", "repetition": "adjudicate"},
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
        moves = np.empty(rules.WIDEST, np.int32)
        count = rules.generate_in(box(state), lay(moves))
        return sorted(moves[:count].tolist())

    def play(self, state: State, action: int) -> None:
        rules.play_in(box(state), action)

    def undo(self, state: State, action: int) -> None:
        rules.undo_in(box(state), action)

    def drop(self, state: State, seat: int) -> None:
        """Take `seat` out; nothing changes for one that has finished, has dropped, or is last."""
        if not 0 <= seat < int(state["seats"]):
            raise GameError(f"there is no seat {seat}")
        if int(state["side"]) != OVER and int(state["rank"][seat]) == 0:
            rules.drop(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        if int(state["side"]) != OVER:
            return None
        seats = int(state["seats"])
        ranks, scores = np.zeros(rules.SEATS, np.int32), np.zeros(rules.SEATS)
        rules.ranks(state, ranks)
        rules.returns(state, scores)
        reason = rules.REASONS[int(state["end"])]
        return Outcome(tuple(ranks[:seats].tolist()), tuple(scores[:seats].tolist()), reason)

    def view(self, state: State, seat: int | None) -> wire.View:
        return wire.view(state)

    def full_view(self, state: State) -> wire.View:
        return wire.view(state)

    def sample(self, view: Model, seed: int) -> State:
        return wire.restore(_as(View, view))

    def decode(self, state: State, move: Model) -> int:
        return wire.decode(state, _as(Move, move))

    def encode(self, state: State, action: int) -> wire.Move:
        return wire.encode(int(state["holes"]), action)

    def moves(self, state: State, actions: Sequence[int]) -> list[dict[str, Any]]:
        holes = int(state["holes"])
        return [_travelling(holes, action) for action in actions]

    def text(self, move: Model) -> str:
        return wire.text(_as(Move, move))

    def parse(self, text: str) -> wire.Move:
        return wire.parse(text)

    def touches(self, move: Model) -> tuple[str, ...]:
        chosen = _as(Move, move)
        return () if chosen.passing else (str(chosen.source), str(chosen.target))

    def scene(self, view: Model) -> Scene:
        return drawing.scene(_as(View, view))

    def actions(self, state: State) -> int:
        return int(state["holes"]) ** 2 + 1

    def features(self, view: Model, seat: int) -> Features:
        """Return two planes a seat over the holes: its pegs, and its goal."""
        return wire.features(_as(View, view), seat)

    def dump(self, model: Model) -> dict[str, Any]:
        return wire.dump(model) if isinstance(model, View) else super().dump(model)


def _as(kind: type[_M], model: Model) -> _M:
    """Check that a model is this game's own."""
    if not isinstance(model, kind):
        raise TypeError(f"expected a {kind.__name__} of chinese-checkers, not {model!r}")
    return model


@functools.cache
def _travelling(holes: int, action: int) -> dict[str, Any]:
    """Return a move as it travels; every turn lists dozens, so each is made once."""
    return GAME.dump(wire.encode(holes, action))


GAME = ChineseCheckers()
