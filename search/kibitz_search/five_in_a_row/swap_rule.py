"""Swap openings: which stones to place before the opponent chooses a color, and which to choose.

The choosing player takes the color with the better value. The opener places the first two stones
anywhere near the center, and the third where the position is most balanced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_games.five_in_a_row import rules
from kibitz_search.algorithms.result import root_moves

Judge = Callable[[np.record, int], "float | None"]
"""Searches a position to a depth in plies (0 for no limit). Returns its value for the color of the
next stone, or None if time is up."""
TRIAL_PLIES = 2
"""The search depth for each candidate cell of the third stone."""


def applies(state: np.record) -> bool:
    """Return whether a position is in a swap opening, before colors are chosen."""
    return bool(state["unsettled"])


def choose(state: np.record, judge: Judge, seed: int | str) -> tuple[int, float]:
    """Return the action for a position in a swap opening, and its value for the seat to act."""
    stones = int(state["stones"])
    if stones == rules.SWAP_STONES:
        return _colour(judge(state, 0) or 0.0)
    if stones < rules.SWAP_STONES - 1:
        return _near_centre(state, seed), 0.0
    return _balanced(state, judge, seed)


def _colour(worth: float) -> tuple[int, float]:
    """Choose a color, given the value for white, which places the next stone."""
    return (rules.TAKE_WHITE, worth) if worth > 0 else (rules.TAKE_BLACK, -worth)


def _near_centre(state: np.record, seed: int | str) -> int:
    width = int(state["width"])
    inner = range(max(0, width // 2 - 2), min(width, (width + 1) // 2 + 2))
    cells = [cell for cell in root_moves(state, seed) if all(at in inner for at in geo.place(cell))]
    return cells[0]


def _balanced(state: np.record, judge: Judge, seed: int | str) -> tuple[int, float]:
    """Return the cell for the third stone that makes the position most balanced, and its value."""
    st: Any = state.copy()
    cells = root_moves(state, seed)
    best, least = cells[0], np.inf
    for cell in cells:
        op.play(st, cell)
        worth = judge(st, TRIAL_PLIES)
        op.undo(st, cell)
        if worth is None:
            break
        if abs(worth) < least:
            best, least = cell, abs(worth)
    return best, 0.0 if least == np.inf else -least
