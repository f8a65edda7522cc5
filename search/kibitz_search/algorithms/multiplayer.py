"""The multiplayer searches: one kernel for all of them, with the policy in its workspace.

They use iterative deepening (`deepening`). The kernel `explore` values a position for each seat,
and these fields of the workspace say how the seats choose:

==================  ==============================================================================
``target``          the seat that others attack, or `NOBODY` (`mpmix`, `paranoid`)
``single_reply``    whether only one opponent replies to each action of the root's seat (`brs`)
``mixed``           whether seats choose at random among their best actions, with values that are
                    probabilities (`maxprob`)
==================  ==============================================================================

Aims. Each seat chooses the action that is best for itself, unless it attacks the target: it then
chooses the action that is worst for the target. If the target is the root's seat, all other seats
attack it; otherwise, only the root's seat attacks the target.

Ties. The result depends on how ties between equally good actions are broken. The mover prefers the
action that is worse for its strongest rival, the other seat with the greatest lead. Among remaining
ties it prefers the first action, which depends on the seed at the root.

Pruning. With two seats, the leads add up to zero, and if all other seats attack the root's seat,
there are only two sides. The search of an action can then stop at a reply that makes it no better
than the best action so far (alpha-beta). Otherwise, pruning requires a lower bound on leads that is
close to their usual values (R. E. Korf, "Multi-Player Alpha-Beta Pruning", 1991). No such bound is
known, so nothing is pruned.

Order. `list_moves` lists the actions of a position and `next_move` returns them one at a time, the
most promising first. The first is the move of the previous depth's line, followed by *killers*
(refutations at the same ply). The others are ordered by the evaluation's `move_prior`, or by the
game's `move_score` if it has none.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record, Values
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.deepening import IterativeDeepening, store_killer, update_pv
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult
from kibitz_search.algorithms.terminal import PLY_DISCOUNT
from kibitz_search.algorithms.timer import count_nodes
from kibitz_search.algorithms.utility import expected_scores, relative_scores

MAX_DEPTH = 24
"""The maximum depth of these searches, in plies."""
NOBODY = -1
SEAT = 8
"""The factor for entries of a line: action * SEAT + seat."""
PV_BONUS, KILLER_BONUS = 2.0**40, 2.0**38
"""Bonuses for move ordering."""
WIDTHS = (0, 0, 3, 3, 3, 2, 2)
"""The best known widths by number of seats, tuned in Chinese Checkers with 2, 3, 4 and 6 seats at
20 ms per move; 5 seats use the same value as 6. A search reaches the player's second move only
after one ply per seat; to see that move is worth more than to see every reply."""


@kernel
def list_moves(st: Record, ws: Record, ev: Record, ply: Int, ranked: bool) -> Int:
    """Write the actions of a position to ``ws.moves[ply]``; return the number to search.

    If they are `ranked`, these are at most ``ws.width``, and their scores are written to
    ``ws.promises[ply]``. The root's actions are already there, in order of preference.
    """
    moves = ws.moves[ply]
    ws.counts[ply] = 0
    if ply == 0:
        return np.int64(ws.roots)
    n = np.int64(op.generate(st, moves))
    if not ranked:
        return n
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
    """Return action number `i` of a position, after moving the best remaining action there."""
    n = np.int64(ws.counts[ply])
    if n > 0:
        best = i
        for k in range(i + 1, n):
            if ws.promises[ply, k] > ws.promises[ply, best]:
                best = k
        m, promise = ws.moves[ply, best], ws.promises[ply, best]
        for k in range(best, i, -1):  # keep the order of the others
            ws.moves[ply, k] = ws.moves[ply, k - 1]
            ws.promises[ply, k] = ws.promises[ply, k - 1]
        ws.moves[ply, i], ws.promises[ply, i] = m, promise
    return np.int64(ws.moves[ply, i])


@kernel
def best_rival_score(values: Values, seats: Int, seat: Int) -> float:
    """Return the greatest lead among the seats other than `seat`."""
    most = -np.inf
    for other in range(seats):
        if other != seat:
            most = max(most, values[other])
    return most


@kernel
def prefers(new: Values, old: Values, seats: Int, seat: Int, hurt: Int, ties: bool) -> bool:
    """Return whether `seat` prefers `new` to `old`.

    If it attacks `hurt`, it prefers the vector in which that seat has the lower value. Otherwise,
    its own value counts. Only if `ties` is true do the values of the other seats break ties.
    """
    if hurt >= 0 and (new[hurt] != old[hurt] or not ties):
        return bool(new[hurt] < old[hurt])
    a, b = new[seat], old[seat]
    if a != b or hurt >= 0 or not ties:
        return bool(a > b)
    return bool(best_rival_score(new, seats, seat) < best_rival_score(old, seats, seat))


@kernel
def mean_of_best(ws: Record, ply: Int, n: Int, seats: Int, seat: Int) -> Int:
    """Write the mean of the first `n` vectors in ``ws.chances[ply]`` that are best for `seat`.

    Return the index of the first of them.
    """
    chances, out = ws.chances[ply], ws.values[ply]
    # The root's seat plays its best action, so only exact ties are averaged there.
    near = ws.near if ply > 0 else 0.0
    best = 0
    for i in range(1, n):
        if chances[i, seat] > chances[best, seat]:
            best = i
    count = 0
    for other in range(seats):
        out[other] = 0.0
    for i in range(n):
        if chances[i, seat] >= chances[best, seat] - near:
            count += 1
            for other in range(seats):
                out[other] += chances[i, other]
    for other in range(seats):
        out[other] /= count
    return np.int64(best)


@kernel
def note_value(
    ws: Record, ply: Int, tried: Int, seat: Int, seats: Int, hurt: Int, ties: bool
) -> bool:
    """Take the value of an action of `seat` if it is the best so far; return whether it is.

    `tried` actions came before it. For `hurt` and `ties`, see `prefers`.
    """
    new, old = ws.values[ply + 1], ws.values[ply]
    if ws.mixed != 0:
        for other in range(seats):
            ws.chances[ply, tried, other] = new[other]
    best = tried == 0 or prefers(new, old, seats, seat, hurt, ties)
    if best:
        for other in range(seats):
            old[other] = new[other]
    if ply == 0:
        ws.bounds[tried] = new[seat]
        ws.finished += 1
        ws.best = old[seat]
    return best


@kernel
def explore(
    st: Record, ws: Record, ev: Record, limit: Int, ply: Int, alpha: float, beta: float
) -> Int:
    """Write the value of a position for each seat into ``ws.values[ply]``.

    If the search prunes, the value for the root's seat is exact between `alpha` and `beta`,
    otherwise a bound, and the other values are meaningless.
    """
    ws.lengths[ply] = 0
    me, over, single = np.int64(ws.active[0]), op.terminal(st), ws.single_reply != 0
    if over or ply >= limit or (single and ply > 0 and op.evaluate(ev, st, me) >= WIN_SCORE):
        ws.open += np.int64(ply == limit and not over)
        count_nodes(ws, np.int64(1))
        if ws.mixed != 0:
            expected_scores(st, ev, ws.last, ply, ws.scale, ws.values[ply])
        else:
            relative_scores(st, ev, ws.last, ply, ws.values[ply])
        return np.int64(0)
    seats, turn, target = np.int64(st.seats), np.int64(op.to_act(st)), np.int64(ws.target)
    two_sides = target == me or (seats == 2 and ws.mixed == 0)
    ties = ws.mixed == 0 and not two_sides
    replies, tried = single and ply % 2 == 1, np.int64(0)
    for k in range(1 if replies else 0, seats if replies else 1):
        seat = turn
        if single:
            seat = np.int64(ws.active[k])
            if seat < 0 or (replies and op.evaluate(ev, st, seat) >= WIN_SCORE):
                continue
            op.set_side_to_move(st, seat)
        before = np.int64(ws.last[seat])
        hurt = target if (seat == me) != (target == me) else np.int64(NOBODY)
        n = list_moves(st, ws, ev, ply, two_sides or ws.width > 0)
        for i in range(n):
            m = next_move(ws, ply, np.int64(i))
            op.play(st, m)
            ws.last[seat] = ply + 1
            explore(st, ws, ev, limit, np.int64(ply + 1), alpha, beta)
            ws.last[seat] = before
            op.undo(st, m)
            if ws.stop != 0:
                break
            if note_value(ws, ply, tried, seat, seats, hurt, ties):
                update_pv(ws, ply, m * SEAT + seat)
            tried += 1
            if two_sides and seat == me:
                alpha = max(alpha, ws.values[ply, me])
            elif two_sides:
                beta = min(beta, ws.values[ply, me])
            if ply > 0 and alpha >= beta:
                store_killer(ws, ply, m)
                break
        if single:
            op.set_side_to_move(st, turn)
        if ws.stop != 0 or (ply > 0 and alpha >= beta):
            break
    if ws.mixed != 0 and tried > 0 and (ws.stop == 0 or ply == 0):
        mean_of_best(ws, ply, tried, seats, turn)
    if tried == 0 and ws.stop == 0:  # no opponent can reply: use the value of this position
        explore(st, ws, ev, np.int64(-1), ply, alpha, beta)
    return np.int64(0)


class MultiplayerSearch(IterativeDeepening):
    """A search for two or more seats.

    `width` limits the actions of each position below the root to the best by `move_prior`: 0 for no
    limit, None for the best known width (`WIDTHS`). A smaller width searches deeper, but misses
    actions.
    """

    max_depth = MAX_DEPTH
    decided = WIN_SCORE / 2
    """From this value on, a win is certain, so the search stops deepening."""
    lost_score = -WIN_SCORE / 2
    single_reply: ClassVar[bool] = False
    mixed: ClassVar[bool] = False

    def __init__(self, state: np.record, *, width: int | None = 0) -> None:
        actions = op.max_actions(state.dtype)
        extra: list[tuple[Any, ...]] = [
            ("promises", np.float64, (MAX_DEPTH + 2, actions)),  # scores of the moves
            ("roots", np.int64),  # number of actions at the root, in moves[0]
            ("finished", np.int64),  # number of completed root actions
            ("width", np.int64),  # maximum number of actions below the root, 0 for all
            ("counts", np.int64, (MAX_DEPTH + 2,)),  # ranked actions of each position on the path
            ("open", np.int64),  # number of evaluated positions that are not terminal
            ("bounds", np.float64, (actions,)),
            ("best", np.float64),  # the best root value for the seat to act
            ("last", np.int64, (op.MAX_SEATS,)),  # the ply of each seat's last action
            ("plan", np.int32, (MAX_DEPTH + 2,)),  # the best line of the previous depth
            ("killers", np.int32, (MAX_DEPTH + 2, 2)),
            ("active", np.int64, (op.MAX_SEATS,)),  # the root's seat, then the seats that reply
            ("target", np.int64),
            ("single_reply", np.int64),
            ("mixed", np.int64),
            ("near", np.float64),  # the largest difference of probabilities that is a tie
            ("scale", np.float64),  # the scale for shares
            # If mixed, the probabilities of all seats after each action at each ply.
            ("chances", np.float64, (MAX_DEPTH + 1, actions if self.mixed else 0, op.MAX_SEATS)),
        ]
        ws = op.workspace(state, depth=MAX_DEPTH + 1, extra=extra, source=__file__)
        super().__init__(ws)
        ws.width = WIDTHS[int(state["seats"])] if width is None else width
        ws.single_reply, ws.mixed = self.single_reply, self.mixed

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        if info.hidden:
            return f"{info.name} has hidden information, which this search does not support"
        return None

    @abstractmethod
    def _target(self, st: np.record, ev: np.record) -> int:
        """Return the seat that is attacked, or `NOBODY`; `st` is the root."""

    def _reset(self, st: np.record, ev: np.record) -> None:
        ws = self._ws
        ws.plan[:] = ws.killers[:] = ws.active[:] = -1
        ws.last[:] = 0
        ws.active[0], ws.target = op.to_act(st), self._target(st, ev)

    def _search_depth(
        self, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        ws, least, most = self._ws, np.float64(-np.inf), np.float64(np.inf)
        ws.finished, ws.open, ws.best = 0, 0, -np.inf
        explore(st, ws, ev, np.int64(depth), np.int64(0), least, most)
        if before is not None and not ws.finished:
            return before
        line = ws.line[0, : int(ws.lengths[0])]
        ws.plan[: len(line)], ws.plan[len(line) :] = line // SEAT, -1
        done, played = depth - int(ws.finished < ws.roots), _played_line(st, line.tolist())
        # If all attack the root's seat, only its own value is exact.
        seats = 0 if ws.target == ws.active[0] else int(st["seats"])
        values = tuple(map(_result_value, ws.values[0, :seats].tolist()))
        value = _result_value(float(ws.best))
        return SearchResult(played[0], value, done, int(ws.nodes), played, values)

    def _is_final(self, best: SearchResult) -> bool:
        return best.value >= self.decided or not self._ws.open


def _result_value(best: float) -> float:
    """Return a value of the root on the scale of `SearchResult`: a win in n plies is n below
    `WIN_SCORE`. Values that prove no win or loss are unchanged.
    """
    plies = round((1.0 - abs(best) / WIN_SCORE) / PLY_DISCOUNT)
    return math.copysign(WIN_SCORE - plies, best) if plies <= MAX_DEPTH else best


def _played_line(st: np.record, line: list[int]) -> tuple[int, ...]:
    """Return the actions of a line as far as they follow the turn order."""
    st, actions = st.copy(), []
    for entry in line:
        if op.to_act(st) != entry % SEAT:
            break
        actions.append(entry // SEAT)
        op.play(st, entry // SEAT)
    return tuple(actions)
