"""The player from the assignment: random moves first, then alpha-beta, 5 to 10 plies deep.

It follows the report "AI Capstone assignment2" (NYCU, spring 2023). While there are more than
`CROWDED` moves, it plays a random move. After that, it searches 5 plies deep, and deeper while time
allows, up to `MAX_DEPTH`. A won position has the value `ALL`. At the maximum depth, if only
isolated cells remain, their parity determines the winner, for a value of `NEARLY`; other leaves
have the value 0. The moves are shuffled, and the first of several equal moves is played.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_games.line_nim import rules
from kibitz_search.algorithms.deepening import IterativeDeepening
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult, root_moves
from kibitz_search.algorithms.support import one_game_only
from kibitz_search.algorithms.timer import count_nodes

CROWDED = 22
MIN_DEPTH, MAX_DEPTH = 5, 10
ALL, NEARLY = 100, 99

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
def _leaf(st: op.Record) -> Int:
    """Return the value of a leaf for the mover."""
    if not isolated(st):
        return np.int64(0)
    return np.int64(-NEARLY if i64(st.free) & 1 else NEARLY)


@kernel
def _value(st: op.Record, ws: op.Record, low: Int, high: Int, depth: Int, ply: Int) -> Any:
    """Return the alpha-beta value for the mover. At ply 0, ``ws.moves[0]`` must have the moves."""
    if st.side < 0:
        return np.int64(ALL)  # the opponent took the last cell
    if depth == 0:
        return _leaf(st)
    moves, n, floor = ws.moves[ply], np.int64(ws.roots), np.int64(low)
    if ply > 0:
        n = np.int64(op.generate(st, moves))
    for i in range(n):
        m = np.int64(moves[i])
        op.play(st, m)
        count_nodes(ws, np.int64(1))
        worth = -_value(
            st, ws, np.int64(-high), np.int64(-floor), np.int64(depth - 1), np.int64(ply + 1)
        )
        op.undo(st, m)
        if ws.stop != 0:
            break
        if ply == 0:
            ws.bounds[i] = worth
            ws.finished = i + 1
        if worth > floor:
            floor = worth
            ws.line[ply, 0] = m
        if floor >= high:
            break
    return np.int64(floor)


class ReferenceAgent(IterativeDeepening):
    """The player from the assignment; keeps its workspace between turns.

    With more than `crowded` legal moves, it plays at random.
    """

    max_depth = MAX_DEPTH
    second_depth = MIN_DEPTH
    lost_score = -NEARLY

    def __init__(self, state: np.record, *, crowded: int = CROWDED) -> None:
        self._crowded = crowded
        bounds = ("bounds", np.float64, (op.max_actions(state.dtype),))
        extra = [("roots", np.int64), ("finished", np.int64), bounds]
        super().__init__(op.workspace(state, depth=MAX_DEPTH, extra=extra, source=__file__))
        # Compile now, because the first searches only play at random.
        self._search_depth(state.copy(), state, 1, None)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record | None, limits: SearchLimits) -> SearchResult:
        """Return the chosen move; the seed determines the order of moves.

        `state` must not be terminal and is not modified.
        """
        actions = root_moves(state, limits.seed)
        if len(actions) > self._crowded:
            return SearchResult(actions[0], 0.0, 0, 0, (actions[0],))
        return super().search(state, state if ev is None else ev, limits)

    def _order_first(self, action: int) -> None:
        """Keep the order of the moves, because the first of several equal ones is played."""

    def _search_depth(
        self, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        """Search one depth; an interrupted one needs the best move of the previous depth."""
        ws = self._ws
        ws.finished, ws.line[0, 0] = 0, ws.moves[0, 0]
        low, high = np.int64(-ALL - 1), np.int64(ALL + 1)
        worth = int(_value(st, ws, low, high, np.int64(depth), np.int64(0)))
        if before is not None and before.action not in ws.moves[0, : int(ws.finished)]:
            return before
        action, done = int(ws.line[0, 0]), depth - int(ws.finished < ws.roots)
        value = WIN_SCORE if worth >= NEARLY else -WIN_SCORE if worth <= -NEARLY else float(worth)
        return SearchResult(action, value, done, int(ws.nodes), (action,))

    def _is_final(self, best: SearchResult) -> bool:
        return abs(best.value) == WIN_SCORE
