"""Block designs for games of three seats and more: which groups of entrants play together.

A design is a list of groups, each of as many entrants as a game has seats. For 2 to 64 entrants
and 3 to 6 seats, `design_groups` guarantees:

1. every entrant is in the same number of groups;
2. every two entrants are together in at least one group;
3. if there are at most `MAX_COMPLETE_GROUPS` ways to choose a group, the design has them all, and
   every two entrants are together equally often;
4. else the numbers of times that any two are together differ by at most one.

With more ways than that the design is *cyclic*: entrants stand on a circle, and a base group
moved on by one place at a time gives as many groups as there are entrants. How often two
entrants meet then depends only on their distance, so it is enough to balance the distances
within a few base groups (R. C. Bose, "On the construction of balanced incomplete block
designs", Annals of Eugenics 9, 1939). A hill climb finds the base groups. It is the same for every
tournament, so a test of all numbers of entrants and seats can show that it always ends. The
tournament's seed only decides the order of the entrants on the circle.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Sequence
from typing import Final, TypeAlias, TypeVar

MAX_COMPLETE_GROUPS: Final = 84
"""All groups are played when there are no more than this: three out of nine."""
CLIMB_STEPS: Final = 4000
"""Steps of a hill climb before it restarts elsewhere."""
CLIMBS_PER_SIZE: Final = 10
"""Climbs before one more base group is tried."""
WORSENING_PROBABILITY: Final = 0.03
"""How often a step to a worse balance is taken, which leads out of dead ends."""

Group: TypeAlias = tuple[int, ...]
Item = TypeVar("Item")


@functools.lru_cache(maxsize=16)
def design_groups(entrants: int, seats: int, seed: int | str) -> tuple[Group, ...]:
    """Return the groups of a design, by entrants' numbers, in an order drawn from `seed`."""
    rng = random.Random(seed)
    if math.comb(entrants, seats) <= MAX_COMPLETE_GROUPS:
        return tuple(shuffled(list(itertools.combinations(range(entrants), seats)), rng))
    places = shuffled(range(entrants), rng)
    bases = _base_groups(entrants, seats)
    moved = [[(place + step) % entrants for place in base] for base in bases for step in places]
    return tuple(tuple(places[place] for place in group) for group in moved)


def shuffled(items: Sequence[Item], rng: random.Random) -> list[Item]:
    """Return `items` in a random order; `Random.random` alone is the same in every Python."""
    return [item for _, item in sorted(((rng.random(), item) for item in items), key=_sort_key)]


def _sort_key(pair: tuple[float, object]) -> float:
    return pair[0]


@functools.lru_cache(maxsize=16)
def _base_groups(entrants: int, seats: int) -> list[list[int]]:
    """Return as few base groups as are found whose distances are balanced."""
    rng = random.Random(entrants)
    fewest = -(-(entrants - 1) // (seats * (seats - 1)))
    for count in itertools.count(fewest):
        for _ in range(CLIMBS_PER_SIZE):
            design = _hill_climb(entrants, seats, count, rng)
            if design is not None:
                return design
    raise AssertionError("counting ends only with a design")


def _hill_climb(
    entrants: int, seats: int, count: int, rng: random.Random
) -> list[list[int]] | None:
    """Move one place of one group at a time, rarely to a worse balance; None if it gets stuck."""
    bases = [shuffled(range(entrants), rng)[:seats] for _ in range(count)]
    meetings = _distance_counts(bases, entrants)
    for _ in range(CLIMB_STEPS):
        if min(meetings) >= 1 and max(meetings) - min(meetings) <= 1:
            return bases
        base, seat = bases[_random_below(count, rng)], _random_below(seats, rng)
        old, new = base[seat], _random_below(entrants, rng)
        if new in base:
            continue
        base[seat] = new
        after = _distance_counts(bases, entrants)
        if _imbalance(after) <= _imbalance(meetings) or rng.random() < WORSENING_PROBABILITY:
            meetings = after
        else:
            base[seat] = old
    return None


def _distance_counts(bases: Sequence[Sequence[int]], entrants: int) -> list[int]:
    """Return how often two entrants meet, by their distance on the circle, from distance 1."""
    counts = [0] * (entrants // 2 + 1)
    for base in bases:
        for a, b in itertools.combinations(base, 2):
            distance = (a - b) % entrants
            counts[min(distance, entrants - distance)] += 1
    if entrants % 2 == 0:
        counts[-1] *= 2  # those who stand opposite come together again half a circle later
    return counts[1:]


def _imbalance(meetings: Sequence[int]) -> int:
    return sum(number * number for number in meetings)


def _random_below(bound: int, rng: random.Random) -> int:
    return int(rng.random() * bound)
