"""A slow reference implementation of Line-Nim, written only from the rules.

Positions are sets of points in cube coordinates, where a straight line is a repeated addition; no
code of the package is used. ``python tests/games/line_nim/reference.py`` writes the counts of
``tests/games/data/line-nim-perft.jsonl``.
"""

from __future__ import annotations

import functools
import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence

Point = tuple[int, int]
"""Axial coordinates (q, r): q = x - (y - (y & 1)) / 2, r = y."""
Line = frozenset[Point]
Position = frozenset[Point]

STEPS: dict[int, Point] = {1: (0, -1), 2: (1, -1), 3: (-1, 0), 4: (1, 0), 5: (-1, 1), 6: (0, 1)}
"""The directions: 1 up-left, 2 up-right, 3 left, 4 right, 5 down-left, 6 down-right."""


def point(x: int, y: int) -> Point:
    return x - (y - y % 2) // 2, y


BOARD: Position = frozenset(point(x, y) for x in range(12) for y in range(12))


def position(rows: Sequence[str]) -> Position:
    """Parse rows of characters, with dots for free cells."""
    return frozenset(
        point(x, y) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "."
    )


def spelt(x: int, y: int, length: int, direction: int | None) -> Line:
    """Return the points of a move's notation, on the board or not."""
    (q, r), (dq, dr) = point(x, y), STEPS[direction or 1]
    return frozenset((q + i * dq, r + i * dr) for i in range(length))


@functools.cache
def lines(free: Position) -> frozenset[Line]:
    """Return the sets of cells that can be crossed out."""
    return frozenset(
        line
        for q, r in free
        for dq, dr in STEPS.values()
        for length in (1, 2, 3)
        for line in [frozenset((q + i * dq, r + i * dr) for i in range(length))]
        if line <= free
    )


@functools.cache
def wins(free: Position) -> bool:
    """Return whether the player to move wins; the player who takes the last cell loses."""
    return not free or any(not wins(free - line) for line in lines(free))


@functools.cache
def leaves(free: Position, depth: int) -> int:
    """Return the number of sequences of `depth` moves."""
    if depth == 1:
        return len(lines(free))
    return sum(leaves(free - line, depth - 1) for line in lines(free))


def connected(free: Position) -> bool:
    """Return whether all cells are connected."""
    if not free:
        return False
    left, edge = set(free), [next(iter(free))]
    left.discard(edge[0])
    while edge:
        q, r = edge.pop()
        near = {(q + dq, r + dr) for dq, dr in STEPS.values()} & left
        left -= near
        edge += near
    return not left


def grown(n: int, chance: Callable[[], float]) -> Position:
    """Grow a start map of `n` cells by the rules, with random numbers from `chance`."""
    while True:
        centre = point(6, 6)
        free = {centre: chance() < 0.7}
        frontier = [centre]
        while frontier and sum(free.values()) < n:
            q, r = frontier.pop(int(chance() * len(frontier)))
            for d in (3, 4, 1, 2, 5, 6):
                near = q + STEPS[d][0], r + STEPS[d][1]
                if near in BOARD and near not in free and sum(free.values()) < n:
                    free[near] = chance() < 0.7
                    frontier += [near] * free[near]
        cells = frozenset(at for at in free if free[at])
        if len(cells) == n and connected(cells):
            return cells


def original(free: Position, source: random.Random) -> Line:
    """Draw a move like the random player of the original assignment."""
    q, r = source.choice(sorted(free))
    dq, dr = STEPS[source.randint(1, 6)]
    possible = [
        line
        for length in (1, 2, 3)
        for line in [frozenset((q + i * dq, r + i * dr) for i in range(length))]
        if line <= free
    ]
    return source.choice(possible)


WHOLE = [f"a{y}-l{y}" for y in range(1, 13)]
COUNTED: list[tuple[dict[str, object], dict[str, object], int]] = [
    ({"map": WHOLE}, {}, 2),
    ({"map": ["a1-l1"]}, {}, 6),
    ({"map": ["f6", "e7-f7", "f8"]}, {}, 4),
    ({"free": 12}, {"seed": 1}, 5),
    ({"free": 20}, {"seed": 2}, 4),
    ({"free": 33}, {"seed": 3}, 3),
]
"""The options, deal or seed, and depth of the starts to count."""


def _starts() -> Iterable[tuple[dict[str, object], dict[str, object], list[str], int]]:
    """Return the starts with their maps; only this function uses the package."""
    from kibitz_games.line_nim import GAME
    from kibitz_games.line_nim import models as line_nim_models

    for options, dealt, depth in COUNTED:
        chosen = line_nim_models.Options.model_validate(options)
        deal = GAME.deal(chosen, 2, int(str(dealt.get("seed", 0))))
        rows = line_nim_models.view(GAME.start(chosen, 2, deal)).rows
        yield options, {"deal": deal} if deal else {}, rows, depth


if __name__ == "__main__":
    sys.stdout.write(
        "# Leaves of the game tree at depth 1, 2, ...; a move is a set of cells. Counted with\n"
        "# sets of points in plain Python: python tests/games/line_nim/reference.py\n"
    )
    for options, dealt, rows, depth in _starts():
        counts = [leaves(position(rows), d) for d in range(1, depth + 1)]
        line = {"options": options, "seats": 2, **dealt, "perft": counts}
        sys.stdout.write(json.dumps(line) + "\n")
