"""Monte Carlo tree search: UCT for any number of seats, with or without hidden information.

Each iteration descends the tree from the root, adds a node, runs a playout (`playout`), evaluates
its end as shares (see `utility`), and adds the shares to each node on the path. It combines these
techniques:

- UCT: among the tried actions, choose the one with the greatest ``mean + explore *
  sqrt(ln(visits of the position) / visits of the action)`` -- L. Kocsis and C. Szepesvari, "Bandit
  Based Monte-Carlo Planning" (ECML 2006).
- The max^n policy in the tree: the mean is taken over the shares of the seat to act -- N. R.
  Sturtevant, "An Analysis of UCT in Multi-player Games" (2008).
- Progressive history: an action that did well for this seat anywhere in the tree gets a bonus of
  ``history * its mean / (losses here + 1)`` -- J. A. M. Nijssen and M. H. M. Winands, "Enhancements
  for Multi-Player Monte-Carlo Tree Search" (2011).
- Progressive widening: with `widen`, a position with `n` visits considers the ``1 + widen *
  sqrt(n)`` best actions by `move_prior`; without it, all actions -- G. Chaslot et al., "Progressive
  Strategies for Monte-Carlo Tree Search" (2008), who call it unpruning.
- Playouts end after `plies` plies and are scored by a logistic curve of width `scale` over the
  evaluation.
- Implicit minimax backups: evaluations are backed up as in max^n, and each mean is mixed with them;
  `implicit` is their weight -- M. Lanctot et al., "Monte Carlo Tree Search with Heuristic
  Evaluations using Implicit Minimax Backups" (2014).
- Proven results, with two seats: positions with a known outcome are not searched further, and the
  outcome is backed up immediately -- M. H. M. Winands, Y. Bjornsson and J.-T. Saito, "Monte-Carlo
  Tree Search Solver" (2008).
- Hidden information: every `batch` iterations, the search changes to another world that is
  consistent with the seat's view (single-observer information-set search). All worlds share one
  tree; an action counts as available only in the worlds where it is legal -- P. I. Cowling, E. J.
  Powley and D. Whitehouse, "Information Set Monte Carlo Tree Search" (2012).

No game has chance events after the start, so there are no chance nodes.

The tree is an array of at most `table` MiB. The operating system provides its memory as the tree
grows, so the budget of a search determines how much is used. When the array is full, the tree stops
growing, but further iterations still refine its statistics. All iterations run in one compiled
call, or one call per world; they stop within a few plies after ``ws.stop`` is set.

Between the turns of a match without hidden information, the search keeps what it knows: if the tree
contains the new position, the tree below it becomes the new tree. The history starts anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms import hugepages
from kibitz_search.algorithms.limits import SearchLimits, StateSampler
from kibitz_search.algorithms.playout import (
    MAX_PLIES,
    PLAYOUT_FIELDS,
    best_prior,
    play_recorded,
    playout,
    rng_state,
)
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult, root_moves
from kibitz_search.algorithms.terminal import final_share
from kibitz_search.algorithms.timer import ThinkingTime, stop_timer
from kibitz_search.algorithms.utility import expected_scores

MAX_DEPTH = 128
"""The maximum depth of the tree, in plies."""
HISTORY_SIZE = 1 << 14
"""The size of a seat's history table; actions with equal low bits share an entry."""
EXPLORATION = (0.3, 0.3, 0.3, 0.3, 0.3, 0.15, 0.15)
"""The default exploration weight by number of seats. With more seats, the tree contains fewer plies
of each seat, so a deeper tree is worth more than precise means. Tuned in Chinese Checkers with 6
seats at 20 ms per move; 5 seats use the same value."""
UNKNOWN = -1.0
PROVEN_WIN = 0.875
"""A proven share above this is a win; the margin covers the discount for late wins."""
PROVEN_LOSS = 1.0 - PROVEN_WIN
"""A proven share below this is a loss."""

NODE = kernels.record_type(
    "node",
    [
        ("total", np.float64),  # sum of the shares of `seat`
        ("exact", np.float64),  # its proven share, or UNKNOWN
        ("action", np.int32),  # the action that leads here
        ("seat", np.int32),  # the seat that played it
        ("visits", np.int32),
        ("seen", np.int32),  # times that the action was available
        ("first", np.int32),  # the first child, or 0
        ("next", np.int32),  # the next child of the same parent, or 0
        ("open", np.int32),  # actions without a child yet, -1 if unknown
        ("hint", np.float32, (op.MAX_SEATS,)),  # backed-up evaluations
    ],
    source=__file__,
)

WORKSPACE_FIELDS: list[tuple[Any, ...]] = [
    *PLAYOUT_FIELDS,
    ("used", np.int64),  # nodes in the tree
    ("goal", np.int64),  # iterations after which to return
    ("deepest", np.int64),  # maximum depth of the tree
    ("reached", np.int64),  # current depth of the tree
    ("hidden", np.int64),  # whether the game has hidden information
    ("plies", np.int64),  # plies per playout
    ("explore", np.float64),
    ("history", np.float64),
    ("epsilon", np.float64),
    ("implicit", np.float64),
    ("widen", np.float64),
    ("scale", np.float64),
    ("path", np.int64, (MAX_DEPTH + 1,)),
    ("sums", np.float64, (op.MAX_SEATS,)),  # sums of shares over all iterations
    (
        "did",
        np.float32,
        (op.MAX_SEATS, HISTORY_SIZE),
    ),  # history: sum of shares after each action
    ("times", np.int32, (op.MAX_SEATS, HISTORY_SIZE)),  # history: number of these shares
]


@kernel
def uct_value(ws: Record, nodes: Any, child: Int, seat: Int, tries: Int) -> float:
    """Return the UCT value of a child; `tries` is the number of times it was available."""
    node = nodes[child]
    if node.exact >= 0.0:
        return float(node.exact)
    visits = float(node.visits)
    mean = node.total / visits
    if ws.implicit > 0.0:
        mean += ws.implicit * (node.hint[seat] - mean)
    worth = mean + ws.explore * np.sqrt(np.log(float(tries)) / visits)
    if ws.history > 0.0:
        slot = np.int64(node.action) & (HISTORY_SIZE - 1)
        times = np.int64(ws.times[seat, slot])
        if times > 0:
            past = ws.did[seat, slot] / times
            worth += ws.history * past / (visits * (1.0 - node.total / visits) + 1.0)
    return float(worth)


@kernel
def contains(ws: Record, n: Int, action: Int) -> bool:
    """Return whether an action is among the first `n` moves in ``ws.moves[0]``."""
    contained = False
    for i in range(n):
        contained |= ws.moves[0, i] == action
    return bool(contained)


@kernel
def select_child(st: Record, ws: Record, nodes: Any, node: Int, seat: Int) -> Int:
    """Return the child to visit, or -1 to try an action for the first time."""
    hidden = ws.hidden != 0
    n = np.int64(op.generate(st, ws.moves[0])) if hidden else np.int64(0)
    best, most, count = np.int64(-1), -np.inf, 0
    child = np.int64(nodes[node].first)
    tries = np.int64(nodes[node].visits) + 1
    while child != 0:
        here = np.int64(nodes[child].seat) == seat
        if here and (not hidden or contains(ws, n, np.int64(nodes[child].action))):
            count += 1
            if hidden:
                nodes[child].seen += 1
                tries = np.int64(nodes[child].seen)
            worth = uct_value(ws, nodes, child, seat, tries)
            if worth > most:
                best, most = child, worth
        child = np.int64(nodes[child].next)
    untried = n > count if hidden else nodes[node].open != 0
    lost = best >= 0 and 0.0 <= nodes[best].exact < PROVEN_LOSS  # all children lose
    if ws.widen > 0.0 and not lost:
        untried &= count < 1.0 + ws.widen * np.sqrt(float(nodes[node].visits))
    if best >= 0 and nodes[best].exact > PROVEN_WIN:
        untried = False
    if untried and ws.used < nodes.shape[0]:
        return np.int64(-1)
    return best


@kernel
def expand(st: Record, ws: Record, ev: Record, nodes: Any, node: Int, seat: Int) -> Int:
    """Add the most promising untried action to the tree; return the new node.

    Return -1 if the table is full or all actions were tried.
    """
    if ws.used >= nodes.shape[0]:
        return np.int64(-1)
    n = np.int64(op.generate(st, ws.moves[0]))
    child = np.int64(nodes[node].first)
    while child != 0:
        if nodes[child].seat == seat:
            for i in range(n):
                if ws.moves[0, i] == nodes[child].action:
                    n -= 1
                    ws.moves[0, i] = ws.moves[0, n]
                    break
        child = np.int64(nodes[child].next)
    if n == 0:
        return np.int64(-1)
    new = np.int64(ws.used)
    ws.used += 1
    leaf = nodes[new]
    leaf.total, leaf.exact = 0.0, UNKNOWN
    leaf.action, leaf.seat = best_prior(st, ws, ev, n), seat
    leaf.visits, leaf.seen = 0, 1
    leaf.first, leaf.next, leaf.open = 0, nodes[node].first, -1
    nodes[node].first = new
    nodes[node].open = n - 1
    return new


@kernel
def select_leaf(st: Record, ws: Record, ev: Record, nodes: Any) -> Int:
    """Descend the tree to a new or proven position; return its ply.

    The nodes on the path are written to ``ws.path``.
    """
    node: Int = np.int64(0)
    ply: Int = np.int64(0)
    ws.path[0] = 0
    while ply < ws.deepest and not op.terminal(st) and nodes[node].exact < 0.0:
        seat = np.int64(op.to_act(st))
        child = np.int64(select_child(st, ws, nodes, node, seat))
        fresh = child < 0
        if fresh:
            child = np.int64(expand(st, ws, ev, nodes, node, seat))
            if child < 0:
                break
        play_recorded(st, ws, ply, np.int64(nodes[child].action))
        ply = np.int64(ply + 1)
        ws.path[ply] = child
        node = child
        if fresh:
            break
    return ply


@kernel
def evaluate_leaf(st: Record, ws: Record, ev: Record, nodes: Any, ply: Int) -> Int:
    """Write the shares for an iteration into ``ws.values[0]``; return its last ply."""
    node = np.int64(ws.path[ply])
    out = ws.values[0]
    if op.terminal(st):
        expected_scores(st, ev, ws.last, ply, ws.scale, out)
        if ws.hidden == 0 and ply > 0:
            nodes[node].exact = out[nodes[node].seat]
    elif nodes[node].exact >= 0.0:
        seat = np.int64(nodes[node].seat)
        out[seat], out[1 - seat] = nodes[node].exact, 1.0 - nodes[node].exact
    else:
        if ws.implicit > 0.0 and nodes[node].visits == 0:
            expected_scores(st, ev, ws.last, ply, ws.scale, out)
            for other in range(np.int64(st.seats)):
                nodes[node].hint[other] = out[other]
        end = np.int64(playout(st, ws, ev, ply, np.int64(ply + ws.plies), ws.epsilon))
        expected_scores(st, ev, ws.last, end, ws.scale, out)
        return end
    if ws.implicit > 0.0:
        for other in range(np.int64(st.seats)):
            nodes[node].hint[other] = out[other]
    return ply


@kernel
def backpropagate(ws: Record, nodes: Any, seats: Int, ply: Int, end: Int) -> None:
    """Add the shares in ``ws.values[0]`` to the nodes on the path and to the history."""
    gain = ws.values[0]
    for player in range(seats):
        ws.sums[player] += gain[player]
    nodes[0].visits += 1
    for k in range(1, ply + 1):
        node = nodes[ws.path[k]]
        node.visits += 1
        node.total += gain[node.seat]
    if ws.history > 0.0:
        for k in range(end):
            seat = np.int64(ws.trail[2 * k])
            slot = np.int64(ws.trail[2 * k + 1]) & (HISTORY_SIZE - 1)
            ws.did[seat, slot] += np.float32(gain[seat])
            ws.times[seat, slot] += 1


@kernel
def backup_implicit(nodes: Any, node: Int, seat: Int, seats: Int) -> None:
    """Give the node the backed-up evaluations of the child that is best for `seat`, the mover."""
    child: Int = np.int64(nodes[node].first)
    best = child
    while child != 0:
        if nodes[child].hint[seat] > nodes[best].hint[seat]:
            best = child
        child = np.int64(nodes[child].next)
    for other in range(seats):
        nodes[node].hint[other] = nodes[best].hint[other]


@kernel
def backup_proof(nodes: Any, node: Int, child: Int) -> bool:
    """Back up a child's proof to its parent; return whether this proves the parent as well."""
    seat = np.int64(nodes[child].seat)
    best = nodes[child].exact
    if best < PROVEN_WIN:
        if nodes[node].open != 0:
            return False
        sibling = np.int64(nodes[node].first)
        while sibling != 0:
            if nodes[sibling].exact < 0.0:
                return False
            best = max(best, nodes[sibling].exact)
            sibling = np.int64(nodes[sibling].next)
    nodes[node].exact = best if node == 0 or nodes[node].seat == seat else 1.0 - best
    return True


@kernel
def iterate(worlds: Any, ws: Record, ev: Record, nodes: Any) -> Int:
    """Run iterations from ``worlds[0]`` until ``ws.goal``, a proven root, or a stop.

    Actions are played in ``worlds[1]``, and ``ws.nodes`` counts the iterations.
    """
    seats = np.int64(worlds[0].seats)
    while ws.stop == 0 and ws.nodes < ws.goal and nodes[0].exact < 0.0:
        worlds[1] = worlds[0]
        st = worlds[1]
        for seat in range(seats):
            ws.last[seat] = 0
        ply = np.int64(select_leaf(st, ws, ev, nodes))
        end = np.int64(evaluate_leaf(st, ws, ev, nodes, ply))
        backpropagate(ws, nodes, seats, ply, end)
        ws.reached = max(np.int64(ws.reached), ply)
        ws.nodes += 1
        certain = seats == 2 and ws.hidden == 0 and nodes[ws.path[ply]].exact >= 0.0
        for k in range(ply - 1, -1, -1):
            node, child = np.int64(ws.path[k]), np.int64(ws.path[k + 1])
            if ws.implicit > 0.0:
                backup_implicit(nodes, node, np.int64(nodes[child].seat), seats)
            certain = certain and backup_proof(nodes, node, child)
    return np.int64(ws.nodes)


@kernel
def find_descendant(st: Record, ws: Record, nodes: Any, key: Any, ply: Int) -> Int:
    """Return the node of the position with this key and ply in the tree of `st`, or 0 for none.

    `ply` counts from the start of the match. The actions that lead there are played in `st`.
    """
    depth: Int = np.int64(0)
    child: Int = np.int64(nodes[0].first)
    while depth > 0 or child != 0:
        if child == 0 or st.ply >= ply:
            last = np.int64(ws.path[depth])
            op.undo(st, np.int64(nodes[last].action))
            child = np.int64(nodes[last].next)
            depth = np.int64(depth - 1)
            continue
        op.play(st, np.int64(nodes[child].action))
        depth = np.int64(depth + 1)
        ws.path[depth] = child
        if st.ply == ply and st.key == key:
            return child
        child = np.int64(nodes[child].first)
    return np.int64(0)


@kernel
def keep_subtree(nodes: Any, places: Any, root: Int) -> Int:
    """Move a node and all below it to the start of the array; return their number.

    `places` has a zero for each node of the tree. Children have greater indexes than their parents,
    so a node moves before another one needs its place.
    """
    places[root] = 1
    for i in range(root, places.shape[0]):
        child: Int = np.int64(nodes[i].first) if places[i] != 0 else np.int64(0)
        while child != 0:
            places[child] = 1
            child = np.int64(nodes[child].next)
    nodes[root].next = 0
    count = 0
    for i in range(root, places.shape[0]):
        if places[i] != 0:
            places[i] = count
            count += 1
            nodes[places[i]] = nodes[i]
    for i in range(count):
        nodes[i].first = places[nodes[i].first]
        nodes[i].next = places[nodes[i].next]
    return np.int64(count)


@kernel
def advance(worlds: Any, ws: Record, nodes: Any, places: Any, target: Record) -> Int:
    """Make `target` the root, if the tree of ``worlds[0]`` contains it; return its nodes, or 0."""
    worlds[1] = worlds[0]
    st = worlds[1]
    if st.ply >= target.ply:
        return np.int64(0)
    node = np.int64(find_descendant(st, ws, nodes, target.key, np.int64(target.ply)))
    return np.int64(keep_subtree(nodes, places, node)) if node != 0 else node


@kernel
def winning_move(st: Record, ws: Record, ev: Record, n: Int) -> Int:
    """Return the index of an immediately winning move among the first `n`, or -1."""
    seat = np.int64(op.to_act(st))
    winning = np.int64(-1)
    for i in range(n):
        m = np.int64(ws.moves[0, i])
        op.play(st, m)
        won = op.evaluate(ev, st, seat) >= WIN_SCORE
        if op.terminal(st):
            won = won or final_share(st, seat, ws.values[0]) == 1.0
        if won:
            winning = np.int64(i)
        op.undo(st, m)
        if winning >= 0:
            break
    return winning


class Mcts:
    """Monte Carlo tree search; keeps the part of the tree that still applies between turns.

    See the module docstring. Values are shares from 0 to 1, and the depth limit applies to the
    tree. `state` is the first state of the match. `table` is the most memory for the tree in MiB.
    `iterations` limits the search if it is not 0; `batch` is the number of iterations per world in
    games with hidden information. `explore` is the exploration weight, by default `EXPLORATION` for
    the number of seats; `history` is the weight of progressive history, 0 for none. Playouts are
    evaluated after `plies` plies, and play a random action with probability `epsilon`; `scale` is
    the lead, in the evaluation's units, with which a seat is ahead in 3 of 4 matches. `implicit` is
    the weight of the evaluation in each mean, 0 to 1; `widen` controls how soon more actions are
    considered, 0 for all at once. Raises `MemoryError` if the tree cannot be allocated.
    """

    def __init__(
        self,
        state: np.record,
        *,
        table: float = 64,
        iterations: int = 0,
        batch: int = 16,
        explore: float | None = None,
        history: float = 1.0,
        epsilon: float = 0.2,
        plies: int = 6,
        implicit: float = 0.0,
        widen: float = 1.0,
        scale: float = 10.0,
    ) -> None:
        ws = op.workspace(state, depth=0, extra=WORKSPACE_FIELDS, source=__file__)
        ws.explore = EXPLORATION[int(state["seats"])] if explore is None else explore
        ws.history, ws.epsilon = history, epsilon
        ws.implicit, ws.widen, ws.scale = implicit, widen, scale
        ws.plies = min(plies, MAX_PLIES)
        self._ws = ws
        self._max_iterations = iterations or 2**62
        self._batch = max(1, batch)
        self._nodes = hugepages.zeros(max(2, int(table * 2**20) // NODE.itemsize), NODE)
        self._worlds = np.zeros(2, state.dtype)
        self._ev: np.record | None = None

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return None: the search supports all games."""
        return None

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the most visited action after as many iterations as the limits allow.

        `state` must not be terminal and is not modified. The depth limits the tree, the nodes limit
        the iterations. If ``limits.sample`` is given, only the states that it returns are used.
        """
        thinking, sample = ThinkingTime(limits.seconds), limits.sample
        most = min(self._max_iterations, limits.nodes or self._max_iterations)
        first = rng_state(limits.seed)
        drawn = first & 0xFFFFFFFF
        st = state.copy() if sample is None else sample(drawn).copy()
        actions = self._reset(st, ev, first, limits.depth, sample is not None)
        ws = self._ws
        if len(actions) == 1:
            return SearchResult(actions[0], 0.5, 0, 0, (actions[0],))
        if sample is None and (at := int(winning_move(st, ws, ev, np.int64(len(actions))))) >= 0:
            return SearchResult(actions[at], 1.0, 1, 1, (actions[at],))
        # One iteration is always completed, so that there is a result.
        self._iterate(st, ev, 1)
        limits.report(self._result(st, ev))
        with stop_timer(ws, thinking.deadline, limits.cancelled):
            if sample is None:
                self._iterate(st, ev, most)
            else:
                self._iterate_samples(st, ev, drawn, sample, most)
        return self._result(st, ev)

    def _reset(
        self, st: np.record, ev: np.record, first: int, depth: int, hidden: bool
    ) -> list[int]:
        """Prepare a search; write the legal actions to the workspace and return them."""
        ws, root = self._ws, self._nodes[0]
        if hidden or not self._advance(st, ev):
            ws.used = 1
            root.exact, root.open = UNKNOWN, -1
            root.visits = root.first = 0
        root.seat = -1
        ws.nodes = ws.stop = ws.reached = 0
        ws.hidden = hidden
        ws.deepest = min(depth or MAX_DEPTH, MAX_DEPTH)
        ws.did[:] = ws.times[:] = ws.sums[:] = 0
        ws.chance[0] = first
        self._ev = ev
        actions = root_moves(st, first)
        ws.moves[0, : len(actions)] = actions
        return actions

    def _advance(self, st: np.record, ev: np.record) -> bool:
        """Keep the tree of the last turn below `st`; return False if there is none to continue."""
        ws = self._ws
        if ws.hidden:
            return False
        places = np.zeros(int(ws.used), np.int32)
        ws.used = advance(self._worlds, ws, self._nodes, places, st)
        return bool(ws.used and ev is self._ev and self._nodes[0].exact < 0.0)

    def _iterate(self, st: np.record, ev: np.record, goal: int) -> None:
        self._worlds[0] = st
        self._ws.goal = goal
        iterate(self._worlds, self._ws, ev, self._nodes)

    def _iterate_samples(
        self, st: np.record, ev: np.record, drawn: int, sample: StateSampler, most: int
    ) -> None:
        """Iterate in one sampled world after another."""
        ws = self._ws
        while not ws.stop and ws.nodes < most:
            self._iterate(st, ev, min(int(ws.nodes) + self._batch, most))
            drawn += 1
            st = sample(drawn)

    def _children(self, node: int) -> list[int]:
        children, child = [], int(self._nodes[node].first)
        while child:
            children.append(child)
            child = int(self._nodes[child].next)
        return children

    def _best(self, node: int, seat: int) -> int:
        """Return the child to play: a proven win, otherwise the most visited.

        A proven loss is chosen only if there is nothing else, however often it was visited.
        """
        open_ = self._nodes[node].exact < 0

        def rank(child: int) -> tuple[float, int, float]:
            each = self._nodes[child]
            mean = float(each.total / each.visits)
            lost = 0 <= each.exact < PROVEN_LOSS
            if each.exact >= 0 and (each.exact > PROVEN_WIN or lost or not open_):
                return float(each.exact), int(each.visits), mean
            return 0.5 if open_ else -1.0, int(each.visits), mean

        return max((c for c in self._children(node) if self._nodes[c].seat == seat), key=rank)

    def _result(self, st: np.record, ev: np.record) -> SearchResult:
        ws, nodes = self._ws, self._nodes
        best = self._best(0, int(op.to_act(st)))
        exact, mean = float(nodes[best].exact), float(nodes[best].total / nodes[best].visits)
        worth = exact if exact >= 0 else mean
        count = int(ws.nodes)
        values = tuple((ws.sums[: int(st["seats"])] / count).tolist())
        line, depth = self._line(best, st), int(ws.reached)
        lost = 0 <= exact < PROVEN_LOSS and nodes[0].exact < 0
        if lost and (untried := self._untried(st)):
            line = (max(untried, key=lambda m: float(op.move_prior(ev, st, np.int64(m)))),)
        return SearchResult(line[0], worth, depth, count, line, values)

    def _untried(self, st: np.record) -> list[int]:
        """Return the legal actions that are not in the tree."""
        tried = {int(self._nodes[child].action) for child in self._children(0)}
        moves = np.zeros(op.max_actions(st.dtype), np.int32)
        legal: list[int] = moves[: op.generate(st, moves)].tolist()
        return [action for action in legal if action not in tried]

    def _line(self, node: int, st: np.record) -> tuple[int, ...]:
        """Return the expected line from a child of the root, as far as it can be played."""
        st, line = st.copy(), [int(self._nodes[node].action)]
        op.play(st, line[0])
        while self._children(node) and not op.terminal(st):
            seat = int(op.to_act(st))
            if not any(self._nodes[child].seat == seat for child in self._children(node)):
                break
            node = self._best(node, seat)
            line.append(int(self._nodes[node].action))
            op.play(st, line[-1])
        return tuple(line)
