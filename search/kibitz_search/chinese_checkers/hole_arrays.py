"""Arrays of one number per hole, stored for one goal and rotated for the others.

Each number is a *distance*: lower is better for the player whose goal is the corner `GOAL`. The
star is rotated for other players, so that one array serves all corners.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

KIND = "hole-distances"
"""The `kind` of files with such an array."""
GOAL = 3
"""The goal of the player for whom arrays are stored; the star is rotated for others."""


def turned_holes(shape: geo.Geometry, goal: int) -> list[int]:
    """Return the index of each hole in an array, for a player with this goal."""
    return _turns(shape, (GOAL - goal) % geo.CORNERS)


def _turns(shape: geo.Geometry, sixths: int) -> list[int]:
    """Return the hole to which each hole moves when the star is rotated clockwise."""
    last = shape.points[-1][1]
    found = []
    for x, y in shape.points:
        # In cube coordinates around the center, a sixth of a turn permutes and negates.
        row = y - last / 2
        q, r = (x - row) / 2, row
        s = -q - r
        for _ in range(sixths):
            q, r, s = -r, -s, -q
        found.append(shape.ids[(round(2 * q + r), round(r + last / 2))])
    return found
