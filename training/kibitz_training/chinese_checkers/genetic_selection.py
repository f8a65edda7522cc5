"""The selection of a run's best array: its populations play again, in ever smaller rounds.

The fittest of all generations is the luckiest of very many: its five games were better than it is.
So the individuals of one in `evolution.EVERY` of the last populations play `ROUNDS` of games, after
each of which only the better ones go on. The first rounds keep many: sixteen games hardly tell who
wins 95% of them from who wins 99%.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kibitz_search.chinese_checkers.hole_arrays import Array
from kibitz_training.chinese_checkers import genetic_fitness
from kibitz_training.chinese_checkers.hole_games import HoleGames

POPULATIONS = 40
"""The number of last populations that take part."""
ROUNDS = ((16, 2048), (64, 512), (256, 48), (2048, 1))
"""Games of each round, and how many go on."""
_SEEDS = 3
"""The stream of random numbers for these games; the run's own games use other streams."""


def best_of(games: HoleGames, candidates: Array, seed: int) -> Array:
    """Return the candidate of the highest fitness over the games of all rounds."""
    arrays = np.unique(candidates, axis=0)
    for number, (count, most) in enumerate(ROUNDS):
        source = np.random.default_rng([seed, number, _SEEDS])
        came = games.play(arrays, drawn(source, len(arrays)), 0, count)
        fitness = genetic_fitness.scores(came).mean(axis=1)
        arrays = arrays[np.argsort(-fitness, kind="stable")[:most]]
    best: Array = arrays[0]
    return best


def drawn(source: np.random.Generator, count: int) -> Sequence[int]:
    """Return the seeds of so many arrays."""
    seeds: list[int] = source.integers(0, 2**63, size=count).tolist()
    return seeds
