"""IDDFS: iterative deepening over one's own moves only, as in "Fun With Chinese Checkers".

The search assumes that the other seats do not move (`operations.set_side_to_move`). It therefore
finds much longer paths to the goal than a search in which opponents move, but does not foresee that
they may block these paths. Among equal outcomes it prefers the earliest. Otherwise it might never
finish: a win in two moves would be as good as a win in one, and on the next turn it would find
another win in two. Plans never return to a previous position: such detours gain nothing, and
because the others do not move, the rules would detect repetitions that do not occur in a real
match.

A plan that ends the game has the value of its result (`terminal.Standing`). A draw counts as the
mean evaluation of the other seats at the root.

A longer plan nearly always has a higher value than a shorter one, so plans of an unfinished depth
must not be compared with those of earlier depths. Each depth starts with the first move of the best
plan so far, and its result is used only once that move has been searched. The report's bot does
compare them: it keeps one best plan over all depths, and therefore plays whichever move the
unfinished depth happened to search first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.deepening import IterativeDeepening
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult
from kibitz_search.algorithms.terminal import final_share, standing
from kibitz_search.algorithms.timer import count_nodes

MAX_DEPTH = 15
"""The maximum length of a plan, in the player's own moves."""


@kernel
def _explore(st: op.Record, ws: op.Record, ev: op.Record, seat: Int, limit: Int, depth: Int) -> Any:
    """Evaluate all plans of up to `limit` moves that start with the `depth` moves in
    ``ws.line[1]``.

    ``ws.best``, ``ws.best_depth`` and ``ws.line[0]`` contain the best plan so far, and
    ``ws.best_share`` its result (a share, or nan if the game is not over). ``ws.been`` contains the
    keys of the positions on the current path. At depth 0, ``ws.moves[0]`` already contains the
    ``ws.roots`` moves in order of preference; ``ws.finished`` counts the completed ones.
    """
    moves = ws.moves[depth]
    n = np.int64(ws.roots)
    if depth > 0:
        n = np.int64(op.generate(st, moves))
    ws.been[depth] = st.key
    for i in range(n):
        if ws.stop != 0:
            break
        m = np.int64(moves[i])
        ws.line[1, depth] = m
        op.play(st, m)
        count_nodes(ws, np.int64(1))
        value = op.evaluate(ev, st, seat)
        over = op.terminal(st)
        share = np.nan
        if over and abs(value) < WIN_SCORE:
            share = final_share(st, seat, ws.values[0])
            value = ws.level + WIN_SCORE * (2.0 * share - 1.0 - ws.par)
        if value > ws.best or (value == ws.best and depth < ws.best_depth):
            ws.best = value
            ws.best_share = share
            ws.best_depth = depth
            for k in range(depth + 1):
                ws.line[0, k] = ws.line[1, k]
        if depth + 1 < limit and not over and value < WIN_SCORE:
            turn = np.int64(op.set_side_to_move(st, seat))
            fresh = True
            for k in range(depth + 1):
                fresh = fresh and ws.been[k] != st.key
            if fresh:
                _explore(st, ws, ev, seat, limit, np.int64(depth + 1))
            op.set_side_to_move(st, turn)
        op.undo(st, m)
        if depth == 0 and ws.stop == 0:
            ws.finished += 1
    return np.int64(0)


class Iddfs(IterativeDeepening):
    """A search for one player's shortest plan; its depth counts only that player's moves.

    The seed breaks ties between equal plans of equal length. `state` is the first state of the
    match and determines the size of the workspace. The game must allow skipping turns: see
    `supports`.
    """

    max_depth = MAX_DEPTH

    def __init__(self, state: np.record) -> None:
        extra = [
            ("roots", np.int64),
            ("best", np.float64),
            ("best_depth", np.int64),
            ("best_share", np.float64),
            ("level", np.float64),
            ("par", np.float64),
            ("finished", np.int64),
            ("been", np.uint64, (MAX_DEPTH + 1,)),
        ]
        super().__init__(op.workspace(state, depth=MAX_DEPTH, extra=extra, source=__file__))

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        if not op.offers(state.dtype, "set_side_to_move"):
            return f"{info.name} does not allow skipping turns"
        return None

    def _reset(self, st: np.record, ev: np.record) -> None:
        self._standing = standing(st, ev, int(op.to_act(st)))
        self._ws.level, self._ws.par = self._standing.level, self._standing.par

    def _search_depth(
        self, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        ws = self._ws
        ws.finished, ws.best, ws.best_depth = 0, -np.inf, 0
        _explore(st, ws, ev, np.int64(op.to_act(st)), np.int64(depth), np.int64(0))
        if before is not None and not ws.finished:
            return before
        line = tuple(ws.line[0, : int(ws.best_depth) + 1].tolist())
        done = depth - int(ws.finished < ws.roots)
        share, value = float(ws.best_share), float(ws.best)
        if not np.isnan(share):
            value = self._standing.score(share)
        return SearchResult(line[0], value, done, int(ws.nodes), line, own_moves_only=True)

    def _is_final(self, best: SearchResult) -> bool:
        return best.value >= WIN_SCORE
