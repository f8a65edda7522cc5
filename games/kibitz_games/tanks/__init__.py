"""Tanks: four tanks in the fog. `rules` has the rules, `geometry` the board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kibitz_games.core.game import TERMINAL, Features, Game, GameInfo, Json, State
from kibitz_games.tanks import models, render, rules, sampling
from kibitz_games.tanks.models import Move, Options, View

_LEGAL = list(range(rules.UP, rules.FIRE + 1))


class Tanks(Game[Options, Move, View]):
    """Four tanks explore a board, see only a cone of it, and shoot at each other."""

    info: ClassVar[GameInfo] = GameInfo(
        name="tanks",
        title="Tanks",
        summary="Explore a board in the fog and shoot the tanks that you see; four players.",
        rules_version=2,
        seats=(4,),
        hidden=True,
        on_flag="skip",
        balanced=True,
        max_plies=rules.MAX_TURNS,
    )
    earlier_versions: ClassVar[Mapping[int, Mapping[str, Json]]] = {
        # In version 1, a destroyed tank stayed on local boards that showed it on another cell.
        1: {"memory": "also-destroyed"},
    }
    state_type = rules.STATE
    decode = staticmethod(models.decode)
    scene = staticmethod(render.scene)
    notation = models.NOTATION
    reasons = rules.REASONS
    reason_texts: ClassVar[Mapping[str, str]] = {"turns": "on points after the last turn"}

    def start(self, options: Options, seats: int, deal: Mapping[str, Json]) -> State:
        return models.start(options, seats)

    def legal(self, state: State) -> list[int]:
        return [] if int(state["side"]) == TERMINAL else _LEGAL.copy()

    def count_legal(self, state: State) -> int:
        return 0 if int(state["side"]) == TERMINAL else rules.MAX_ACTIONS

    def skip(self, state: State) -> int:
        return rules.SKIP

    def in_play(self, state: State, seat: int) -> bool:
        """Return whether a seat's tank is alive and the seat has not left."""
        return int(state["fell"][seat]) == 0 and int(state["left"][seat]) == 0

    def points(self, state: State) -> tuple[float, ...]:
        return tuple(float(rules.score(state, seat)) for seat in range(rules.SEATS))

    def view(self, state: State, seat: int | None) -> View:
        return models.view(state, rules.PUBLIC if seat is None else seat)

    def referee_view(self, state: State) -> View:
        return models.view(state, rules.REFEREE)

    def sample(self, view: View, seed: int) -> State:
        return sampling.sample(view, seed)

    def encode(self, state: State, action: int) -> Move:
        return models.encode(action)

    def features(self, view: View, seat: int) -> Features:
        """Return the viewer's map as eleven planes; see `models.features`."""
        return models.features(view, seat)


GAME = Tanks()
