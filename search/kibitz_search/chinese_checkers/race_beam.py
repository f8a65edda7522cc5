"""A beam search for the shortest race without opponents, from any position.

The search expands layers of the player's moves and keeps only the most promising peg sets of each
layer (Bisiani: "Beam Search", 1987). Sets within the triangle of the race database are not searched
further, since the database has their exact distance. For all other sets it gives an estimate: each
peg outside is assumed to stand in the triangle's nearest empty hole, at a cost per step.

Callers start with a narrow beam and widen it while there is time, so a first result is available
early and improves later. A search ends when no later layer can improve on the best race found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves, Record
from kibitz_search.algorithms.timer import count_nodes
from kibitz_search.chinese_checkers.indexing import OUTSIDE
from kibitz_search.chinese_checkers.race_db import MOVE, distance, guess, moves_from

i64 = kernels.int64_cast()

MAX_LENGTH = 60
"""The maximum length of a race, in the player's own moves."""
MAX_WIDTH = 1024
"""The maximum beam width."""
MAX_BRANCHES = 64
"""A layer has at most this many new sets per unit of beam width; further sets are dropped."""
WORST = 1 << 13
"""Estimates are capped at this value for sorting."""
MAX_PEGS = 16

_BEAM = [
    ("width", np.int64),
    ("stop", np.int64),
    ("nodes", np.int64),
    ("most", np.int64),  # limit on nodes, 0 for no limit
    ("total", np.int64),  # length of the best race, MAX_LENGTH for none
    ("last", np.int64),  # the layer in which the best race reaches the triangle
    ("at", np.int64),  # the index of its last set outside the triangle, in layer last - 1
    ("size", np.int64),  # number of sets in the current layer
    ("pegs", np.uint8, (2, MAX_WIDTH, MAX_PEGS)),  # of the current layer and the next
    ("parent", np.int32, (MAX_LENGTH + 1, MAX_WIDTH)),
    ("move", np.int32, (MAX_LENGTH + 1, MAX_WIDTH)),
    ("new", np.int64),  # number of new sets
    ("guess", np.int64, (MAX_WIDTH * MAX_BRANCHES,)),
    ("key", np.uint64, (MAX_WIDTH * MAX_BRANCHES,)),
    ("from", np.int32, (MAX_WIDTH * MAX_BRANCHES,)),
    ("by", np.int32, (MAX_WIDTH * MAX_BRANCHES,)),
    ("order", np.int32, (MAX_WIDTH * MAX_BRANCHES,)),
    ("counts", np.int64, (WORST + 2,)),
    ("table", np.uint64, (4 * MAX_WIDTH,)),  # keys of the sets chosen for the next layer
]
BEAM = kernels.record_type("beam", _BEAM, source=__file__)


@kernel
def _place_pegs(beam: Record, st: Record, seat: Int, layer: Int, at: Int) -> None:
    """Put the pegs of a set on the board, and remove all other pegs."""
    rules.clear_board(st)
    for slot in range(st.each):
        rules.put_peg(st, seat, i64(slot), i64(beam.pegs[layer & 1, at, slot]))


@kernel
def _hash_pegs(st: Record, seat: Int) -> Any:
    """Return a hash of the peg set."""
    key = np.uint64(0)
    for slot in range(st.each):
        key = key ^ rules.PEG_KEY[seat, st.pegs[seat, slot]]
    return key


@kernel
def _add_successors(
    beam: Record, race: Record, st: Record, seat: Int, depth: Int, at: Int, moves: Moves
) -> None:
    """Add all successors of a set of layer `depth`, and record the best race into the triangle."""
    _place_pegs(beam, st, seat, depth, at)
    allowed = rules.allowed_zones(st, seat)
    key = _hash_pegs(st, seat)
    holes = i64(st.holes)
    goal = i64(st.goal[seat])
    for slot in range(st.each):
        origin = i64(st.pegs[seat, slot])
        n = rules.generate_from(st, origin, moves, i64(0), allowed)
        for i in range(n):
            target = i64(moves[i]) - origin * holes
            st.pegs[seat, slot] = target
            count_nodes(beam, i64(1))
            worth = guess(race, st, seat)
            inside = True
            for peg in range(st.each):
                inside = inside and race.bit[goal, st.pegs[seat, peg]] != OUTSIDE
            if inside and depth + 1 + worth // MOVE < beam.total:
                beam.total = depth + 1 + worth // MOVE
                beam.last = depth + 1
                beam.at = at
                beam.move[MAX_LENGTH, 0] = moves[i]
            elif not inside and beam.new < beam.width * MAX_BRANCHES:
                beam.guess[beam.new] = worth
                beam.key[beam.new] = key ^ rules.PEG_KEY[seat, origin] ^ rules.PEG_KEY[seat, target]
                beam["from"][beam.new] = at
                beam.by[beam.new] = moves[i]
                beam.new += 1
            st.pegs[seat, slot] = origin


@kernel
def _is_new(beam: Record, key: Any) -> bool:
    """Insert a key; return whether it is new."""
    mask = np.uint64(4 * MAX_WIDTH - 1)
    place = i64(key & mask)
    while beam.table[place] != 0:
        if beam.table[place] == key:
            return False
        place = (place + 1) & i64(mask)
    beam.table[place] = key
    return True


@kernel
def _sort(beam: Record) -> None:
    """Write the new sets into ``beam.order``, sorted by estimate (a stable sort)."""
    for value in range(WORST + 2):
        beam.counts[value] = 0
    for new in range(beam.new):
        beam.counts[min(i64(beam.guess[new]), WORST) + 1] += 1
    for value in range(WORST + 1):
        beam.counts[value + 1] += beam.counts[value]
    for new in range(beam.new):
        worth = min(i64(beam.guess[new]), WORST)
        beam.order[beam.counts[worth]] = new
        beam.counts[worth] += 1


@kernel
def _choose(beam: Record, holes: Int, pegs: Int, depth: Int) -> None:
    """Keep the best new sets as layer `depth`, without duplicates."""
    for place in range(4 * MAX_WIDTH):
        beam.table[place] = 0
    _sort(beam)
    size: Int = i64(0)
    for i in range(beam.new):
        if size >= beam.width:
            break
        new = i64(beam.order[i])
        if not _is_new(beam, beam.key[new]):
            continue
        at, move = i64(beam["from"][new]), i64(beam.by[new])
        beam.parent[depth, size] = at
        beam.move[depth, size] = move
        for slot in range(pegs):
            hole = i64(beam.pegs[(depth - 1) & 1, at, slot])
            beam.pegs[depth & 1, size, slot] = move % holes if hole == move // holes else hole
        size += 1
    beam.size = size


@kernel
def _search(beam: Record, race: Record, st: Record, seat: Int, longest: Int) -> Int:
    """Search one beam; return the length of the best race. Modifies `st`."""
    moves = np.empty(rules.MAX_ACTIONS, np.int32)
    for slot in range(st.each):
        beam.pegs[0, 0, slot] = st.pegs[seat, slot]
    beam.size = 1
    for depth in range(longest):
        if beam.size == 0 or depth + 1 >= beam.total:
            break
        beam.new = 0
        for at in range(beam.size):
            if beam.stop != 0:
                return i64(beam.total)
            _add_successors(beam, race, st, seat, i64(depth), i64(at), moves)
        _choose(beam, i64(st.holes), i64(st.each), i64(depth) + 1)
    return i64(beam.total)


@kernel
def _shortest_to_goal(race: Record, st: Record, seat: Int, mask: Int, moves: Moves, n: Int) -> Int:
    """Append a shortest race in the triangle to the `n` moves in `moves`; return the new `n`."""
    goal, holes = i64(st.goal[seat]), i64(st.holes)
    left = distance(race, mask)
    while left > 0:
        for origin in range(race.number):
            if (mask >> origin) & 1 == 0:
                continue
            ends: Int = moves_from(race, mask, i64(origin))
            while ends != 0:
                after = (mask & ~(i64(1) << origin)) | (ends & -ends)
                if distance(race, after) == left - 1:
                    break
                ends &= ends - 1
            if ends != 0:
                end = i64(race.lowest[(ends & -ends) % 37])
                moves[n] = i64(race.hole[goal, origin]) * holes + i64(race.hole[goal, end])
                n += 1
                mask = after
                left -= 1
                break
    return n


@dataclass(frozen=True)
class RaceLine:
    """A race: the player's actions until the goal is full."""

    actions: tuple[int, ...]
    nodes: int


class RaceBeam:
    """The beam search for one match, with its workspace."""

    def __init__(self, race: Any) -> None:
        self.race = race
        self.ws: Any = kernels.new(BEAM)
        self._moves = np.zeros(2 * MAX_LENGTH, np.int32)

    def warm_up(self, state: Any, seat: int) -> None:
        """Call all kernels once, so that they are compiled before the first race.

        A beam of width 1 may find no race and then does not call `exact`.
        """
        self.find(state, seat, 1)
        self.exact(state, seat, (1 << int(state.each)) - 1)

    def exact(self, state: Any, seat: int, mask: int) -> RaceLine:
        """Return a shortest race for a peg set in the triangle."""
        n = _shortest_to_goal(
            self.race, state, np.int64(seat), np.int64(mask), self._moves, np.int64(0)
        )
        return RaceLine(tuple(self._moves[:n].tolist()), 1)

    def find(self, state: np.record, seat: int, width: int) -> RaceLine | None:
        """Return the best race found with a beam of `width`, or None if none reaches the goal.

        `state` is not modified. If another thread sets ``ws.stop``, the search stops and returns
        the best race so far.
        """
        ws = self.ws
        ws.width, ws.total, ws.nodes, ws.last = min(width, MAX_WIDTH), MAX_LENGTH, 0, 0
        total = int(_search(ws, self.race, state.copy(), np.int64(seat), np.int64(MAX_LENGTH)))
        if total >= MAX_LENGTH:
            return None
        return RaceLine(self._line(state.copy(), seat), int(ws.nodes))

    def _line(self, st: Any, seat: int) -> tuple[int, ...]:
        """Return the moves into the triangle and from there to the goal."""
        ws, at, actions = self.ws, int(self.ws.at), [int(self.ws.move[MAX_LENGTH, 0])]
        for depth in range(int(ws.last) - 1, 0, -1):
            actions.append(int(ws.move[depth, at]))
            at = int(ws.parent[depth, at])
        actions.reverse()
        holes, pegs = int(st.holes), set(st.pegs[seat, : int(st.each)].tolist())
        for action in actions:
            pegs = pegs - {action // holes} | {action % holes}
        bits = (int(self.race.bit[int(st.goal[seat]), hole]) for hole in pegs)
        mask = sum(1 << bit for bit in bits)
        return (*actions, *self.exact(st, seat, mask).actions)
