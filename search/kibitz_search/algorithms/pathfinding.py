"""Paths on a grid: breadth-first distances, and the cheapest path by A*.

A grid is a flat array of cells with a border, and `steps` contains the index offset of each
direction. ``cost[place]`` is the cost of entering a cell. A cost of 0 or less marks an impassable
cell; all border cells must be impassable.

A* (Hart, Nilsson & Raphael: "A Formal Basis for the Heuristic Determination of Minimum Cost
Paths", 1968) expands the cell with the smallest sum of the cost so far and a lower bound of the
remaining cost. If the bound is *consistent*, which means that no step decreases it by more than its
cost, no cell is expanded twice and the path found is the cheapest. With a bound of 0 everywhere, it
is Dijkstra's algorithm; if all costs are also equal, it is breadth-first search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves

i64 = kernels.int64_cast()

UNREACHABLE = 1 << 40
"""The distance of a cell that cannot be reached."""


@kernel
def bfs_distances(cost: Any, aims: Any, steps: Any, far: Any) -> None:
    """Write the number of steps from each cell to the nearest aim into `far`.

    A cell is an aim if its entry in `aims` is not 0. The search is breadth-first from all aims at
    once. Cells from which no aim can be reached get `UNREACHABLE`.
    """
    places = len(cost)
    queue = np.empty(places, np.int64)
    tail: Int = i64(0)
    for place in range(places):
        far[place] = UNREACHABLE
        if aims[place] != 0:
            far[place] = 0
            queue[tail] = place
            tail += 1
    head: Int = i64(0)
    while head < tail:
        here = i64(queue[head])
        head += 1
        for way in range(len(steps)):
            there = here + i64(steps[way])
            if 0 <= there < places and cost[there] > 0 and far[there] == UNREACHABLE:
                far[there] = far[here] + 1
                queue[tail] = there
                tail += 1


@kernel
def _push(worth: Any, heap: Any, size: Int, value: Int, place: Int) -> None:
    """Push a cell onto the heap of `size` cells; the least `worth` is on top."""
    at: Int = i64(size)
    while at > 0 and worth[(at - 1) >> 1] > value:
        worth[at] = worth[(at - 1) >> 1]
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    worth[at] = value
    heap[at] = place


@kernel
def _pop(worth: Any, heap: Any, size: Int) -> Int:
    """Pop the cell with the least `worth` from the heap of `size` cells."""
    top = i64(heap[0])
    last = size - 1
    value, place = i64(worth[last]), i64(heap[last])
    at: Int = i64(0)
    while 2 * at + 1 < last:
        child = 2 * at + 1
        if child + 1 < last and worth[child + 1] < worth[child]:
            child += 1
        if worth[child] >= value:
            break
        worth[at] = worth[child]
        heap[at] = heap[child]
        at = child
    worth[at] = value
    heap[at] = place
    return top


@kernel
def astar(cost: Any, bound: Any, goal: Any, steps: Any, start: Int, far: Any, came: Moves) -> Int:
    """Return the cheapest goal (``goal[place]`` not 0) to reach, or -1 if none can be reached.

    `bound` is a consistent lower bound of the remaining cost at each cell. ``far[goal]`` is then
    the cost, and `came` leads back from the goal to `start`. The order of directions breaks ties.
    `start` itself costs nothing and may be a goal.
    """
    places = len(cost)
    worth = np.empty(len(steps) * places + 1, np.int64)
    heap = np.empty(len(steps) * places + 1, np.int64)
    done = np.zeros(places, np.uint8)
    for place in range(places):
        far[place] = UNREACHABLE
    far[start] = 0
    came[start] = start
    _push(worth, heap, i64(0), i64(bound[start]), i64(start))
    size: Int = i64(1)
    while size > 0:
        here = _pop(worth, heap, size)
        size -= 1
        if done[here] != 0:
            continue
        if goal[here] != 0:
            return here
        done[here] = 1
        for way in range(len(steps)):
            there = here + i64(steps[way])
            price = i64(cost[there])
            if price > 0 and done[there] == 0 and far[here] + price < far[there]:
                far[there] = far[here] + price
                came[there] = here
                _push(worth, heap, size, i64(far[there]) + i64(bound[there]), there)
                size += 1
    return i64(-1)


@kernel
def first_step(came: Moves, start: Int, goal: Int) -> Int:
    """Return the first cell on the path found by `astar`, or `start` if that is the goal."""
    place: Int = i64(goal)
    while place != start and came[place] != start:
        place = i64(came[place])
    return place
