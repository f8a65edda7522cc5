"""Measure rules, searches and solvers on one core.

``python -m benchmarks.search`` takes about a minute. Each result is the median of several runs,
with the worst and the best one. Times are CPU times of the working thread, so that other processes
matter little. A node is an evaluated position; for the threat search, a call of it or of its search
of fours.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import five_in_a_row, solvers
from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.conformance import perft
from kibitz_games.core import registry
from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.chinese_checkers.evaluation import hand
from kibitz_search.five_in_a_row.evaluation import usual

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

    def said(self, value: float) -> str:
        """Return a value as text, in thousands, millions or milliseconds."""
        if self.seconds:
            return f"{value:.1f} s" if value >= 10 else f"{1e3 * value:.1f} ms"
        if value < 1e3:
            return f"{value:.0f}"
        return f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value / 1e3:.2f} k"


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
    work()  # compiles or loads
    return Figure(name, unit, target, [_rate(work) for _ in range(runs)])


def _taken(name: str, target: float, runs: int, work: Callable[[int], float]) -> Figure:
    """Return the CPU seconds of `runs` workloads, each with its own seed."""
    work(0)  # compiles or loads
    return Figure(name, "s", target, [work(seed) for seed in range(runs)])


def _searching(kind: Any, states: list[np.record], weigh: Any, depth: int, **own: Any) -> Any:
    """Return a workload that searches each position once, starting with an empty table."""

    def work() -> int:
        total = 0
        for state in states:
            result = kind(state, **own).search(state, weigh(state), SearchLimits(depth=depth))
            total += result.nodes
        return total

    return work


def measure(runs: int) -> list[Figure]:
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
            lambda: perft.perft(start, 5),
        ),
        _figure(
            "chinese-checkers alpha-beta, full width",
            "nodes/s",
            5e6,
            runs,
            _searching(AlphaBeta, checkers, hand, 6, **exact),
        ),
        _figure(
            "chinese-checkers alpha-beta, default settings",
            "nodes/s",
            5e6,
            runs,
            _searching(AlphaBeta, checkers, hand, 8),
        ),
        _figure(
            "chinese-checkers minimax",
            "nodes/s",
            None,
            runs,
            _searching(Minimax, checkers, hand, 3),
        ),
        _figure("five-in-a-row threat search", "nodes/s", 0.5e6, runs, five_in_a_row.nodes),
        _figure(
            "five-in-a-row alpha-beta",
            "nodes/s",
            None,
            runs,
            _searching(AlphaBeta, rows, usual, 3),
        ),
        _taken("line-nim, full table of 24 cells", 1.0, runs, partial(solvers.island, 24)),
        _taken("number-merge, full table of 20 numbers", 0.05, runs, partial(solvers.row, 20)),
    ]


def _show(figures: list[Figure]) -> None:
    print(f"{'':46}{'median':>9}   {'worst-best':21}{'target':>9}")
    for figure in figures:
        values = sorted(figure.values, reverse=figure.seconds)
        spread = f"{figure.said(values[0])} - {figure.said(values[-1])}"
        target = figure.said(figure.target) if figure.target else ""
        print(
            f"{figure.name:46}{figure.said(figure.median):>9}   {spread:21}{target:>9}"
            f"  {figure.unit}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="runs per result")
    runs = parser.parse_args().runs
    print(f"kernels are {kernels.get_mode()}; median of {runs} runs, one core")
    _show(measure(runs))


if __name__ == "__main__":
    main()
