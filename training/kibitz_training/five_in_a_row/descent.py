"""L-BFGS (D. C. Liu and J. Nocedal, 1989): minimizes a smooth convex function of many numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""Returns the value and the gradient at a point."""
MEMORY = 12
"""The number of earlier steps that a step takes into account."""
PROGRESS = 1e-6
"""The search ends when a step improves the value by less than this share."""
ENOUGH = 1e-4
"""The share of the improvement predicted by the gradient that a step must reach."""


def minimize(function: Function, curvature: np.ndarray, rounds: int) -> np.ndarray:
    """Return a point near the minimum, after at most `rounds` steps from 0.

    `curvature` is an estimate of the second derivatives. Steps are taken in coordinates in which it
    is 1 everywhere.
    """
    unit = curvature**-0.5

    def in_units(point: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = function(point * unit)
        return value, slope * unit

    found: np.ndarray = unit * _minimize(in_units, np.zeros(len(curvature)), rounds)
    return found


def _minimize(function: Function, point: np.ndarray, rounds: int) -> np.ndarray:
    value, slope = function(point)
    steps: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=MEMORY)
    for _ in range(rounds):
        way = -_scaled(slope, steps)
        predicted = float(slope @ way)
        size = 1.0 if steps else 1.0 / max(1.0, float(np.abs(slope).max()))
        after, slope_after = function(point + size * way)
        while after > value + ENOUGH * size * predicted and size > 1e-10:
            size /= 2
            after, slope_after = function(point + size * way)
        if after >= value:
            break
        move, change = size * way, slope_after - slope
        if float(move @ change) > 0:
            steps.append((move, change))
        small = value - after < PROGRESS * abs(value)
        point, value, slope = point + move, after, slope_after
        if small:
            break
    return point


def _scaled(slope: np.ndarray, steps: deque[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the gradient times the inverse curvature that the steps show."""
    found, shares = slope.copy(), list[float]()
    for move, change in reversed(steps):
        share = float(move @ found) / float(move @ change)
        found -= share * change
        shares.append(share)
    if steps:
        move, change = steps[-1]
        found *= float(move @ change) / float(change @ change)
    for (move, change), share in zip(steps, reversed(shares), strict=True):
        found += (share - float(change @ found) / float(move @ change)) * move
    return found
