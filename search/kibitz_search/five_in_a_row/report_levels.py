"""The levels of the report "5 in a Row - Tic Tac Toe": shallow minimax searches over `utility`.

The value of a line is the sum of the utilities of one side's moves minus those of the other side's
moves. It ends with a five, with a full board or at the maximum depth. The report calls its minimax
for a stone that is already placed, and at depth 0 it returns that stone's utility. Beginner is
depth 0, the stone only; intermediate looks 2 plies beyond the stone and advanced 4. Counting the
stone, this is 1, 3 and 5 plies.

The candidate stone is scored with both columns of the table, as in the report's first level. Later
stones of the line are scored with the first column only, for the side that places them. This is an
interpretation, because the report shows neither the function that scores these stones nor the loop
over them. With it, each level beats the one below it. With 2 and 4 plies in total, or with the
first column only, the second level does not clearly beat the first (figures in
`docs/explanation/experts.md`).

Alpha-beta pruning changes neither the value nor the set of best moves; the seed chooses one of
them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.core.game import GameInfo
from kibitz_games.five_in_a_row import rules
from kibitz_search.algorithms.deepening import update_pv
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult, root_moves
from kibitz_search.algorithms.support import one_game_only
from kibitz_search.algorithms.timer import ThinkingTime, count_nodes, stop_timer
from kibitz_search.five_in_a_row import pattern_board, swap_rule, utility
from kibitz_search.five_in_a_row.pattern_board import EMPTY, place_stone, remove_stone

i64 = kernels.int64_cast()

PLIES = 5
"""The depth of the report's deepest level."""
MAX_DEPTH = 8
MAX_SCORE = 10_000_000
"""An upper bound on the value of a line of `MAX_DEPTH` moves."""
FIVE = utility.FIVE


@kernel
def gain(fd: Record, ev: Record, cell: Int) -> Int:
    """Return the utility of a later stone on the line, for the side to move."""
    return i64(ev.own[fd.classes[fd.side, cell]])


@kernel
def mover_gain(fd: Record, ev: Record, cell: Int) -> Int:
    """Return the utility of a candidate stone, including what it denies the opponent."""
    me = i64(fd.side)
    if fd.stones == 0:
        middle = i64(fd.area) // 2 if fd.width % 2 == 1 else (i64(fd.area) + fd.width) // 2
        return i64(ev.centre) if cell == fd.cells[middle] else i64(0)
    own, other = fd.classes[me, cell], fd.classes[1 - me, cell]
    return max(i64(ev.own[own]), i64(ev.other[other]))


@kernel
def _sort_cells(fd: Record, ws: Record, ev: Record, ply: Int) -> Int:
    """Write the empty cells into ``ws.moves[ply]`` in order of decreasing utility."""
    moves, scores = ws.moves[ply], ws.scores[ply]
    n = i64(0)
    for i in range(fd.area):
        cell = i64(fd.cells[i])
        if fd.board[cell] == EMPTY:
            score = gain(fd, ev, cell)
            k = n
            while k > 0 and scores[k - 1] < score:
                moves[k], scores[k] = moves[k - 1], scores[k - 1]
                k -= 1
            moves[k], scores[k] = cell, score
            n += 1
    return n


@kernel
def _best_gain(fd: Record, ws: Record, ev: Record, ply: Int) -> Int:
    """Return the highest utility of a single move; 0 on a full board."""
    count_nodes(ws, i64(fd.area) - i64(fd.stones))
    if ws.stop != 0:
        return i64(0)
    best: Int = i64(-1)
    choice = i64(-1)
    for i in range(fd.area):
        cell = i64(fd.cells[i])
        if fd.board[cell] == EMPTY:
            score = gain(fd, ev, cell)
            if score > best:
                best, choice = score, cell
    ws.lengths[ply] = 0
    if choice < 0:
        return i64(0)
    ws.line[ply, 0] = choice
    ws.lengths[ply] = 1
    return best


@kernel
def best_sum(
    fd: Record, tb: Record, ws: Record, ev: Record, alpha: Int, beta: Int, depth: Int, ply: Int
) -> Int:
    """Return the best sum of utilities for the side to move in `depth` plies.

    The value is exact within (`alpha`, `beta`), otherwise a bound. The board must not be empty. The
    line is written to ``ws.line[ply]``.
    """
    if depth <= 1:
        return _best_gain(fd, ws, ev, ply)
    n = _sort_cells(fd, ws, ev, ply)
    ws.lengths[ply] = 0
    best = i64(-MAX_SCORE)
    me = i64(fd.side)
    for i in range(n):
        cell, score = i64(ws.moves[ply, i]), i64(ws.scores[ply, i])
        count_nodes(ws, i64(1))
        ws.lengths[ply + 1] = 0
        value = score
        if fd.classes[me, cell] != FIVE:
            place_stone(fd, tb, cell)
            # The condition is score - value > alpha, so the opponent's window is shifted by score.
            value -= best_sum(
                fd, tb, ws, ev, i64(score - beta), i64(score - alpha), i64(depth - 1), i64(ply + 1)
            )
            remove_stone(fd, tb, cell)
        if ws.stop != 0:
            return i64(0)
        if value > best:
            best = value
            update_pv(ws, ply, cell)
            alpha = max(i64(alpha), value)
            if value >= beta:
                return value
    return best if n > 0 else i64(0)


@kernel
def judge(fd: Record, tb: Record, ws: Record, ev: Record, cell: Int, depth: Int, least: Int) -> Int:
    """Return the value of the best line that starts with `cell`, or an upper bound below `least`.

    The rest of the line is written to ``ws.line[1]``.
    """
    count_nodes(ws, i64(1))
    ws.lengths[1] = 0
    score = mover_gain(fd, ev, cell)
    if depth <= 1 or fd.classes[fd.side, cell] == FIVE:
        return score
    place_stone(fd, tb, cell)
    rest = best_sum(fd, tb, ws, ev, i64(-MAX_SCORE), i64(score - least + 1), i64(depth - 1), i64(1))
    remove_stone(fd, tb, cell)
    return score - rest


class ReportLevel:
    """The search for one level, given by `plies`."""

    def __init__(self, state: np.record, *, plies: int = PLIES) -> None:
        st: Any = state
        self._plies = plies
        self._tb = utility.vocabulary(bool(st.exact))
        self._ws: Any = op.workspace(state, depth=MAX_DEPTH)
        pattern_board.compiled_board(int(st.width), bool(st.exact), self._tb)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best move at the level's depth, or at one ply if time runs out.

        `ev` is a `utility.UTILITIES` record; a depth limit other than 0 replaces the level's plies.
        `state` must not be terminal and is not modified.
        """
        plies = min(limits.depth or self._plies, MAX_DEPTH)
        self._ws.nodes, self._ws.most = 0, limits.nodes
        with stop_timer(self._ws, ThinkingTime(limits.seconds).deadline, limits.cancelled):
            if swap_rule.applies(state):
                return self._swapped(state, ev, limits.seed, plies)
            fd = pattern_board.from_state(state, self._tb)
            reached, value, cells = self._choose(fd, ev, plies, _cells(fd, state, limits.seed))
        actions = pattern_board.actions_of(fd, cells)
        return SearchResult(actions[0], float(value), reached, int(self._ws.nodes), actions)

    def _choose(
        self, fd: np.record, ev: np.record, plies: int, cells: list[int]
    ) -> tuple[int, int, tuple[int, ...]]:
        """Return the depth, value and line of the best of `cells`, the first in a tie.

        If time runs out, only the cells tried so far count. The most promising cells are tried
        first, so the result is never worse than the best cell at one ply.
        """
        glance = max(cells, key=lambda cell: int(mover_gain(fd, ev, np.int64(cell))))
        quick = (1, int(mover_gain(fd, ev, np.int64(glance))), (glance,))
        if plies == 1:
            self._ws.nodes += len(cells)
            return quick
        found, value, tried = self._deep(fd, ev, plies, cells)
        if tried == len(cells):
            return plies, value, found
        return (1, value, found) if tried else quick

    def _deep(
        self, fd: np.record, ev: np.record, plies: int, cells: list[int]
    ) -> tuple[tuple[int, ...], int, int]:
        """Return the line and value of the best of `cells`, and the number of cells tried.

        The most promising cells are tried first; in a tie, the first of `cells` is best.
        """
        order = sorted(cells, key=lambda cell: -int(mover_gain(fd, ev, np.int64(cell))))
        best, line, place, tried = -MAX_SCORE, (cells[0],), 0, 0
        for cell in order:
            # A move as good as the best so far needs an exact value, so that ties are recognized.
            at, least = np.int64(cell), np.int64(best)
            value = int(judge(fd, self._tb, self._ws, ev, at, np.int64(plies), least))
            if self._ws.stop:
                break
            tried += 1
            if value > best or (value == best and cells.index(cell) < place):
                best, place = value, cells.index(cell)
                line = (cell, *self._ws.line[1, : int(self._ws.lengths[1])].tolist())
        if 0 < tried < len(order) and best < -int(ev["own"][FIVE]) // 2:  # the opponent wins
            return (order[tried],), best, tried
        return line, best, tried

    def _swapped(
        self, state: np.record, ev: np.record, seed: int | str, plies: int
    ) -> SearchResult:
        """Choose an action in a swap opening by searching the positions after it."""

        def judged(position: np.record, depth: int) -> float | None:
            fd = pattern_board.from_state(position, self._tb)
            ahead = min(depth, plies) or plies
            _, value, _ = self._choose(fd, ev, ahead, _cells(fd, position, seed))
            return None if self._ws.stop and depth else float(value)

        action, value = swap_rule.choose(state, judged, seed)
        return SearchResult(action, value, plies, int(self._ws.nodes), (action,))


def _cells(fd: np.record, state: np.record, seed: int | str) -> list[int]:
    """Return the empty cells, shuffled by `seed`."""
    board: Any = state
    if board.unsettled:  # the legal actions are colors now; cells follow after the choice
        board = state.copy()
        op.play(board, rules.TAKE_BLACK)
    return [pattern_board.cell_of(fd, action) for action in root_moves(board, seed)]
