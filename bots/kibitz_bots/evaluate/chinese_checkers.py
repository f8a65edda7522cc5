"""Evaluations of Chinese Checkers: one weight for every hole, summed over the own pegs.

The weights are data: ``ev.weights[corner, hole]`` is what a peg in `hole` is worth to a player
whose goal is `corner`; change them, and the compiled searches use the new ones at once. They are
whole multiples of `GRAIN`, so that equal sums are equal whatever the order of the pegs: the
searches prefer the sooner of equal outcomes, and a rounding error would decide otherwise.

A player who has finished is worth `WON`, whichever foreign pegs are in the goal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kibitz_bots.search.found import WON
from kibitz_games import kernels, operations
from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import rules
from kibitz_games.kernels import kernel

GRAIN = 1 / 1024
"""The unit of all weights: sums of so few of them are exact."""
LANE = 0.5
"""What the hand-tuned weights take off for each hole's width away from the centre lane."""
LEFT_BEHIND = 4.0
"""What they take off for each of the three deepest holes of the own home."""

WEIGHTS = kernels.record(
    "hole_weights",
    [("weights", np.float64, (geo.CORNERS, geo.MAX_HOLES + 1))],
    source=__file__,
)

Weight = Callable[[geo.Geometry, int, int], float]
"""What a peg in a hole is worth to the player with this goal: ``weight(shape, goal, hole)``."""


@kernel
def _evaluate(ev: operations.Record, st: operations.Record, seat: int) -> Any:
    """Return the sum of the weights of the pegs of `seat`."""
    if 0 < st.rank[seat] <= st.placed:
        return WON
    goal = np.int64(st.goal[seat])
    total = 0.0
    for slot in range(st.each):
        total += ev.weights[goal, st.pegs[seat, slot]]
    return total


@kernel
def _foresee(ev: operations.Record, st: operations.Record, m: int) -> Any:
    """Return what the peg gains, unless the move may end the play."""
    if rules.may_end(st, m):
        return np.nan
    goal = np.int64(st.goal[st.turn])
    origin = rules.source(st, m)
    target = m - origin * np.int64(st.holes)
    return ev.weights[goal, target] - ev.weights[goal, origin]


operations.implement(WEIGHTS, evaluate=_evaluate, foresee=_foresee)


def weighted(state: Any, weight: Weight) -> np.record:
    """Return the evaluation record of a weight function for the board of `state`."""
    shape = geo.geometry(*geo.ALL[int(state.geometry)])
    ev: Any = kernels.new(WEIGHTS)
    for goal in geo.corners_of(shape.board):
        for hole in range(shape.holes):
            ev.weights[goal, hole] = round(weight(shape, goal, hole) / GRAIN) * GRAIN
    record: np.record = ev
    return record


def euclid(state: np.record) -> np.record:
    """Return weights by the straight distance to the tip of the goal, neighbours being 1 apart.

    Source: the first heuristic of "Fun With Chinese Checkers", the sum of Euclidean distances.
    """
    return weighted(state, lambda shape, goal, hole: -shape.euclid(hole, shape.tips[goal]))


def hand(state: np.record) -> np.record:
    """Return the hand-tuned weights: steps to the tip of the goal, the centre lane, the rear.

    Source: the second heuristic of "Fun With Chinese Checkers". A peg is worth the less the
    more steps it has to go, a little less away from the lane between home and goal, and much
    less in the three deepest holes of the home, where it would be locked in if it stayed.
    """
    return weighted(state, _hand)


def _hand(shape: geo.Geometry, goal: int, hole: int) -> float:
    tip, rear = shape.tips[goal], shape.tips[(goal + 3) % geo.CORNERS]
    worth = -shape.steps(hole, tip) - LANE * _aside(shape, rear, tip, hole)
    return worth - LEFT_BEHIND * (shape.steps(hole, rear) <= 1)


def _aside(shape: geo.Geometry, rear: int, tip: int, hole: int) -> float:
    """Return how far a hole is from the line between two tips; neighbours are 1 apart."""
    (ax, ay), (bx, by), (x, y) = shape.points[rear], shape.points[tip], shape.points[hole]
    across = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    # The doubled coordinates are half a hole wide and half the root of 3 high.
    return abs(across) * 3**0.5 / 4 / shape.euclid(rear, tip)
