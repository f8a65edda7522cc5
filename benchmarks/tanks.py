"""Measure the planners of Tanks against three random players: ``python -m benchmarks.tanks``.

Games run in one compiled loop, with the measured player in every seat in turn. The planner is
called through the same function as in the bot. Random players choose uniformly among the seven
actions.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.core import registry
from kibitz_games.tanks import rules
from kibitz_search.tanks import planners as planner


@kernel
def _game(st: Record, mind: Record, ev: Record, seat: Int, seed: Int) -> None:
    """Play to the end: a planner in `seat`, random players in the others."""
    np.random.seed(seed)
    while st.side >= 0:
        if st.side == seat:
            rules.play(st, np.int64(planner.decide(mind, ev, st)))
        else:
            rules.play(st, np.int64(np.random.randint(rules.UP, rules.FIRE + 1)))


def games(ev: np.record, number: int, seed: int = 0) -> np.ndarray:
    """Return for each game: seat, points, cells, kills, slot of destruction plus 1 or 0, won."""
    game: Any = registry.get("tanks")
    start: Any = game.start(game.Options(), 4, {})
    rows = []
    for index in range(number):
        st, seat = start.copy(), index % rules.SEATS
        _game(st, planner.new_belief(), ev, np.int64(seat), np.int64(seed + index))
        points = [10 * int(st.cells[s]) + 50 * int(st.kills[s]) for s in range(rules.SEATS)]
        won = points[seat] == max(points)
        rows.append((seat, points[seat], st.cells[seat], st.kills[seat], st.fell[seat], int(won)))
    return np.array(rows, np.int64)


def report(name: str, rows: np.ndarray, seconds: float) -> None:
    """Print points with deviation, cells, kills, survival and first places, overall and by seat."""
    print(f"{name}: {len(rows)} games in {seconds:.1f} s")
    print("seat  games   mean     sd  error  cells  kills  survived   first")
    for seat in (None, 0, 1, 2, 3):
        chosen = rows if seat is None else rows[rows[:, 0] == seat]
        points = chosen[:, 1]
        print(
            f"{'all' if seat is None else seat:>4}  {len(chosen):5d} {points.mean():6.0f} "
            f"{points.std():6.0f} {points.std() / len(points) ** 0.5:6.1f} "
            f"{chosen[:, 2].mean():6.1f} {chosen[:, 3].mean():6.2f} "
            f"{(chosen[:, 4] == 0).mean():9.1%} {chosen[:, 5].mean():7.1%}"
        )


def main() -> None:
    """Print the results of each planner."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    for weights in (planner.explorer, planner.hunter):
        ev = weights(np.zeros(1, rules.STATE)[0])
        games(ev, 1)
        began = time.perf_counter()
        rows = games(ev, chosen.games, chosen.seed)
        report(weights.__name__, rows, time.perf_counter() - began)


if __name__ == "__main__":
    main()
