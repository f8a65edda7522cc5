"""Games between players that plan two of their own moves ahead, in machine code.

Each player assumes that the others stand still. It chooses the move after which its best next move
gives its pegs the smallest sum of hole numbers. It therefore finds paths that one peg opens for
another, which a one-move search misses. A move takes 0.05 ms with any number of seats. Ties go to
the plan whose first move gains more, then to the first plan.

A game begins with random moves, and ends when a player has finished. Its value for a seat is the
mean lead over the other seats in steps, squashed to the range -1 to 1; this carries more
information than the winner alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled import kernels, records
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core import registry
from kibitz_games.vector.chance import draw
from kibitz_games.vector.slices import Slices, new_states
from kibitz_search.chinese_checkers.hole_arrays import Array
from kibitz_training.chinese_checkers.hole_games import rotations

i64 = kernels.int64_cast()

FIRST_WEIGHT = 1 / 64
"""The extra weight of the first move's gain, which decides between plans with equal total gains."""
OPENING = 2
"""Random moves per player at the beginning."""
SQUASH = 12.0
"""The lead in steps that has a value of 0.76."""


@kernel
def _gain(st: op.Record, own: Any, m: Int) -> float:
    """Return the gain of a move."""
    holes = i64(st.holes)
    if m >= holes * holes:
        return 0.0
    origin = rules.source_hole(st, m)
    return float(own[origin] - own[m - origin * holes])


@kernel
def _best_gain(st: op.Record, own: Any, moves: Any) -> float:
    """Return the gain of the best move of the seat to act."""
    best = -1e300
    for k in range(i64(op.generate(st, moves))):
        best = max(best, _gain(st, own, i64(moves[k])))
    return best


@kernel
def plan_move(st: op.Record, own: Any, moves: Any, after: Any) -> Int:
    """Return the first move of the best plan."""
    seat, best, chosen = i64(st.side), -1e300, i64(-1)
    for k in range(i64(op.generate(st, moves))):
        m = i64(moves[k])
        first = _gain(st, own, m)
        op.play(st, m)
        won = st.rank[seat] != 0
        worth = first * (1 + FIRST_WEIGHT)
        if not won and st.side >= 0:
            turn = op.set_side_to_move(st, seat)
            worth += _best_gain(st, own, after)
            op.set_side_to_move(st, turn)
        op.undo(st, m)
        if won:
            return m
        if worth > best:
            best, chosen = worth, m
    return chosen


@kernel
def _lead(st: op.Record, seats: Int, mask: Int) -> float:
    """Return the mean squashed lead of the seats in `mask` over the others."""
    total, pairs = 0.0, 0
    for seat in range(seats):
        for other in range(seats):
            if (mask >> seat) & 1 and not (mask >> other) & 1:
                total += np.tanh((i64(st.distance[other]) - i64(st.distance[seat])) / SQUASH)
                pairs += 1
    return total / pairs


class Games(NamedTuple):
    """Games of arrays; each array plays one game per element of `masks`."""

    states: Any
    """The state that each array's games use."""
    raw: Any
    """The bytes of each state."""
    start: Any
    """The bytes of the initial state."""
    arrays: Any
    others: Any
    """The array in the other seats of each game."""
    turned: Any
    """The index of each hole in an array from a seat's perspective, [seats, holes]."""
    masks: Any
    """The array's own seats in each game, as bits."""
    seeds: Any
    """The seed of the opening of each game."""
    opening: Any
    """The number of random moves at the beginning."""
    out: Any
    """The value of each game for each array."""


@kernel
def play_plans(games: Games, first: Int, end: Int) -> None:
    """Play the games of the arrays from `first` up to, but not including, `end`."""
    seats, holes = games.turned.shape[0], games.turned.shape[1]
    moves = np.empty(rules.MAX_ACTIONS, np.int32)
    after = np.empty(rules.MAX_ACTIONS, np.int32)
    tables = np.zeros((seats, holes))
    for i in range(first, end):
        st = games.states[i]
        for game in range(len(games.masks)):
            mask = i64(games.masks[game])
            for seat in range(seats):
                for hole in range(holes):
                    at = games.turned[seat, hole]
                    own = (mask >> seat) & 1
                    tables[seat, hole] = games.arrays[i, at] if own else games.others[game, at]
            games.raw[i, :] = games.start
            chance = games.seeds[game : game + 1].copy()
            for _ in range(games.opening):
                n = i64(op.generate(st, moves))
                op.play(st, i64(moves[draw(chance, i64(0), n)]))
            while st.placed == 0 and st.side >= 0:
                op.play(st, plan_move(st, tables[st.side], moves, after))
            games.out[i, game] = _lead(st, i64(seats), mask)


class PlanGames:
    """Plays arrays of distances, written for `hole_arrays.GOAL`, against others.

    `close` stops its threads.
    """

    def __init__(self, seats: int, *, threads: int = 1) -> None:
        game = registry.get("chinese-checkers")
        self._start: Any = game.start(game.Options(), seats, {})
        self.shape = geo.geometry(*geo.ALL[int(self._start.geometry)])
        self.seats, self._opening = seats, OPENING * seats
        self._turned = rotations(self.shape, self._start.corner[:seats].tolist())
        self._masks = sharings(seats)
        self._slices = Slices(threads)

    def play(self, arrays: Array, others: Array, seeds: np.ndarray[Any, Any]) -> Array:
        """Return the values of the games for each array: one game per seed and distribution of the
        seats.

        `others` take turns as the opponent, one for each seed.
        """
        states, raw = new_states(self._start.dtype, len(arrays))
        masks = np.tile(self._masks, len(seeds))
        which = np.repeat(np.arange(len(seeds)) % len(others), len(self._masks))
        out = np.zeros((len(arrays), len(masks)))
        games = Games(
            states=states,
            raw=raw,
            start=records.as_bytes(self._start),
            arrays=np.ascontiguousarray(arrays),
            others=np.ascontiguousarray(others[which]),
            turned=self._turned,
            masks=masks,
            seeds=np.repeat(seeds.astype(np.uint64), len(self._masks)),
            opening=self._opening,
            out=out,
        )
        self._slices.run(play_plans, len(arrays), games)
        return out

    def close(self) -> None:
        """Stop the threads."""
        self._slices.close()


def sharings(seats: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return bit masks of the array's seats; over all masks, each seat occurs equally often."""
    every_second = sum(1 << seat for seat in range(0, seats, 2))
    whole = (1 << seats) - 1
    turned = {(every_second << by | every_second >> (seats - by)) & whole for by in range(seats)}
    return np.array(sorted(turned | {whole ^ mask for mask in turned}), np.int64)
