"""Block designs for games with three or more seats: which groups of entrants play together.

A design is a list of groups, each with one entrant per seat. For 2 to 64 entrants
and 3 to 6 seats, `design_groups` guarantees:

1. every entrant is in the same number of groups;
2. every pair of entrants shares at least one group;
3. if there are at most `MAX_COMPLETE_GROUPS` possible groups, the design has all of them, and all
   pairs meet equally often;
4. otherwise the numbers of meetings of any two pairs differ by at most one.

In case 4 the design is *cyclic*: entrants are arranged in a circle, and rotating a base group by
one place at a time yields one group per entrant. How often two entrants meet then depends only on
their distance, so it suffices to balance the distances within a few base groups (R. C. Bose, "On
the construction of balanced incomplete block designs", Annals of Eugenics 9, 1939).

Hill climbing finds the base groups. Its random numbers depend only on the number of entrants, so a
test can run it for all numbers of entrants and seats and show that it always terminates. The
tournament's seed only determines the order of the entrants on the circle.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Sequence
from typing import Final, TypeAlias, TypeVar

MAX_COMPLETE_GROUPS: Final = 84
"""The maximum number of groups of a complete design: the number of ways to choose three out of
nine."""
CLIMB_STEPS: Final = 4000
"""The number of steps of a hill climb before it restarts."""
CLIMBS_PER_SIZE: Final = 10
"""The number of climbs before another base group is added."""
WORSENING_PROBABILITY: Final = 0.03
"""The probability of accepting a step to a worse balance, to escape local optima."""

Group: TypeAlias = tuple[int, ...]
Item = TypeVar("Item")


@functools.lru_cache(maxsize=16)
def design_groups(entrants: int, seats: int, seed: int | str) -> tuple[Group, ...]:
    """Return the groups of a design, with entrants as indices, in an order derived from `seed`."""
    rng = random.Random(seed)
    if math.comb(entrants, seats) <= MAX_COMPLETE_GROUPS:
        return tuple(shuffled(list(itertools.combinations(range(entrants), seats)), rng))
    places = shuffled(range(entrants), rng)
    bases = _base_groups(entrants, seats)
    moved = [[(place + step) % entrants for place in base] for base in bases for step in places]
    return tuple(tuple(places[place] for place in group) for group in moved)


def shuffled(items: Sequence[Item], rng: random.Random) -> list[Item]:
    """Return `items` shuffled with `Random.random` only, which is stable across Pythons."""
    return [item for _, item in sorted(((rng.random(), item) for item in items), key=_sort_key)]


def _sort_key(pair: tuple[float, object]) -> float:
    return pair[0]


@functools.lru_cache(maxsize=16)
def _base_groups(entrants: int, seats: int) -> list[list[int]]:
    """Return the smallest set of base groups found whose distances are balanced."""
    rng = random.Random(entrants)
    fewest = -(-(entrants - 1) // (seats * (seats - 1)))
    for count in itertools.count(fewest):
        for _ in range(CLIMBS_PER_SIZE):
            design = _hill_climb(entrants, seats, count, rng)
            if design is not None:
                return design
    raise AssertionError("the loop ends only with a design")


def _hill_climb(
    entrants: int, seats: int, count: int, rng: random.Random
) -> list[list[int]] | None:
    """Search for balanced base groups; return None after `CLIMB_STEPS` steps.

    Each step replaces one member of a group, rarely for a worse balance.
    """
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
    """Return how often two entrants meet, by distance on the circle, starting at distance 1."""
    counts = [0] * (entrants // 2 + 1)
    for base in bases:
        for a, b in itertools.combinations(base, 2):
            distance = (a - b) % entrants
            counts[min(distance, entrants - distance)] += 1
    if entrants % 2 == 0:
        counts[-1] *= 2  # opposite entrants meet again half a rotation later
    return counts[1:]


def _imbalance(meetings: Sequence[int]) -> int:
    return sum(number * number for number in meetings)


def _random_below(bound: int, rng: random.Random) -> int:
    return int(rng.random() * bound)
