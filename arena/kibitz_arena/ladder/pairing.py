"""Pairing and seating on a standing ladder, without I/O.

The entrant that has waited longest is paired first, with the cheapest opponents. The cost of an
opponent has two parts: the difference in rating, and how many more times the two have met than the
entrant has met its least frequent opponent in the lobby. `spread` rating points count as one
meeting. House bots cost `HOUSE_COST` more, so they play only if no other entrant is a comparable
choice. No game has only house bots.

Entrants that are free at the same time have often just played each other. So an entrant waits for a
cheaper busy opponent, but no longer than `patience`; then it plays any free entrant. Two entrants
that are free at the same time are thus paired within `patience`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from kibitz_protocol.wire.values import seed_number

HOUSE_COST: Final = 2.0
"""The extra cost of a house bot, in meetings."""
SLACK: Final = 0.75
"""An entrant is paired at once if its free opponents cost at most this much more than the best
opponents present, in meetings."""

Met: TypeAlias = Callable[[str, str], int]
Names: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entrant in the lobby; `waited` is the seconds since it became free, None if busy.

    Busy entrants are included because others may wait for them.
    """

    name: str
    rating: float
    waited: float | None
    house: bool = False


@dataclass(frozen=True, slots=True)
class Terms:
    """The parameters of pairing."""

    seats: int
    patience: float
    spread: float


def pair(here: Sequence[Candidate], met: Met, terms: Terms, most: int) -> list[Names]:
    """Return up to `most` groups of free candidates to start now, each with `seats` names."""
    free = {entrant.name: entrant for entrant in here if entrant.waited is not None}
    costs = _Costs(here, met, terms)
    groups: list[Names] = []
    for first in sorted(free.values(), key=_turn):
        if len(groups) >= most or len(free) < terms.seats:
            break
        if first.house or first.name not in free:
            continue
        group = _group(first, free.values(), costs, terms)
        if group is not None:
            groups.append(group)
            for name in group:
                del free[name]
    return groups


def seating(group: Iterable[str], games: int, seed: int | str) -> Names:
    """Return a group's names by seat for its next game, after `games` earlier ones.

    In a block every entrant has every seat once. `seed` is the seed of the block; it determines the
    first player of its first game.
    """
    names = sorted(group)
    turn = (games + seed_number(seed)) % len(names)
    return (*names[turn:], *names[:turn])


def _turn(candidate: Candidate) -> tuple[float, str]:
    return -(candidate.waited or 0.0), candidate.name


class _Costs:
    """The costs of opponents."""

    def __init__(self, here: Sequence[Candidate], met: Met, terms: Terms) -> None:
        self._here = here
        self._met = met
        self._spread = terms.spread
        self._least: dict[str, int] = {}

    def of(self, one: Candidate, other: Candidate) -> float:
        """Return the cost for `one` of playing `other`."""
        apart = abs(one.rating - other.rating) / self._spread
        often = self._met(one.name, other.name) - self._fewest(one)
        return apart + often + HOUSE_COST * other.house

    def cheapest(self, one: Candidate, count: int) -> float:
        """Return the total cost of the `count` cheapest opponents present, whether free or busy."""
        return sum(sorted(self.of(one, other) for other in self._others(one))[:count])

    def _fewest(self, one: Candidate) -> int:
        if one.name not in self._least:
            met = (self._met(one.name, other.name) for other in self._others(one))
            self._least[one.name] = min(met, default=0)
        return self._least[one.name]

    def _others(self, one: Candidate) -> Iterable[Candidate]:
        return (other for other in self._here if other.name != one.name)


def _group(
    first: Candidate, free: Iterable[Candidate], costs: _Costs, terms: Terms
) -> Names | None:
    """Return the group in which `first` should play now, None if it should wait."""
    others = sorted(
        (other for other in free if other.name != first.name),
        key=lambda other: (costs.of(first, other), other.name),
    )
    chosen = others[: terms.seats - 1]
    cost = sum(costs.of(first, other) for other in chosen)
    waits = (first.waited or 0.0) < terms.patience
    if waits and cost > costs.cheapest(first, len(chosen)) + SLACK:
        return None
    return (first.name, *(other.name for other in chosen))
