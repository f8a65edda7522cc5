"""Tests whether other players' pegs still matter to a race, by the holes that each can reach.

The rules allow pegs to go back across the board, so "never meet again" requires an assumption. The
assumption is that no peg will stop further from its goal than its player's rearmost peg is now,
both in rows from the tip and in steps to it. The remaining holes are the player's *reach*, which
never grows. A chain of jumps may leave the reach by one row and one step while it hops over one of
the player's pegs. Another player's peg one row and one step further out can still matter, because
the chain may hop over it or be blocked by it.

A seat is therefore *separated* if its reach, widened by two rows and two steps, does not overlap
the reach of an active player or the pegs of an inactive one. Its legal moves on this and all later
turns are then those that it would have without opponents. With long jumps, which hop over distant
pegs, seats are never separated.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo

MARGIN = 2
"""The number of rows and steps beyond the reach in which other pegs matter (see above)."""


@functools.cache
def rows(shape: geo.Geometry, goal: int) -> np.ndarray:
    """Return the number of rows from each hole to the tip of a goal: int64 [holes]."""
    edges = np.array([geo.DIRECTIONS[(2 + goal) % 6], geo.DIRECTIONS[(1 + goal) % 6]])
    normal = np.linalg.solve(edges, [1.0, 1.0])
    away = np.array(shape.points) - np.array(shape.points[shape.tips[goal]])
    down: np.ndarray = np.rint(away @ normal).astype(np.int64)
    return down


@functools.cache
def steps(shape: geo.Geometry, goal: int) -> np.ndarray:
    """Return the number of steps from each hole to the tip of a goal: int64 [holes]."""
    return np.array([shape.steps(hole, shape.tips[goal]) for hole in range(shape.holes)])


def reach(shape: geo.Geometry, goal: int, pegs: Sequence[int], wider: int = 0) -> np.ndarray:
    """Return the holes in which pegs may stop on their way to a goal: bool [holes]."""
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
    """Return the holes in which the pegs of other players may stop: bool [holes]."""
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
    """Return whether other players can no longer affect the moves of `seat`."""
    if int(state["long_jumps"]):
        return False
    own = reach(board_of(state), int(state["goal"][seat]), own_pegs(state, seat), MARGIN)
    return not (own & foreign(state, seat)).any()


def undisturbed(state: Any, seat: int, holes: Sequence[int]) -> bool:
    """Return whether no other player's peg can stop in any of these holes."""
    return not foreign(state, seat)[list(holes)].any()


def nearest_foreign(state: Any, seat: int) -> int:
    """Return the smallest number of steps between a peg of `seat` and another player's peg."""
    shape, own = board_of(state), own_pegs(state, seat)
    others = [
        hole for other in range(int(state["seats"])) if other != seat
        for hole in own_pegs(state, other)
    ]  # fmt: skip
    return min(shape.steps(hole, other) for hole in own for other in others)
