"""Number merge for two players; `rules` has the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kibitz_games.core.game import TERMINAL, Features, Game, GameInfo, Json, State
from kibitz_games.number_merge import models, render, rules
from kibitz_games.number_merge.models import Move, Options, View


class NumberMerge(Game[Options, Move, View]):
    """Two players merge neighboring numbers in a row into their sums."""

    info: ClassVar[GameInfo] = GameInfo(
        name="number-merge",
        title="Number merge",
        summary="Merge neighboring numbers in a row; sums above a threshold score; two players.",
        rules_version=1,
        seats=(rules.SEATS,),
        balanced=True,
        max_plies=rules.MAX_PLIES,
    )
    state_type = rules.STATE
    start = staticmethod(models.start)
    decode = staticmethod(models.decode)
    scene = staticmethod(render.scene)
    notation = models.NOTATION
    reasons = rules.REASONS
    reason_texts: ClassVar[Mapping[str, str]] = {"merged": "with one number left"}

    def deal(self, options: Options, seats: int, seed: int) -> dict[str, Json]:
        return models.deal(options, seed)

    def legal(self, state: State) -> list[int]:
        return list(range(self.count_legal(state)))

    def count_legal(self, state: State) -> int:
        return 0 if int(state["side"]) == TERMINAL else int(state["count"]) - 1

    def points(self, state: State) -> tuple[float, ...]:
        return tuple(map(float, state["score"]))

    def view(self, state: State, seat: int | None) -> View:
        return models.view(state)

    def sample(self, view: View, seed: int) -> State:
        return models.state_from_view(view)

    def features(self, view: View, seat: int) -> Features:
        """Return the numbers divided by their total, then the lead and the threshold."""
        return models.features(view, seat)


GAME = NumberMerge()
