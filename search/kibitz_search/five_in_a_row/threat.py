"""The threat search: detects forced moves at every node, and follows sequences of fours.

The counts of `pattern_board` replace several plies of search:

- If the side to move can make a five, it has won. If the opponent can make two fives, it has lost;
  if one, it must block.
- An open four or double four, without a five for the opponent, wins in three plies.
- A four with an open three, if the opponent cannot make a four, wins in five plies.
- If the opponent threatens an open four or double four, only cells that prevent it and fours of its
  own are searched.

Blocking a five costs no depth. Neither does answering an open three with few possible answers.
Sequences of fours and open threes are therefore searched deeper than quiet moves.

Everything else is searched by iterative deepening: principal variation search (Marsland and
Campbell 1982) with a transposition table and moves ordered by what they make and deny, killers and
history. Moves that are much less probable than the best are reduced or, near the leaves, pruned. At
leaves, the side to move searches sequences of
fours: every move is a four and every answer is forced, so a win found is proven. Moves that are not
threats are tried only within two cells of a stone.

A win is proven against all replies of the loser near stones. The winner may have an even faster
win, because only some of its moves are searched.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.core.game import GameInfo
from kibitz_games.five_in_a_row import rules
from kibitz_search.algorithms import hugepages
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult
from kibitz_search.algorithms.support import one_game_only
from kibitz_search.algorithms.timer import ThinkingTime, count_nodes, stop_timer
from kibitz_search.five_in_a_row import pattern_board, patterns, swap_rule
from kibitz_search.five_in_a_row import pattern_classes as kinds
from kibitz_search.five_in_a_row.pattern_board import EMPTY, place_stone, remove_stone

i64, index = kernels.int64_cast(), kernels.index_cast()

FIVE, DOUBLE_FOUR, FOUR_THREE = kinds.FIVE, kinds.DOUBLE_FOUR, kinds.FOUR_THREE
FOUR_AND, FOUR_ONLY, DOUBLE_THREE = kinds.FOUR_AND, kinds.FOUR_ONLY, kinds.DOUBLE_THREE

A_FOUR = patterns.PATTERN_OF_CODE.index(patterns.FOUR)
"""The lowest line code of a four or more."""

MATE = int(WIN_SCORE)
"""The value of a win, from which the number of plies to it is subtracted."""
DECIDED = MATE - 1000
"""Values beyond this bound are wins or losses."""
CEILING = 900_000
"""The upper bound of evaluations."""
MAX_DEPTH = 60
"""The maximum depth in plies, without the fours at leaves."""
FOURS = 12
"""The maximum number of consecutive fours at a leaf; `ROOT_FOURS` at the root."""
ROOT_FOURS = 40
FEW_ANSWERS = 8
"""Answers to an open three cost no depth if there are fewer than this."""
LOWER, UPPER, EXACT = 1, 2, 3
HINT = 1 << 40
"""The order score of the table's move."""
NO_SCORE = 2 * MATE
"""A marker for no value."""
MARGIN = 150
"""The assumed maximum change of the evaluation per ply, for pruning."""
SHALLOW = 4
"""The depth up to which moves and positions are pruned by the evaluation, number and gap."""
HINTED = 4
"""From this depth on, positions without a move in the table are searched one ply less."""
GAPS = 64
"""The number of gaps between the order scores of a move and of the best move; each is an eighth of
a factor of e in probability, and the last is open-ended."""
GAP = kinds.ORDER_UNIT // 8 << 12
"""The size of a gap in scores, which are weights times 4096."""
MOST_MOVES = np.array([0, 8, 13, 20, 30])
"""The number of moves from which on quiet ones are pruned, by depth; for depths to `SHALLOW`."""
MOST_GAPS = np.array([0, 18, 24, 30, 40])
"""The gap from which on quiet moves are pruned."""


def _reductions() -> np.ndarray:
    """Return the depth reductions by depth and gap, int64 [MAX_DEPTH + 1, GAPS]."""
    depth = np.arange(MAX_DEPTH + 1)[:, None]
    factors = (np.arange(GAPS) + 0.5) / 8
    plies = 0.3 + factors * (0.5 + 0.9 * np.log(np.maximum(depth, 1)))
    return plies.astype(np.int64)


REDUCTIONS = _reductions()

ENTRY = kernels.record_type(
    "threat_entry",
    [
        ("key", np.uint64),
        ("score", np.int32),
        ("move", np.int16),
        ("depth", np.int8),
        ("bound", np.int8),
    ],
    source=__file__,
)


@kernel
def fours(fd: Record, who: Int) -> Int:
    """Return the number of cells in which a color can make one or more fours, but no five."""
    counts = fd.counts
    return (
        i64(counts[who, FOUR_ONLY])
        + i64(counts[who, FOUR_AND])
        + i64(counts[who, FOUR_THREE])
        + i64(counts[who, DOUBLE_FOUR])
    )


@kernel
def _answer(fd: Record, cell: Int, who: Int) -> Int:
    """Return the cell on a line through `cell` in which a color can make a five."""
    for d in range(4):
        step = i64(fd.steps[d])
        for k in range(1, 5):
            for there in (cell + k * step, cell - k * step):
                if fd.board[there] == 0 and fd.classes[who, there] == FIVE:
                    return i64(there)
    return i64(-1)


@kernel
def won_by_threats(fd: Record) -> Int:
    """Return the plies to a win of the side to move that the counts prove, or 0.

    The rules are listed in the module docstring; strong engines use similar classes.
    """
    me = i64(fd.side)
    other = 1 - me
    if fd.counts[me, FIVE] > 0:
        return i64(1)
    if fd.counts[other, FIVE] > 0:
        return i64(0)
    if fd.counts[me, DOUBLE_FOUR] > 0:
        return i64(3)
    if fd.counts[me, FOUR_THREE] > 0 and fours(fd, other) == 0:
        return i64(5)
    return i64(0)


@kernel
def by_fours(fd: Record, tb: Record, ws: Record, tt: Any, left: Int) -> Int:
    """Return the plies to a win of the side to move by at most `left` fours before the last.

    Returns 0 if no such win was found. Writes its first move to ``ws.choice``.
    """
    count_nodes(ws, i64(1))
    me = i64(fd.side)
    other = 1 - me
    plies = won_by_threats(fd)
    if plies > 0:
        kind = FIVE if plies == 1 else DOUBLE_FOUR if plies == 3 else FOUR_THREE
        ws.choice = pattern_board.cell_of_class(fd, me, kind)
        return plies
    theirs = i64(fd.counts[other, FIVE])
    if ws.stop != 0 or left <= 0 or theirs > 1 or fours(fd, me) == 0:
        return i64(0)
    only: Int = i64(-1)
    if theirs == 1:
        only = pattern_board.cell_of_class(fd, other, FIVE)
        if fd.classes[me, only] < FOUR_ONLY:
            return i64(0)
        if fd.classes[me, only] == DOUBLE_FOUR:
            ws.choice = only
            return i64(3)
    key = fd.key ^ tb.stone[0, 0]  # cell 0 is off the board: a key for a separate entry
    half = len(tt) // 2  # the upper half is for fours, so that they evict nothing else
    entry = tt[half + i64(key & np.uint64(half - 1))]
    if entry.key == key and (entry.score > 0 or entry.depth >= left):
        ws.choice = i64(entry.move)
        return i64(entry.score)
    best: Int = i64(0)
    choice = i64(0)
    for kind in (FOUR_THREE, FOUR_AND, FOUR_ONLY):
        if best > 0 or fd.counts[me, kind] == 0 or (only >= 0 and fd.classes[me, only] != kind):
            continue
        for i in range(fd.area):
            at = index(fd.cells[i])
            if fd.classes[me, at] != kind or fd.board[at] != EMPTY:
                continue
            cell = i64(at)
            if only >= 0 and cell != only:
                continue
            place_stone(fd, tb, cell)
            block = _answer(fd, cell, me)
            place_stone(fd, tb, block)
            found = by_fours(fd, tb, ws, tt, i64(left - 1))
            remove_stone(fd, tb, block)
            remove_stone(fd, tb, cell)
            if ws.stop != 0:
                return i64(0)
            if found > 0:
                best, choice = found + 2, cell
                break
    entry.key, entry.score, entry.move, entry.depth = key, best, choice, left
    ws.choice = choice
    return best


@kernel
def threats_mask(fd: Record) -> Int:
    """Return the combination of threats for the side to move, a number below `kinds.THREATS`."""
    me = i64(fd.side)
    own, theirs = fd.counts[me], fd.counts[1 - me]
    mask = i64(theirs[DOUBLE_FOUR] > 0) * kinds.THEIR_OPEN_FOUR
    mask += i64(theirs[FOUR_THREE] > 0) * kinds.THEIR_FOUR_THREE
    mask += i64(theirs[DOUBLE_THREE] > 0) * kinds.THEIR_DOUBLE_THREE
    mask += i64(own[FOUR_THREE] > 0) * kinds.OUR_FOUR_THREE
    mask += i64(own[DOUBLE_THREE] > 0) * kinds.OUR_DOUBLE_THREE
    mask += i64(fours(fd, 1 - me) > 0) * kinds.THEIR_FOUR
    mask += i64(fours(fd, me) > 0) * kinds.OUR_FOUR
    threes = i64(own[kinds.OPEN_THREE]) + i64(own[kinds.THREE_AND]) + i64(own[DOUBLE_THREE])
    return mask + i64(threes > 0) * kinds.OUR_OPEN_THREE


@kernel
def evaluate(fd: Record, ev: Record) -> Int:
    """Return the value of a position for the side to move, from the worth of its shapes."""
    me = i64(fd.side)
    total = (
        pattern_board.mover_sum(fd, me)
        - pattern_board.waiting_sum(fd, 1 - me)
        + i64(ev.threats[threats_mask(fd)])
    )
    return max(-CEILING, min(CEILING, total))


@kernel
def generate_moves(fd: Record, tb: Record, ws: Record, ev: Record, hint: Int, ply: Int) -> Int:
    """Write the moves to search and their scores into ``ws.moves[ply]``; return their number."""
    me = i64(fd.side)
    other = 1 - me
    moves, scores = ws.moves[ply], ws.scores[ply]
    if fd.counts[me, FIVE] == 0 and fd.counts[other, FIVE] > 0:
        moves[0] = pattern_board.cell_of_class(fd, other, FIVE)
        return i64(1)
    winning = fd.counts[me, FIVE] > 0 or fd.counts[me, DOUBLE_FOUR] > 0
    if not winning and fd.counts[other, DOUBLE_FOUR] > 0:
        return _generate_defences(fd, tb, ws, ev, hint, ply)
    n = i64(0)
    for i in range(fd.area):
        cell = i64(fd.cells[i])
        at = index(cell)
        if fd.board[at] == EMPTY and (fd.near[at] > 0 or fd.stones == 0):
            moves[n] = cell
            scores[n] = _score_move(fd, tb, ws, ev, cell, hint, ply)
            n += 1
    if n > 0:
        return n
    for i in range(fd.area):
        cell = i64(fd.cells[i])
        if fd.board[cell] == EMPTY:
            moves[n] = cell
            scores[n] = _score_move(fd, tb, ws, ev, cell, hint, ply)
            n += 1
    return n


@kernel
def _score_move(
    fd: Record, tb: Record, ws: Record, ev: Record, cell: Int, hint: Int, ply: Int
) -> Int:
    """Return the ordering score of a move."""
    if cell == hint:
        return i64(HINT)
    me, at = i64(fd.side), index(cell)
    own = index(tb.shape_of[index(fd.packs[me, at])])
    theirs = index(tb.shape_of[index(fd.packs[1 - me, at])])
    score = (i64(ev.attack[own]) + i64(ev.defend[theirs])) << 12
    if cell == ws.killers[ply, 0]:
        score += i64(60 << 12)
    elif cell == ws.killers[ply, 1]:
        score += i64(40 << 12)
    score += min(i64(ws.history[me, at]), 60 << 12)
    return score + i64(ws.jitter[at])


@kernel
def _generate_defences(fd: Record, tb: Record, ws: Record, ev: Record, hint: Int, ply: Int) -> Int:
    """Write the cells that may prevent the opponent's open or double four, and the mover's fours.

    A stone that is not on a line with one of the fours cannot prevent them, so it loses unless it
    makes a four. The next node refutes those of the written cells that do not help.
    """
    me = i64(fd.side)
    other = 1 - me
    moves, scores = ws.moves[ply], ws.scores[ply]
    threat = pattern_board.cell_of_class(fd, other, DOUBLE_FOUR)
    ws.mark += 1
    seen, mark = ws.seen, i64(ws.mark)
    moves[0] = threat
    scores[0] = _score_move(fd, tb, ws, ev, threat, hint, ply)
    seen[threat] = mark
    n = i64(1)
    pack, r = i64(fd.packs[other, threat]), i64(fd.reach)
    for d in range(4):
        if (pack >> (4 * d)) & 15 < A_FOUR:
            continue
        step = i64(fd.steps[d])
        for k in range(-r, r + 1):
            cell = threat + k * step
            if fd.board[cell] == EMPTY and seen[cell] != mark:
                moves[n] = cell
                scores[n] = _score_move(fd, tb, ws, ev, cell, hint, ply)
                seen[cell] = mark
                n += 1
    if fours(fd, me) == 0:
        return n
    for i in range(fd.area):
        cell = i64(fd.cells[i])
        if fd.board[cell] == EMPTY and fd.classes[me, cell] >= FOUR_ONLY and seen[cell] != mark:
            moves[n] = cell
            scores[n] = _score_move(fd, tb, ws, ev, cell, hint, ply)
            n += 1
    return n


@kernel
def _next_move(moves: Any, scores: Any, i: Int, n: Int) -> Int:
    """Select the best of the moves from index `i` on, swap it to index `i`, and return it."""
    best, highest = index(i), i64(scores[i])
    for k in range(i + 1, n):
        score = i64(scores[index(k)])
        if score > highest:
            best, highest = index(k), score
    move, score = i64(moves[best]), i64(scores[best])
    moves[best], scores[best] = moves[i], scores[i]
    moves[i], scores[i] = move, score
    return move


@kernel
def _update_pv(ws: Record, cell: Int, ply: Int) -> None:
    """Store `cell`, followed by the best line at the next ply, as the best line at `ply`."""
    ws.line[ply, 0] = cell
    length = i64(ws.lengths[ply + 1])
    for k in range(length):
        ws.line[ply, k + 1] = ws.line[ply + 1, k]
    ws.lengths[ply] = length + 1


@kernel
def _store_cutoff(fd: Record, ws: Record, cell: Int, depth: Int, ply: Int) -> None:
    """Record a move that caused a cutoff."""
    if ws.killers[ply, 0] != cell:
        ws.killers[ply, 1] = ws.killers[ply, 0]
        ws.killers[ply, 0] = cell
    ws.history[fd.side, cell] += depth * depth << 6


@kernel
def _narrow(fd: Record, n: Int, ply: Int) -> bool:
    """Return whether a threatened open four has so few answers that they cost no depth."""
    return bool(
        fd.counts[1 - i64(fd.side), DOUBLE_FOUR] > 0 and n < FEW_ANSWERS and ply < MAX_DEPTH // 2
    )


@kernel
def _reduction(depth: Int, gap: Int, pv: bool) -> Int:
    """Return the depth reduction for the first search of a quiet move."""
    less = i64(REDUCTIONS[max(i64(0), depth), gap])
    return max(i64(0), min(less - i64(pv), depth - 1))


@kernel
def _gap(ws: Record, ply: Int, i: Int) -> Int:
    """Return the gap between the move with index `i` and the best, except for the table's move."""
    if i == 0 or (i == 1 and ws.scores[ply, 0] >= HINT):
        ws.entered[ply].top = ws.scores[ply, i]
    return min(i64(GAPS - 1), (i64(ws.entered[ply].top) - i64(ws.scores[ply, i])) // GAP)


@kernel
def _shift_mate(score: Int, plies: Int) -> Int:
    """Return a value relative to a position `plies` later, where wins and losses are closer."""
    if score > DECIDED:
        return i64(score + plies)
    return i64(score - plies) if score < -DECIDED else i64(score)


@kernel
def _terminal_score(fd: Record, ply: Int) -> Int:
    """Return the value of a position below the root if it needs no search, otherwise `NO_SCORE`."""
    plies = won_by_threats(fd)
    if plies > 0:
        return MATE - ply - plies
    if fd.stones == fd.area:
        return i64(0)
    if fd.counts[1 - i64(fd.side), FIVE] > 1:
        return ply + 2 - MATE
    return i64(NO_SCORE)


@kernel
def _tt_cutoff(entry: Record, alpha: Int, beta: Int, depth: Int, ply: Int) -> Int:
    """Return the value of an entry if it causes a cutoff, otherwise `NO_SCORE`."""
    if entry.depth < depth:
        return i64(NO_SCORE)
    score, bound = _shift_mate(i64(entry.score), i64(-ply)), i64(entry.bound)
    above = bound == LOWER and score >= beta
    below = bound == UPPER and score <= alpha
    return score if bound == EXACT or above or below else i64(NO_SCORE)


@kernel
def _tt_store(fd: Record, tt: Any, score: Int, move: Int, depth: Int, bound: Int) -> None:
    """Store the result for a position."""
    entry = tt[i64(fd.key & np.uint64(len(tt) // 2 - 1))]
    entry.key, entry.score, entry.move = fd.key, score, move
    entry.depth, entry.bound = depth, bound


@kernel
def _quiesce(
    fd: Record, tb: Record, ws: Record, tt: Any, stand: Int, beta: Int, calm: bool, ply: Int
) -> Int:
    """Return the value of a leaf, after searching fours."""
    if calm and stand >= beta:
        return i64(stand)
    fd.valued = 0
    plies = by_fours(fd, tb, ws, tt, i64(FOURS))
    fd.valued = 1
    return MATE - ply - plies if plies > 0 else i64(stand)


@kernel
def _enter(
    fd: Record,
    tb: Record,
    ws: Record,
    ev: Record,
    tt: Any,
    alpha: Int,
    beta: Int,
    depth: Int,
    ply: Int,
) -> Int:
    """Return the score of a node if it is known without searching its moves, otherwise `NO_SCORE`.

    In the latter case, the moves are in ``ws.moves[ply]`` and the other results in
    ``ws.entered[ply]``.
    """
    count_nodes(ws, i64(1))
    ws.lengths[ply] = 0
    if ws.stop != 0:
        return i64(0)
    score: Int = _terminal_score(fd, ply) if ply > 0 else i64(NO_SCORE)
    if score != NO_SCORE:
        return score
    theirs = fd.counts[1 - i64(fd.side)]
    pv = beta - alpha > 1
    forced = theirs[FIVE] > 0
    calm = not forced and theirs[DOUBLE_FOUR] == 0
    entry = tt[i64(fd.key & np.uint64(len(tt) // 2 - 1))]
    hint = i64(entry.move) if entry.key == fd.key else i64(0)
    if entry.key == fd.key and ply > 0 and not pv:
        score = _tt_cutoff(entry, alpha, beta, depth, ply)
        if score != NO_SCORE:
            return score
    stand: Int = evaluate(fd, ev) if depth <= SHALLOW or ply >= MAX_DEPTH else i64(0)
    if ply >= MAX_DEPTH or (depth <= 0 and not forced and ply > 0):
        return _quiesce(fd, tb, ws, tt, stand, beta, calm, ply)
    calm = calm and not pv and depth <= SHALLOW
    if calm and stand - MARGIN * depth >= beta and beta > -DECIDED:
        return stand
    n = generate_moves(fd, tb, ws, ev, hint, ply)
    node = ws.entered[ply]
    node.moves, node.forced = n, forced
    node.quiet_moves = i64(MOST_MOVES[depth]) if calm else n
    node.quiet_gap = i64(MOST_GAPS[depth]) if calm else i64(GAPS)
    node.futile = calm and stand + MARGIN * depth <= alpha
    node.depth = depth if forced or _narrow(fd, n, ply) else depth - 1
    if depth >= HINTED and hint == 0 and ply > 0:
        node.depth -= 1
    return i64(NO_SCORE)


@kernel
def _note_value(ws: Record, cell: Int, value: Int, low: Int, ply: Int) -> Int:
    """Record a move's value in the best line and, at ply 0, for the root; return the new alpha."""
    if ply == 0:
        ws.tried, ws.rising = ws.tried + 1, -1
        ws.bounds[cell] = value
        if value > low:
            ws.best, ws.best_value = cell, value
    if value > low:
        _update_pv(ws, cell, ply)
    return max(low, value)


@kernel
def pvs(
    fd: Record,
    tb: Record,
    ws: Record,
    ev: Record,
    tt: Any,
    alpha: Int,
    beta: Int,
    depth: Int,
    ply: Int,
) -> Int:
    """Return the score, exact within (`alpha`, `beta`); invalid if stopped, see `_FIELDS`."""
    score: Int = _enter(fd, tb, ws, ev, tt, alpha, beta, depth, ply)
    if score != NO_SCORE:
        return score
    node = ws.entered[ply]
    best: Int = i64(-MATE)
    choice: Int = i64(0)
    low: Int = i64(alpha)
    for i in range(node.moves):
        cell = _next_move(ws.moves[ply], ws.scores[ply], i64(i), i64(node.moves))
        quiet = max(fd.classes[0, cell], fd.classes[1, cell]) < kinds.OPEN_THREE
        gap = _gap(ws, ply, i64(i))
        if quiet and best > -DECIDED:
            if i >= node.quiet_moves or gap >= node.quiet_gap:
                break
            if node.futile:
                continue
        value: Int = i64(MATE - 1)
        ws.lengths[ply + 1] = 0
        if ply > 0 or fd.classes[fd.side, cell] != FIVE:
            place_stone(fd, tb, cell)
            less: Int = i64(0)
            if quiet and i > 0 and node.forced == 0:
                less = _reduction(depth, gap, beta - alpha > 1)
            lower = i64(-beta) if i == 0 else i64(-low - 1)
            while True:  # search again with full depth and window if the move turns out better
                left = i64(node.depth - less)
                value = -pvs(fd, tb, ws, ev, tt, lower, i64(-low), left, i64(ply + 1))
                final = less == 0 and (value >= beta or lower == -beta)
                if final or value <= low or ws.stop != 0:
                    break
                if less == 0:
                    lower = i64(-beta)
                    if ply == 0:
                        ws.rising, ws.rising_value = cell, value
                less = i64(0)
            remove_stone(fd, tb, cell)
        if ws.stop != 0:
            return i64(0)
        low = _note_value(ws, cell, value, low, ply)
        if value > best:
            best, choice = value, cell
        if value >= beta:
            if quiet:
                _store_cutoff(fd, ws, cell, depth, ply)
            break
    bound = LOWER if best >= beta else EXACT if best > alpha else UPPER
    _tt_store(fd, tt, _shift_mate(best, ply), choice, depth, i64(bound))
    return best


@dataclass(frozen=True)
class _PrincipalVariation:
    """The best line of one depth, as cells."""

    value: int
    depth: int
    cells: tuple[int, ...]


class Threat:
    """The threat search for five in a row; keeps its table between turns.

    `state` is the first state of the match and determines the board and the rule; `table` is the
    size of the transposition table in MiB. Raises `MemoryError` if the table cannot be allocated.
    """

    def __init__(self, state: np.record, *, table: int = 16) -> None:
        st: Any = state
        self._tb = kinds.vocabulary(bool(st.exact))
        self._ws: Any = workspace(state)
        self._tt = hugepages.zeros(_entries(table), ENTRY)
        # Compile the kernels now that only some positions need.
        fd: Any = pattern_board.compiled_board(int(st.width), bool(st.exact), self._tb)
        by_fours(fd, self._tb, self._ws, self._tt, np.int64(0))
        pattern_board.cell_of_class(fd, np.int64(0), np.int64(FIVE))

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best move within the limits; `ev` is a `pattern_classes.WEIGHTS` record.

        `state` must not be terminal and is not modified. The seed decides the order of moves with
        equal scores.
        """
        self._ws.nodes, self._ws.most = 0, limits.nodes
        with stop_timer(self._ws, ThinkingTime(limits.seconds).deadline, limits.cancelled):
            if swap_rule.applies(state):
                return self._swapped(state, ev, limits.seed, limits.depth)
            fd = pattern_board.from_state(state, self._tb, ev["worth"])
            line = self._deepen(
                fd,
                ev,
                limits.depth or MAX_DEPTH,
                limits.seed,
                lambda line: limits.report(self._result(fd, line)),
            )
            line = self._finished(fd, line)
        return self._result(fd, line)

    def _result(self, fd: np.record, line: _PrincipalVariation) -> SearchResult:
        actions = pattern_board.actions_of(fd, line.cells)
        return SearchResult(actions[0], float(line.value), line.depth, int(self._ws.nodes), actions)

    def _deepen(
        self,
        fd: np.record,
        ev: np.record,
        last: int,
        seed: int | str,
        hear: Callable[[_PrincipalVariation], object] = lambda line: None,
    ) -> _PrincipalVariation:
        """Search depth by depth until the last depth, a limit or a proven result is reached.

        Calls `hear` with the best line of each depth.
        """
        ws: Any = self._ws
        ws.killers[:], ws.jitter[:] = 0, _jitter(seed)
        ws.history[:] = ws.history // 8
        ws.best, ws.bounds[:] = -1, 0
        only = generate_moves(fd, self._tb, ws, ev, np.int64(0), np.int64(0))
        best = _PrincipalVariation(0, 0, (_best_first(ws, only),))
        hear(best)
        for depth in range(1, min(last, MAX_DEPTH) + 1):
            ws.best = ws.rising = -1
            ws.tried, alpha, beta = 0, np.int64(-MATE), np.int64(MATE)
            value = pvs(fd, self._tb, ws, ev, self._tt, alpha, beta, np.int64(depth), np.int64(0))
            if ws.stop:
                return self._interrupted_result(best)
            best = _PrincipalVariation(int(value), depth, _pv(ws))
            hear(best)
            if abs(best.value) > DECIDED or only == 1 or depth >= int(fd.area) - int(fd.stones):
                break
        return best

    def _interrupted_result(self, before: _PrincipalVariation) -> _PrincipalVariation:
        """Return the result after an interrupted depth; `before` is that of the previous depth.

        This is the best of the completed moves, or the current move if it has already proved
        better. If even the best completed move loses, any other move is at least as good. The
        result is then the most promising of the other moves, preferably one that the previous depth
        has not shown to lose, with the value of the previous depth.
        """
        ws: Any = self._ws
        if ws.rising >= 0:
            value = int(ws.rising_value)  # a lower bound, so a losing value is meaningless
            value = value if value > -DECIDED else before.value
            return _PrincipalVariation(value, before.depth, (int(ws.rising),))
        if ws.best < 0:
            return before
        cells = ws.moves[0, int(ws.tried) : int(ws.entered[0].moves)]
        if ws.best_value >= -DECIDED or not cells.size:
            return _PrincipalVariation(int(ws.best_value), before.depth, _pv(ws))
        scores = ws.scores[0, int(ws.tried) : int(ws.entered[0].moves)]
        lost = ws.bounds[cells] < -DECIDED
        place = int(np.lexsort((scores, ~lost))[-1])
        return _PrincipalVariation(before.value, before.depth, (int(cells[place]),))

    def _finished(self, fd: np.record, line: _PrincipalVariation) -> _PrincipalVariation:
        """Extend the line of a decided position with the fours and the five that end the game."""
        if abs(line.value) <= DECIDED or self._ws.stop:
            return line
        end, cells = fd.copy(), list(line.cells)
        for cell in cells:
            place_stone(end, self._tb, np.int64(cell))
        plies = MATE - abs(line.value)
        while len(cells) < plies and (cell := self._forced_move(end)) >= 0:
            place_stone(end, self._tb, np.int64(cell))
            cells.append(cell)
        return _PrincipalVariation(line.value, line.depth, tuple(cells))

    def _forced_move(self, fd: Any) -> int:
        """Return the move that wins by fours or blocks a five, or -1 if there is neither."""
        if by_fours(fd, self._tb, self._ws, self._tt, np.int64(ROOT_FOURS)):
            return int(self._ws.choice)
        return int(pattern_board.cell_of_class(fd, np.int64(1 - int(fd.side)), np.int64(FIVE)))

    def _swapped(self, state: np.record, ev: np.record, seed: int | str, last: int) -> SearchResult:
        """Choose an action in a swap opening by searching the positions after it."""
        deepest = 0

        def judge(position: np.record, depth: int) -> float | None:
            nonlocal deepest
            fd = pattern_board.from_state(position, self._tb, ev["worth"])
            line = self._deepen(fd, ev, depth or last or MAX_DEPTH, seed)
            deepest = max(deepest, line.depth)
            return float(line.value) if line.depth or not self._ws.stop else None

        action, value = swap_rule.choose(state, judge, seed)
        return SearchResult(action, value, deepest, int(self._ws.nodes), (action,))


_ENTERED = [
    ("moves", np.int64),  # number of moves
    ("quiet_moves", np.int64),  # index from which quiet moves are skipped
    ("quiet_gap", np.int64),  # gap from which quiet moves are skipped
    ("top", np.int64),  # best order score of a move other than the table's
    ("depth", np.int64),  # depth of the child nodes, before reductions
    ("forced", np.int64),  # whether the mover must block a five
    ("futile", np.int64),  # whether no quiet move can reach alpha
]
_FIELDS = [
    ("entered", np.dtype((np.record, _ENTERED)), (MAX_DEPTH + 2,)),
    # At ply 0: the best completed move and its value, the number of completed moves, and the
    # current move with a lower bound of its value if it is better than the best so far (-1
    # otherwise).
    ("best", np.int64),
    ("best_value", np.int64),
    ("tried", np.int64),
    ("rising", np.int64),
    ("rising_value", np.int64),
    ("bounds", np.int64, (pattern_board.PLACES,)),  # upper bounds of the root moves' values
    ("choice", np.int64),
    ("mark", np.int64),
    ("seen", np.int64, (pattern_board.PLACES,)),
    ("jitter", np.int64, (pattern_board.PLACES,)),
    ("killers", np.int64, (MAX_DEPTH + 3, 2)),
    ("history", np.int64, (2, pattern_board.PLACES)),
]


def workspace(state: np.record) -> Record:
    """Return a workspace for searches of a match that starts with `state`."""
    return op.workspace(state, depth=MAX_DEPTH + 2, extra=_FIELDS, source=__file__)


def _entries(table: int) -> int:
    """Return the number of entries for a size in MiB: a power of 2, at least 1024."""
    fit = max(1024, (table << 20) // ENTRY.itemsize)
    return 1 << (fit.bit_length() - 1)


def _jitter(seed: int | str) -> np.ndarray:
    """Return a small random number for each cell, for breaking ties in move ordering."""
    source = random.Random(seed)
    return np.array([source.randrange(1024) for _ in range(pattern_board.PLACES)])


def _best_first(ws: Any, n: Int) -> int:
    """Return the move with the highest score among the first `n` at ply 0."""
    return int(ws.moves[0, int(np.argmax(ws.scores[0, :n]))])


def _pv(ws: Any) -> tuple[int, ...]:
    cells: list[int] = ws.line[0, : int(ws.lengths[0])].tolist()
    return tuple(cells)
