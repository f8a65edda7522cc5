"""The search of "Fun With Chinese Checkers" on plain lists, for Python 3.9 or newer.

It needs only the standard library, so that PyPy can run it. The kernels of kibitz need numpy, whose
records PyPy can only access through a slow emulation of CPython's C interface. The rules here are
the default ones without the ends of a match, and the search visits the same positions as
`kibitz_search.algorithms.iddfs`.

``python plain_search.py SECONDS MOST < BOARDS`` reads a JSON list of boards, each with the
arguments of `Search`. It prints a JSON list with the result of `measure` for each board.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

WARM = 3.0
"""Seconds of searching before the first measurement, in which PyPy compiles the loops."""


class Search:
    """A search with iterative deepening over one player's plans; use each instance once.

    `steps` lists the neighbors of each hole, and `hops` the jumps from it: the hole jumped over and
    the target. `taken` contains whether each hole has a peg, and `own` the player's pegs.
    """

    def __init__(
        self,
        steps: list[list[int]],
        hops: list[list[list[int]]],
        weights: list[float],
        taken: list[bool],
        own: list[int],
    ) -> None:
        self._steps, self._hops, self._weights = steps, hops, weights
        self._taken, self._own = list(taken), list(own)
        self._path: list[int] = []
        self._end = 0.0
        self.nodes = 0
        self.best = float("-inf")
        self.best_depth = 0

    def deepen(self, most: int, seconds: float = float("inf")) -> int:
        """Search plans of 1, 2, ... up to `most` own moves; return the last completed length.

        The search ends after `seconds` of CPU time.
        """
        self._end = time.process_time() + seconds
        for limit in range(1, most + 1):
            try:
                self._extend(limit, 0)
            except TimeoutError:
                return limit - 1
        return most

    def _extend(self, limit: int, depth: int) -> None:
        """Evaluate all continuations of the current plan; raise `TimeoutError` at the end."""
        if time.process_time() > self._end:
            raise TimeoutError
        self._path.append(self._position())
        for slot, origin in enumerate(list(self._own)):
            for target in self._targets(origin):
                self._move(slot, target)
                self._evaluate(depth)
                if depth + 1 < limit and self._position() not in self._path:
                    self._extend(limit, depth + 1)
                self._move(slot, origin)
        self._path.pop()

    def _evaluate(self, depth: int) -> None:
        """Count the position, and keep its value if it is better or reached sooner."""
        self.nodes += 1
        value = sum([self._weights[hole] for hole in self._own])
        if value > self.best or (value == self.best and depth < self.best_depth):
            self.best, self.best_depth = value, depth

    def _position(self) -> int:
        """Return the holes with own pegs, one bit each."""
        return sum([1 << hole for hole in self._own])

    def _move(self, slot: int, target: int) -> None:
        self._taken[self._own[slot]] = False
        self._taken[target] = True
        self._own[slot] = target

    def _targets(self, origin: int) -> list[int]:
        """Return the holes that the peg in `origin` can reach by a step or by jumps."""
        taken = self._taken
        found = [hole for hole in self._steps[origin] if not taken[hole]]
        first = len(found)
        for here in _with_appended(origin, found):
            for over, target in self._hops[here]:
                if taken[over] and not taken[target]:
                    # A chain never jumps over its own holes, so the board can mark them as taken.
                    taken[target] = True
                    found.append(target)
        for hole in found[first:]:
            taken[hole] = False
        return found


def _with_appended(origin: int, found: list[int]) -> Iterator[int]:
    """Yield the origin, and then each hole that is appended to `found` from now on."""
    at = len(found)
    yield origin
    while at < len(found):
        yield found[at]
        at += 1


def measure(board: dict[str, Any], seconds: float, most: int) -> dict[str, Any]:
    """Return the CPU time of each depth up to `most`, and the depth completed in `seconds`."""
    times = []
    for limit in range(1, most + 1):
        search, began = Search(**board), time.process_time()
        search.deepen(limit)
        times.append(1000 * (time.process_time() - began))
    search = Search(**board)
    own_moves = search.deepen(99, seconds)
    return {"ms": times, "own_moves": own_moves, "rate": search.nodes / seconds}


def main() -> None:
    """Measure the boards on the standard input."""
    seconds, most = float(sys.argv[1]), int(sys.argv[2])
    boards = json.load(sys.stdin)
    Search(**boards[0]).deepen(99, WARM)
    print(json.dumps([measure(board, seconds, most) for board in boards]))


if __name__ == "__main__":
    main()
