"""An evaluation for Line-Nim: exact if all components are small and tame, otherwise an estimate.

A position consists of connected components. For each component of at most `reach` cells, all
subsets of its cells are analyzed. This gives its nim value in normal play (the player who takes the
last cell wins), its value in misere play (that player loses, and the empty component counts as 1),
and whether it is *tame*. A component is tame if all of its successors are tame and the two values
are equal, or are 0 and 1 in either order. The second kind is called *fickle*: in a sum, it behaves
like a heap of 0 or 1 matches. The first kind is *firm*, and behaves like heaps of two or more. This
decides who wins a sum of tame components, as in Nim: the player to move loses if the normal values
add up (without carrying) to 0 with at least one firm component, or to 1 without any.

Two more facts are used: a single component of any kind is lost for the player to move if its misere
value is 0, and two isolated cells cancel in any sum, which also follows from tame theory.

Source: J. H. Conway, "On Numbers and Games" (1976), chapter 12, "How to lose when you must".

The numbers are data: ``ev.sure`` is the value of a position that the theory decides, ``ev.guess``
the value if the same rule is applied to components that are not all tame, and ``ev.reach`` the size
of the largest component that is analyzed. A position with a larger component has the value 0 for
both seats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.line_nim import rules

i64 = kernels.int64_cast()

PART_CELLS = 8
"""The maximum size of a component for analysis: it has 255 subsets."""
SUBSETS = 1 << PART_CELLS
MAX_LINES = 7 * PART_CELLS
"""An upper bound on a component's lines: from each cell, itself and two in each of three
directions."""
TAME = 256
"""The summary of a component is its nim value, plus 16 times its misere value, plus this number if
it is tame. No value exceeds the number of remaining moves, and thus of cells, by more than one."""

PARTS = kernels.record_type(
    "line_nim_parts",
    [
        ("sure", np.float64),
        ("guess", np.float64),
        ("reach", np.int32),
    ],
    source=__file__,
)


@kernel
def _component(st: Record, start: Int, cells: Any, place: Any) -> Int:
    """Write the component of `start` into `cells`, and the index of each cell there into `place`.

    Return the number of cells. `place` is -1 for cells that are not in a component yet.
    """
    cells[0] = start
    place[start] = 0
    n: Int = 1
    head = 0
    while head < n:
        for d in range(6):
            near = i64(rules.NEAR[i64(cells[head]) * 6 + d])
            if st.board[near] == rules.FREE and place[near] < 0:
                place[near] = n
                cells[n] = near
                n += 1
        head += 1
    return i64(n)


@kernel
def _lines(st: Record, cells: Any, place: Any, n: Int, lines: Any) -> Int:
    """Write the lines of a component as masks of its cells; return their number."""
    count = 0
    for i in range(n):
        lines[count] = 1 << i
        count += 1
        for d in range(3, 6):
            reach = rules.longest_line(st, i64(cells[i]), i64(d))
            cell: Int = i64(cells[i])
            line = 1 << i
            for _ in range(reach - 1):
                cell = i64(rules.NEAR[cell * 6 + d])
                line |= 1 << i64(place[cell])
                lines[count] = line
                count += 1
    return i64(count)


@kernel
def _mex(values: Int) -> Int:
    """Return the least number whose bit is not set."""
    value = 0
    while (values >> value) & 1:
        value += 1
    return i64(value)


@kernel
def summary(lines: Any, count: Int, n: Int) -> Int:
    """Analyze a component of `n` cells with these lines; return its summary (see `TAME`)."""
    found = np.empty(SUBSETS, np.int64)
    found[0] = 16 + TAME
    for left in range(1, 1 << n):
        normal, misere, tame = i64(0), i64(0), TAME
        for i in range(count):
            if lines[i] & left == lines[i]:
                after = i64(found[left ^ i64(lines[i])])
                normal |= i64(1) << (after & 15)
                misere |= i64(1) << ((after >> 4) & 15)
                tame &= after
        a, b = _mex(normal), _mex(misere)
        if a != b and a + b != 1:
            tame = 0
        found[left] = a + 16 * b + tame
    return i64(found[(1 << n) - 1])


@kernel
def _evaluate(ev: Record, st: Record, seat: Int) -> Any:
    """Return the value of the position for `seat`, positive if it should win."""
    if st.side < 0:
        return 0.0
    cells, lines = np.empty(rules.WALL, np.int64), np.empty(MAX_LINES, np.int64)
    place = np.full(rules.WALL + 1, -1, np.int64)
    parts, wild, firm = 0, 0, 0
    total: Int = i64(0)
    alone: Int = i64(0)
    for start in range(rules.WALL):
        if st.board[start] != rules.FREE or place[start] >= 0:
            continue
        n = _component(st, i64(start), cells, place)
        if n > ev.reach:
            return 0.0
        parts += 1
        found = summary(lines, _lines(st, cells, place, n, lines), n)
        normal, alone = found & 15, (found >> 4) & 15
        total ^= normal
        wild += found & TAME == 0
        firm += normal == alone or found & TAME == 0
    lost = total == (0 if firm > 0 else 1)
    worth = ev.guess if wild > 0 else ev.sure
    if parts == 1:
        lost, worth = alone == 0, ev.sure
    return worth if lost == (st.side != seat) else -worth


operations.implement(PARTS, evaluate=_evaluate)


def parts(state: np.record) -> np.record:
    """Return the default evaluation record."""
    ev: Any = kernels.new(PARTS)
    ev.sure, ev.guess, ev.reach = 100.0, 30.0, PART_CELLS
    record: np.record = ev
    return record


def outcome(state: np.record) -> np.record:
    """Return an evaluation record without analysis, which values all unfinished positions at 0."""
    ev: Any = parts(state)
    ev.reach = 0
    record: np.record = ev
    return record
