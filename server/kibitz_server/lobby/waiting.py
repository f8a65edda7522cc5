"""The matches of a lobby that have not begun: of a programme, or arranged by the host. Pure.

`ProgrammeQueue` computes what it is asked for and keeps numbers only: from which one on all
wait, and which of those before it were overtaken, or are to be played again. `ArrangedQueue`
holds what the host has said, which follows from nothing.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from kibitz_protocol.wire.records import Player
from kibitz_server.lobby.schedule import Fixture, PlannedMatch, Programme

Waiting: TypeAlias = Fixture | PlannedMatch


class MatchQueue(Protocol):
    """Matches that wait, in the order of their numbers."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Waiting]: ...

    def take(self, number: int) -> PlannedMatch:
        """Remove a match, which begins; raises `KeyError` where it does not wait."""

    def put_back(self, planned: PlannedMatch) -> None:
        """Let a match that was taken wait again."""

    def drop(self, player: str | None = None) -> Sequence[Waiting]:
        """Remove and return what waits for a player, or everything."""


@dataclass(slots=True)
class ProgrammeQueue:
    """What is left of a programme."""

    _programme: Programme
    _left: int = field(init=False)
    _next: int = 1
    """All matches from this one on wait, but those of players who are gone."""
    _passed: list[int] = field(default_factory=list)
    """The numbers before it that wait, in order."""
    _gone: frozenset[str] = frozenset()
    """Players who have left: what has not begun of theirs is not played."""

    def __post_init__(self) -> None:
        self._left = self._programme.count

    def __len__(self) -> int:
        return self._left

    def __iter__(self) -> Iterator[Fixture]:
        for number in self._passed:
            yield Fixture(number, self._programme.players(number))
        for number in range(self._next, self._programme.count + 1):
            players = self._programme.players(number)
            if not self._are_gone(players):
                yield Fixture(number, players)

    def take(self, number: int) -> PlannedMatch:
        planned = self._programme.match(number)
        if number < self._next:
            if number not in self._passed:
                raise KeyError(f"match {number} has begun already")
            self._passed.remove(number)
        else:
            if self._are_gone(planned.players):
                raise KeyError(f"match {number} is not played: a player has left")
            overtaken = range(self._next, number)
            players = self._programme.players
            self._passed += [each for each in overtaken if not self._are_gone(players(each))]
            self._next = number + 1
        self._left -= 1
        return planned

    def put_back(self, planned: PlannedMatch) -> None:
        insort(self._passed, planned.number)
        self._left += 1

    def drop(self, player: str | None = None) -> Sequence[Fixture]:
        if player is None:
            dropped = list(self)
            self._passed, self._next = [], self._programme.count + 1
        else:
            dropped = [each for each in self if _plays(player, each)]
            numbers = {each.number for each in dropped}
            self._passed = [number for number in self._passed if number not in numbers]
            self._gone |= {player}
        self._left -= len(dropped)
        return dropped

    def _are_gone(self, players: Sequence[Player]) -> bool:
        return bool(self._gone) and any(each.player in self._gone for each in players)


@dataclass(slots=True)
class ArrangedQueue:
    """What the host has arranged and has not begun."""

    _matches: dict[int, PlannedMatch] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._matches)

    def __iter__(self) -> Iterator[PlannedMatch]:
        return iter(self._matches.values())

    def add(self, planned: PlannedMatch) -> None:
        """Let a match wait that the host has arranged, after all others."""
        self._matches[planned.number] = planned

    def take(self, number: int) -> PlannedMatch:
        return self._matches.pop(number)

    def put_back(self, planned: PlannedMatch) -> None:
        self._matches = dict(sorted([*self._matches.items(), (planned.number, planned)]))

    def drop(self, player: str | None = None) -> Sequence[PlannedMatch]:
        dropped = [each for each in self if player is None or _plays(player, each)]
        for each in dropped:
            del self._matches[each.number]
        return dropped


def _plays(player: str, waiting: Waiting) -> bool:
    return any(each.player == player for each in waiting.players)
