"""How many plies a second learners get: batches of plays, and the loop of PettingZoo.

    python -m benchmarks.environments [--seconds S] [--threads N] [--count N]

A ply of a batch is a random legal action played, with the observation and the mask of the seat that
acts next, and a new play where one has ended. By default on one thread: plies a second and core.
A ply of PettingZoo's loop is one round of ``agent_iter``, as the page on learning has it, with an
action that is drawn from the mask.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from kibitz_games.core import registry
from kibitz_games.vector import VectorGame

OPTIONS = {"five-in-a-row": {"size": 10}}
WANTED = {"five-in-a-row": 1_000_000, "line-nim": 1_000_000, "tanks": 1_500_000}
WANTED_LOOP = 25_000


def batched(name: str, seconds: float, threads: int, count: int) -> float:
    """Return the plies a second of a batch."""
    with VectorGame(name, OPTIONS.get(name), count=count, seed=1, threads=threads) as games:
        for _ in range(20):
            games.step(games.sample())
        steps, began = 0, time.perf_counter()
        while (passed := time.perf_counter() - began) < seconds:
            games.step(games.sample())
            steps += 1
        return steps * count / passed


def looped(name: str, seconds: float) -> float:
    """Return the plies a second of PettingZoo's loop."""
    from kibitz_bots.adapters.pettingzoo import env

    game, source = env(name, OPTIONS.get(name)), np.random.default_rng(1)
    game.reset(seed=1)
    plies, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds:
        game.reset()
        for _ in game.agent_iter():
            seen, _, termination, truncation, _ = game.last()
            if termination or truncation:
                break
            legal = np.flatnonzero(seen["action_mask"])
            game.step(int(legal[source.integers(len(legal))]))
            plies += 1
    return plies / passed


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--count", type=int, default=256, help="plays of a batch")
    chosen = parser.parse_args()
    print(f"{'game':18} {'batch, plies/s':>16} {'wanted':>11} {'PettingZoo':>11} {'wanted':>8}")
    for name in registry.names():
        batch = batched(name, chosen.seconds, chosen.threads, chosen.count)
        wanted = f"{WANTED[name]:,}" if name in WANTED else ""
        loop = looped(name, chosen.seconds)
        print(f"{name:18} {batch:16,.0f} {wanted:>11} {loop:11,.0f} {WANTED_LOOP:8,}")


if __name__ == "__main__":
    main()
