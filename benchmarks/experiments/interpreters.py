"""Compare the report's search under PyPy and CPython, and as kernels with and without Numba.

``python -m benchmarks.experiments.interpreters POSITIONS MOST`` prints the results of the kernels
in the mode selected by ``KIBITZ_PLAIN``.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.experiments import plain_search
from benchmarks.experiments.chinese_checkers import middle
from benchmarks.experiments.experiment import Measured, Scale, UnavailableError
from kibitz.local.engine_pairs import EngineLimit
from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.algorithms.iddfs import Iddfs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.chinese_checkers.evaluation import hand

PYPY = "pypy3"
SECONDS = 1.0
"""CPU seconds per move of the time-limited search."""
LISTS, RECORDS = "lists", "kernels on numpy records"


def board(state: Any) -> dict[str, Any]:
    """Return a position as the arguments of `plain_search.Search`."""
    shape = geo.geometry(*geo.ALL[int(state.geometry)])
    seat, holes = int(state.turn), range(shape.holes)
    jumps = [[(shape.away(h, d, 1), shape.away(h, d, 2)) for d in range(6)] for h in holes]
    return {
        "steps": [[near for near, _ in row if near is not None] for row in jumps],
        "hops": [[pair for pair in row if pair[1] is not None] for row in jumps],
        "weights": hand(state)["weights"][int(state.goal[seat]), : shape.holes].tolist(),
        "taken": [bool(peg) for peg in state.board[: shape.holes]],
        "own": state.pegs[seat, : int(state.each)].tolist(),
    }


def compare(scale: Scale) -> Measured:
    """Search the same positions with each program."""
    if shutil.which(PYPY) is None:
        raise UnavailableError(f"{PYPY} not found; install PyPy (on Debian: apt install {PYPY})")
    positions, most = scale.choose(5, 15), scale.choose(3, 4)
    usual, pypy = _version(sys.executable), _version(PYPY)
    boards = json.dumps([board(middle(seed)[1]) for seed in range(positions)])
    lists = [plain_search.__file__, str(SECONDS), str(most)]
    kernels = ["-m", "benchmarks.experiments.interpreters", str(positions)]
    found = {
        (LISTS, usual): _asked([sys.executable, *lists], boards),
        (LISTS, pypy): _asked([PYPY, *lists], boards),
        (RECORDS, usual): _asked([sys.executable, *kernels, str(most - 1)], plain="1"),
        (RECORDS, f"{usual} with Numba"): _asked([sys.executable, *kernels, str(most)]),
    }
    slow, fast = _times(found[LISTS, usual]), _times(found[LISTS, pypy])
    return Measured(
        found=f"Searching {most} own moves ahead takes {slow[-1]:,.0f} ms under CPython and "
        f"{fast[-1]:,.0f} ms under PyPy, so a time limit between these two gives PyPy one level "
        f"more. The last level takes CPython {slow[-1] / slow[-2]:.0f} times as long as the one "
        f"before, and PyPy is {slow[-1] / fast[-1]:.1f} times as fast. On average over all time "
        f"limits, it gains {_levels(slow, fast):.1f} levels.",
        heads=(
            *("data", "run by"),
            *(f"{depth} own move{'s' * (depth > 1)}, ms" for depth in range(1, most + 1)),
            *(f"own moves in {SECONDS:g} s", "range", "positions per second"),
        ),
        rows=tuple((*names, *_cells(asked, most)) for names, asked in found.items()),
    )


def _version(interpreter: str) -> str:
    """Return the name and the version of a Python interpreter."""
    code = """if True:
        import platform, sys
        version = getattr(sys, "pypy_version_info", sys.version_info)[:3]
        print(platform.python_implementation(), ".".join(map(str, version)))
    """
    done = subprocess.run([interpreter, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def _levels(slow: Sequence[float], fast: Sequence[float]) -> float:
    """Return how many more levels the fast search completes, averaged over all time limits."""
    return math.log(slow[-1] / fast[-1]) / math.log(slow[-1] / slow[-2])


def _times(asked: Sequence[dict[str, Any]]) -> list[float]:
    """Return the median milliseconds of each depth."""
    return [statistics.median(times) for times in zip(*(row["ms"] for row in asked), strict=True)]


def _cells(asked: Sequence[dict[str, Any]], most: int) -> tuple[str, ...]:
    """Return the cells of a program's row: the times, and the results of the timed search."""
    times = [f"{each:,.1f}" for each in _times(asked)]
    deep = [row["own_moves"] for row in asked]
    rate = statistics.median(row["rate"] for row in asked)
    return (
        *(times + ["–"] * (most - len(times))),
        f"{statistics.median(deep):g}",
        f"{min(deep)} to {max(deep)}",
        f"{rate:,.0f}",
    )


def _asked(command: list[str], given: str = "", plain: str = "") -> list[dict[str, Any]]:
    """Run a program in a new process with or without ``KIBITZ_PLAIN``, and return its results."""
    environment = {key: value for key, value in os.environ.items() if key != "KIBITZ_PLAIN"}
    if plain:
        environment["KIBITZ_PLAIN"] = plain
    done = subprocess.run(
        command,
        input=given,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=3600,
    )
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def measure(state: np.record, most: int) -> dict[str, Any]:
    """Return the same as `plain_search.measure`, for the kernels."""
    search, times = Iddfs(state), []
    search.search(state, hand(state), SearchLimits(depth=1))
    for depth in range(1, most + 1):
        began = time.process_time()
        search.search(state, hand(state), SearchLimits(depth=depth))
        times.append(1000 * (time.process_time() - began))
    with EngineLimit(seconds=SECONDS).limits("0") as limits:
        result = search.search(state, hand(state), limits)
    return {"ms": times, "own_moves": result.depth, "rate": result.nodes / SECONDS}


if __name__ == "__main__":
    count, deepest = map(int, sys.argv[1:])
    print(json.dumps([measure(middle(seed)[1], deepest) for seed in range(count)]))
