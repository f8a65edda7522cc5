"""Pairings of a Swiss round: entrants with similar points play, without rematches.

Entrants are ranked by points, then by seeding. The first entrant gets the best opponent by
`_preferred` that still allows a complete pairing of the others; then the first of the remaining
entrants is paired, and so on. There is no backtracking: a complete pairing exists if and only if a
graph has a perfect matching, which NetworkX computes (J. Edmonds, "Paths, trees, and flowers",
Canadian Journal of Mathematics 17, 1965). A pairing depends only on the ranking, the points and the
earlier meetings, so a resumed tournament produces the same pairings.

Rematches are allowed only if they are unavoidable, and then with the fewest earlier meetings: the
bound on earlier meetings is the smallest for which a complete pairing exists.
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
    """The pairs of a round, better ranked entrants first; `bye` has no opponent."""

    pairs: tuple[tuple[str, str], ...]
    bye: str | None


def pair_round(
    ranking: Sequence[str],
    points: Mapping[str, float],
    met: Mapping[NamePair, int],
    byes: Mapping[str, int],
) -> RoundPairings:
    """Pair a round.

    `ranking` is best first, `met` counts earlier meetings, `byes` earlier byes. With an odd number
    of entrants, the lowest ranked one with the fewest byes gets a bye, so no entrant gets a second
    bye before all have had one.
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
    """Return the allowed pairs: those within the smallest feasible bound on earlier meetings."""
    for bound in itertools.count():

        def allowed(a: str, b: str, bound: int = bound) -> bool:
            return met.get(frozenset((a, b)), 0) <= bound

        if _can_be_paired(names, allowed):
            return allowed
    raise AssertionError("with a large enough bound every pair is allowed")


def _preferred(first: str, others: Sequence[str], points: Mapping[str, float]) -> list[str]:
    """Order opponents: those with equal points, from the middle of their group, then the others.

    So the upper half of a point group plays the lower half in order, as is usual in Swiss
    tournaments.
    """
    equal = [name for name in others if points[name] == points[first]]
    half = len(equal) // 2
    near = sorted(range(len(equal)), key=lambda place: (abs(place - half), -place))
    return [equal[place] for place in near] + [name for name in others if name not in equal]


def _without(names: Sequence[str], name: str) -> list[str]:
    return [other for other in names if other != name]


def _can_be_paired(names: Sequence[str], allowed: Allowed) -> bool:
    """Return whether `names` can be paired: whether the graph has a perfect matching."""
    graph = nx.Graph(pair for pair in itertools.combinations(names, 2) if allowed(*pair))
    matching = nx.max_weight_matching(graph, maxcardinality=True)
    return 2 * len(matching) == len(names)
