"""The assignment's player: alpha-beta, 5 to 10 plies deep, and chance before that.

As the report "AI Capstone assignment2" (NYCU, spring 2023) describes it. While there are more than
`CROWDED` moves it takes any. Then it searches 5 plies deep, and deeper as far as the time
allows, up to `DEEPEST`. A position that is won counts `ALL`; where the depth is used up and only
isolated cells are left, their parity says who wins, which counts `NEARLY`; anything else is worth
nothing. The moves are shuffled, and the first of equals is played.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from kibitz_bots.experts.subject import other_game
from kibitz_bots.search.alarm import alarm
from kibitz_bots.search.found import WON, Found, roots
from kibitz_bots.search.limits import Limits
from kibitz_games import kernels
from kibitz_games import operations as op
from kibitz_games.api import GameInfo
from kibitz_games.kernels import Int, kernel
from kibitz_games.line_nim import rules

CROWDED = 22
SHALLOWEST, DEEPEST = 5, 10
ALL, NEARLY = 100, 99

i64 = kernels.word()


@kernel
def isolated(st: op.Record) -> Any:
    """Return whether no free cell has a free neighbour."""
    for cell in range(rules.WALL):
        if st.board[cell] != rules.FREE:
            continue
        for d in range(6):
            if st.board[rules.NEAR[cell * 6 + d]] == rules.FREE:
                return False
    return True


@kernel
def _leaf(st: op.Record) -> Int:
    """Return what a position is worth to the mover where the depth is used up."""
    if not isolated(st):
        return np.int64(0)
    return np.int64(-NEARLY if i64(st.free) & 1 else NEARLY)


@kernel
def _value(st: op.Record, ws: op.Record, low: Int, high: Int, depth: Int, ply: Int) -> Any:
    """Return the worth to the mover by alpha-beta; at ply 0 the moves stand there already."""
    if st.side < 0:
        return np.int64(ALL)  # the other one took the last cell
    if depth == 0:
        return _leaf(st)
    moves, n, floor = ws.moves[ply], np.int64(ws.roots), np.int64(low)
    if ply > 0:
        n = np.int64(op.generate(st, moves))
    for i in range(n):
        m = np.int64(moves[i])
        op.play(st, m)
        ws.nodes += 1
        worth = -_value(
            st, ws, np.int64(-high), np.int64(-floor), np.int64(depth - 1), np.int64(ply + 1)
        )
        op.undo(st, m)
        if ws.stop != 0:
            break
        if ply == 0:
            ws.tried = i + 1
        if worth > floor:
            floor = worth
            ws.line[ply, 0] = m
        if floor >= high:
            break
    return np.int64(floor)


class Capstone:
    """The search of the assignment; keeps its workspace from turn to turn."""

    def __init__(self, state: np.record) -> None:
        extra = [("roots", np.int64), ("tried", np.int64)]
        self._ws = op.workspace(state, depth=DEEPEST, extra=extra, source=__file__)
        self._look(state.copy(), roots(state, 0)[:1], 1)  # the start of a match is too crowded

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why it cannot play a game, or None if it can."""
        return other_game(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record | None, limits: Limits) -> Found:
        """Return the move that it plays; the seed shuffles the moves.

        `state` must not be over and is unchanged.
        """
        deadline = time.monotonic() + limits.seconds
        st, actions = state.copy(), roots(state, limits.seed)
        self._ws.nodes = self._ws.stop = 0
        best = Found(actions[0], 0.0, 0, 0, (actions[0],))
        if len(actions) <= CROWDED:
            # The first ply is looked at to its end, so that there is an answer, however late it is.
            best = self._look(st, actions, 1)
            last = min(limits.depth or DEEPEST, DEEPEST)
            with alarm(self._ws, deadline, limits.called_off):
                best = self._deepen(st, actions, last, best)
        return replace(best, nodes=int(self._ws.nodes))

    def _deepen(self, st: np.record, actions: list[int], last: int, best: Found) -> Found:
        """Search deeper and deeper, until it is clear who wins or the time is up."""
        for depth in range(min(SHALLOWEST, last), last + 1):
            if abs(best.value) == WON:
                break
            found = self._look(st, actions, depth)
            if self._ws.stop:
                return self._cut_short(actions, found, best)
            best = found
        return best

    def _cut_short(self, actions: list[int], found: Found, before: Found) -> Found:
        """Return what to play when a depth could not be finished, `before` being the last one's.

        That is the move of before, unless it has just been shown to lose: then the first one that
        has not.
        """
        tried = int(self._ws.tried)
        if before.action not in actions[:tried]:
            return before
        if found.value > -WON or tried == len(actions):
            return replace(found, depth=before.depth)
        return replace(before, action=actions[tried], line=(actions[tried],))

    def _look(self, st: np.record, actions: list[int], depth: int) -> Found:
        ws = self._ws
        ws.moves[0, : len(actions)] = actions
        ws.roots, ws.tried, ws.line[0, 0] = len(actions), 0, actions[0]
        low, high = np.int64(-ALL - 1), np.int64(ALL + 1)
        worth = int(_value(st, ws, low, high, np.int64(depth), np.int64(0)))
        action = int(ws.line[0, 0])
        value = WON if worth >= NEARLY else -WON if worth <= -NEARLY else float(worth)
        return Found(action, value, depth, int(ws.nodes), (action,))
