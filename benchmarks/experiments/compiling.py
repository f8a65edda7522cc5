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
import time

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
            f"{min(row[0] for row in asked[name]):g} to {max(row[0] for row in asked[name]):g}",
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


def costs(positions: int, most: int) -> list[tuple[float, int]]:
    """Return the median seconds and the evaluated positions of a search of 1, 2, ... own moves."""
    rows = []
    for depth in range(1, most + 1):
        taken = []
        for seed in range(positions):
            _, state = middle(seed)
            search = Iddfs(state)
            search.search(state, hand(state), SearchLimits(depth=1))
            began = time.perf_counter()
            result = search.search(state, hand(state), SearchLimits(depth=depth))
            taken.append((time.perf_counter() - began, result.nodes))
        rows.append((statistics.median(row[0] for row in taken), taken[0][1]))
    return rows


def by_depth(scale: Scale) -> Measured:
    """Time each depth in both modes, as far as plain CPython gets in reasonable time."""
    positions, most = scale.choose(3, 15), scale.choose(2, 3)
    plain, fast = (_asked(mode, positions, most) for mode in ("1", ""))
    rows = tuple(
        (
            str(depth),
            f"{1000 * slow[0]:,.1f}",
            f"{1000 * quick[0]:,.2f}",
            f"{slow[0] / quick[0]:,.0f}",
        )
        for depth, (slow, quick) in enumerate(zip(plain, fast, strict=True), 1)
    )
    return Measured(
        found=f"A search of {most} own moves takes {rows[-1][1]} ms in plain CPython and "
        f"{rows[-1][2]} ms compiled, so compiled code is {rows[-1][3]} times as fast.",
        heads=("own moves", "plain CPython, ms (median)", "compiled, ms (median)", "times"),
        rows=rows,
    )


def _asked(plain: str, *words: int) -> list[tuple[float, int]]:
    """Run `depths`, or `costs` if there are two words, in a new process in one of the modes."""
    command = [sys.executable, "-m", "benchmarks.experiments.compiling", *map(str, words)]
    environment = {key: value for key, value in os.environ.items() if key != "KIBITZ_PLAIN"}
    if plain:
        environment["KIBITZ_PLAIN"] = plain
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=3600
    )
    return [(float(first), int(nodes)) for first, nodes in json.loads(done.stdout)]


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    print(json.dumps(costs(*words) if len(words) > 1 else depths(*words)))
