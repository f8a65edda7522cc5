"""Networks that play Tanks: the one from the report, and a small egocentric one.

The report's network
--------------------
It has 225 inputs, 10 tanh neurons and 7 linear outputs. The largest output gives the action (the
first in a tie). The inputs are the codes of the local board, row by row, times a scale of 1 or
1/10. The scale 1/10 corresponds to the toolbox's ``mapminmax`` for inputs from -10 to 10. The
weights are the input weights, one row per neuron, then the output weights, then the biases of both
layers.

The egocentric network
----------------------
One small network is applied to each of the four directions. The board is rotated accordingly, and
its left and right halves are added together. Its outputs are values for moving, turning the hull
and firing in that direction. Its inputs are the direction of the hull, and sums over `BINS` areas,
which are small near the tank and large far away. The sums count cells that are new, unknown, solid,
occupied by a tank, or were left recently. Moves known to be blocked and shots without a tank in the
line of fire are masked.

The player uses its own view and a memory (`MIND`) of its path and of cells where it got stuck,
which it treats as blocked for `PATIENCE` slots.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.core.game import GameInfo
from kibitz_games.tanks import geometry as geo
from kibitz_games.tanks import rules
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.algorithms.support import one_game_only

i64 = kernels.int64_cast()

CELLS = rules.CELLS
INPUTS, HIDDEN, OUTPUTS = 225, 10, rules.MAX_ACTIONS
REPORT_WEIGHTS = HIDDEN * INPUTS + OUTPUTS * HIDDEN + HIDDEN + OUTPUTS

NEW, HIDDEN_PLACES, SOLID, TANK, LEFT_LATELY = range(5)
PLANES = 5
FORWARD = kernels.kernel_array(
    np.array([0] * 12 + [1, 1, 2, 3, 4, 5, 5, 5] + [6] * 9, np.int64)  # from 14 behind to 14 ahead
)
ASIDE = kernels.kernel_array(np.array([0, 1] + [2] * 13, np.int64))
"""The area of a cell, by its forward and sideways distance."""
BINS = 21
LOOKS = PLANES * BINS + 4
"""The number of inputs: the areas, three for the hull (ahead, sideways, back), and the constant
1."""
NEURONS, WORTHS = 4, 3
GO, TURN, SHOOT = range(WORTHS)
EYES_WEIGHTS = NEURONS * LOOKS + WORTHS * NEURONS + WORTHS
PATIENCE = 12
FADING = 0.93
"""The decay factor of a trace per turn of the tank."""
MOVES = kernels.kernel_array(np.array([rules.UP, rules.RIGHT, rules.DOWN, rules.LEFT], np.int64))
"""The move in the direction of each hull."""


def _sizes() -> np.ndarray:
    """Return the inverse square root of the maximum number of cells in each area."""
    sizes = np.zeros(BINS)
    for ahead in range(-14, 15):
        for aside in range(-14, 15):
            sizes[int(FORWARD[ahead + 14]) * 3 + int(ASIDE[abs(aside)])] += 1
    return 1 / np.sqrt(sizes)


SHARE = kernels.kernel_array(_sizes())

REPORT_NETWORK = kernels.record_type(
    "tanks_report_network",
    [("scale", np.float64), ("weights", np.float64, (REPORT_WEIGHTS,))],
    source=__file__,
)
EYES_NETWORK = kernels.record_type(
    "tanks_eyes_network", [("weights", np.float64, (EYES_WEIGHTS,))], source=__file__
)
MIND = kernels.record_type(
    "tanks_trail",
    [
        ("slot", np.int64),  # slot of the last turn, -1 before the first
        ("place", np.int64),  # cell of the tank at that time
        ("tried", np.int64),  # the cell that it tried to enter, or 0
        ("until", np.int64, (CELLS,)),  # the slot until which a cell counts as blocked
        ("traces", np.float64, (CELLS,)),  # 1 at the current cell, decaying for earlier ones
    ],
    source=__file__,
)


# ----------------------------------------------------------------------------- the report's network


@kernel
def report_action(weights: Any, scale: float, st: Record) -> Int:
    """Return the action of the report's network for the seat to act."""
    seat = i64(st.side)
    after = HIDDEN * INPUTS
    biases = after + OUTPUTS * HIDDEN
    neurons = np.empty(HIDDEN)
    for neuron in range(HIDDEN):
        total = 0.0
        at = neuron * INPUTS
        for row in range(geo.SIDE):
            for column in range(geo.SIDE):
                code = i64(st.memory[seat, (row + 1) * geo.STRIDE + column + 1])
                total += weights[at] * code
                at += 1
        neurons[neuron] = np.tanh(scale * total + weights[biases + neuron])
    best = -np.inf
    chosen = i64(rules.UP)
    for output in range(OUTPUTS):
        total = weights[biases + HIDDEN + output]
        for neuron in range(HIDDEN):
            total += weights[after + output * HIDDEN + neuron] * neurons[neuron]
        if total > best:
            best = total
            chosen = i64(rules.UP + output)
    return chosen


# ------------------------------------------------------------------------ the egocentric network


@kernel
def reset_mind(mind: Record) -> None:
    """Reset the memory to its initial state."""
    mind.slot = -1
    mind.place = 0
    mind.tried = 0
    for cell in range(CELLS):
        mind.until[cell] = 0
        mind.traces[cell] = 0.0


@kernel
def _remember(mind: Record, st: Record, seat: Int) -> None:
    """Block the cell that the tank failed to enter, and decay the traces."""
    if mind.tried != 0 and mind.place == st.place[seat]:
        mind.until[mind.tried] = st.slot + PATIENCE
    for cell in range(CELLS):
        mind.traces[cell] = mind.traces[cell] * FADING
    mind.place = st.place[seat]
    mind.traces[mind.place] = 1.0
    mind.tried = 0
    mind.slot = st.slot


@kernel
def _look(mind: Record, st: Record, seat: Int, inputs: Any) -> None:
    """Write the inputs for each direction, [4, LOOKS]."""
    here = i64(st.place[seat])
    own_row, own_column = here // geo.STRIDE, here % geo.STRIDE
    for row in range(1, geo.SIDE + 1):
        for column in range(1, geo.SIDE + 1):
            cell = row * geo.STRIDE + column
            if cell == here:
                continue
            code = i64(st.memory[seat, cell])
            solid = code <= rules.ROCK or mind.until[cell] > st.slot
            new = not solid and (i64(st.visited[cell]) >> seat) & 1 == 0
            north, east = own_row - row, column - own_column
            for hull in range(4):
                ahead = north if hull == 0 else east if hull == 1 else -north
                aside = east if hull == 0 or hull == 2 else north
                if hull == 3:
                    ahead = -east
                area = FORWARD[ahead + 14] * 3 + ASIDE[abs(aside)]
                share = SHARE[area]
                if new:
                    inputs[hull, NEW * BINS + area] += share
                if code == rules.UNKNOWN:
                    inputs[hull, HIDDEN_PLACES * BINS + area] += share
                if solid:
                    inputs[hull, SOLID * BINS + area] += share
                if code > 0:
                    inputs[hull, TANK * BINS + area] += share
                inputs[hull, LEFT_LATELY * BINS + area] += share * mind.traces[cell]
    for hull in range(4):
        turned = (hull - i64(st.hull[seat])) & 3
        inputs[hull, PLANES * BINS + (1 if turned == 3 else turned)] = 1.0
        inputs[hull, PLANES * BINS + 3] = 1.0


@kernel
def _worths(weights: Any, inputs: Any, worths: Any) -> None:
    """Write the values of moving, turning and firing in each direction, [4, WORTHS]."""
    after = NEURONS * LOOKS
    for hull in range(4):
        for worth in range(WORTHS):
            worths[hull, worth] = weights[after + WORTHS * NEURONS + worth]
        for neuron in range(NEURONS):
            total = 0.0
            for look in range(LOOKS):
                total += weights[neuron * LOOKS + look] * inputs[hull, look]
            total = np.tanh(total)
            for worth in range(WORTHS):
                worths[hull, worth] += weights[after + worth * NEURONS + neuron] * total


@kernel
def _closed(mind: Record, st: Record, seat: Int, cell: Int) -> bool:
    """Return whether a cell is known to be blocked by a rock, the edge, a wreck or a tank."""
    row, column = cell // geo.STRIDE, cell % geo.STRIDE
    if row < 1 or row > geo.SIDE or column < 1 or column > geo.SIDE:
        return True
    code = i64(st.memory[seat, cell])
    return bool(code <= rules.ROCK or code > 0 or mind.until[cell] > st.slot)


@kernel
def _has_target(st: Record, seat: Int) -> bool:
    """Return whether the first object ahead of the hull is known to be a tank."""
    ahead = i64(rules.AHEAD[st.hull[seat]])
    cell = i64(st.place[seat]) + ahead
    # The border is always unknown, which ends the loop.
    while st.memory[seat, cell] == rules.FREE:
        cell += ahead
    return bool(st.memory[seat, cell] > 0)


@kernel
def eyes_action(mind: Record, weights: Any, st: Record) -> Int:
    """Return the action of the egocentric network for the seat to act."""
    seat = i64(st.side)
    _remember(mind, st, seat)
    inputs, worths = np.zeros((4, LOOKS)), np.empty((4, WORTHS))
    _look(mind, st, seat, inputs)
    _worths(weights, inputs, worths)
    here, facing = i64(st.place[seat]), i64(st.hull[seat])
    right, left = worths[(facing + 1) & 3, TURN], worths[(facing + 3) & 3, TURN]
    best: float = max(right, left)
    chosen = i64(rules.TURN_RIGHT if right >= left else rules.TURN_LEFT)
    for hull in range(4):
        there = here + i64(rules.AHEAD[hull])
        if worths[hull, GO] > best and not _closed(mind, st, seat, there):
            best = worths[hull, GO]
            chosen = i64(MOVES[hull])
            mind.tried = there
    if worths[facing, SHOOT] > best and _has_target(st, seat):
        chosen = i64(rules.FIRE)
        mind.tried = 0
    return chosen


# ------------------------------------------------------------------------------------ the players


@kernel
def _by_report(ev: Record, st: Record) -> Int:
    return report_action(ev.weights, ev.scale, st)


@kernel
def _by_eyes(mind: Record, ev: Record, st: Record) -> Int:
    return eyes_action(mind, ev.weights, st)


class ReportNetwork:
    """A player that uses the report's network."""

    network: ClassVar[Any] = REPORT_NETWORK

    def __init__(self, state: np.record) -> None:
        self._state = state

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the network does not support a game, or None if it does."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the network's action; `state` may be any that is consistent with the view."""
        action = int(_by_report(ev, state))
        return SearchResult(action, 0.0, 1, 1, (action,))


class EyesNetwork:
    """A player that uses the egocentric network; keeps its memory between turns."""

    network: ClassVar[Any] = EYES_NETWORK

    def __init__(self, state: np.record) -> None:
        self._mind = new_mind()

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the network does not support a game, or None if it does."""
        return one_game_only(info, state, rules.STATE)

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the network's action; `state` may be any that is consistent with the view."""
        if int(state["slot"]) <= int(self._mind.slot):
            self._mind = new_mind()
        action = int(_by_eyes(self._mind, ev, state))
        return SearchResult(action, 0.0, 1, 1, (action,))


def new_mind() -> Any:
    """Return the memory of a player before its first turn."""
    mind: Any = kernels.new(MIND)
    mind.slot = -1
    return mind
