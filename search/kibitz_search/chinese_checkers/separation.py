"""Tests whether foreign pegs still matter to a race, by the holes that players reach going forward.

The rules let pegs go back across the board, so "never meet again" needs an assumption. It is that
no peg comes to rest further from its goal than its player's rearmost peg is now, in rows from the
tip or in steps to it. The holes that remain are the player's *reach*, which never grows. A chain of
jumps may
leave the reach by one row and one step while it hops over an own peg. A foreign peg can matter one
row and step beyond that, by being hopped over or in the way.

So a seat is *apart* when its reach, widened by two rows and two steps, shares no hole with the
reach of another active player or with the pegs of an inactive one. Then its legal moves, now and on
every later turn, are those that it would have alone on the board. With long jumps, which hop over
pegs far away, no seat is ever apart.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo

MARGIN = 2
"""How much wider than the reach is the zone in which foreign pegs matter; the reason is above."""


@functools.cache
def rows(shape: geo.Geometry, goal: int) -> np.ndarray:
    """Return how many rows every hole is from the tip of a goal: int64 [holes]."""
    edges = np.array([geo.DIRECTIONS[(2 + goal) % 6], geo.DIRECTIONS[(1 + goal) % 6]])
    normal = np.linalg.solve(edges, [1.0, 1.0])
    away = np.array(shape.points) - np.array(shape.points[shape.tips[goal]])
    down: np.ndarray = np.rint(away @ normal).astype(np.int64)
    return down


@functools.cache
def steps(shape: geo.Geometry, goal: int) -> np.ndarray:
    """Return how many steps every hole is from the tip of a goal: int64 [holes]."""
    return np.array([shape.steps(hole, shape.tips[goal]) for hole in range(shape.holes)])


def reach(shape: geo.Geometry, goal: int, pegs: Sequence[int], wider: int = 0) -> np.ndarray:
    """Return the holes that pegs on their way to a goal may come to rest on: bool [holes]."""
    down, far, at = rows(shape, goal), steps(shape, goal), list(pegs)
    zone: np.ndarray = (down <= down[at].max() + wider) & (far <= far[at].max() + wider)
    return zone


def board_of(state: Any) -> geo.Geometry:
    """Return the board of a state."""
    return geo.geometry(*geo.ALL[int(state["geometry"])])


def own_pegs(state: Any, seat: int) -> list[int]:
    """Return the holes of a seat's pegs."""
    holes: list[int] = state["pegs"][seat, : int(state["each"])].tolist()
    return holes


def foreign(state: Any, seat: int) -> np.ndarray:
    """Return the holes that the pegs of all others may come to rest on: bool [holes]."""
    shape = board_of(state)
    zone = np.zeros(shape.holes, np.bool_)
    for other in range(int(state["seats"])):
        pegs = own_pegs(state, other)
        if other != seat and int(state["rank"][other]) == 0:
            zone |= reach(shape, int(state["goal"][other]), pegs)
        elif other != seat:
            zone[pegs] = True
    return zone


def is_separated(state: Any, seat: int) -> bool:
    """Return whether `seat` moves from now on as if it were alone on the board."""
    if int(state["long_jumps"]):
        return False
    own = reach(board_of(state), int(state["goal"][seat]), own_pegs(state, seat), MARGIN)
    return not (own & foreign(state, seat)).any()


def undisturbed(state: Any, seat: int, holes: Sequence[int]) -> bool:
    """Return whether no foreign peg comes to rest on any of these holes any more."""
    return not foreign(state, seat)[list(holes)].any()


def nearest_foreign(state: Any, seat: int) -> int:
    """Return the steps between the nearest two pegs of which one is the seat's and one is not."""
    shape, own = board_of(state), own_pegs(state, seat)
    others = [
        hole for other in range(int(state["seats"])) if other != seat
        for hole in own_pegs(state, other)
    ]  # fmt: skip
    return min(shape.steps(hole, other) for hole in own for other in others)
