"""IDDFS: iterative deepening over the own moves only, as in "Fun With Chinese Checkers".

The others stand still while the search plans (`operations.hold`), so it sees ways to the goal
much deeper than a search that lets them move, and is surprised by whoever stands in the way.
Of two equal outcomes it prefers the sooner one. Without that it would loop for ever: a win in two
is as good as a win at once, and on the next turn it would find another win in two. Nor does a plan
come back to a position that it has been to: such a detour gains nothing, and as the others stand
still, the rules would see repetitions that a real match does not have.

A longer plan is nearly always worth more than a shorter one, so what the time cuts off must not be
compared with what was searched before: each depth begins with the first move of the best plan so
far and counts only once that move is done with. (The report keeps one best plan over all
depths; its bot then plays whichever move the deepest, unfinished search happened to begin with.)
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_bots.search.alarm import alarm
from kibitz_bots.search.found import WON, Found, Sample, roots
from kibitz_bots.threads import Flag
from kibitz_games import operations as op
from kibitz_games.api import GameInfo
from kibitz_games.kernels import Int, kernel

DEEPEST = 15
"""No plan is longer, counted in own moves."""


@kernel
def _explore(st: op.Record, ws: op.Record, ev: op.Record, seat: Int, limit: Int, depth: Int) -> Any:
    """Judge every plan of up to `limit` own moves after the `depth` moves of ``ws.line[1]``.

    The best plan so far is kept in ``ws.best``, ``ws.best_depth`` and ``ws.line[0]``, the keys of
    the positions on the way in ``ws.been``. At depth 0 the moves stand in ``ws.moves[0]``
    already, ``ws.roots`` of them, in the order of preference; ``ws.finished`` counts those that
    are done with.
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
        ws.nodes += 1
        value = op.evaluate(ev, st, seat)
        over = op.terminal(st)
        if over and abs(value) < WON:
            op.returns(st, ws.values[0])
            share = ws.values[0, seat]
            if share != 0.5:  # a tie is worth what the position is worth
                value = WON * (2.0 * share - 1.0)
        if value > ws.best or (value == ws.best and depth < ws.best_depth):
            ws.best = value
            ws.best_depth = depth
            for k in range(depth + 1):
                ws.line[0, k] = ws.line[1, k]
        if depth + 1 < limit and not over and value < WON:
            turn = np.int64(op.hold(st, seat))
            fresh = True
            for k in range(depth + 1):
                fresh = fresh and ws.been[k] != st.key
            if fresh:
                _explore(st, ws, ev, seat, limit, np.int64(depth + 1))
            op.hold(st, turn)
        op.undo(st, m)
        if depth == 0 and ws.stop == 0:
            ws.finished += 1
    return np.int64(0)


@dataclass(frozen=True)
class _Plan:
    """The best plan of one depth."""

    value: float
    depth: int
    line: tuple[int, ...]


class Iddfs:
    """A search for one player's shortest way; keeps its workspace from turn to turn."""

    def __init__(self, state: np.record) -> None:
        extra = [
            ("roots", np.int64),
            ("best", np.float64),
            ("best_depth", np.int64),
            ("finished", np.int64),
            ("been", np.uint64, (DEEPEST + 1,)),
        ]
        self._ws = op.workspace(state, depth=DEEPEST, extra=extra, source=__file__)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search cannot play a game, or None if it can."""
        if not op.offers(state.dtype, "hold"):
            return f"{info.name} does not let the others stand still"
        return None

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
        """Return the first move of the best plan that can be found in time.

        `state` must not be over and is unchanged. `depth` limits the own moves ahead, 0 to as
        many as the time allows. Among equal plans of equal length `seed` decides.
        """
        began = time.monotonic()
        st, seat = state.copy(), int(op.to_act(state))
        actions = roots(st, seed)
        self._ws.nodes = self._ws.stop = 0
        # The first depth runs to its end, so that there is an answer, however late it is.
        best = self._look(st, ev, seat, 1, actions)
        if len(actions) > 1 and best.value < WON:
            with alarm(self._ws, began + seconds, called_off or Flag()):
                best = self._deepen(st, ev, seat, min(depth or DEEPEST, DEEPEST), actions, best)
        taken = time.monotonic() - began
        nodes = int(self._ws.nodes)
        return Found(best.line[0], best.value, best.depth, nodes, best.line, taken, alone=True)

    def _deepen(
        self, st: np.record, ev: np.record, seat: int, last: int, actions: list[int], best: _Plan
    ) -> _Plan:
        """Search depth after depth until the last, the time or the goal is reached."""
        for depth in range(2, last + 1):
            actions = [best.line[0], *(each for each in actions if each != best.line[0])]
            plan = self._look(st, ev, seat, depth, actions)
            if self._ws.finished:
                best = plan
            if self._ws.stop or best.value >= WON:
                break
        return best

    def _look(
        self, st: np.record, ev: np.record, seat: int, depth: int, actions: list[int]
    ) -> _Plan:
        """Search one depth; the plan's depth is smaller by one if it was not finished."""
        ws = self._ws
        ws.moves[0, : len(actions)] = actions
        ws.roots, ws.finished = len(actions), 0
        ws.best, ws.best_depth = -np.inf, 0
        _explore(st, ws, ev, np.int64(seat), np.int64(depth), np.int64(0))
        line = tuple(ws.line[0, : int(ws.best_depth) + 1].tolist())
        return _Plan(float(ws.best), depth - int(ws.finished < len(actions)), line)
