"""Iterative deepening: the common loop of depth-limited searches.

A search looks one ply ahead, then two, and so on until time is up, with one compiled call per
depth. Each depth searches the best move of the previous depth first. Even an interrupted depth is
therefore useful, if it has completed that move.

If an interrupted depth has shown that this move loses and has found no better one, the search plays
the most promising move that was not shown to lose.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np

from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult, root_moves
from kibitz_search.algorithms.timer import ThinkingTime, stop_timer


@kernel
def update_pv(ws: Record, ply: Int, entry: Int) -> Int:
    """Store `entry`, followed by the best line at the next ply, as the best line at `ply`."""
    length = np.int64(ws.lengths[ply + 1])
    ws.line[ply, 0] = entry
    for k in range(length):
        ws.line[ply, k + 1] = ws.line[ply + 1, k]
    ws.lengths[ply] = length + 1
    return length


@kernel
def store_killer(ws: Record, ply: Int, m: Int) -> None:
    """Record that `m` caused a cutoff."""
    if ws.killers[ply, 0] != m:
        ws.killers[ply, 1] = ws.killers[ply, 0]
        ws.killers[ply, 0] = m


class IterativeDeepening(ABC):
    """A search with iterative deepening; keeps its workspace between turns.

    Subclasses implement `_search_depth`, which searches one depth, and `_is_final`, which returns
    whether a greater depth cannot change the result. ``ws.moves[0]`` contains the ``ws.roots`` root
    moves for the kernel, best first. The kernel counts positions with `timer.count_nodes` and
    returns soon after ``ws.stop`` is set. A search that can prove losses writes upper bounds of the
    values of the first ``ws.finished`` moves to ``ws.bounds``.
    """

    max_depth: ClassVar[int]
    """The maximum depth."""
    second_depth: ClassVar[int] = 2
    """The depth after the first, which is always 1; smaller if the limits allow less."""
    lost_score: ClassVar[float] = -np.inf
    """The value at or below which a move loses; `-inf` for searches without bounds."""

    def __init__(self, ws: Record) -> None:
        self._ws = ws
        self._losing: set[int] = set()  # root moves that were shown to lose

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best move of the deepest search that the limits allow.

        `state` must not be terminal and is not modified; `ev` is its evaluation record. The first
        depth is always completed, regardless of the limits on time and nodes.
        """
        thinking = ThinkingTime(limits.seconds)
        st, ws = state.copy(), self._ws
        actions = root_moves(state, limits.seed, limits.excluded)
        ws.nodes = ws.stop = ws.most = 0
        ws.moves[0, : len(actions)], ws.roots = actions, len(actions)
        self._losing.clear()
        self._reset(st, ev)
        # The first depth is always completed, so that there is a result.
        best = self._search_depth(st, ev, 1, None)
        limits.report(best)
        ws.most = limits.nodes
        used_up = 0 < limits.nodes <= int(ws.nodes)
        if len(actions) > 1 and not self._is_final(best) and not used_up:
            with stop_timer(ws, thinking.deadline, limits.cancelled):
                best = self._deepen(st, ev, limits, best)
        return replace(best, nodes=int(ws.nodes))

    def _deepen(
        self, st: np.record, ev: np.record, limits: SearchLimits, best: SearchResult
    ) -> SearchResult:
        """Search depth by depth until the maximum depth, a limit or a final result is reached."""
        last = min(limits.depth or self.max_depth, self.max_depth)
        for depth in range(max(2, min(self.second_depth, last)), last + 1):
            self._order_first(best.action)
            result = self._search_depth(st, ev, depth, best)
            self._note_losing_moves()
            if self._ws.stop:
                return self._interrupted_result(result, best)
            best = result
            limits.report(best)
            if self._is_final(best):
                break
        return best

    def _note_losing_moves(self) -> None:
        """Record which moves the last kernel call has shown to lose."""
        if self.lost_score > -np.inf:
            done = int(self._ws.finished)
            low = self._ws.bounds[:done] <= self.lost_score
            self._losing.update(self._ws.moves[0, :done][low].tolist())

    def _interrupted_result(self, result: SearchResult, before: SearchResult) -> SearchResult:
        """Return the result of an interrupted depth, avoiding moves that lose."""
        if result.action not in self._losing:
            return result
        moves = self._ws.moves[0, : int(self._ws.roots)].tolist()
        left = (action for action in moves if action not in self._losing)
        if (action := next(left, None)) is None:
            return result
        return replace(before, action=action, line=(action,), values=())

    def _order_first(self, action: int) -> None:
        """Put a move first for the next depth, keeping the order of the others."""
        moves = self._ws.moves[0, : int(self._ws.roots)]
        moves[:] = [action, *(move for move in moves.tolist() if move != action)]

    def _reset(self, st: np.record, ev: np.record) -> None:  # noqa: B027 - some need nothing
        """Prepare for a new search; `st` is the root."""

    @abstractmethod
    def _search_depth(
        self, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        """Search one depth; an interrupted search reports the depth before.

        Return `before`, the result of the previous depth, if this one has no usable result.
        """

    @abstractmethod
    def _is_final(self, best: SearchResult) -> bool:
        """Return whether a greater depth cannot change the result."""
