"""Pairings of a Swiss round: equals play equals, and nobody the same opponent again.

Entrants are ranked by points, then by seeding. The first of the ranking gets, of all opponents
it may have, the best one by `_preferred` that leaves the others a complete pairing; then the
first of those who are left, and so on. Nothing is ever taken back: whether a complete pairing is
left is asked of Tutte's matrix, which is regular exactly when a graph has a perfect matching
(W. T. Tutte, J. London Math. Soc. 22, 1947), with random numbers in place of its variables
(L. Lovasz, "On determinants, matchings and random algorithms", 1979). Modulo a prime of 61 bits
it errs with a probability below 10^-16, and then only calls a possible pairing impossible.

Opponents met before are allowed only where there is no other way, and then those met most
rarely: the bound on earlier meetings is the smallest that any complete pairing keeps.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

PRIME: Final = 2**61 - 1

Pair: TypeAlias = frozenset[str]
Allowed: TypeAlias = Callable[[str, str], bool]


@dataclass(frozen=True)
class Round:
    """The pairs of a round, the better ranked first; `bye` has nobody to play."""

    pairs: tuple[tuple[str, str], ...]
    bye: str | None


def pair(
    ranking: Sequence[str],
    points: Mapping[str, float],
    met: Mapping[Pair, int],
    byes: Mapping[str, int],
    seed: int,
) -> Round:
    """Pair a round.

    `ranking` is best first, `met` counts earlier meetings, `byes` earlier byes. With an odd
    number the lowest of those with the fewest byes has a bye, so nobody has a second one before
    everybody has had the first.
    """
    bye = _bye(ranking, byes) if len(ranking) % 2 else None
    left = [name for name in ranking if name != bye]
    rng = random.Random(seed)
    allowed = _least_met(left, met, rng)
    pairs: list[tuple[str, str]] = []
    while left:
        first, *others = left
        second = next(
            other
            for other in _preferred(first, others, points)
            if allowed(first, other) and _matchable(_without(others, other), allowed, rng)
        )
        pairs.append((first, second))
        left = _without(others, second)
    return Round(tuple(pairs), bye)


def _bye(ranking: Sequence[str], byes: Mapping[str, int]) -> str:
    fewest = min(byes.get(name, 0) for name in ranking)
    return next(name for name in reversed(ranking) if byes.get(name, 0) == fewest)


def _least_met(names: Sequence[str], met: Mapping[Pair, int], rng: random.Random) -> Allowed:
    """Return who may play whom: those who met at most as often as cannot be helped."""
    for bound in itertools.count():

        def allowed(a: str, b: str, bound: int = bound) -> bool:
            return met.get(frozenset((a, b)), 0) <= bound

        if _matchable(names, allowed, rng):
            return allowed
    raise AssertionError("whoever has met everybody often enough may meet everybody again")


def _preferred(first: str, others: Sequence[str], points: Mapping[str, float]) -> list[str]:
    """Order opponents: those with the same points, from half of them further down; then lower.

    So the upper half of equals plays the lower half, first against first, as is usual.
    """
    equal = [name for name in others if points[name] == points[first]]
    half = len(equal) // 2
    near = sorted(range(len(equal)), key=lambda place: (abs(place - half), -place))
    return [equal[place] for place in near] + [name for name in others if name not in equal]


def _without(names: Sequence[str], name: str) -> list[str]:
    return [each for each in names if each != name]


def _matchable(names: Sequence[str], allowed: Allowed, rng: random.Random) -> bool:
    """Return whether all `names` can be paired: whether Tutte's matrix is regular."""
    size = len(names)
    matrix = [[0] * size for _ in range(size)]
    for row, column in itertools.combinations(range(size), 2):
        if allowed(names[row], names[column]):
            value = 1 + int(rng.random() * (PRIME - 1))
            matrix[row][column], matrix[column][row] = value, PRIME - value
    return _regular(matrix)


def _regular(matrix: list[list[int]]) -> bool:
    """Return whether a matrix of numbers modulo `PRIME` is regular; eliminates in place."""
    size = len(matrix)
    for column in range(size):
        pivot = next((row for row in range(column, size) if matrix[row][column]), None)
        if pivot is None:
            return False
        matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
        top = matrix[column]
        inverse = pow(top[column], -1, PRIME)
        for row in matrix[column + 1 :]:
            if row[column]:
                factor = row[column] * inverse % PRIME
                row[column:] = [
                    (x - factor * y) % PRIME
                    for x, y in zip(row[column:], top[column:], strict=True)
                ]
    return True
