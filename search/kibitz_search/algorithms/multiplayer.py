"""The common part of the multiplayer searches: loop, move ordering and principal variations.

They use iterative deepening (`deepening`). In a kernel, `score_moves` lists the actions of a
position and `next_move` returns them one at a time, the most promising first. The first is the move
of the previous depth's line, followed by *killers* (refutations at the same ply). The others are
ordered by the evaluation's `move_prior`, or by the game's `move_score` if it has none.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.deepening import IterativeDeepening
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult

MAX_DEPTH = 24
"""The maximum depth of these searches, in plies."""
PV_BONUS, KILLER_BONUS = 2.0**40, 2.0**38
"""Bonuses for move ordering."""
WIDTHS = (0, 0, 3, 3, 3, 2, 2)
"""The best known widths by number of seats, tuned in Chinese Checkers with 2, 3, 4 and 6 seats at
20 ms per move; 5 seats use the same value as 6. A search reaches the player's second move only
after one ply per seat; to see that move is worth more than to see every reply."""


@kernel
def score_moves(st: Record, ws: Record, ev: Record, ply: Int) -> Int:
    """Write the actions of a position to ``ws.moves[ply]`` and their scores to
    ``ws.promises[ply]``.

    Return the number of actions to search: all, or at most ``ws.width``.
    """
    moves = ws.moves[ply]
    n = np.int64(op.generate(st, moves))
    ws.counts[ply] = n
    for i in range(n):
        m = np.int64(moves[i])
        promise = np.float64(op.move_prior(ev, st, m))
        if m == ws.plan[ply]:
            promise += PV_BONUS
        elif m == ws.killers[ply, 0]:
            promise += 2 * KILLER_BONUS
        elif m == ws.killers[ply, 1]:
            promise += KILLER_BONUS
        ws.promises[ply, i] = promise
    return min(n, np.int64(ws.width)) if ws.width > 0 else n


@kernel
def next_move(ws: Record, ply: Int, i: Int) -> Int:
    """Return action number `i` of a position, after moving the best remaining action there.

    At the root, the actions are already in order of preference.
    """
    if ply > 0:
        best = i
        for k in range(i + 1, np.int64(ws.counts[ply])):
            if ws.promises[ply, k] > ws.promises[ply, best]:
                best = k
        m, promise = ws.moves[ply, best], ws.promises[ply, best]
        for k in range(best, i, -1):  # keep the order of the others
            ws.moves[ply, k] = ws.moves[ply, k - 1]
            ws.promises[ply, k] = ws.promises[ply, k - 1]
        ws.moves[ply, i], ws.promises[ply, i] = m, promise
    return np.int64(ws.moves[ply, i])


@kernel
def store_killer(ws: Record, ply: Int, m: Int) -> None:
    """Record that `m` caused a cutoff."""
    if ws.killers[ply, 0] != m:
        ws.killers[ply, 1] = ws.killers[ply, 0]
        ws.killers[ply, 0] = m


@kernel
def update_pv(ws: Record, ply: Int, entry: Int) -> None:
    """Store `entry`, followed by the best line at the next ply, as the best line at `ply`."""
    ws.line[ply, ply] = entry
    for k in range(ply + 1, ws.lengths[ply + 1]):
        ws.line[ply, k] = ws.line[ply + 1, k]
    ws.lengths[ply] = max(np.int64(ply + 1), np.int64(ws.lengths[ply + 1]))


class MultiplayerSearch(IterativeDeepening):
    """A search for two or more seats.

    `width` limits the actions of each position below the root to the best by `move_prior`: 0 for no
    limit, None for the best known width (`WIDTHS`). A smaller width searches deeper, but misses
    actions.

    Subclasses implement `_run_kernel`, one call of their kernel. The kernel writes its result to
    the workspace: ``best`` and ``line[0]`` for the ``finished`` root moves, and upper bounds of
    their values in ``bounds``.
    """

    max_depth = MAX_DEPTH
    decided = WIN_SCORE / 2
    """From this value on, a win is certain, so the search stops deepening."""
    lost_score = -WIN_SCORE / 2

    def __init__(self, state: np.record, *, width: int | None = 0) -> None:
        actions = op.max_actions(state.dtype)
        extra: list[tuple[Any, ...]] = [
            ("promises", np.float64, (MAX_DEPTH + 2, actions)),  # scores of the moves
            ("roots", np.int64),  # number of actions at the root, in moves[0]
            ("finished", np.int64),  # number of completed root actions
            ("width", np.int64),  # maximum number of actions below the root, 0 for all
            ("counts", np.int64, (MAX_DEPTH + 2,)),  # actions of each position on the path
            ("open", np.int64),  # number of evaluated positions that are not terminal
            ("bounds", np.float64, (actions,)),
            ("best", np.float64),  # the best root value for the seat to act
            ("last", np.int64, (op.MAX_SEATS,)),  # the ply of each seat's last action
            ("plan", np.int32, (MAX_DEPTH + 2,)),  # the best line of the previous depth
            ("killers", np.int32, (MAX_DEPTH + 2, 2)),
            ("rivals", np.int64, (op.MAX_SEATS,)),  # the opponents, in searches that need them
            ("scale", np.float64),  # the scale for shares
        ]
        super().__init__(op.workspace(state, depth=MAX_DEPTH + 1, extra=extra, source=__file__))
        self._ws.width = WIDTHS[int(state["seats"])] if width is None else width

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        if info.hidden:
            return f"{info.name} has hidden information, which this search does not support"
        return None

    def _reset(self, st: np.record, ev: np.record) -> None:
        self._ws.plan[:] = self._ws.killers[:] = -1
        self._ws.last[:] = 0

    def _search_depth(
        self, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        ws = self._ws
        ws.finished, ws.open, ws.best = 0, 0, -np.inf
        self._run_kernel(st, ev, depth)
        if before is not None and not ws.finished:
            return before
        line = tuple(ws.line[0, : int(ws.lengths[0])].tolist())
        ws.plan[: len(line)] = [self._entry_action(entry) for entry in line]
        ws.plan[len(line) :] = -1
        done = depth - int(ws.finished < ws.roots)
        spoken, values = self._played_line(st, line), self._values(st)
        return SearchResult(spoken[0], float(ws.best), done, int(ws.nodes), spoken, values)

    def _is_final(self, best: SearchResult) -> bool:
        return best.value >= self.decided or not self._ws.open

    @abstractmethod
    def _run_kernel(self, st: np.record, ev: np.record, depth: int) -> None:
        """Search one depth from the root."""

    def _values(self, st: np.record) -> tuple[float, ...]:
        """Return the value of the position for each seat, if the search computes it."""
        return ()

    def _entry_action(self, entry: int) -> int:
        """Return the action in an entry of a best line."""
        return entry

    def _played_line(self, st: np.record, line: tuple[int, ...]) -> tuple[int, ...]:
        """Return the actions of a line as far as they follow the turn order."""
        return line
