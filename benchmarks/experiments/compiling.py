"""Compare the depth of the time-limited search, compiled and in plain CPython.

The report compares PyPy with CPython. ``python -m benchmarks.experiments.compiling`` prints the
results of the mode selected by ``KIBITZ_PLAIN``.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys

from benchmarks.experiments.chinese_checkers import middle
from benchmarks.experiments.experiment import Measured, Scale
from kibitz_search.algorithms.iddfs import Iddfs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.chinese_checkers.evaluation import hand

SECONDS = 1.0


def depths(positions: int) -> list[tuple[int, int]]:
    """Return the number of completed own moves and of evaluated positions, for each position."""
    depths = []
    for seed in range(positions):
        _, state = middle(seed)
        search = Iddfs(state)
        search.search(state, hand(state), SearchLimits(depth=1))
        result = search.search(state, hand(state), SearchLimits(seconds=SECONDS))
        depths.append((result.depth, result.nodes))
    return depths


def compiled(scale: Scale) -> Measured:
    """Search the same positions in both modes."""
    positions = scale.choose(7, 31)
    modes = {"plain CPython": "1", "compiled": ""}
    asked = {name: _asked(plain, positions) for name, plain in modes.items()}
    deep = {name: statistics.median(row[0] for row in rows) for name, rows in asked.items()}
    rate = {name: statistics.median(row[1] for row in rows) for name, rows in asked.items()}
    rows = tuple(
        (
            name,
            f"{deep[name]:g}",
            f"{min(row[0] for row in asked[name])} to {max(row[0] for row in asked[name])}",
            f"{rate[name] / SECONDS:,.0f}",
        )
        for name in modes
    )
    return Measured(
        found=f"With {SECONDS:g} s per move on {positions} middle-game positions, the search "
        f"completes {deep['plain CPython']:g} own moves in plain CPython and "
        f"{deep['compiled']:g} compiled, and evaluates "
        f"{rate['compiled'] / rate['plain CPython']:,.0f} times as many positions "
        f"per second.",
        heads=("mode", "own moves completed (median)", "range", "positions per second"),
        rows=rows,
    )


def _asked(plain: str, positions: int) -> list[tuple[int, int]]:
    """Return the `depths` of a separate process in the given mode."""
    command = [sys.executable, "-m", "benchmarks.experiments.compiling", str(positions)]
    environment = {key: value for key, value in os.environ.items() if key != "KIBITZ_PLAIN"}
    if plain:
        environment["KIBITZ_PLAIN"] = plain
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=3600
    )
    return [(int(depth), int(nodes)) for depth, nodes in json.loads(done.stdout)]


if __name__ == "__main__":
    print(json.dumps(depths(int(sys.argv[1]))))
