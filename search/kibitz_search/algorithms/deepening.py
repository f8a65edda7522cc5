"""Iterative deepening: the loop around the kernels of searches that look ahead depth by depth.

A search looks one ply ahead, then two, and so on, until the time is up: one compiled call a
depth. Each depth begins with the best move of the one before, so a depth that could not be
finished still counts as soon as that move is done with.

The exception is a move that has just been shown to lose when there is no time to look for a better
one. Then the search plays the most promising of the moves that were not shown to lose.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np

from kibitz_games.compiled.operations import Record
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult, root_moves
from kibitz_search.algorithms.timer import ThinkingTime, stop_timer


class IterativeDeepening(ABC):
    """A search that deepens; keeps its workspace from turn to turn.

    Subclasses implement `_search_depth`, which searches one depth, and `_is_final`, which returns
    whether a greater depth cannot change the result. ``ws.moves[0]`` gives the kernel the
    ``ws.roots`` root moves, best first. The kernel counts positions by `timer.count_nodes` and ends
    soon after ``ws.stop`` is set. A search that can prove losses writes upper bounds of the values
    of the first ``ws.finished`` moves to ``ws.bounds``.
    """

    max_depth: ClassVar[int]
    """The greatest depth."""
    lost_score: ClassVar[float] = -np.inf
    """The bound up to which a move counts as lost; `-inf` for searches without such bounds."""

    def __init__(self, ws: Record) -> None:
        self._ws = ws
        self._losing: set[int] = set()  # moves of the root that were shown to lose

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best move of the deepest search that the limits allow.

        `state` must not be over and is unchanged; `ev` is the evaluation's record for it. The first
        depth is always searched to its end, however short the time is and however few the nodes.
        """
        thinking = ThinkingTime(limits.seconds)
        st, ws, actions = state.copy(), self._ws, root_moves(state, limits.seed)
        ws.nodes = ws.stop = ws.most = 0
        ws.moves[0, : len(actions)], ws.roots = actions, len(actions)
        self._losing.clear()
        self._reset(st, ev)
        # The first depth runs to its end, so that there is an answer, however late it is.
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
        """Search depth after depth until the last, the time or the end of all lines is reached."""
        last = min(limits.depth or self.max_depth, self.max_depth)
        for depth in range(2, last + 1):
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
        """Remember which moves the last call of the kernel has shown to lose."""
        if self.lost_score > -np.inf:
            done = int(self._ws.finished)
            low = self._ws.bounds[:done] <= self.lost_score
            self._losing.update(self._ws.moves[0, :done][low].tolist())

    def _interrupted_result(self, result: SearchResult, before: SearchResult) -> SearchResult:
        """Return what to play when the last depth found something and was not finished."""
        if result.action not in self._losing:
            return result
        moves = self._ws.moves[0, : int(self._ws.roots)].tolist()
        left = (action for action in moves if action not in self._losing)
        if (action := next(left, None)) is None:
            return result
        return replace(before, action=action, line=(action,), values=())

    def _order_first(self, action: int) -> None:
        """Begin the next depth with a move; the others keep their order."""
        moves = self._ws.moves[0, : int(self._ws.roots)]
        moves[:] = [action, *(move for move in moves.tolist() if move != action)]

    def _reset(self, st: np.record, ev: np.record) -> None:  # noqa: B027 - some need nothing
        """Get ready for a position; `st` is at the root."""

    @abstractmethod
    def _search_depth(
        self, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        """Search one depth; it counts as smaller by one if it was not finished.

        Return what the depth `before` has found if this one has brought nothing to rely on.
        """

    @abstractmethod
    def _is_final(self, best: SearchResult) -> bool:
        """Return whether no greater depth can change what was found."""
