"""Pairings of a Swiss round: equals play equals, without rematches.

Entrants are ranked by points, then by seeding. The first of the ranking gets, of all opponents
it may have, the best one by `_preferred` that leaves the others a complete pairing; then the
first of those who are left, and so on. It never backtracks: a complete pairing is left if and only
if a graph has a perfect matching, which NetworkX decides (J. Edmonds, "Paths, trees, and flowers",
Canadian Journal of Mathematics 17, 1965). So a pairing depends on the ranking, the
points and the earlier meetings alone, and a continued tournament pairs as before.

Opponents met before are allowed only if there is no other way, and then those met most
rarely: the bound on earlier meetings is the smallest that any complete pairing keeps.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import networkx as nx

NamePair: TypeAlias = frozenset[str]
Allowed: TypeAlias = Callable[[str, str], bool]


@dataclass(frozen=True)
class RoundPairings:
    """The pairs of a round, the better ranked first; `bye` has no opponent."""

    pairs: tuple[tuple[str, str], ...]
    bye: str | None


def pair_round(
    ranking: Sequence[str],
    points: Mapping[str, float],
    met: Mapping[NamePair, int],
    byes: Mapping[str, int],
) -> RoundPairings:
    """Pair a round.

    `ranking` is best first, `met` counts earlier meetings, `byes` earlier byes. With an odd
    number the lowest of those with the fewest byes has a bye, so no entrant has a second one before
    all have had the first.
    """
    bye = _bye(ranking, byes) if len(ranking) % 2 else None
    left = [name for name in ranking if name != bye]
    allowed = _least_met(left, met)
    pairs: list[tuple[str, str]] = []
    while left:
        first, *others = left
        second = next(
            other
            for other in _preferred(first, others, points)
            if allowed(first, other) and _can_be_paired(_without(others, other), allowed)
        )
        pairs.append((first, second))
        left = _without(others, second)
    return RoundPairings(tuple(pairs), bye)


def _bye(ranking: Sequence[str], byes: Mapping[str, int]) -> str:
    fewest = min(byes.get(name, 0) for name in ranking)
    return next(name for name in reversed(ranking) if byes.get(name, 0) == fewest)


def _least_met(names: Sequence[str], met: Mapping[NamePair, int]) -> Allowed:
    """Return the possible pairs: those that met at most as often as is unavoidable."""
    for bound in itertools.count():

        def allowed(a: str, b: str, bound: int = bound) -> bool:
            return met.get(frozenset((a, b)), 0) <= bound

        if _can_be_paired(names, allowed):
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
    return [other for other in names if other != name]


def _can_be_paired(names: Sequence[str], allowed: Allowed) -> bool:
    """Return whether all `names` can be paired: whether the graph has a perfect matching."""
    graph = nx.Graph(pair for pair in itertools.combinations(names, 2) if allowed(*pair))
    matching = nx.max_weight_matching(graph, maxcardinality=True)
    return 2 * len(matching) == len(names)
