"""How many positions a second the threat search of five in a row goes through, on one core.

A node is a call of the search or of its search of fours, with every class of every cell on the
board kept up to date. Time is that of the thread, so other load does not count.

    python -m benchmarks.five_in_a_row
    python -m benchmarks.five_in_a_row --plain
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

POSITIONS = ("", "e5 f6 f5 g5", "e5 e6 f6 d4 g7 h8 d5", "f6 e5 g7 e7 e6 g6 h5 d6")
DEPTH = 9
SHALLOW = 1
"""Plies in plain Python, which is some thousand times slower."""


@dataclass(frozen=True)
class Speed:
    """What was measured of one position."""

    moves: str
    depth: int
    nodes: int
    seconds: float

    @property
    def rate(self) -> float:
        """Nodes a second."""
        return self.nodes / self.seconds


def measure(moves: str, depth: int, *, exact: bool = False, table: int = 16) -> Speed:
    """Search a position on the board of 10 to a depth, with a new table."""
    from kibitz_search.algorithms.limits import SearchLimits
    from kibitz_search.five_in_a_row import pattern_classes
    from kibitz_search.five_in_a_row.threat import Threat

    state = position(moves, exact)
    search, ev = Threat(state, table=table), pattern_classes.usual(state)
    began = time.thread_time()
    found = search.search(state, ev, SearchLimits(depth=depth))
    return Speed(moves, found.depth, found.nodes, time.thread_time() - began)


def nodes_per_second(depth: int = DEPTH, *, exact: bool = False) -> float:
    """Return the nodes a second over all of `POSITIONS`, everything being compiled before."""
    measure("", 1, exact=exact)
    speeds = [measure(moves, depth, exact=exact) for moves in POSITIONS]
    return sum(speed.nodes for speed in speeds) / sum(speed.seconds for speed in speeds)


def updates_per_second(pairs: int = 20_000) -> float:
    """Return how many stones a second are put and taken, with all that they change."""
    from kibitz_games.compiled.kernels import kernel
    from kibitz_search.five_in_a_row import pattern_board, pattern_classes

    tb = pattern_classes.vocabulary(False)
    fd = pattern_board.from_state(position("e5 f6 f5 g5", exact=False), tb)
    cell = np.int64(pattern_board.cell_of(fd, pattern_board.action_of(fd, int(fd["cells"][33]))))

    @kernel
    def again(fd: Any, tb: Any, cell: Any, pairs: Any) -> None:
        for _ in range(pairs):
            pattern_board.place_stone(fd, tb, cell)
            pattern_board.remove_stone(fd, tb, cell)

    again(fd, tb, cell, np.int64(1))
    began = time.thread_time()
    again(fd, tb, cell, np.int64(pairs))
    return 2 * pairs / (time.thread_time() - began)


def position(moves: str, exact: bool) -> np.record:
    """Return the position after some moves on the board of 10."""
    from kibitz_games.core import registry

    game: Any = registry.get("five-in-a-row")
    state: np.record = game.start(game.Options(first="seat-0", exact=exact), 2, {})
    for move in moves.split():
        game.play(state, game.decode(state, game.parse_move(move)))
    return state


def replies(moves: str = "f6 e5 g7 e7 e6 g6 h5 d6") -> list[float]:
    """Return the seconds that the report's deepest level takes for each move of a line."""
    from kibitz_search.algorithms.limits import SearchLimits
    from kibitz_search.five_in_a_row import utility
    from kibitz_search.five_in_a_row.report_levels import ReportLevel

    played = moves.split()
    taken = []
    for number in range(len(played) + 1):
        state = position(" ".join(played[:number]), exact=False)
        level, ev = ReportLevel(state), utility.usual(state)
        level.search(state, ev, SearchLimits(depth=2))
        began = time.thread_time()
        level.search(state, ev, SearchLimits())
        taken.append(time.thread_time() - began)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plain", action="store_true", help="in plain Python, to compare")
    plain = parser.parse_args().plain
    if plain and os.environ.get("KIBITZ_PLAIN") != "1":
        command = [sys.executable, "-m", "benchmarks.five_in_a_row", "--plain"]
        sys.exit(subprocess.call(command, env={**os.environ, "KIBITZ_PLAIN": "1"}))
    if plain:
        print(f"threat, plain: {measure(POSITIONS[1], SHALLOW).rate:,.0f} nodes/s")
        return
    for exact in (False, True):
        rate = nodes_per_second(exact=exact)
        print(f"threat, {'exactly five' if exact else 'freestyle'}: {rate:,.0f} nodes/s")
    print(f"stones put or taken: {updates_per_second():,.0f} a second")
    taken = replies()
    print(f"advanced: median {statistics.median(taken):.3f} s, most {max(taken):.3f} s a move")


if __name__ == "__main__":
    main()
