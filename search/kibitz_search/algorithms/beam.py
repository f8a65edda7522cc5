"""A beam search over one's own moves.

The search assumes that the other seats stand still, like `iddfs`. Each layer contains the positions
after one more of the player's own moves. Only the best `width` positions of a layer, by the
evaluation of the player's seat, are searched further (R. Bisiani: "Beam Search", 1987). A beam
therefore looks further ahead than a complete search in the same time. The others do move, so plans
of more than about three moves rarely survive.

The value of a plan is the evaluation after its last move, plus `EARLY` times the mean evaluation
before. Plans that gain earlier are more likely to survive the others' moves. A plan that ends the
game, or in which the player reaches its goal, is valued like in `iddfs`; the shortest win is best.

The search compares its moves by the next positions, and then searches a beam of `MIN_WIDTH`. It
widens the beam fourfold while there is time, up to `width`, and stops early if no position was left
out. The result of an unfinished beam is not used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult, root_moves
from kibitz_search.algorithms.terminal import final_share, standing
from kibitz_search.algorithms.timer import ThinkingTime, count_nodes, stop_timer

MIN_WIDTH = 8
"""The width of the first beam."""
MAX_DEPTH = 32
"""The maximum length of a plan, in the player's own moves."""
USUAL_DEPTH = 3
"""The length of a plan if the limits have no depth."""
EARLY = 1 / 16
"""The weight of the evaluations before the last move of a plan."""

PLAN = kernels.record_type(
    "plan",
    [
        ("worth", np.float64),  # by which plans are compared
        ("value", np.float64),  # of the last position
        ("past", np.float64),  # the part of `worth` from earlier positions
        ("key", np.uint64),
        ("parent", np.int32),
        ("action", np.int32),
    ],
    source=__file__,
)

_FIELDS: list[tuple[Any, ...]] = [
    ("roots", np.int64),
    ("width", np.int64),
    ("cut", np.int64),  # whether positions were left out
    ("best", np.float64),  # of the plans that end, or -inf
    ("best_depth", np.int64),
    ("best_at", np.int64),
    ("best_action", np.int64),
    ("best_share", np.float64),  # its share if the game is over, otherwise nan
    ("share", np.float64),  # the share of the last position, likewise
    ("level", np.float64),
    ("par", np.float64),
    ("sizes", np.int64, (MAX_DEPTH,)),  # of the layers
]


@kernel
def _value(st: Record, ws: Record, ev: Record, seat: Int, depth: Int) -> float:
    """Return the value of a position for `seat` after the own move `depth`, from 0."""
    value = op.evaluate(ev, st, seat)
    ws.share = np.nan
    if value >= WIN_SCORE:
        return float(WIN_SCORE - depth)
    if op.terminal(st):
        ws.share = final_share(st, seat, ws.values[0])
        return float(ws.level + WIN_SCORE * (2.0 * ws.share - 1.0 - ws.par))
    return float(value)


@kernel
def _prune(ws: Record, found: Any, spare: Any, n: Int, keys: Any) -> Int:
    """Keep the best of the first `n` plans in `found`, without duplicates; return their number.

    Sorts them. `keys` is an open-addressed table for at least twice `ws.width` keys.
    """
    order = np.argsort(-found["worth"][:n], kind="mergesort")
    keys[:] = 0
    mask = np.uint64(len(keys) - 1)
    size: Int = np.int64(0)
    for i in range(n):
        plan = found[order[i]]
        place = np.int64(plan.key & mask)
        while keys[place] != 0 and keys[place] != plan.key:
            place = (place + 1) & np.int64(mask)
        if keys[place] == plan.key:
            continue
        if size >= ws.width:
            ws.cut = 1
            break
        keys[place] = plan.key
        spare[size] = plan
        size += 1
    for i in range(size):
        found[i] = spare[i]
    return size


@kernel
def _end_plan(ws: Record, value: float, depth: Int, at: Int, action: Int) -> None:
    """Record a plan that ends, if it is the best so far."""
    if value > ws.best:
        ws.best, ws.best_depth, ws.best_at, ws.best_action = value, depth, at, action
        ws.best_share = ws.share


@kernel
def _expand(
    st: Record, ws: Record, ev: Record, found: Any, n: Int, at: Int, depth: Int, past: float
) -> Int:
    """Append the plans that continue the one at index `at`; return the new number of plans."""
    moves, seat = ws.moves[0], np.int64(op.to_act(st))
    count: Int = np.int64(ws.roots)
    if depth > 0:
        count = np.int64(op.generate(st, moves))
    for i in range(count):
        m = np.int64(moves[i])
        op.play(st, m)
        count_nodes(ws, np.int64(1))
        value = _value(st, ws, ev, seat, depth)
        if op.terminal(st) or value > WIN_SCORE / 2:
            _end_plan(ws, value, depth, at, m)
        else:
            plan = found[n]
            plan.worth, plan.value, plan.past = value + past, value, past
            plan.key, plan.parent, plan.action = st.key, at, m
            n += 1
        op.undo(st, m)
    return np.int64(n)


@kernel
def search_beam(
    ws: Record, ev: Record, layers: Any, plans: Any, found: Any, keys: Any, last: Int
) -> Int:
    """Search one beam of up to `last` moves from ``layers[0, 0]``; return its depth.

    ``plans[d]`` are the plans of `d` + 1 moves, the best first, with indices into ``plans[d - 1]``.
    Returns 0 if the search was stopped.
    """
    seat = np.int64(op.to_act(layers[0, 0]))
    size: Int = np.int64(1)
    for d in range(last):
        now, then = layers[d & 1], layers[(d + 1) & 1]
        n: Int = np.int64(0)
        for at in range(size):
            if ws.stop != 0:
                return np.int64(0)
            if n + ws.moves.shape[1] > len(found):
                n = np.int64(_prune(ws, found, plans[d], n, keys))
            past = 0.0
            if d > 0:
                past = plans[d - 1, at].past + EARLY * plans[d - 1, at].value
            n = np.int64(_expand(now[at], ws, ev, found, n, np.int64(at), np.int64(d), past))
        size = np.int64(_prune(ws, found, plans[d], n, keys))
        ws.sizes[d] = size
        if size == 0 or ws.best >= WIN_SCORE - d or d + 1 == last:
            return np.int64(d + 1)
        for i in range(size):
            then[i] = now[plans[d, i].parent]
            op.play(then[i], np.int64(plans[d, i].action))
            op.set_side_to_move(then[i], seat)
    return np.int64(last)


class Beam:
    """The beam search for one match, with its workspace.

    `state` is the first state of the match. `width` is the maximum number of positions per layer.
    The depth limit is the length of a plan in own moves, by default `USUAL_DEPTH`. The seed breaks
    ties between equal plans.
    """

    def __init__(self, state: np.record, *, width: int = 512) -> None:
        self._ws: Any = op.workspace(state, depth=0, extra=_FIELDS, source=__file__)
        self._width = max(1, width)
        self._layers = np.zeros((2, self._width), state.dtype)
        self._plans = np.zeros((MAX_DEPTH, self._width), PLAN)
        self._found = np.zeros(4 * self._width + op.max_actions(state.dtype), PLAN)
        self._keys = np.zeros(1 << (2 * self._width).bit_length(), np.uint64)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        if not op.offers(state.dtype, "set_side_to_move"):
            return f"{info.name} does not allow skipping turns"
        return None

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the first move of the best plan in the widest beam that the limits allow.

        `state` must not be terminal and is not modified.
        """
        thinking, ws = ThinkingTime(limits.seconds), self._ws
        actions = root_moves(state, limits.seed, limits.excluded)
        self._standing = standing(state, ev, int(op.to_act(state)))
        ws.level, ws.par, ws.roots = self._standing.level, self._standing.par, len(actions)
        ws.nodes = ws.stop = ws.most = 0
        # The next positions are always compared, so that there is a result.
        best = self._search_beam(state, ev, actions, self._width, 1)
        assert best is not None
        limits.report(best)
        ws.most = limits.nodes
        used_up = 0 < limits.nodes <= int(ws.nodes)
        if len(actions) > 1 and limits.depth != 1 and not used_up:
            with stop_timer(ws, thinking.deadline, limits.cancelled):
                best = self._widen(state, ev, actions, limits, best)
        return replace(best, nodes=int(ws.nodes))

    def _widen(
        self,
        state: np.record,
        ev: np.record,
        actions: list[int],
        limits: SearchLimits,
        best: SearchResult,
    ) -> SearchResult:
        """Search wider and wider beams; return the result of the last complete one."""
        width, depth = min(MIN_WIDTH, self._width), min(limits.depth or USUAL_DEPTH, MAX_DEPTH)
        while (wider := self._search_beam(state, ev, actions, width, depth)) is not None:
            best = wider
            limits.report(best)
            if not self._ws.cut or width == self._width:
                break
            width = min(4 * width, self._width)
        return best

    def _search_beam(
        self, state: np.record, ev: np.record, actions: list[int], width: int, depth: int
    ) -> SearchResult | None:
        """Search one beam; return None if the search was stopped."""
        ws, arrays = self._ws, (self._layers, self._plans, self._found, self._keys)
        ws.width, ws.cut, ws.best = width, 0, -np.inf
        ws.moves[0, : len(actions)] = actions
        self._layers[0, 0] = state
        done = int(search_beam(ws, ev, *arrays, np.int64(depth)))
        return self._result(done) if done else None

    def _result(self, done: int) -> SearchResult:
        """Return the best plan of a beam with `done` layers."""
        ws, plans = self._ws, self._plans
        d, at, line, value = done - 1, 0, list[int](), float(ws.best)
        ended = not ws.sizes[d] or value > plans[d, 0].value
        if ended:
            line.append(int(ws.best_action))
            if not np.isnan(ws.best_share):
                value = self._standing.score(float(ws.best_share))
            d, at = int(ws.best_depth) - 1, int(ws.best_at)
        else:
            value = float(plans[d, 0].value)
        while d >= 0:
            line.append(int(plans[d, at].action))
            d, at = d - 1, int(plans[d, at].parent)
        if value > WIN_SCORE - MAX_DEPTH:
            value = WIN_SCORE  # the number of own moves to the win is not the number of plies
        line.reverse()
        return SearchResult(line[0], value, done, int(ws.nodes), tuple(line), own_moves_only=True)
