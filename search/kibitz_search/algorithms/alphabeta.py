"""Alpha-beta search with iterative deepening, a transposition table and PVS.

Theory
------
A line that one side would avoid need not be evaluated exactly (Knuth and Moore, "An Analysis of
Alpha-Beta Pruning", 1975). The better the moves are ordered, the more lines the search skips. The
following techniques improve the order:

- Iterative deepening: each depth starts with the best line of the previous one.
- A *transposition table* stores the best move and the value, or a bound, by position key (Zobrist,
  1970).
- *Killers* (Akl and Newborn, 1977), which caused a cutoff at the same ply, are tried early. Moves
  that often caused cutoffs anywhere in the tree follow (*history*: Schaeffer, 1989).
- The game's `operations.move_score` orders the remaining moves.

Moves after the first are searched with a null window, and again with the full window if they turn
out better (principal variation search: Marsland and Campbell, 1982; Reinefeld, 1983). The root's
window is also narrow, around the last value (*aspiration*), and is widened if the value is outside.

Moves late in the order are searched one or two plies less deeply, and again to full depth if they
turn out well (*late-move reductions*). Reductions can change the value. Without them
(``reductions=False``), a win or loss within the search depth is always found.

A table value may come from a deeper search, or from another path to the position. The key does not
include the path, so values can be wrong when history matters, as with repetitions; this flaw is
common to all such programs. If the match repeats a position, the table is cleared, because its
values do not account for the repetition. A position whose lines were all searched to the end of the
game is stored with unbounded depth.

With ``strict=True``, reductions and quiescence search are disabled, the table is used for move
ordering only, and all values equal those of minimax.

Otherwise, if the game returns tactical actions at a leaf (`operations.tactical_moves`), these are
searched until the position is quiet (quiescence search).

One ply above the leaves, almost any move refutes most positions. If the evaluation can predict the
effect of a move (`operations.eval_delta`), moves on the last ply are neither played nor sorted.
They are generated in stages (`operations.generate_stage`), and the first stage is nearly always
enough.

State between turns
-------------------
A search object serves one match and starts empty. Between turns, the table is kept, because the
next search meets many of its positions again. History scores are divided by eight, and killers are
cleared. If the evaluation weights change, the table is cleared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms import hugepages
from kibitz_search.algorithms.deepening import IterativeDeepening, store_killer, update_pv
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.algorithms.score import (
    DECIDED,
    is_exact,
    static_eval_diff,
    two_player_only,
)
from kibitz_search.algorithms.terminal import two_player_value
from kibitz_search.algorithms.timer import count_nodes

MAX_DEPTH = 64
"""The maximum length of a line, in plies."""
MIB = 2**20
NULL_WINDOW = 2.0**-30
"""The width of a null window: less than the smallest difference between two evaluations."""

EXACT, LOWER, UPPER = 1, 2, 3
"""The kind of an entry's value: exact, a lower bound, or an upper bound."""
UNBOUNDED_DEPTH = 127
"""The depth of an entry whose lines all reach the end of the game."""
BUCKET_SIZE = 2
"""The entries in a bucket: the first keeps the deeper search, the second the more recent one."""

HISTORY_SIZE = 1 << 14
"""The size of the history table of a seat, which is indexed by the low bits of actions."""
HISTORY_MAX = 1 << 20
"""The value at which all history scores of a seat are halved."""
KILLER_SCORE = 1 << 58
"""The score of killers, above all others."""

LMR_FIRST = 4
"""The number of moves searched before reductions start."""
LMR_SECOND = 16
LMR_MIN_DEPTH = 3
"""The minimum remaining depth for reductions."""

ENTRY = kernels.record_type(
    "entry",
    [
        ("key", np.uint64),
        ("value", np.float64),
        ("move", np.int32),
        ("depth", np.int8),  # plies, or UNBOUNDED_DEPTH
        ("kind", np.int8),  # 0 in an empty entry
    ],
    source=__file__,
)
Table = Any
"""An array of entries."""


@kernel
def _tt_index(table: Table, key: Any) -> Int:
    """Return the first index of a key's bucket, selected by the upper half of its bits."""
    pairs = np.uint64(len(table) // BUCKET_SIZE)
    return np.int64(((key >> np.uint64(32)) * pairs) >> np.uint64(32)) * BUCKET_SIZE


@kernel
def _tt_probe(table: Table, key: Any) -> Int:
    """Return the index of a key's entry, or -1."""
    at = _tt_index(table, key)
    for i in range(BUCKET_SIZE):
        if table[at + i].key == key and table[at + i].kind != 0:
            return np.int64(at + i)
    return np.int64(-1)


@kernel
def _tt_store(table: Table, key: Any, ply: Int, depth: Int, kind: Int, value: Any, m: Int) -> Int:
    """Write an entry. Wins and losses are counted from this position, not from the root."""
    at = _tt_index(table, key)
    if table[at].key != key and table[at].depth > depth:
        at += 1
    e = table[at]
    if value > DECIDED:
        value += ply
    elif value < -DECIDED:
        value -= ply
    e.key = key
    e.value = value
    e.move = m
    e.depth = depth
    e.kind = kind
    return np.int64(at)


@kernel
def _score_moves(st: op.Record, ws: op.Record, ply: Int, start: Int, n: Int) -> Int:
    """Write ordering scores for the moves in ``ws.moves[ply]`` to ``ws.scores[ply]``."""
    moves, scores = ws.moves[ply], ws.scores[ply]
    seat = np.int64(op.to_act(st))
    one, two = np.int64(ws.killers[ply, 0]), np.int64(ws.killers[ply, 1])
    for i in range(start, n):
        m = np.int64(moves[i])
        if m in (one, two):
            scores[i] = KILLER_SCORE + (m == one)
        else:
            tried = np.int64(ws.history[seat, m & (HISTORY_SIZE - 1)])
            scores[i] = np.int64(op.move_score(st, m)) + tried
    return np.int64(n)


@kernel
def _hash_move_first(ws: op.Record, ply: Int, n: Int, hint: Int) -> bool:
    """Move the move `hint` to the front; return whether it is in the list."""
    moves = ws.moves[ply]
    for i in range(n):
        if moves[i] == hint:
            moves[i] = moves[0]
            moves[0] = hint
            return True
    return False


@kernel
def _next_move(ws: op.Record, ply: Int, i: Int, n: Int) -> Int:
    """Select the best of the moves from index `i` on, swap it to index `i`, and return it."""
    moves, scores = ws.moves[ply], ws.scores[ply]
    best = i
    high = scores[i]
    for k in range(i + 1, n):
        if scores[k] > high:
            high = scores[k]
            best = k
    m = moves[best]
    moves[best] = moves[i]
    scores[best] = scores[i]
    moves[i] = m
    return np.int64(m)


@kernel
def _store_cutoff(ws: op.Record, seat: Int, ply: Int, depth: Int, m: Int) -> Int:
    """Record that move `m` caused a cutoff."""
    store_killer(ws, ply, m)
    at = m & (HISTORY_SIZE - 1)
    ws.history[seat, at] += depth * depth
    if ws.history[seat, at] >= HISTORY_MAX:
        for k in range(HISTORY_SIZE):
            ws.history[seat, k] >>= 1
    return at


@kernel
def _tt_cutoff(ws: op.Record, e: Any, ply: Int, depth: Int, alpha: Any, beta: Any) -> Any:
    """Return the value of an entry if it causes a cutoff for the window, otherwise nan."""
    if beta - alpha > NULL_WINDOW or ws.strict != 0 or e.depth < depth:
        return np.nan
    value = e.value
    if value > DECIDED:
        value -= ply
    elif value < -DECIDED:
        value += ply
    if (e.kind != UPPER and value >= beta) or (e.kind != LOWER and value <= alpha):
        ws.leaves += np.int64(e.depth != UNBOUNDED_DEPTH)
        return value
    return np.nan


@kernel
def _quiesce(st: op.Record, ws: op.Record, ev: op.Record, ply: Int, alpha: Any, beta: Any) -> Any:
    """Return the value of the position for the seat to act, from quiescence search."""
    ws.lengths[ply] = 0
    moves = ws.moves[ply]
    seat = np.int64(op.to_act(st))
    n = np.int64(0)
    if ws.strict == 0 and ply < MAX_DEPTH:
        n = np.int64(op.tactical_moves(st, moves))
    if n == 0:
        ws.leaves += 1
        return static_eval_diff(ev, st, seat)
    best = -np.inf
    for i in range(n):
        if ws.stop != 0:
            break
        m = np.int64(moves[i])
        op.play(st, m)
        count_nodes(ws, np.int64(1))
        ws.lengths[ply + 1] = 0
        after = np.int64(op.to_act(st))
        low = max(alpha, best)
        if after < 0:
            value = two_player_value(st, ws, seat, np.int64(ply + 1))
        elif after == seat:
            value = _quiesce(st, ws, ev, np.int64(ply + 1), low, beta)
        else:
            value = -_quiesce(st, ws, ev, np.int64(ply + 1), -beta, -low)
        op.undo(st, m)
        if value > best:
            best = value
            update_pv(ws, ply, m)
        if value >= beta:
            break
    return best


@kernel
def _after(
    st: op.Record, ws: op.Record, ev: op.Record, ply: Int, m: Int, low: Any, beta: Any
) -> Any:
    """Return the value of move `m` for the seat to act, from quiescence search after it.

    `_search` contains the same code in its loop and cannot call this function: the cached machine
    code of mutually recursive kernels crashes the next process.
    """
    seat = np.int64(op.to_act(st))
    ws.lengths[ply + 1] = 0
    op.play(st, m)
    after = np.int64(op.to_act(st))
    if after < 0:
        value = two_player_value(st, ws, seat, np.int64(ply + 1))
    elif after == seat:
        value = _quiesce(st, ws, ev, np.int64(ply + 1), low, beta)
    else:
        value = -_quiesce(st, ws, ev, np.int64(ply + 1), -beta, -low)
    op.undo(st, m)
    return value


@kernel
def _frontier(
    st: op.Record, ws: op.Record, ev: op.Record, ply: Int, n: Int, hint: Int, alpha: Any, beta: Any
) -> Any:
    """Return the value of a position one ply above the leaves, with `n` moves."""
    best = -np.inf
    first = np.int64(n > 0 and ws.moves[ply, 0] == hint)
    _score_moves(st, ws, ply, first, n)
    for i in range(n):
        if ws.stop != 0:
            break
        m: Int = np.int64(ws.moves[ply, i])
        if i >= first:
            m = _next_move(ws, ply, np.int64(i), n)
        count_nodes(ws, np.int64(1))
        value = _after(st, ws, ev, ply, m, max(alpha, best), beta)
        if value > best:
            best = value
            update_pv(ws, ply, m)
            if value >= beta:
                break
    return best


@kernel
def _frontier_delta(
    st: op.Record, ws: op.Record, ev: op.Record, ply: Int, alpha: Any, beta: Any
) -> Any:
    """Return the same value as `_frontier`, using the effects predicted by the evaluation.

    Predicting a move is cheaper than generating it. Moves are therefore generated in stages and not
    sorted: most positions have a refutation of the last move in the first stage.
    """
    moves = ws.moves[ply]
    base = static_eval_diff(ev, st, np.int64(op.to_act(st)))
    ws.lengths[ply + 1] = 0
    best = -np.inf
    k = np.int64(0)
    while best < beta and ws.stop == 0:
        n = np.int64(op.generate_stage(st, k, moves))
        if n < 0:
            break
        k += 1
        for i in range(n):
            if ws.stop != 0:
                break
            m = np.int64(moves[i])
            value = base + op.eval_delta(ev, st, m)
            count_nodes(ws, np.int64(1))
            if value == value:
                ws.leaves += 1
            else:
                value = _after(st, ws, ev, ply, m, max(alpha, best), beta)
            if value > best:
                best = value
                update_pv(ws, ply, m)
                if value >= beta:
                    break
    return best


@kernel
def _look_up(
    ws: op.Record, table: Table, key: Any, ply: Int, depth: Int, alpha: Any, beta: Any
) -> Any:
    """Return the table's value for a position if it makes a search unnecessary, otherwise nan.

    ``ws.hints[ply]`` becomes the move to search first, -1 for none.
    """
    if ply == 0:
        ws.hints[0] = ws.first
        return np.nan
    ws.hints[ply] = -1
    at = _tt_probe(table, key)
    if at < 0:
        return np.nan
    ws.hints[ply] = table[at].move
    return _tt_cutoff(ws, table[at], ply, depth, alpha, beta)


@kernel
def _last_ply(st: op.Record, ws: op.Record, ev: op.Record, ply: Int, alpha: Any, beta: Any) -> Any:
    """Return the value of a position that is searched one ply deep."""
    hint = np.int64(ws.hints[ply])
    if ply > 0 and ws.foresees != 0:
        best = _frontier_delta(st, ws, ev, ply, alpha, beta)
    else:
        n: Int = np.int64(ws.roots)
        if ply > 0:
            n = np.int64(op.generate(st, ws.moves[ply]))
        _hash_move_first(ws, ply, n, hint)
        best = _frontier(st, ws, ev, ply, n, hint, alpha, beta)
        if ply == 0:
            ws.best = best
            ws.finished = n
    return best


@kernel
def _prepare_moves(st: op.Record, ws: op.Record, ply: Int) -> Int:
    """Generate the moves, except at ply 0; put the hinted move first. Return their number."""
    n: Int = np.int64(ws.roots)
    if ply > 0:
        n = np.int64(op.generate(st, ws.moves[ply]))
    if not _hash_move_first(ws, ply, n, np.int64(ws.hints[ply])):
        _score_moves(st, ws, ply, np.int64(0), n)
    return n


@kernel
def _pick_move(st: op.Record, ws: op.Record, ply: Int, i: Int, n: Int) -> Int:
    """Swap the best remaining move to index `i` and return it."""
    m = np.int64(ws.moves[ply, 0])
    if i == 0 and m == ws.hints[ply]:
        return m
    if i == 1 and m == ws.hints[ply]:  # only now, because the hinted move often causes a cutoff
        _score_moves(st, ws, ply, i, n)
    return _next_move(ws, ply, i, n)


@kernel
def _reduction(ws: op.Record, depth: Int, i: Int) -> Int:
    """Return by how many plies to reduce the search of move number `i`."""
    if ws.reductions == 0 or i < LMR_FIRST or depth < LMR_MIN_DEPTH:
        return np.int64(0)
    return np.int64(2 if i >= LMR_SECOND and depth > LMR_MIN_DEPTH else 1)


@kernel
def _note_value(ws: op.Record, ply: Int, i: Int, m: Int, value: Any, low: Any) -> Any:
    """Record a move's value in the best line and, at ply 0, for the root; return the new alpha."""
    if ply == 0:
        ws.bounds[i] = value
        ws.finished += 1
        if value > low:
            ws.best = value
    if value <= low:
        return low
    update_pv(ws, ply, m)
    return value


@kernel
def _store_value(
    ws: op.Record,
    table: Table,
    key: Any,
    ply: Int,
    depth: Int,
    alpha: Any,
    beta: Any,
    best: Any,
    leaves: Int,
) -> Any:
    """Store the value of a position and return it. `leaves` was ``ws.leaves`` before the search.

    The root is not stored, because the search may leave out some of its moves.
    """
    if ws.stop != 0:
        return 0.0
    if ply == 0:
        return best
    kind = EXACT
    if best >= beta:
        kind = LOWER
    elif best <= alpha:
        kind = UPPER
    m = ws.line[ply, 0] if best > alpha else ws.hints[ply]
    reach = depth if ws.leaves > leaves else UNBOUNDED_DEPTH
    _tt_store(table, key, ply, reach, kind, best, np.int64(m))
    return best


@kernel
def _search(
    st: op.Record,
    ws: op.Record,
    ev: op.Record,
    table: Table,
    ply: Int,
    depth: Int,
    alpha: Any,
    beta: Any,
) -> Any:
    """Return the value for the seat to act: exact between `alpha` and `beta`, otherwise a bound.

    The value of a stopped search is meaningless; see `AlphaBeta` for the fields of `ws`.
    """
    if ws.stop != 0:
        return 0.0
    ws.lengths[ply] = 0
    leaves = np.int64(ws.leaves)
    value = _look_up(ws, table, st.key, ply, depth, alpha, beta)
    if value == value:
        return value
    if depth <= 1:
        best = _last_ply(st, ws, ev, ply, alpha, beta)
        return _store_value(ws, table, st.key, ply, depth, alpha, beta, best, leaves)
    seat = np.int64(op.to_act(st))
    n = _prepare_moves(st, ws, ply)
    best, low = -np.inf, alpha
    for i in range(n):
        m = _pick_move(st, ws, ply, np.int64(i), n)
        op.play(st, m)
        count_nodes(ws, np.int64(1))
        ws.lengths[ply + 1] = 0
        after = np.int64(op.to_act(st))
        less = _reduction(ws, depth, np.int64(i))
        top = low + NULL_WINDOW if i > 0 and beta - low > NULL_WINDOW else beta
        while True:  # a reduced or null-window search that beats `low` is repeated in full
            left = np.int64(depth - 1 - less)
            if after < 0:
                value = two_player_value(st, ws, seat, np.int64(ply + 1))
            elif after == seat:
                value = _search(st, ws, ev, table, np.int64(ply + 1), left, low, top)
            else:
                value = -_search(st, ws, ev, table, np.int64(ply + 1), left, -top, -low)
            final = less == 0 and (top == beta or value >= beta)
            if final or after < 0 or value <= low or ws.stop != 0:
                break
            if less == 0:
                top = beta
            less = np.int64(0)
        op.undo(st, m)
        if ws.stop != 0:
            return 0.0
        low = _note_value(ws, ply, np.int64(i), m, value, low)
        best = max(best, value)
        if value >= beta:
            _store_cutoff(ws, seat, ply, depth, m)
            break
    return _store_value(ws, table, st.key, ply, depth, alpha, beta, best, leaves)


@dataclass(frozen=True)
class _Window:
    """The aspiration window of the root. `half` is by how much it was last widened on one side."""

    alpha: float = -np.inf
    beta: float = np.inf
    half: float = np.inf

    @classmethod
    def around(cls, values: list[float]) -> _Window:
        """Return the window for the next depth: the last value plus or minus its recent changes."""
        if len(values) < 3 or abs(values[-1]) > DECIDED:
            return cls()
        half = max(abs(values[-1] - values[-2]), abs(values[-2] - values[-3]))
        return cls(values[-1] - half, values[-1] + half, half) if half > 0 else cls()

    def holds(self, value: float) -> bool:
        return self.alpha < value < self.beta

    def widened(self, value: float) -> _Window:
        """Return a window for another attempt, wider on the side where `value` lies outside."""
        half = self.half * 4 if abs(value) < DECIDED else np.inf
        if value <= self.alpha:
            return _Window(value - half, self.beta, half)
        return _Window(self.alpha, value + half, half)


class AlphaBeta(IterativeDeepening):
    """An alpha-beta search for two seats; keeps its table between turns.

    `state` is the first state of the match and determines the size of the workspace. `table` is the
    size of the transposition table in MiB; for `reductions` and `strict`, see the module docstring.
    A value is the difference between the evaluations for the two seats, or ``WIN_SCORE - n`` for a
    win in `n` plies. Raises `MemoryError` if the table cannot be allocated.
    """

    max_depth = MAX_DEPTH
    lost_score = -DECIDED

    def __init__(
        self, state: np.record, *, table: int = 16, reductions: bool = True, strict: bool = False
    ) -> None:
        extra = [
            ("roots", np.int64),
            ("first", np.int64),
            ("finished", np.int64),
            ("leaves", np.int64),
            ("reductions", np.int64),
            ("strict", np.int64),
            ("foresees", np.int64),
            ("hints", np.int64, (MAX_DEPTH + 1,)),  # by ply: the move to search first, or -1
            ("best", np.float64),
            ("value", np.float64),
            ("bounds", np.float64, (op.max_actions(state.dtype),)),
            ("killers", np.int32, (MAX_DEPTH + 1, 2)),
            ("history", np.int32, (2, HISTORY_SIZE)),
        ]
        super().__init__(op.workspace(state, depth=MAX_DEPTH + 1, extra=extra, source=__file__))
        self._ws.reductions, self._ws.strict = reductions and not strict, strict
        pairs = table * MIB // (BUCKET_SIZE * ENTRY.itemsize)
        self._table: Table = hugepages.zeros(pairs * BUCKET_SIZE, ENTRY)
        self._weights = b""
        self._plies: dict[int, int] = {}  # the ply of the first search of each root, by key
        self._values: list[float] = []  # the value of each completed depth
        self._has_tactical = op.offers(state.dtype, "tactical_moves")

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        return two_player_only(info, state)

    def _reset(self, st: np.record, ev: np.record) -> None:
        """Reset the move ordering for a new turn, and clear the table if its values are invalid."""
        weights, key, ply = ev.tobytes(), int(st["key"]), int(st["ply"])
        recurs = self._plies.setdefault(key, ply) != ply
        self._plies[key] = ply
        if weights != self._weights or recurs:
            self._table = hugepages.zeros(len(self._table), ENTRY)
            self._weights = weights
        self._values = []
        foreseen = op.offers(ev.dtype, "eval_delta") and not self._has_tactical
        self._ws.foresees = foreseen and not self._ws.strict
        self._ws.first = -1
        self._ws.killers[:] = -1
        self._ws.history[:] >>= 3

    def _order_first(self, action: int) -> None:
        self._ws.first = action  # the kernel sorts the moves and puts it first

    def _search_depth(
        self, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        """Search one depth, widening the window until it contains the value."""
        window, ws = _Window.around(self._values), self._ws
        best = self._search_window(window, st, ev, depth, before)
        while not ws.stop and not window.holds(float(ws.value)):
            window = window.widened(float(ws.value))
            self._order_first(best.action)
            best = self._search_window(window, st, ev, depth, best)
        self._values.append(best.value)
        return best

    def _search_window(
        self, window: _Window, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        """Search one depth with one window.

        A stopped search has a usable result if it completed at least one move with a value above
        the window's lower bound. It searches the best move so far first.
        """
        ws, top, plies = self._ws, np.int64(0), np.int64(depth)
        ws.finished = ws.leaves = 0
        ws.best, ws.bounds[:] = -np.inf, np.inf
        ws.value = _search(st, ws, ev, self._table, top, plies, window.alpha, window.beta)
        self._note_losing_moves()
        if before is not None and not ws.best > window.alpha:
            return before
        line = tuple(ws.line[0, : int(ws.lengths[0])].tolist())
        done = depth - int(ws.stop != 0)
        return SearchResult(line[0], float(ws.best) + 0.0, done, int(ws.nodes), line)

    def _is_final(self, best: SearchResult) -> bool:
        return is_exact(self._ws, best)
