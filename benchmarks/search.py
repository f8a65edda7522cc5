"""Measure rules, searches and solvers on one core, compiled and in plain CPython.

``python -m benchmarks.search`` takes about two minutes. Each result is the median of several runs,
with the worst and the best one. Times are CPU times of the working thread, so that other processes
matter little. The plain column comes from one run of a second process with ``KIBITZ_PLAIN=1``. That
process searches less deeply to measure rates, but runs solvers in full. A node is an evaluated
position; for the threat search, a call of it or of its search of fours.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import five_in_a_row, solvers
from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.conformance import perft
from kibitz_games.core import registry
from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.chinese_checkers.evaluation import hand
from kibitz_search.five_in_a_row.evaluation import usual

SEED = 7
POSITIONS = 3
"""Middle-game positions per result."""


@dataclass(frozen=True)
class Figure:
    """A result with its values by run: a count per second, or seconds."""

    name: str
    unit: str
    target: float | None
    values: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def seconds(self) -> bool:
        """Whether the values are times, so that less is better."""
        return self.unit == "s"

    def gain(self, plain: Figure) -> float:
        """Return the factor by which this result is better than another."""
        return plain.median / self.median if self.seconds else self.median / plain.median

    def said(self, value: float) -> str:
        """Return a value as text, in thousands, millions or milliseconds."""
        if self.seconds:
            return f"{value:.1f} s" if value >= 10 else f"{1e3 * value:.1f} ms"
        if value < 1e3:
            return f"{value:.0f}"
        return f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value / 1e3:.2f} k"


@kernel
def _playout(st: op.Record, ws: op.Record, state: Any, greedy: Any) -> Int:
    """Play to the end; take a random move with probability ``1 - greedy``, else the best
    `move_score`.

    `state` holds the nonzero state of the random number generator (xorshift64*).
    """
    plies = np.int64(0)
    while not op.terminal(st):
        moves = ws.moves[0]
        n = np.int64(op.generate(st, moves))
        x = state[0]
        x = x ^ (x >> np.uint64(12))
        x = x ^ (x << np.uint64(25))
        x = x ^ (x >> np.uint64(27))
        state[0] = x
        draw = np.float64(x >> np.uint64(11)) / 9007199254740992.0
        pick = np.int64(np.float64((x >> np.uint64(3)) & np.uint64(0xFFFF)) * n / 65536.0)
        if draw < greedy:
            high = np.int64(op.move_score(st, np.int64(moves[pick])))
            for i in range(n):
                good = np.int64(op.move_score(st, np.int64(moves[i])))
                if good > high:
                    high = good
                    pick = np.int64(i)
        op.play(st, np.int64(moves[pick]))
        plies += 1
    return plies


def _middle(name: str, seed: int, plies: int, **options: Any) -> np.record:
    """Return a middle-game position reached mostly by moves with the best `move_score`."""
    game, chance = registry.get(name), random.Random(seed)
    chosen = game.Options.model_validate(options)
    state = game.start(chosen, 2, game.deal(chosen, 2, seed))
    while int(state["ply"]) < plies:
        legal = game.legal(state)
        legal.sort(key=lambda action: -int(op.move_score(state, np.int64(action))))
        game.play(state, legal[0] if chance.random() > 0.3 else chance.choice(legal[:8]))
        if game.outcome(state) is not None:
            raise AssertionError(f"the opening of {name} with seed {seed} ended the game")
    return state


def _rate(work: Callable[[], int]) -> float:
    """Return the count per second of this thread's CPU time."""
    began = time.thread_time()
    count = work()
    return count / (time.thread_time() - began)


def _figure(
    name: str, unit: str, target: float | None, runs: int, work: Callable[[], int]
) -> Figure:
    if kernels.compiled():
        work()  # compiles or loads
    return Figure(name, unit, target, [_rate(work) for _ in range(runs)])


def _taken(name: str, target: float, runs: int, work: Callable[[int], float]) -> Figure:
    """Return the CPU seconds of `runs` workloads, each with its own seed."""
    if kernels.compiled():
        work(0)  # compiles or loads
    return Figure(name, "s", target, [work(seed) for seed in range(runs)])


def _threats(scale: int) -> Callable[[], int]:
    depth = five_in_a_row.DEPTH if scale else five_in_a_row.SHALLOW

    def work() -> int:
        return sum(five_in_a_row.nodes(position, depth) for position in five_in_a_row.POSITIONS)

    return work


def _searching(kind: Any, states: list[np.record], weigh: Any, depth: int, **own: Any) -> Any:
    """Return a workload that searches each position once, starting with an empty table."""

    def work() -> int:
        total = 0
        for state in states:
            result = kind(state, **own).search(state, weigh(state), SearchLimits(depth=depth))
            total += result.nodes
        return total

    return work


def _playouts(games: int) -> Callable[[], int]:
    start = _middle("chinese-checkers", 0, 0)
    ws = op.workspace(start, depth=1)

    def work() -> int:
        state, total = np.array([SEED], np.uint64), 0
        for _ in range(games):
            st = start.copy()
            total += int(_playout(st, ws, state, 0.95))
        return total

    return work


def measure(runs: int, scale: int) -> list[Figure]:
    """Return all results; a smaller `scale` (0 to 2) means less depth."""
    checkers = [_middle("chinese-checkers", seed, 24) for seed in range(POSITIONS)]
    rows = [_middle("five-in-a-row", seed, 16, size=15) for seed in range(POSITIONS)]
    start = _middle("chinese-checkers", 0, 0)
    exact = {"reductions": False}
    return [
        _figure(
            "chinese-checkers perft",
            "leaf moves/s",
            80e6,
            runs,
            lambda: perft.perft(start, 3 + scale),
        ),
        _figure(
            "chinese-checkers alpha-beta, full width",
            "nodes/s",
            5e6,
            runs,
            _searching(AlphaBeta, checkers, hand, 2 + 2 * scale, **exact),
        ),
        _figure(
            "chinese-checkers alpha-beta, default settings",
            "nodes/s",
            5e6,
            runs,
            _searching(AlphaBeta, checkers, hand, 2 + 3 * scale),
        ),
        _figure(
            "chinese-checkers minimax",
            "nodes/s",
            None,
            runs,
            _searching(Minimax, checkers, hand, 2 + scale // 2),
        ),
        _figure("chinese-checkers playouts", "plies/s", 1e6, runs, _playouts(1 + 100 * scale)),
        _figure("five-in-a-row threat search", "nodes/s", 0.5e6, runs, _threats(scale)),
        _figure(
            "five-in-a-row alpha-beta",
            "nodes/s",
            None,
            runs,
            _searching(AlphaBeta, rows, usual, 1 + scale),
        ),
        _taken("line-nim, full table of 24 cells", 1.0, runs, partial(solvers.island, 24)),
        _taken("number-merge, full table of 20 numbers", 0.05, runs, partial(solvers.row, 20)),
    ]


def _plainly(runs: int) -> list[Figure]:
    """Return the results of a process without compiled kernels."""
    command = [sys.executable, "-m", "benchmarks.search", "--json", "--runs", str(runs)]
    done = subprocess.run(
        [*command, "--scale", "0"],
        env=os.environ | {"KIBITZ_PLAIN": "1"},
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        check=True,
    )
    return [Figure(**values) for values in json.loads(done.stdout)]


def _show(figures: list[Figure], plain: list[Figure]) -> None:
    print(f"{'':42}{'median':>9}   {'worst-best':21}{'target':>9}{'plain':>10}{'gain':>7}")
    for figure, slow in zip(figures, plain, strict=True):
        values = sorted(figure.values, reverse=figure.seconds)
        spread = f"{figure.said(values[0])} - {figure.said(values[-1])}"
        target = figure.said(figure.target) if figure.target else ""
        print(
            f"{figure.name:42}{figure.said(figure.median):>9}   {spread:21}{target:>9}"
            f"{figure.said(slow.median):>10}{figure.gain(slow):>6.0f}x  {figure.unit}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="runs per result")
    parser.add_argument(
        "--scale", type=int, default=2, choices=(0, 1, 2), help="amount of work, 0 to 2"
    )
    parser.add_argument("--json", action="store_true", help="print only the results")
    chosen = parser.parse_args()
    figures = measure(chosen.runs, chosen.scale)
    if chosen.json:
        print(json.dumps([asdict(figure) for figure in figures]))
        return
    print(f"kernels are {kernels.get_mode()}; median of {chosen.runs} runs, one core")
    _show(figures, _plainly(1))


if __name__ == "__main__":
    main()
