"""The cell classes used by `threat`, and the weights of its evaluation and move order.

A class describes what a color makes with a stone in a cell, on all four lines together. From the
best to the worst:

    ==============  =====================================================================
    `FIVE`          a five, which wins
    `DOUBLE_FOUR`   an open four or two fours: only one of the fives can be blocked
    `FOUR_THREE`    a four and an open three: an open four after the block
    `FOUR_AND`      a four and a three or an open two; `FOUR_ONLY` a four
    `DOUBLE_THREE`  two open threes
    `THREE_AND`     an open three and a three or an open two; `OPEN_THREE` an open three
    `CLOSED_AND`    a three and an open two; `CLOSED` a three
    `TWIN_TWO`      an open two and another two; `OPEN_TWO`, `TWO`
    `LONE`          room for a five, but no two yet
    ==============  =====================================================================

A class collects the shapes of `pattern_board` with the same tactical meaning. Weights are finer:
each shape has its own. The evaluation adds up the worth of the shapes of all empty cells for the
color to move, subtracts that for the other color, and adds a weight for the combination of threats.
Moves are ordered by the weight of what they make plus that of what they deny, which tells how
probable they are. All weights are data; the usual ones are equal for all shapes of a class.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_search.five_in_a_row import pattern_board, patterns

(
    NOTHING,
    LONE,
    TWO,
    OPEN_TWO,
    TWIN_TWO,
    CLOSED,
    CLOSED_AND,
    OPEN_THREE,
    THREE_AND,
    DOUBLE_THREE,
    FOUR_ONLY,
    FOUR_AND,
    FOUR_THREE,
    DOUBLE_FOUR,
    FIVE,
) = range(15)

THEIR_OPEN_FOUR, THEIR_FOUR_THREE, THEIR_DOUBLE_THREE = 1, 2, 4
OUR_FOUR_THREE, OUR_DOUBLE_THREE = 8, 16
THEIR_FOUR, OUR_FOUR, OUR_OPEN_THREE = 32, 64, 128
"""The bits of a combination: threats that either color could play next."""
THREATS = 256
"""The number of combinations of threats."""

WEIGHTS = kernels.record_type(
    "shape_weights",
    [
        # The worth of an empty cell by shape, for the color to move and for the other color.
        ("worth", np.int32, (pattern_board.SHAPES, 2)),
        ("threats", np.int64, (THREATS,)),  # value of a combination for the color to move
        ("attack", np.int32, (pattern_board.SHAPES,)),  # for ordering: making this shape
        ("defend", np.int32, (pattern_board.SHAPES,)),  # for ordering: denying it to the opponent
    ],
    source=__file__,
)


def together() -> np.ndarray:
    """Return the class of each shape in `pattern_board.shapes`, uint8 [SHAPES]."""
    four = np.array(patterns.PATTERN_OF_CODE)[pattern_board.shapes()]

    def at_least(pattern: int, number: int = 1) -> np.ndarray:
        found: np.ndarray = (four == pattern).sum(axis=1) >= number
        return found

    fours, open_three = at_least(patterns.FOUR), at_least(patterns.OPEN_THREE)
    open_two, two = at_least(patterns.OPEN_TWO), at_least(patterns.TWO)
    three = at_least(patterns.THREE)
    cases = [
        (at_least(patterns.FIVE), FIVE),
        (at_least(patterns.OPEN_FOUR) | at_least(patterns.FOUR, 2), DOUBLE_FOUR),
        (fours & open_three, FOUR_THREE),
        (fours & (three | open_two), FOUR_AND),
        (fours, FOUR_ONLY),
        (at_least(patterns.OPEN_THREE, 2), DOUBLE_THREE),
        (open_three & (three | open_two), THREE_AND),
        (open_three, OPEN_THREE),
        (three & open_two, CLOSED_AND),
        (three, CLOSED),
        (at_least(patterns.OPEN_TWO, 2) | (open_two & two), TWIN_TWO),
        (open_two, OPEN_TWO),
        (two, TWO),
        (at_least(patterns.OPEN_ONE) | at_least(patterns.ONE), LONE),
    ]
    conditions, classes = zip(*cases, strict=True)
    found: np.ndarray = np.select(conditions, classes, NOTHING)
    return found.astype(np.uint8)


@functools.cache
def vocabulary(exact: bool) -> np.record:
    """Return the lookup tables for boards; they are never modified."""
    return pattern_board.tables(patterns.codes(exact), together(), exact)


OWN = (0, 0, 3, 10, 18, 9, 24, 36, 50, 90, 36, 60, 180, 320, 0)
OTHER = (0, 0, 2, 7, 13, 6, 16, 22, 32, 55, 22, 36, 80, 110, 400)
ATTACK = (-220, -160, -120, -70, 40, -30, 120, 120, 290, 420, 90, 280, 360, 2000, 9000)
DEFEND = (-110, -120, -100, -70, -50, -40, 0, 60, 130, 260, 90, 200, 400, 460, 5000)
"""The usual weights by class; those of the order are medians of fitted ones."""
ORDER_UNIT = 64
"""The weight in the move order that makes a move more probable by a factor of e."""


def usual(state: np.record) -> np.record:
    """Return the usual weights, for boards of any size."""
    ev: Any = kernels.new(WEIGHTS)
    kind = together()
    ev.worth[:, 0], ev.worth[:, 1] = np.array(OWN)[kind], np.array(OTHER)[kind]
    ev.attack[:], ev.defend[:] = np.array(ATTACK)[kind], np.array(DEFEND)[kind]
    ev.threats[:] = [_threats(mask) for mask in range(THREATS)]
    record: np.record = ev
    return record


def _threats(mask: int) -> int:
    """Return the value of a combination of threats for the color to move."""
    worth = 0
    if mask & THEIR_OPEN_FOUR:
        worth -= 60
        if mask & THEIR_FOUR_THREE:
            worth -= 120
    elif mask & THEIR_FOUR_THREE:
        worth -= 60
    if mask & THEIR_DOUBLE_THREE:
        worth -= 20
    if mask & OUR_FOUR_THREE:
        worth += 150
    if mask & OUR_DOUBLE_THREE and not mask & THEIR_OPEN_FOUR:
        worth += 150
    return worth
