"""Arrays of one number a hole: written for one goal, and turned for the others.

A number is a *distance*, less being better to the player whose goal is the corner `GOAL`; the star
is turned for everybody else, so that one array plays from every corner.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

KIND = "hole-distances"
"""The `kind` of a file with such an array."""
GOAL = 3
"""Arrays are written for the player whose goal is this corner; others see the star turned."""


def turned_holes(shape: geo.Geometry, goal: int) -> list[int]:
    """Return where a player with another goal finds the number of each hole."""
    return _turns(shape, (GOAL - goal) % geo.CORNERS)


def _turns(shape: geo.Geometry, sixths: int) -> list[int]:
    """Return the hole that each hole becomes when the star is turned clockwise."""
    last = shape.points[-1][1]
    found = []
    for x, y in shape.points:
        # Cube coordinates around the center: a sixth of a turn permutes and negates them.
        row = y - last / 2
        q, r = (x - row) / 2, row
        s = -q - r
        for _ in range(sixths):
            q, r, s = -r, -s, -q
        found.append(shape.ids[(round(2 * q + r), round(r + last / 2))])
    return found
