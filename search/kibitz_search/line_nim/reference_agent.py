"""The player from the assignment: random moves first, then alpha-beta, 5 to 10 plies deep.

It follows the report "AI Capstone assignment2" (NYCU, spring 2023). While there are more than
`CROWDED` moves, it plays a random move. After that, it searches 5 plies deep, and deeper while time
allows, up to `MAX_DEPTH`. At the maximum depth, if only isolated cells remain, their parity
determines the winner; other leaves have the value 0. The moves are shuffled, and the first of
several equal moves is played, where earlier wins and later losses are better.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_games.line_nim import rules
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult, root_moves
from kibitz_search.algorithms.support import one_game_only

CROWDED = 22
MIN_DEPTH, MAX_DEPTH = 5, 10
PARITY = kernels.record_type("line_nim_parity", [("decided", np.float64)], source=__file__)

i64 = kernels.int64_cast()


@kernel
def isolated(st: op.Record) -> Any:
    """Return whether no free cell has a free neighbor."""
    for cell in range(rules.WALL):
        if st.board[cell] != rules.FREE:
            continue
        for d in range(6):
            if st.board[rules.NEAR[cell * 6 + d]] == rules.FREE:
                return False
    return True


@kernel
def _evaluate(ev: op.Record, st: op.Record, seat: Int) -> Any:
    """Return the value of a leaf for the seat that moved last, 0 for the other seat."""
    if st.side == seat or not isolated(st):
        return 0.0
    return ev.decided if i64(st.free) & 1 else -ev.decided


op.implement(PARITY, evaluate=_evaluate)


def parity(state: np.record) -> np.record:
    """Return the evaluation record; a win is worth less than one that was searched to the end."""
    ev: np.record = kernels.new(PARITY)
    ev["decided"] = WIN_SCORE - rules.WALL
    return ev


class ReferenceAgent(Minimax):
    """The player from the assignment; keeps its workspace between turns.

    With more than `crowded` legal moves, it plays at random.
    """

    max_depth = MAX_DEPTH
    second_depth = MIN_DEPTH

    def __init__(self, state: np.record, *, crowded: int = CROWDED) -> None:
        super().__init__(state, prune=True)
        self._crowded = crowded
        self._ev = parity(state)
        # Compile now, because the first searches only play at random.
        super().search(state, self._ev, SearchLimits(depth=1))

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record | None, limits: SearchLimits) -> SearchResult:
        """Return the chosen move; the seed determines the order of moves.

        `state` must not be terminal and is not modified. `ev` is not used, because the player has
        an evaluation of its own.
        """
        actions = root_moves(state, limits.seed, limits.excluded)
        if len(actions) > self._crowded:
            return SearchResult(actions[0], 0.0, 0, 0, (actions[0],))
        found = super().search(state, self._ev, limits)
        return replace(found, value=WIN_SCORE * float(np.sign(found.value)))

    def _is_final(self, best: SearchResult) -> bool:
        return best.value != 0.0 or super()._is_final(best)
