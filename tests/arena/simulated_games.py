"""Simulated events: players of known strength, draws, seat advantages, lucky openings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kibitz_arena.ratings import ELO_PER_LOGIT, RatedGame, Vector


@dataclass(frozen=True)
class GameModel:
    """A model of games. Strengths and seat effects are in Elo.

    Every player's performance is its strength plus random noise, and places follow performance;
    with Gumbel noise this is Plackett-Luce. A part of the noise is luck that a block's start gives
    to a seat, equal in all of its games. The size of this part affects the correlation of results
    but not the distribution of a single game.
    """

    strength: tuple[float, ...]
    first: float = 0.0
    """The advantage of the first seat over the last; other seats are in between."""
    luck: float = 0.0
    """The correlation of a seat's noise within a block."""
    draws: float = 0.0
    """The probability that two equal neighbors tie."""

    def block(
        self, name: str, group: Sequence[int], rng: np.random.Generator
    ) -> Iterator[RatedGame]:
        """Play a block: all rotations."""
        seats = len(group)
        given = np.linspace(self.first, -self.first, seats) / 2
        shared = rng.normal(size=seats)
        for turn in range(seats):
            players = (*group[turn:], *group[:turn])
            level = (np.array([self.strength[each] for each in players]) + given) / ELO_PER_LOGIT
            own = rng.normal(size=seats)
            chance = self.luck**0.5 * shared + (1 - self.luck) ** 0.5 * own
            performance = level + _gumbel(chance)
            yield RatedGame(name, players, self._ranks(level, np.argsort(-performance), rng))

    def _ranks(
        self, level: Vector, order: NDArray[np.intp], rng: np.random.Generator
    ) -> tuple[int, ...]:
        """Return the places, with occasional ties of two neighbors.

        Ties reduce both orders of the two equally, so with half a win for each, all expected scores
        are unchanged.
        """
        ranks = np.empty(len(order), dtype=int)
        ranks[order] = np.arange(1, len(order) + 1)
        place = int(rng.integers(len(order) - 1))
        other = order.copy()
        other[[place, place + 1]] = order[[place + 1, place]]
        odds = _likelihood(level, other) / _likelihood(level, order)
        if rng.random() < self.draws * min(1.0, odds):
            ranks[order[place + 1]] = ranks[order[place]]
        return tuple(ranks.tolist())


def _gumbel(normal: Vector) -> Vector:
    below = np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in normal])
    return np.asarray(-np.log(-np.log(below)))


def _likelihood(level: Vector, order: NDArray[np.intp]) -> float:
    """Return the probability of an order under Plackett-Luce."""
    worth = np.exp(level[order])
    return float(np.prod(worth / np.cumsum(worth[::-1])[::-1]))


def round_robin(world: GameModel, blocks: int, rng: np.random.Generator) -> list[RatedGame]:
    pairs = [*itertools.combinations(range(len(world.strength)), 2)]
    return [*_all(world, pairs * blocks, rng)]


def gauntlet(world: GameModel, blocks: int, rng: np.random.Generator) -> list[RatedGame]:
    pairs = [(0, other) for other in range(1, len(world.strength))]
    return [*_all(world, pairs * blocks, rng)]


def free_for_all(
    world: GameModel, seats: int, blocks: int, rng: np.random.Generator
) -> list[RatedGame]:
    groups = [*itertools.combinations(range(len(world.strength)), seats)] * blocks
    return [*_all(world, [tuple(rng.permutation(group).tolist()) for group in groups], rng)]


def _all(
    world: GameModel, groups: Sequence[tuple[int, ...]], rng: np.random.Generator
) -> Iterator[RatedGame]:
    for number, group in enumerate(groups):
        yield from world.block(f"b{number}", group, rng)
