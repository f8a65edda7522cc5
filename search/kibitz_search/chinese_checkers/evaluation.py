"""Evaluations for Chinese Checkers: hole weights, distances to empty holes, hops, and the race.

Most are a sum over the player's pegs of one weight per hole. The weights are data:
``ev.weights[corner, hole]`` is the value of a peg in `hole` for the player whose goal is `corner`.
Compiled searches use modified weights immediately. Weights are multiples of `RESOLUTION`, so that
sums are exact and do not depend on the order of the pegs. With rounding errors, equal outcomes
would have different values, and a search could not choose the earliest of them.

The value for a player who has finished is `WIN_SCORE`, even with other players' pegs in the goal.
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
"""The unit of all weights, which makes their sums exact."""
LANE = 0.5
"""The hand-tuned penalty per unit of distance from the center lane."""
LEFT_BEHIND = 4.0
"""The hand-tuned penalty for each peg in the three deepest holes of its home."""
POWER = 1.5
"""The exponent of a peg's distance; above 1, the rearmost pegs have the greatest influence."""
HOP = 1 / 8
"""The value of each step gained by a forward jump chain."""
BESIDE = 1 / 8
"""The value of two pegs in neighboring holes."""

EVOLVED = {2: "evolved-2", 3: "evolved-3"}
"""The evolved weights in the package, by number of seats."""

WEIGHTS = kernels.record_type(
    "hole_weights",
    [
        ("weights", np.float64, (geo.CORNERS, geo.MAX_HOLES + 1)),
        ("leave", np.float32, (geo.CORNERS, geo.MAX_HOLES + 1)),  # the prior of a move from a hole
        ("enter", np.float32, (geo.CORNERS, geo.MAX_HOLES + 1)),  # the prior of a move to a hole
    ],
    source=__file__,
)

Weight = Callable[[geo.Geometry, int, int], float]
"""The value of a peg in a hole for the player with this goal: ``weight(shape, goal, hole)``."""


@kernel
def _evaluate(ev: operations.Record, st: operations.Record, seat: int) -> Any:
    """Return the sum of the weights of the holes with pegs of `seat`."""
    if 0 < st.rank[seat] <= st.placed:
        return WIN_SCORE
    goal = np.int64(st.goal[seat])
    total = 0.0
    for slot in range(st.each):
        total += ev.weights[goal, st.pegs[seat, slot]]
    return total


@kernel
def _eval_delta(ev: operations.Record, st: operations.Record, m: int) -> Any:
    """Return the peg's gain in weight, or nan if the move may end the match."""
    if rules.may_end(st, m):
        return np.nan
    goal = np.int64(st.goal[st.turn])
    origin = rules.source_hole(st, m)
    target = m - origin * np.int64(st.holes)
    return ev.weights[goal, target] - ev.weights[goal, origin]


@kernel
def _move_prior(ev: operations.Record, st: operations.Record, m: int) -> Any:
    """Return the sum of the priors of the origin and the target."""
    holes = np.int64(st.holes)
    if m >= holes * holes:
        return 0.0
    goal = np.int64(st.goal[st.turn])
    origin = rules.source_hole(st, m)
    return np.float64(ev.leave[goal, origin] + ev.enter[goal, m - origin * holes])


operations.implement(WEIGHTS, evaluate=_evaluate, eval_delta=_eval_delta, move_prior=_move_prior)


def _usual(state: Any) -> Any:
    """Return a record without weights, with the game's `move_score` as `move_prior`."""
    ev: Any = kernels.new(WEIGHTS)
    steps = np.asarray(rules.STEPS)[int(state.geometry)].astype(np.float32)
    ev.leave[:, : steps.shape[1]] = (rules.BY_STEP + 1) * steps
    ev.enter[:, : steps.shape[1]] = -rules.BY_STEP * steps
    return ev


def weighted(state: Any, weight: Weight) -> np.record:
    """Return the evaluation record for a weight function on the board of `state`."""
    shape = geo.geometry(*geo.ALL[int(state.geometry)])
    ev: Any = _usual(state)
    for goal in geo.corners_of(shape.board):
        for hole in range(shape.holes):
            ev.weights[goal, hole] = round(weight(shape, goal, hole) / RESOLUTION) * RESOLUTION
    record: np.record = ev
    return record


def euclid(state: np.record) -> np.record:
    """Return weights by the Euclidean distance to the tip of the goal; neighbors are 1 apart.

    Source: the first heuristic in "Fun With Chinese Checkers", the sum of Euclidean distances.
    """
    return weighted(state, lambda shape, goal, hole: -shape.euclid(hole, shape.tips[goal]))


def hand(state: np.record) -> np.record:
    """Return the hand-tuned weights: steps to the tip of the goal, center lane, pegs left behind.

    Source: the second heuristic of "Fun With Chinese Checkers". A peg's value decreases with each
    step to the goal, and slightly with its distance from the lane between home and goal. It
    decreases strongly in the three deepest holes of the home, where the peg could be locked in.
    """
    return weighted(state, _hand)


def _hand(shape: geo.Geometry, goal: int, hole: int) -> float:
    tip, rear = shape.tips[goal], shape.tips[(goal + 3) % geo.CORNERS]
    worth = -shape.steps(hole, tip) - LANE * aside(shape, rear, tip, hole)
    return worth - LEFT_BEHIND * (shape.steps(hole, rear) <= 1)


def aside(shape: geo.Geometry, rear: int, tip: int, hole: int) -> float:
    """Return the distance of a hole from the line between two tips; neighbors are 1 apart."""
    (ax, ay), (bx, by), (x, y) = shape.points[rear], shape.points[tip], shape.points[hole]
    across = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    # A unit of the doubled coordinates is 1/2 wide and sqrt(3)/2 high.
    return abs(across) * 3**0.5 / 4 / shape.euclid(rear, tip)


def stragglers(state: np.record) -> np.record:
    """Return weights by the number of steps to the tip of the goal, raised to the power of 1.5.

    Source: known from other programs. Two pegs half-way are better than one at the goal and one at
    home, so no peg is left behind.
    """
    return weighted(
        state, lambda shape, goal, hole: -(shape.steps(hole, shape.tips[goal]) ** POWER)
    )


def of_distances(
    state: Any, distances: Sequence[float], *, priors: np.ndarray | None = None
) -> np.record:
    """Return the evaluation record of an array of distances (`hole_arrays`) for the usual star.

    `priors` are the priors for leaving and entering each hole, [2, holes]; the default is the
    game's `move_score`.
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
    """Return the weights evolved with the genetic algorithm of the report.

    Source: "Fun With Chinese Checkers"; `kibitz train chinese-checkers/genetic` evolves them again.
    Falls back to the hand-tuned weights on boards other than the usual star, and for numbers of
    seats that are not in `EVOLVED`. Weights evolved against one player on the opposite side are
    worse than the hand-tuned ones against players on other sides.
    """
    there: Any = state
    name = EVOLVED.get(int(there.seats))
    if name is None or geo.ALL[int(there.geometry)] != ("star", geo.COMMON["star"]):
        return hand(state)
    return of_distances(there, _shipped(name))


@cache
def _shipped(name: str) -> tuple[float, ...]:
    """Return the distances from a file in the package."""
    path = Path(__file__).with_name("weights") / f"{name}.json"
    return tuple(weights.load(path, game="chinese-checkers", kind=KIND).weights)


# ---------------------------------------------------------------- distances to empty goal holes

VACANT = kernels.record_type(
    "vacant",
    [
        ("weights", np.float64, (geo.CORNERS, geo.MAX_HOLES + 1)),
        ("pull", np.float64),  # penalty for each step to the nearest empty hole of the goal
        ("goals", np.uint8, (geo.CORNERS, geo.MAX_PEGS)),  # the holes of each goal
        ("far", np.uint8, (geo.MAX_HOLES + 1, geo.MAX_HOLES + 1)),  # steps between two holes
    ],
    source=__file__,
)


@kernel
def _to_vacant(ev: operations.Record, st: operations.Record, seat: Int, hole: Int) -> Int:
    """Return the number of steps from a hole to the nearest empty goal hole, or 0."""
    goal, least = np.int64(st.goal[seat]), np.int64(255)
    for i in range(st.each):
        target = ev.goals[goal, i]
        if st.board[target] == 0:
            least = min(least, np.int64(ev.far[hole, target]))
    return least if least < 255 else np.int64(0)


@kernel
def _vacant(ev: operations.Record, st: operations.Record, seat: int) -> Any:
    """Return the weights for `seat` minus penalties for steps to the nearest empty goal holes."""
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
    """Return half the hand-tuned weights, and each peg's distance to the nearest empty goal hole.

    Source: known from other programs. If an evaluation only counts distances to the tip, the last
    pegs stall in front of a goal with occupied inner holes; if it only sums rows, the corners are
    never filled. Here, pegs in the goal have distance 0, and all others have the distance to the
    nearest empty goal hole.
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
        ("hop", np.float64),  # value of each step gained by the best jump chain of a peg
    ],
    source=__file__,
)


@kernel
def _gains(st: operations.Record, seat: Int) -> Int:
    """Return the sum over the pegs of the steps gained by each peg's best move."""
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
    """Return the weights for `seat` plus the value of the steps that its pegs' best moves gain."""
    if 0 < st.rank[seat] <= st.placed:
        return WIN_SCORE
    goal = np.int64(st.goal[seat])
    total = ev.hop * _gains(st, seat)
    for slot in range(st.each):
        total += ev.weights[goal, st.pegs[seat, slot]]
    return total


operations.implement(MOBILITY, evaluate=_mobility)


def mobility(state: np.record) -> np.record:
    """Return the hand-tuned weights with hop mobility: the progress that each peg could make next.

    Source: known from other programs; "Fun With Chinese Checkers" on clusters of pegs, which allow
    jumps. Each peg adds a small value for each step that its best move would gain.
    """
    ev: Any = kernels.new(MOBILITY)
    ev.weights[:] = hand(state)["weights"]
    ev.hop = HOP
    record: np.record = ev
    return record


# ----------------------------------------------------------------------------------- cohesion

COHESION = kernels.record_type(
    "cohesion",
    [
        ("weights", np.float64, (geo.CORNERS, geo.MAX_HOLES + 1)),
        ("beside", np.float64),  # bonus for each pair of own pegs in neighboring holes
        ("far", np.uint8, (geo.MAX_HOLES + 1, geo.MAX_HOLES + 1)),  # steps between two holes
    ],
    source=__file__,
)


@kernel
def _cohesion(ev: operations.Record, st: operations.Record, seat: int) -> Any:
    """Return the sum of the weights of a seat's pegs and of the bonuses for neighboring pegs."""
    if 0 < st.rank[seat] <= st.placed:
        return WIN_SCORE
    goal = np.int64(st.goal[seat])
    total = 0.0
    for slot in range(st.each):
        hole = st.pegs[seat, slot]
        total += ev.weights[goal, hole]
        for other in range(slot):
            if ev.far[hole, st.pegs[seat, other]] == 1:
                total += ev.beside
    return total


operations.implement(COHESION, evaluate=_cohesion)


def cohesion(state: np.record) -> np.record:
    """Return the hand-tuned weights with a bonus for each pair of own pegs in neighboring holes.

    Source: "Fun With Chinese Checkers". It expects that clusters of pegs help with two players,
    because they allow jumps, but do not matter on a crowded board.
    """
    there: Any = state
    shape = geo.geometry(*geo.ALL[int(there.geometry)])
    ev: Any = kernels.new(COHESION)
    ev.weights[:] = hand(state)["weights"]
    ev.beside = BESIDE
    ev.far[: shape.holes, : shape.holes] = race_db.steps_between(shape)
    record: np.record = ev
    return record


# --------------------------------------------------------------------------------- the race


def race(state: np.record) -> np.record:
    """Return the race database as an evaluation: the estimated number of moves without opponents.

    Source: N. R. Sturtevant's distance databases, used here as an evaluation for all positions. It
    is exact once all pegs are in the triangle at the goal. Before that, each peg outside is assumed
    to stand in the triangle's nearest empty hole, at a cost per step. Falls back to the hand-tuned
    weights if there is no database for the board and the rules.
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
    "cohesion": cohesion,
    "race": race,
    "evolved": evolved,
}
"""The evaluations of the game, by name."""


def distances(name: str) -> Array:
    """Return the hole weights of an evaluation as an array of distances for `GOAL`."""
    game = registry.get("chinese-checkers")
    record: Any = EVALUATIONS[name](game.start(game.Options(), 2, {}))
    holes = geo.geometry("star", geo.COMMON["star"]).holes
    found: Array = -np.asarray(record["weights"][GOAL, :holes], np.float64)
    return found
