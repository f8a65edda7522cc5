"""Simulated events: players of known strength, draws, seats worth something, lucky openings."""

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
    """A model of games. Strengths and seats are in Elo.

    Every player performs at its level plus chance, and the better performance is the better
    place; with Gumbel's distribution that is Plackett-Luce. A part of the chance is luck that a
    block's start gives to a seat, the same in all its games. Its share changes how results hang
    together, but no single game's chances.
    """

    strength: tuple[float, ...]
    first: float = 0.0
    """Advantage of the first seat over the last; the others are in between."""
    luck: float = 0.0
    """Correlation of a seat's chance in the games of one block."""
    draws: float = 0.0
    """How often two equals tie, of the two neighbors that a game might tie."""

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
        """Return the places, two neighbors tied now and then.

        Ties take as much from the one order of the two as from the other, so that half a win for
        each leaves all expected scores unchanged.
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
