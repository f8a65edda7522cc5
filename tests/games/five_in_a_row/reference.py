"""A slow reference implementation of five in a row, written directly from the rules.

``python -m tests.games.five_in_a_row.reference`` counts the leaves of ``five-in-a-row-perft.jsonl``
and prints the file, without using the game's own modules.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Place = tuple[int, int]
DIRECTIONS: tuple[Place, ...] = ((1, 0), (0, 1), (1, 1), (1, -1))


def windows(size: int) -> list[list[Place]]:
    """Return all runs of five adjacent places on the board."""
    found = []
    for x, y, (dx, dy) in itertools.product(range(size), range(size), DIRECTIONS):
        row = [(x + i * dx, y + i * dy) for i in range(5)]
        if all(0 <= a < size and 0 <= b < size for a, b in row):
            found.append(row)
    return found


@dataclass
class Reference:
    """A position; moves are places, or "black" and "white" after a swap."""

    size: int = 10
    exact: bool = False
    dead_board_draw: bool = False
    swap: bool = False
    opener: int = 0
    opening: Sequence[Place] = ()
    stones: list[Place] = field(default_factory=list, init=False)
    board: dict[Place, str] = field(default_factory=dict, init=False)
    colours: dict[str, int] | None = field(default=None, init=False)
    reason: str = field(default="", init=False)
    winner: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        for place in self.opening:
            self._put(place)
        if not self.swap:
            self.colours = {"black": self.opener, "white": 1 - self.opener}

    def colour(self, place: Place) -> str | None:
        """Return the color of the stone at a place."""
        return self.board.get(place)

    def _put(self, place: Place) -> None:
        self.board[place] = ("black", "white")[len(self.stones) % 2]
        self.stones.append(place)

    @property
    def to_act(self) -> int:
        """Return the seat to act, -1 when the game is over."""
        if self.reason:
            return -1
        if self.colours is None:
            return self.opener if len(self.stones) < 3 else 1 - self.opener
        return self.colours[("black", "white")[len(self.stones) % 2]]

    @property
    def legal(self) -> list[Place | str]:
        """The moves: rows from top to bottom, each from left to right."""
        if self.reason:
            return []
        if self.colours is None and len(self.stones) == 3:
            return ["black", "white"]
        return [
            (x, y) for y in range(self.size) for x in range(self.size) if (x, y) not in self.board
        ]

    def play(self, move: Place | str) -> None:
        """Apply a legal move."""
        seat = self.to_act
        if isinstance(move, str):
            other = {"black": "white", "white": "black"}[move]
            self.colours = {move: seat, other: 1 - seat}
            return
        self._put(move)
        if self.won(move):
            self.reason, self.winner = "five", seat
        elif len(self.stones) == self.size**2:
            self.reason = "full"
        elif self.dead_board_draw and not self.open_windows():
            self.reason = "dead"

    def won(self, place: Place) -> bool:
        """Return whether the stone at a place is part of a winning row."""
        for dx, dy in DIRECTIONS:
            length = 1 + self._along(place, dx, dy) + self._along(place, -dx, -dy)
            if length == 5 or (length > 5 and not self.exact):
                return True
        return False

    def _along(self, place: Place, dx: int, dy: int) -> int:
        x, y = place
        steps = itertools.count(1)
        return (
            next(n for n in steps if self.colour((x + n * dx, y + n * dy)) != self.colour(place))
            - 1
        )

    def open_windows(self) -> list[list[Place]]:
        """Return the windows in which some color could still make a winning five.

        The color fills the window, and the resulting row is measured.
        """
        return [row for row in windows(self.size) if self._open(row)]

    def _open(self, row: list[Place]) -> bool:
        (x, y), (nx, ny) = row[0], row[1]
        dx, dy = nx - x, ny - y
        for colour in ("black", "white"):
            if any(self.colour(place) not in (None, colour) for place in row):
                continue
            before = self.colour((x - dx, y - dy)) == colour
            behind = self.colour((x + 5 * dx, y + 5 * dy)) == colour
            if not self.exact or not (before or behind):
                return True
        return False

    def leaves(self, depth: int) -> int:
        """Return the number of sequences of `depth` moves."""
        if depth <= 1:
            return len(self.legal)
        total = 0
        for move in self.legal:
            kept = (self.colours, self.reason, self.winner)
            self.play(move)
            total += self.leaves(depth - 1)
            self.colours, self.reason, self.winner = kept
            if not isinstance(move, str):
                del self.board[self.stones.pop()]
        return total


def name(place: Place) -> str:
    """Format a place: the column's letter and the row's number from 1."""
    return "abcdefghijklmnopqrst"[place[0]] + str(place[1] + 1)


TANGLE = "c3 b2 c2 d4 b3 c4 d2 b4 d3 e2 a3 a1 e5 d5 a5"
"""A nearly dead position on the smallest board in which fives are still possible."""
CROSS = "b3 a1 c3 a2 d3 c1 f3 b6 g3 c5 d5 e6"
"""Black can fill e3, which makes a row of six."""
FULL = "c2 e1 a4 d2 f6 e5 f3 c4 c5 d3 e6 b2 d1 a5 a1 e4 b5 b1 a6 e3 c3 f4 f1 b3 c1 a2 e2"
"""Nine empty cells; the board is dead sooner if exactly five are needed."""

HEADER = """\
# Leaves of the game tree, at depth 1, 2, ...; a play that is over has none. The first line is
# 100, 100*99, ...: no five is possible so early. The others were counted by the plain reference in
# tests/games/five_in_a_row: python -m tests.games.five_in_a_row.reference
{"options": {}, "seats": 2, "perft": [100, 9900, 970200, 94109400]}
"""

STARTS: tuple[tuple[dict[str, Any], int], ...] = (
    ({"size": 5}, 3),
    ({"size": 5, "swap": True}, 5),
    ({"size": 5, "opening": TANGLE}, 5),
    ({"size": 5, "opening": TANGLE, "dead_board_draw": True}, 5),
    ({"size": 6, "opening": FULL, "dead_board_draw": True}, 5),
    ({"size": 6, "opening": FULL, "exact": True}, 5),
    ({"size": 6, "opening": FULL, "exact": True, "dead_board_draw": True}, 5),
    ({"size": 7, "opening": CROSS}, 3),
    ({"size": 7, "opening": CROSS, "exact": True}, 3),
)


def place(text: str) -> Place:
    """Parse a place."""
    return ord(text[0]) - ord("a"), int(text[1:]) - 1


def _line(options: dict[str, Any], depth: int) -> str:
    texts = options.get("opening", "").split()
    options = {**options, "opening": texts} if texts else options
    opening = [place(text) for text in texts]
    start = Reference(**{**options, "opening": opening})
    counts = [start.leaves(n) for n in range(1, depth + 1)]
    return json.dumps({"options": options, "seats": 2, "perft": counts})


def _main() -> None:
    sys.stdout.write(HEADER)
    for options, depth in STARTS:
        sys.stdout.write(_line(options, depth) + "\n")


if __name__ == "__main__":
    _main()
