"""The swap: the stones to place before the other side chooses a color, and the color to choose.

The choosing player takes the color with the better expectation. The placing player puts the first
two stones anywhere near the center, and the third where both colors can expect about the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_games.five_in_a_row import rules

Judge = Callable[[np.record, int], "float | None"]
"""Says what a position is worth to the color whose stone comes next, looking ahead so many plies
(0 for as many as there is time for); None when there is no time left."""
TRIAL_PLIES = 2
"""Plies to look ahead for each place of the third stone."""


def applies(state: np.record) -> bool:
    """Return whether a position is one in which the swap is not done with."""
    return bool(state["unsettled"])


def choose(state: np.record, judge: Judge, seed: int | str) -> tuple[int, float]:
    """Return the action to take where it `applies`, and what that is worth to who takes it."""
    stones = int(state["stones"])
    if stones == rules.SWAP_STONES:
        return _colour(judge(state, 0) or 0.0)
    if stones < rules.SWAP_STONES - 1:
        return _near_centre(state, seed), 0.0
    return _balanced(state, judge, seed)


def _colour(worth: float) -> tuple[int, float]:
    """White is next."""
    return (rules.TAKE_WHITE, worth) if worth > 0 else (rules.TAKE_BLACK, -worth)


def _empty(state: np.record, seed: int | str) -> list[int]:
    """Return the empty cells, shuffled by `seed`."""
    moves = np.zeros(op.max_actions(state.dtype), np.int32)
    cells: list[int] = moves[: op.generate(state, moves)].tolist()
    random.Random(seed).shuffle(cells)
    return cells


def _near_centre(state: np.record, seed: int | str) -> int:
    width = int(state["width"])
    inner = range(max(0, width // 2 - 2), min(width, (width + 1) // 2 + 2))
    cells = [cell for cell in _empty(state, seed) if all(at in inner for at in geo.place(cell))]
    return cells[0]


def _balanced(state: np.record, judge: Judge, seed: int | str) -> tuple[int, float]:
    """Return the place of the third stone after which the better color is worth the least."""
    st: Any = state.copy()
    cells = _empty(state, seed)
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
