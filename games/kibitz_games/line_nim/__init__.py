"""Line-Nim: misère Nim on hexagons. `rules` has the rules, `maps` the start maps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kibitz_games.core.game import Features, Game, GameInfo, Json, State
from kibitz_games.line_nim import models, render, rules
from kibitz_games.line_nim.models import Move, Options, View


class LineNim(Game[Options, Move, View]):
    """Two players cross out lines of cells until one has to take the last cell and loses."""

    info: ClassVar[GameInfo] = GameInfo(
        name="line-nim",
        title="Line-Nim",
        summary="Cross out one to three hexagons in a line; taking the last loses; two players.",
        rules_version=1,
        seats=(2,),
        on_flag="random",
        balanced=True,
        max_plies=rules.MAX_PLIES,
        many_forms=True,
    )
    state_type = rules.STATE
    start = staticmethod(models.start)
    decode = staticmethod(models.decode)
    scene = staticmethod(render.scene)
    notation = models.NOTATION
    reasons = rules.REASONS
    reason_texts: ClassVar[Mapping[str, str]] = {
        "last cell": "by leaving the last cell to the opponent"
    }

    def deal(self, options: Options, seats: int, seed: int) -> dict[str, Json]:
        return models.deal(options, seed)

    def view(self, state: State, seat: int | None) -> View:
        return models.view(state)

    def sample(self, view: View, seed: int) -> State:
        return models.state_from_view(view)

    def encode(self, state: State, action: int) -> Move:
        return models.encode(action)

    def legal_json(self, state: State, most: int) -> tuple[bytes, int]:
        legal = self.legal(state)
        listed = len(legal) <= most
        return b"[%b]" % b",".join(map(models.move_json, legal)) if listed else b"", len(legal)

    def features(self, view: View, seat: int) -> Features:
        """Return two planes over the map, [y, x]: free cells, and crossed out cells."""
        return models.features(view, seat)


GAME = LineNim()
