"""The champion: for each number of seats, the search that has measured strongest.

Between two, what one gains the other loses, and alpha-beta looks furthest. With more seats nobody
can be relied on to answer, and trying lines of play out with everybody going for its own does best,
as the literature has it for Monte Carlo tree search with the max^n policy in the tree. The events
``chinese-checkers-champion-*`` in `benchmarks/strength/` measure it against the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_bots.experts.subject import other_game
from kibitz_bots.search.alphabeta import AlphaBeta
from kibitz_bots.search.found import Found
from kibitz_bots.search.limits import Limits
from kibitz_bots.search.mcts import Mcts
from kibitz_games.api import GameInfo
from kibitz_games.chinese_checkers import rules


class Champion:
    """The search for so many seats; `table` is its memory in MiB, in each match."""

    def __init__(self, state: np.record, *, table: int = 16) -> None:
        between_two = int(state["seats"]) == 2
        self._search: Any = (
            AlphaBeta(state, table=table) if between_two else Mcts(state, table=table)
        )

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why it cannot play a game, or None if it can."""
        return other_game(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record, limits: Limits) -> Found:
        """Return what the search for so many seats finds."""
        found: Found = self._search.search(state, ev, limits)
        return found
