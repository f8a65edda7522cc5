"""Select a run's best array from its last populations, in knockout rounds of additional games.

The fittest individual of all generations is the luckiest of very many, so its five games overstate
its strength. Selection therefore samples every `evolution.EVERY`-th of the last populations. Their
individuals play additional games in `ROUNDS`, and only the better ones advance to the next round.
The first rounds keep many, because sixteen games hardly distinguish a win rate of 95% from one of
99%.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kibitz_search.chinese_checkers.hole_arrays import Array
from kibitz_training.chinese_checkers import genetic_fitness
from kibitz_training.chinese_checkers.hole_games import HoleGames

POPULATIONS = 40
"""The number of populations that take part."""
ROUNDS = ((16, 2048), (64, 512), (256, 48), (2048, 1))
"""Games per round, and the number of individuals that advance."""
_SEEDS = 3
"""The random number stream for these games, different from those of the run's games."""


def best_of(games: HoleGames, candidates: Array, seed: int) -> Array:
    """Return the candidate with the highest fitness over the games of all rounds."""
    arrays = np.unique(candidates, axis=0)
    for number, (count, most) in enumerate(ROUNDS):
        source = np.random.default_rng([seed, number, _SEEDS])
        came = games.play(arrays, drawn(source, len(arrays)), 0, count)
        fitness = genetic_fitness.scores(came).mean(axis=1)
        arrays = arrays[np.argsort(-fitness, kind="stable")[:most]]
    best: Array = arrays[0]
    return best


def drawn(source: np.random.Generator, count: int) -> Sequence[int]:
    """Return a seed for each of `count` arrays."""
    seeds: list[int] = source.integers(0, 2**63, size=count).tolist()
    return seeds
