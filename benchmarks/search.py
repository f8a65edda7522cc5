"""How fast rules and searches are on one core, beside plain CPython running the same source.

Run with ``python -m benchmarks.search``. Every figure is the median of several runs with the
slowest and the fastest one, by the processor time of the thread that searches, so that other
processes count little. The plain column comes from one run, less deep, of a second process with
``KIBITZ_PLAIN=1``. A node is a position that was judged.
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
from pathlib import Path
from typing import Any

import numpy as np

from kibitz_bots.evaluate.chinese_checkers import hand
from kibitz_bots.evaluate.five_in_a_row import usual
from kibitz_bots.search.alphabeta import AlphaBeta
from kibitz_bots.search.limits import Limits
from kibitz_bots.search.minimax import Minimax
from kibitz_games import kernels, perft, registry
from kibitz_games import operations as op
from kibitz_games.kernels import Int, kernel

SEED = 7
POSITIONS = 3
"""Middle-game positions that each figure is taken over."""


@dataclass(frozen=True)
class Figure:
    """What was counted in a second, run by run."""

    name: str
    unit: str
    target: float | None
    rates: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.rates)


@kernel
def _playout(st: op.Record, ws: op.Record, state: Any, greedy: Any) -> Int:
    """Play to the end; take any move with probability ``1 - greedy``, else the best `order`.

    `state` holds a number from 1 on that the random numbers follow from (xorshift64*).
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
            high = np.int64(op.order(st, np.int64(moves[pick])))
            for i in range(n):
                good = np.int64(op.order(st, np.int64(moves[i])))
                if good > high:
                    high = good
                    pick = np.int64(i)
        op.play(st, np.int64(moves[pick]))
        plies += 1
    return plies


def _middle(name: str, seed: int, plies: int, **options: Any) -> np.record:
    """Return a position of the middle game: mostly the best `order`, sometimes another move."""
    game, chance = registry.get(name), random.Random(seed)
    chosen = game.Options.model_validate(options)
    state = game.start(chosen, 2, game.deal(chosen, 2, seed))
    while int(state["ply"]) < plies:
        legal = game.legal(state)
        legal.sort(key=lambda action: -int(op.order(state, np.int64(action))))
        game.play(state, legal[0] if chance.random() > 0.3 else chance.choice(legal[:8]))
        if game.outcome(state) is not None:
            raise AssertionError(f"the opening of {name} with seed {seed} came to an end")
    return state


def _rate(work: Callable[[], int]) -> float:
    """Return how much was counted in a second of this thread's processor time."""
    began = time.thread_time()
    count = work()
    return count / (time.thread_time() - began)


def _figure(
    name: str, unit: str, target: float | None, runs: int, work: Callable[[], int]
) -> Figure:
    if kernels.compiled():
        work()  # compiles or loads
    return Figure(name, unit, target, [_rate(work) for _ in range(runs)])


def _searching(kind: Any, states: list[np.record], weigh: Any, depth: int, **own: Any) -> Any:
    """Return work that searches each position once with a table that is empty."""

    def work() -> int:
        total = 0
        for state in states:
            found = kind(state, **own).search(state, weigh(state), Limits(depth=depth))
            total += found.nodes
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
    """Return all figures; with a smaller `scale`, 0 to 2, everything is less deep."""
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
            "chinese-checkers alpha-beta, as it plays",
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
        _figure(
            "five-in-a-row alpha-beta",
            "nodes/s",
            None,
            runs,
            _searching(AlphaBeta, rows, usual, 1 + scale),
        ),
    ]


def _plainly(runs: int) -> list[Figure]:
    """Return what a process without compiled kernels measures."""
    command = [sys.executable, "-m", "benchmarks.search", "--json", "--runs", str(runs)]
    done = subprocess.run(
        [*command, "--scale", "0"],
        env=os.environ | {"KIBITZ_PLAIN": "1"},
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        check=True,
    )
    return [Figure(**each) for each in json.loads(done.stdout)]


def _number(rate: float) -> str:
    return f"{rate / 1e6:.2f} M" if rate >= 1e6 else f"{rate / 1e3:.2f} k"


def _show(figures: list[Figure], plain: list[Figure]) -> None:
    print(f"{'':42}{'median':>9}   {'slowest-fastest':19}{'target':>9}{'plain':>10}{'ratio':>7}")
    for figure, slow in zip(figures, plain, strict=True):
        spread = f"{_number(min(figure.rates))}-{_number(max(figure.rates))}"
        target = _number(figure.target) if figure.target else ""
        ratio = figure.median / slow.median
        print(
            f"{figure.name:42}{_number(figure.median):>9}   {spread:19}{target:>9}"
            f"{_number(slow.median):>10}{ratio:>6.0f}x  {figure.unit}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="how often each figure is taken")
    parser.add_argument(
        "--scale", type=int, default=2, choices=(0, 1, 2), help="2 is the most work"
    )
    parser.add_argument("--json", action="store_true", help="print the figures only")
    chosen = parser.parse_args()
    figures = measure(chosen.runs, chosen.scale)
    if chosen.json:
        print(json.dumps([asdict(each) for each in figures]))
        return
    print(f"kernels are {kernels.mode()}; median of {chosen.runs} runs, one core")
    _show(figures, _plainly(1))


if __name__ == "__main__":
    main()
