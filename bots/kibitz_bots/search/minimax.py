"""Minimax: every line of play down to a depth, nothing left out.

The value of a position is the best that the seat to act can reach if the other does the
same (Shannon, "Programming a Computer for Playing Chess", 1950, type A). It is here as
the reports have it, and as the yardstick of `alphabeta`, which finds the same values sooner.

Depth after depth is searched until the time is up. What was found at a depth that was not finished
counts only once the move that was best so far has been looked at with that depth too.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kibitz_bots.search.alarm import alarm
from kibitz_bots.search.found import Found, Sample, roots
from kibitz_bots.search.worth import balance, between_two, plies_to_end, verdict
from kibitz_bots.threads import Flag
from kibitz_games import operations as op
from kibitz_games.api import GameInfo
from kibitz_games.kernels import Int, kernel

DEEPEST = 32
"""No line is longer, in plies: nobody looks at every line of so many."""


@kernel
def _value(st: op.Record, ws: op.Record, ev: op.Record, ply: Int, depth: Int) -> Any:
    """Return what the position is worth to the seat to act, `depth` plies deep.

    The best line is left in ``ws.line[ply]``. At ply 0 the moves stand in ``ws.moves[0]``
    already, ``ws.roots`` of them; ``ws.finished`` counts those that are done with.
    """
    best = -np.inf
    seat = np.int64(op.to_act(st))
    moves = ws.moves[ply]
    n = np.int64(ws.roots)
    if ply > 0:
        n = np.int64(op.generate(st, moves))
    for i in range(n):
        if ws.stop != 0:
            break
        m = np.int64(moves[i])
        op.play(st, m)
        ws.nodes += 1
        ws.lengths[ply + 1] = 0
        after = np.int64(op.to_act(st))
        if after < 0:
            value = verdict(st, ws, ev, seat, np.int64(ply + 1))
        elif depth <= 1:
            value = balance(ev, st, seat)
            ws.leaves += 1
        else:
            value = _value(st, ws, ev, np.int64(ply + 1), np.int64(depth - 1))
            if after != seat:
                value = -value
        op.undo(st, m)
        if ws.stop != 0:
            break
        if value > best:
            best = value
            ws.line[ply, 0] = m
            length = np.int64(ws.lengths[ply + 1])
            for k in range(length):
                ws.line[ply, k + 1] = ws.line[ply + 1, k]
            ws.lengths[ply] = length + 1
        if ply == 0:
            ws.finished += 1
    return best


class Minimax:
    """A search of every line of play between two; keeps its workspace from turn to turn."""

    def __init__(self, state: np.record) -> None:
        extra = [("roots", np.int64), ("finished", np.int64), ("leaves", np.int64)]
        self._ws = op.workspace(state, depth=DEEPEST + 1, extra=extra, source=__file__)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search cannot play a game, or None if it can."""
        return between_two(info, state)

    def search(
        self,
        state: np.record,
        ev: np.record,
        *,
        seconds: float,
        depth: int = 0,
        seed: int | str = 0,
        called_off: Flag | None = None,
        sample: Sample | None = None,
    ) -> Found:
        """Return the best move of the deepest search that the time allows.

        `state` must not be over and is unchanged. `depth` limits the plies ahead, 0 to as many
        as the time allows. Among equals `seed` decides.
        """
        began = time.monotonic()
        st, ws = state.copy(), self._ws
        actions = roots(st, seed)
        ws.nodes = ws.stop = 0
        # The first depth runs to its end, so that there is an answer, however late it is.
        best = self._look(st, ev, 1, actions, None)
        if len(actions) > 1 and not self._exhausted(best):
            with alarm(ws, began + seconds, called_off or Flag()):
                for limit in range(2, min(depth or DEEPEST, DEEPEST) + 1):
                    first = best.action
                    actions = [first, *(each for each in actions if each != first)]
                    best = self._look(st, ev, limit, actions, best)
                    if ws.stop or self._exhausted(best):
                        break
        taken = time.monotonic() - began
        return Found(best.action, best.value, best.depth, int(ws.nodes), best.line, taken)

    def _exhausted(self, best: Found) -> bool:
        """Return whether no greater depth can change what was found."""
        end = plies_to_end(best.value)
        return int(self._ws.leaves) == 0 or (end is not None and end <= best.depth)

    def _look(
        self, st: np.record, ev: np.record, depth: int, actions: list[int], before: Found | None
    ) -> Found:
        """Search one depth; what it found has a depth smaller by one if it was not finished."""
        ws = self._ws
        ws.moves[0, : len(actions)] = actions
        ws.roots, ws.finished, ws.leaves = len(actions), 0, 0
        value = float(_value(st, ws, ev, np.int64(0), np.int64(depth))) + 0.0  # never -0.0
        if before is not None and not ws.finished:
            return before
        line = tuple(ws.line[0, : int(ws.lengths[0])].tolist())
        done = depth - int(ws.finished < len(actions))
        return Found(line[0], value, done, int(ws.nodes), line, 0.0)
