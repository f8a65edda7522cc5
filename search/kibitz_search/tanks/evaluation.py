"""An evaluation for Tanks: points, distance to the next new cell, targets, and exposure to shots.

It uses only what the player knows: its local board and public facts. A sampled state also contains
tanks in places that the player cannot know; these are ignored.

The weights are data: compiled searches use modified weights immediately.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.tanks import rules

i64 = kernels.int64_cast()

WEIGHTS = kernels.record_type(
    "tanks_weights",
    [
        ("pull", np.float64),  # penalty for each move to the nearest new cell
        ("aim", np.float64),  # value of a living tank in the line of fire
        ("danger", np.float64),  # penalty for each tank that fired recently and has a clear line
        ("sight", np.float64),  # penalty for any other tank with a clear line
        ("noise", np.float64),  # penalty for a shot, which reveals the shooter's cell
        ("lately", np.int64),  # number of slots for which a shot is recent
    ],
    source=__file__,
)


@kernel
def _passable(st: operations.Record, seat: Int, cell: Int) -> bool:
    """Return whether a tank can enter a cell, as far as `seat` knows."""
    code = i64(st.board[cell])
    solid = code in (rules.ROCK, rules.WRECK, rules.EDGE)
    return not solid and st.memory[seat, cell] <= 0


@kernel
def _steps_to_unseen(st: operations.Record, seat: Int) -> Int:
    """Return the number of moves to the nearest cell that is new to `seat`, or 0."""
    far = np.full(rules.CELLS, -1, np.int64)
    queue = np.empty(rules.CELLS, np.int64)
    start = i64(st.place[seat])
    far[start] = 0
    queue[0] = start
    head: Int = 0
    tail: Int = 1
    while head < tail:
        here = i64(queue[head])
        head += 1
        if (i64(st.visited[here]) >> seat) & 1 == 0:
            return i64(far[here])
        for hull in range(4):
            there = here + i64(rules.AHEAD[hull])
            if far[there] < 0 and _passable(st, seat, there):
                far[there] = far[here] + 1
                queue[tail] = there
                tail += 1
    return i64(0)


@kernel
def _first_in_line(st: operations.Record, seat: Int, hull: Int) -> Int:
    """Return the seat of the first known object in a direction, or -1 if it is not a tank."""
    ahead = i64(rules.AHEAD[hull])
    cell = i64(st.place[seat]) + ahead
    while _passable(st, seat, cell):
        cell += ahead
    code = i64(st.memory[seat, cell])
    return code // rules.TANK - 1 if code > 0 else i64(-1)


@kernel
def _threat(ev: operations.Record, st: operations.Record, seat: Int) -> float:
    """Return the penalty for tanks that can fire at `seat`."""
    total = 0.0
    for hull in range(4):
        other = _first_in_line(st, seat, i64(hull))
        if other < 0 or st.left[other] != 0:
            continue
        fired = i64(st.fired[other])
        if fired > 0 and i64(st.slot) - fired < ev.lately:
            total += ev.danger
        else:
            total += ev.sight
    return total


@kernel
def _evaluate(ev: operations.Record, st: operations.Record, seat: Int) -> Any:
    """Return the points of `seat`, adjusted for its prospects and threats."""
    value = float(rules.score(st, seat))
    if st.fell[seat] != 0:
        return value
    value -= ev.pull * _steps_to_unseen(st, seat)
    if _first_in_line(st, seat, i64(st.hull[seat])) >= 0:
        value += ev.aim
    fired = i64(st.fired[seat])
    if fired > 0 and i64(st.slot) - fired < rules.SEATS:
        value -= ev.noise
    return value - _threat(ev, st, seat)


operations.implement(WEIGHTS, evaluate=_evaluate)


def hand(state: np.record) -> np.record:
    """Return hand-tuned weights.

    The pull is so small that even the longest path to the next new cell costs less than the value
    of a new cell. A target is slightly more valuable than a new cell. Exposure to a tank that has
    just fired costs slightly more than that.
    """
    ev: Any = kernels.new(WEIGHTS)
    ev.pull, ev.aim, ev.danger, ev.sight, ev.noise, ev.lately = 0.2, 12.0, 14.0, 4.0, 0.5, 8
    record: np.record = ev
    return record
