"""Paths on a grid, compared with a minimal reference search."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_search.algorithms.pathfinding import UNREACHABLE, astar, bfs_distances, first_step
from tests.tools import profiles

WIDTH = 8
PLACES = WIDTH * WIDTH
STEPS = np.array([-WIDTH, 1, WIDTH, -1], np.int64)
INNER = [row * WIDTH + column for row in range(1, WIDTH - 1) for column in range(1, WIDTH - 1)]

prices = st.lists(st.sampled_from([0, 1, 1, 1, 2, 5]), min_size=len(INNER), max_size=len(INNER))
places = st.sampled_from(INNER)


def grid(inner: list[int]) -> np.ndarray:
    """Return the costs of a grid with an impassable border."""
    cost = np.zeros(PLACES, np.int64)
    cost[INNER] = inner
    return cost


def marks(chosen: set[int]) -> np.ndarray:
    goal = np.zeros(PLACES, np.uint8)
    goal[sorted(chosen)] = 1
    return goal


def cheapest(cost: np.ndarray, start: int) -> dict[int, int]:
    """Return the cost of every reachable place, relaxed until nothing changes."""
    far = {start: 0}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for step in STEPS.tolist():
            there = here + step
            price = int(cost[there])
            if price > 0 and far[here] + price < far.get(there, UNREACHABLE):
                far[there] = far[here] + price
                waiting.append(there)
    return far


def search(
    cost: np.ndarray, bound: np.ndarray, goal: np.ndarray, start: int
) -> tuple[int, Any, Any]:
    far, came = np.empty(PLACES, np.int64), np.zeros(PLACES, np.int32)
    found = int(astar(cost, bound, goal, STEPS, np.int64(start), far, came))
    return found, far, came


def way(came: np.ndarray, start: int, goal: int) -> list[int]:
    steps = [goal]
    while steps[-1] != start:
        steps.append(int(came[steps[-1]]))
    return steps[::-1]


@given(prices, places, st.sets(places, min_size=1, max_size=4))
@settings(max_examples=profiles.examples(150), deadline=None)
def test_the_way_is_a_cheapest_one_with_a_bound_and_without(
    inner: list[int], start: int, aims: set[int]
) -> None:
    cost, goal = grid(inner), marks(aims)
    known = cheapest(cost, start)
    least = min((known[aim] for aim in aims if aim in known), default=-1)
    bare = np.ones(PLACES, np.int64)
    bound = np.empty(PLACES, np.int64)
    bfs_distances(bare, goal, STEPS, bound)
    for guess in (np.zeros(PLACES, np.int64), bound):
        found, far, came = search(cost, guess, goal, start)
        assert (found >= 0) == (least >= 0)
        if found < 0:
            continue
        path = way(came, start, found)
        assert found in aims
        assert far[found] == least == sum(int(cost[place]) for place in path[1:])
        assert all(b - a in STEPS for a, b in itertools.pairwise(path))
        assert first_step(came, np.int64(start), np.int64(found)) == path[min(1, len(path) - 1)]


@given(prices, places)
@settings(max_examples=profiles.examples(100), deadline=None)
def test_a_flood_counts_steps_whatever_they_cost(inner: list[int], aim: int) -> None:
    cost = grid(inner)
    far = np.empty(PLACES, np.int64)
    bfs_distances(cost, marks({aim}), STEPS, far)
    known = cheapest((cost > 0).astype(np.int64), aim)
    assert far[aim] == 0
    assert {place for place in range(PLACES) if far[place] != UNREACHABLE} == known.keys()
    assert all(far[place] == steps for place, steps in known.items())


def test_the_bound_spares_places() -> None:
    """The purpose of A*: on an open field, a distant goal requires visiting only a few places."""
    cost = grid([1] * len(INNER))
    goal = marks({INNER[-1]})
    bound = np.empty(PLACES, np.int64)
    bfs_distances(cost, goal, STEPS, bound)
    start = INNER[5]
    _, with_bound, _ = search(cost, bound, goal, start)
    _, without, _ = search(cost, np.zeros(PLACES, np.int64), goal, start)
    assert (with_bound != UNREACHABLE).sum() < (without != UNREACHABLE).sum()


@pytest.mark.parametrize("start", [INNER[0], INNER[7]])
def test_who_is_there_already_does_not_move(start: int) -> None:
    cost = grid([1] * len(INNER))
    found, far, came = search(cost, np.zeros(PLACES, np.int64), marks({start}), start)
    assert (found, far[start]) == (start, 0)
    assert first_step(came, np.int64(start), np.int64(start)) == start
