"""The common part of the searches for many seats: their loop, move ordering and principal lines.

They deepen (`deepening`). In a kernel `score_moves` lists the actions of a position and `next_move`
returns them one by one, the most promising first. First comes the move of the last depth's line,
then *killers* (refutations at the same ply). The others are ordered by the evaluation's learned
`move_prior`, or by the game's `move_score` if there is none.
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
"""The greatest depth of these searches, in plies."""
PV_BONUS, KILLER_BONUS = 2.0**40, 2.0**38
"""Bonuses in move ordering."""
WIDTHS = (0, 0, 3, 3, 3, 2, 2)
"""The widths that have served best, by the number of seats: tried in Chinese Checkers with 2, 3, 4
and 6 seats at a fiftieth of a second a move; 5 is taken to be like 6. To see a second move of
one's own takes as many plies as there are seats, and is worth more than to see every reply."""


@kernel
def score_moves(st: Record, ws: Record, ev: Record, ply: Int) -> Int:
    """List the actions of a position in ``ws.moves[ply]`` with what they promise.

    Return how many of them to look at: all, or the most promising ``ws.width``.
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
    """Return the action number `i` of a position, having moved the best of the rest there.

    At the root the actions stand in the order of preference already.
    """
    if ply > 0:
        best = i
        for k in range(i + 1, np.int64(ws.counts[ply])):
            if ws.promises[ply, k] > ws.promises[ply, best]:
                best = k
        m, promise = ws.moves[ply, best], ws.promises[ply, best]
        for k in range(best, i, -1):  # the rest keeps its order
            ws.moves[ply, k] = ws.moves[ply, k - 1]
            ws.promises[ply, k] = ws.promises[ply, k - 1]
        ws.moves[ply, i], ws.promises[ply, i] = m, promise
    return np.int64(ws.moves[ply, i])


@kernel
def store_killer(ws: Record, ply: Int, m: Int) -> None:
    """Remember that `m` made further actions needless."""
    if ws.killers[ply, 0] != m:
        ws.killers[ply, 1] = ws.killers[ply, 0]
        ws.killers[ply, 0] = m


@kernel
def update_pv(ws: Record, ply: Int, entry: Int) -> None:
    """Make `entry`, and the best line after it, the best line of `ply`."""
    ws.line[ply, ply] = entry
    for k in range(ply + 1, ws.lengths[ply + 1]):
        ws.line[ply, k] = ws.line[ply + 1, k]
    ws.lengths[ply] = max(np.int64(ply + 1), np.int64(ws.lengths[ply + 1]))


class MultiplayerSearch(IterativeDeepening):
    """A search for two seats and more.

    `width` limits the actions of each position after the root to the best by `move_prior`: 0 for no
    limit, None for the best known width (`WIDTHS`). A small width searches deeper, but misses
    actions.

    Subclasses implement `_run_kernel`, one call of their kernel. The kernel leaves its result in
    the workspace: ``best`` and ``line[0]`` over the ``finished`` root moves, and upper bounds of
    their values in ``bounds``.
    """

    max_depth = MAX_DEPTH
    decided = WIN_SCORE / 2
    """A value that no further depth can improve much."""
    lost_score = -WIN_SCORE / 2

    def __init__(self, state: np.record, *, width: int | None = 0) -> None:
        actions = op.max_actions(state.dtype)
        extra: list[tuple[Any, ...]] = [
            ("promises", np.float64, (MAX_DEPTH + 2, actions)),  # of moves, in the same order
            ("roots", np.int64),  # actions at the root, in moves[0]
            ("finished", np.int64),  # how many of them are done with
            ("width", np.int64),  # most actions to look at after the root, 0 for all
            ("counts", np.int64, (MAX_DEPTH + 2,)),  # actions of the positions on the way
            ("open", np.int64),  # positions that were judged though the play goes on
            ("bounds", np.float64, (actions,)),
            ("best", np.float64),  # what the best of them is worth to the seat to act
            ("last", np.int64, (op.MAX_SEATS,)),  # the ply of each seat's last action
            ("plan", np.int32, (MAX_DEPTH + 2,)),  # the best line of the depth before
            ("killers", np.int32, (MAX_DEPTH + 2, 2)),
            ("rivals", np.int64, (op.MAX_SEATS,)),  # whom some searches let reply
            ("scale", np.float64),  # of shares
        ]
        super().__init__(op.workspace(state, depth=MAX_DEPTH + 1, extra=extra, source=__file__))
        self._ws.width = WIDTHS[int(state["seats"])] if width is None else width

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search cannot play a game, or None if it can."""
        if info.hidden:
            return f"{info.name} hides something, and this search believes what it sees"
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
        """Return what the position is worth to each seat, where the search can tell."""
        return ()

    def _entry_action(self, entry: int) -> int:
        """Return the action that an entry of the line stands for."""
        return entry

    def _played_line(self, st: np.record, line: tuple[int, ...]) -> tuple[int, ...]:
        """Return the actions of a line as far as they are played in turn."""
        return line
