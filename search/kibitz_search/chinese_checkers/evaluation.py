"""Evaluations of Chinese Checkers: weights of holes, ways to empty holes, hops, and the race.

Most are one weight for every hole, summed over the own pegs. The weights are data:
``ev.weights[corner, hole]`` is what a peg in `hole` is worth to a player whose goal is `corner`;
change them, and the compiled searches use the new ones at once. They are whole multiples of
`RESOLUTION`, so that equal sums are equal whatever the order of the pegs: the searches prefer the
sooner of equal outcomes, and a rounding error would decide otherwise.

A player who has finished is worth `WIN_SCORE`, whichever foreign pegs are in the goal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core import registry
from kibitz_search import weights
from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.chinese_checkers import race_db
from kibitz_search.chinese_checkers.hole_arrays import GOAL, KIND, Array, turned_holes

RESOLUTION = 1 / 1024
"""The unit of all weights: sums of so few of them are exact."""
LANE = 0.5
"""The hand-tuned penalty per hole's width away from the center lane."""
LEFT_BEHIND = 4.0
"""The hand-tuned penalty for each peg in the three deepest holes of the own home."""
POWER = 1.5
"""The exponent of a peg's distance, which makes the peg furthest behind count most."""
HOP = 1 / 8
"""The value of a forward jump chain, per step that it gains."""

EVOLVED = {2: "evolved-2", 3: "evolved-3"}
"""The evolved weights that come with the package, by the number of seats."""

WEIGHTS = kernels.record_type(
    "hole_weights",
    [
        ("weights", np.float64, (geo.CORNERS, geo.MAX_HOLES + 1)),
        ("leave", np.float32, (geo.CORNERS, geo.MAX_HOLES + 1)),  # what a move from a hole promises
        ("enter", np.float32, (geo.CORNERS, geo.MAX_HOLES + 1)),  # and one to it
    ],
    source=__file__,
)

Weight = Callable[[geo.Geometry, int, int], float]
"""The value of a peg in a hole to the player with this goal: ``weight(shape, goal, hole)``."""


@kernel
def _evaluate(ev: operations.Record, st: operations.Record, seat: int) -> Any:
    """Return the sum of the weights of the pegs of `seat`."""
    if 0 < st.rank[seat] <= st.placed:
        return WIN_SCORE
    goal = np.int64(st.goal[seat])
    total = 0.0
    for slot in range(st.each):
        total += ev.weights[goal, st.pegs[seat, slot]]
    return total


@kernel
def _eval_delta(ev: operations.Record, st: operations.Record, m: int) -> Any:
    """Return what the peg gains, unless the move may end the play."""
    if rules.may_end(st, m):
        return np.nan
    goal = np.int64(st.goal[st.turn])
    origin = rules.source_hole(st, m)
    target = m - origin * np.int64(st.holes)
    return ev.weights[goal, target] - ev.weights[goal, origin]


@kernel
def _move_prior(ev: operations.Record, st: operations.Record, m: int) -> Any:
    """Return what the hole that the peg leaves and the one that it enters promise together."""
    holes = np.int64(st.holes)
    if m >= holes * holes:
        return 0.0
    goal = np.int64(st.goal[st.turn])
    origin = rules.source_hole(st, m)
    return np.float64(ev.leave[goal, origin] + ev.enter[goal, m - origin * holes])


operations.implement(WEIGHTS, evaluate=_evaluate, eval_delta=_eval_delta, move_prior=_move_prior)


def _usual(state: Any) -> Any:
    """Return a record without weights, whose `move_prior` is the `move_score` of the game."""
    ev: Any = kernels.new(WEIGHTS)
    steps = np.asarray(rules.STEPS)[int(state.geometry)].astype(np.float32)
    ev.leave[:, : steps.shape[1]] = (rules.BY_STEP + 1) * steps
    ev.enter[:, : steps.shape[1]] = -rules.BY_STEP * steps
    return ev


def weighted(state: Any, weight: Weight) -> np.record:
    """Return the evaluation record of a weight function for the board of `state`."""
    shape = geo.geometry(*geo.ALL[int(state.geometry)])
    ev: Any = _usual(state)
    for goal in geo.corners_of(shape.board):
        for hole in range(shape.holes):
            ev.weights[goal, hole] = round(weight(shape, goal, hole) / RESOLUTION) * RESOLUTION
    record: np.record = ev
    return record


def euclid(state: np.record) -> np.record:
    """Return weights by the straight distance to the tip of the goal, neighbors being 1 apart.

    Source: the first heuristic of "Fun With Chinese Checkers", the sum of Euclidean distances.
    """
    return weighted(state, lambda shape, goal, hole: -shape.euclid(hole, shape.tips[goal]))


def hand(state: np.record) -> np.record:
    """Return the hand-tuned weights: steps to the tip of the goal, the center lane, the rear.

    Source: the second heuristic of "Fun With Chinese Checkers". A peg loses value with each step
    that it still has to go, and a little with its distance from the lane between home and goal. It
    loses much in the three deepest holes of the home, where it could get locked in.
    """
    return weighted(state, _hand)


def _hand(shape: geo.Geometry, goal: int, hole: int) -> float:
    tip, rear = shape.tips[goal], shape.tips[(goal + 3) % geo.CORNERS]
    worth = -shape.steps(hole, tip) - LANE * aside(shape, rear, tip, hole)
    return worth - LEFT_BEHIND * (shape.steps(hole, rear) <= 1)


def aside(shape: geo.Geometry, rear: int, tip: int, hole: int) -> float:
    """Return how far a hole is from the line between two tips; neighbors are 1 apart."""
    (ax, ay), (bx, by), (x, y) = shape.points[rear], shape.points[tip], shape.points[hole]
    across = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    # The doubled coordinates are half a hole wide and half the root of 3 high.
    return abs(across) * 3**0.5 / 4 / shape.euclid(rear, tip)


def stragglers(state: np.record) -> np.record:
    """Return weights by the steps to the tip of the goal to the power of 1.5.

    Source: known from other programs. Two pegs half-way are better than one at the goal and one at
    home, so nobody is left behind.
    """
    return weighted(
        state, lambda shape, goal, hole: -(shape.steps(hole, shape.tips[goal]) ** POWER)
    )


def of_distances(
    state: Any, distances: Sequence[float], *, priors: np.ndarray | None = None
) -> np.record:
    """Return the evaluation record of an array of distances (`hole_arrays`) for the usual star.

    `priors` are what leaving and what entering each hole promises, [2, holes]; without them it is
    what the game's `move_score` says.
    """
    shape, numbers = geo.geometry(*geo.ALL[int(state.geometry)]), np.array(distances)
    ev: Any = _usual(state)
    for goal in range(geo.CORNERS):
        worth = -numbers[turned_holes(shape, goal)]
        ev.weights[goal, : shape.holes] = np.round(worth / RESOLUTION) * RESOLUTION
        if priors is not None:
            ev.leave[goal, : shape.holes], ev.enter[goal, : shape.holes] = priors[
                :, turned_holes(shape, goal)
            ]
    record: np.record = ev
    return record


def evolved(state: np.record) -> np.record:
    """Return weights that were evolved by the genetic algorithm of the report.

    Source: "Fun With Chinese Checkers"; `kibitz train chinese-checkers/genetic` evolves them again.
    `EVOLVED` says for how many seats there are such weights. With others, and on other boards than
    the usual star, it is the hand-tuned weights: an array that has met pegs from the front only
    plays worse than those against pegs from the sides.
    """
    there: Any = state
    name = EVOLVED.get(int(there.seats))
    if name is None or geo.ALL[int(there.geometry)] != ("star", geo.COMMON["star"]):
        return hand(state)
    return of_distances(there, _shipped(name))


@cache
def _shipped(name: str) -> tuple[float, ...]:
    """Return the distances of a file that the package has."""
    path = Path(__file__).with_name("weights") / f"{name}.json"
    return tuple(weights.load(path, game="chinese-checkers", kind=KIND).weights)


# --------------------------------------------------------------------- ways to empty goal holes

VACANT = kernels.record_type(
    "vacant",
    [
        ("weights", np.float64, (geo.CORNERS, geo.MAX_HOLES + 1)),
        ("pull", np.float64),  # taken off for each step to the nearest empty hole of the goal
        ("goals", np.uint8, (geo.CORNERS, geo.MAX_PEGS)),  # the holes of every goal
        ("far", np.uint8, (geo.MAX_HOLES + 1, geo.MAX_HOLES + 1)),  # steps between two holes
    ],
    source=__file__,
)


@kernel
def _to_vacant(ev: operations.Record, st: operations.Record, seat: Int, hole: Int) -> Int:
    """Return the steps from a hole to the nearest empty one of the goal, 0 if there is none."""
    goal, least = np.int64(st.goal[seat]), np.int64(255)
    for i in range(st.each):
        target = ev.goals[goal, i]
        if st.board[target] == 0:
            least = min(least, np.int64(ev.far[hole, target]))
    return least if least < 255 else np.int64(0)


@kernel
def _vacant(ev: operations.Record, st: operations.Record, seat: int) -> Any:
    """Return the weights of the pegs of `seat`, less their ways to the nearest empty goal holes."""
    if 0 < st.rank[seat] <= st.placed:
        return WIN_SCORE
    goal = np.int64(st.goal[seat])
    total = 0.0
    for slot in range(st.each):
        hole = np.int64(st.pegs[seat, slot])
        total += ev.weights[goal, hole]
        if st.zone[hole] != goal:
            total -= ev.pull * _to_vacant(ev, st, seat, hole)
    return total


operations.implement(VACANT, evaluate=_vacant)


def vacant(state: np.record) -> np.record:
    """Return half the hand-tuned weights, and each peg's way to the nearest empty goal hole.

    Source: known from other programs. With distances to the goal's tip alone the last pegs stall in
    front of a goal whose inner holes are taken, and the sum of rows never fills the corners. Here a
    peg in the goal has arrived; one outside is as far as its nearest empty hole.
    """
    there: Any = state
    shape, pegs_each = geo.geometry(*geo.ALL[int(there.geometry)]), int(there.each)
    ev: Any = kernels.new(VACANT)
    ev.pull = 1.0
    ev.weights[:] = np.round(hand(state)["weights"] / 2 / RESOLUTION) * RESOLUTION
    for goal in geo.corners_of(shape.board):
        ev.goals[goal, :pegs_each] = shape.home(goal, pegs_each)
    ev.far[: shape.holes, : shape.holes] = race_db.steps_between(shape)
    record: np.record = ev
    return record


# --------------------------------------------------------------------------------- hop mobility

MOBILITY = kernels.record_type(
    "mobility",
    [
        ("weights", np.float64, (geo.CORNERS, geo.MAX_HOLES + 1)),
        ("hop", np.float64),  # for each step that the best chain of jumps of a peg gains
    ],
    source=__file__,
)


@kernel
def _gains(st: operations.Record, seat: Int) -> Int:
    """Return the steps toward the goal that the best move of every peg gains, summed."""
    moves = np.empty(rules.CELLS + 6, np.int32)
    allowed = rules.allowed_zones(st, seat)
    goal, holes = np.int64(st.goal[seat]), np.int64(st.holes)
    total = np.int64(0)
    for slot in range(st.each):
        origin = np.int64(st.pegs[seat, slot])
        before = np.int64(rules.STEPS[st.geometry, goal, origin])
        most = np.int64(0)
        n = rules.generate_from(st, origin, moves, np.int64(0), allowed)
        for i in range(n):
            target = np.int64(moves[i]) - origin * holes
            most = max(most, before - np.int64(rules.STEPS[st.geometry, goal, target]))
        total += most
    return total


@kernel
def _mobility(ev: operations.Record, st: operations.Record, seat: int) -> Any:
    """Return the weights of the pegs of `seat`, and what their best moves gain."""
    if 0 < st.rank[seat] <= st.placed:
        return WIN_SCORE
    goal = np.int64(st.goal[seat])
    total = ev.hop * _gains(st, seat)
    for slot in range(st.each):
        total += ev.weights[goal, st.pegs[seat, slot]]
    return total


operations.implement(MOBILITY, evaluate=_mobility)


def mobility(state: np.record) -> np.record:
    """Return the hand-tuned weights and hop mobility: the ways forward that pegs have next.

    Source: known from other programs; "Fun With Chinese Checkers" on clusters of pegs, which allow
    jumps. Each peg adds a little for every step that its best move would gain.
    """
    ev: Any = kernels.new(MOBILITY)
    ev.weights[:] = hand(state)["weights"]
    ev.hop = HOP
    record: np.record = ev
    return record


# --------------------------------------------------------------------------------- the race


def race(state: np.record) -> np.record:
    """Return the race database as an evaluation everywhere: about how many moves are left alone.

    Source: N. R. Sturtevant's distance databases, used as the evaluation everywhere. It is exact
    once all pegs are in the triangle at the goal. Before that, pegs outside are placed in its
    nearest empty holes at a cost. Falls back to the hand-tuned weights if there is no database for
    the board and the rules.
    """
    try:
        record: np.record = race_db.for_board(state)
    except race_db.UnsupportedBoardError:
        return hand(state)
    return record


EVALUATIONS: dict[str, Evaluation] = {
    "euclid": euclid,
    "hand": hand,
    "stragglers": stragglers,
    "vacant": vacant,
    "mobility": mobility,
    "race": race,
    "evolved": evolved,
}
"""The evaluations of the game, by name."""


def distances(name: str) -> Array:
    """Return the weights of the holes of an evaluation as an array for `GOAL`."""
    game = registry.get("chinese-checkers")
    record: Any = EVALUATIONS[name](game.start(game.Options(), 2, {}))
    holes = geo.geometry("star", geo.COMMON["star"]).holes
    found: Array = -np.asarray(record["weights"][GOAL, :holes], np.float64)
    return found
