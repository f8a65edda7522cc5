"""Chinese Checkers for two to six players. `rules` has the rules, `geometry` the boards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kibitz_games.chinese_checkers import models, render, rules, text
from kibitz_games.chinese_checkers.models import Move, Options, View
from kibitz_games.compiled.text import text_of
from kibitz_games.core.game import Features, Game, GameInfo, Json, State


class ChineseCheckers(Game[Options, Move, View]):
    """Each player races their pegs to the opposite triangle."""

    info: ClassVar[GameInfo] = GameInfo(
        name="chinese-checkers",
        title="Chinese Checkers",
        summary="Move your pegs across the star to the opposite corner; two to six players.",
        rules_version=2,
        seats=(2, 3, 4, 5, 6),
        max_plies=rules.MAX_PLIES,
    )
    earlier_versions: ClassVar[Mapping[int, Mapping[str, Json]]] = {
        # In version 1, any pegs could fill a goal, and a repetition ranked players by distance.
        1: {"win": "any", "repetition": "adjudicate"},
    }
    state_type = rules.STATE
    decode = staticmethod(models.decode)
    scene = staticmethod(render.scene)
    notation = models.NOTATION
    reasons = rules.REASONS
    reason_texts: ClassVar[Mapping[str, str]] = {
        "goal": "by filling the goal",
        "repetition": "after a threefold repetition",
        "stall": "after 50 rounds without progress",
        "length": "at the ply limit",
    }

    def start(self, options: Options, seats: int, deal: Mapping[str, Json]) -> State:
        return models.start(options, seats)

    def legal(self, state: State) -> list[int]:
        return sorted(super().legal(state))

    def in_play(self, state: State, seat: int) -> bool:
        """Return whether a seat has neither finished nor left."""
        return int(state["rank"][seat]) == 0

    def view(self, state: State, seat: int | None) -> View:
        return models.view(state)

    def view_json(self, state: State, seat: int | None) -> bytes:
        return text_of(text.write_view, state, text.SIZE)

    def sample(self, view: View, seed: int) -> State:
        return models.state_from_view(view)

    def encode(self, state: State, action: int) -> Move:
        return models.encode(int(state["holes"]), action)

    def legal_json(self, state: State, most: int) -> tuple[bytes, int]:
        return models.legal_json(state, most)

    def features(self, view: View, seat: int) -> Features:
        """Return two planes per seat over the holes: its pegs and its goal."""
        return models.features(view, seat)


GAME = ChineseCheckers()
