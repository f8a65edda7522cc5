"""How fast the solvers are: ``python -m benchmarks.solvers``.

Line-Nim: the whole truth about a position, from its first cell on, for several maps of each size.
Number merge: the worth of every set of boundaries of a row. Beside both, the same code run
by plain CPython, on sizes that it can do. Times are of the processor, so that a machine that is
busy with other things tells nearly the same; medians and the slowest stand for the spread.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.core import registry
from kibitz_games.line_nim import maps
from kibitz_search.line_nim import proof_search
from kibitz_search.line_nim import retrograde as subsets
from kibitz_search.line_nim.bitboard import CellBitboard
from kibitz_search.number_merge import lookahead
from kibitz_search.number_merge import retrograde as boundaries
from kibitz_search.number_merge.boundaries import BoundarySet

COMPILED = (("line-nim", (20, 24, 26, 28)), ("number-merge", (12, 20, 26)))
PLAIN = (("line-nim", (12, 14, 16)), ("number-merge", (10, 12, 14)))
TARGETS = {("line-nim", 24): 1.0, ("number-merge", 20): 0.05}
"""What must be done in so many seconds."""


def island(cells: int, seed: int) -> float:
    """Return the seconds of a table of every subset of a map."""
    began = time.process_time()
    found = CellBitboard(maps.grow(seed, cells))
    plan = subsets.LineMasks(found.lines, found.size)
    lost, middle = np.zeros(plan.words, np.uint64), np.int64(plan.middle)
    ws: Any = kernels.new(proof_search.WORKSPACE)
    subsets.fill(lost, plan.far, plan.start, plan.near, plan.push, middle, ws)
    return time.process_time() - began


def row(length: int, seed: int) -> float:
    """Return the seconds of a table of every set of boundaries of a row."""
    game: Any = registry.get("number-merge")
    options = game.Options(length=length, threshold="1/3")
    whole = BoundarySet(game.start(options, 2, game.deal(options, 2, seed)))
    began = time.process_time()
    worths = np.zeros(1 << whole.boundaries, np.int8)
    boundaries.fill(worths, whole.gains, kernels.new(lookahead.WORKSPACE))
    return time.process_time() - began


GAMES: dict[str, Callable[[int, int], float]] = {"line-nim": island, "number-merge": row}


def measured(sizes: Sequence[tuple[str, Sequence[int]]], times: int) -> Iterator[str]:
    """Yield a line for each game and size."""
    for game, numbers in sizes:
        GAMES[game](numbers[0], 0)  # compiles
        for number in numbers:
            taken = sorted(GAMES[game](number, seed) for seed in range(times))
            yield _line(game, number, taken)


def _line(game: str, number: int, taken: Sequence[float]) -> str:
    half, late = statistics.median(taken), taken[min(len(taken) - 1, int(0.99 * len(taken)))]
    target = TARGETS.get((game, number))
    says = "" if target is None else f"   at most {1e3 * target:.0f}: {_met(late <= target)}"
    figures = f"median {1e3 * half:9.2f}   p99 {1e3 * late:9.2f}   least {1e3 * taken[0]:9.2f} ms"
    return f"{game:13} {number:3}   {figures}   of {len(taken)}{says}"


def _met(met: bool) -> str:
    return "met" if met else "missed"


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, once more without the compiler, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=30, help="maps and rows of each size")
    parser.add_argument("--plain", action="store_true", help="only what plain CPython can do")
    given = parser.parse_args(argv)
    print(f"{kernels.get_mode()}, {given.times} of each size", flush=True)
    for line in measured(PLAIN if given.plain else COMPILED, given.times):
        print(line, flush=True)
    if not given.plain:
        command = [sys.executable, "-m", "benchmarks.solvers", "--plain", "--times", "3"]
        subprocess.run(command, env=os.environ | {"KIBITZ_PLAIN": "1"}, check=True)


if __name__ == "__main__":
    main()
