"""The waiting matches of a lobby, from a programme or arranged by the host. Pure.

`ProgrammeQueue` computes its matches on demand. It stores only the numbers of the matches that have
begun, and the players who have left. `ArrangedQueue` stores the matches that the host has arranged.

*Search.* After every command a lobby looks for matches that the connected players can play.
Thousands of matches may wait for absent players, so a queue remembers its last searches. A
`_Search` has the playable matches that were found for one set of players, and the number up to
which it has looked. It looks at each number once, and at no more than `LOOKED_AT` numbers per
command. It skips an item if too few of its players are connected. If the limit ends a search early,
the queue is `cut_short`, and the lobby continues in a later iteration of the event loop.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, TypeVar

from kibitz_protocol.wire.records import Player
from kibitz_server.lobby.schedule import Fixture, Part, PlannedMatch, Programme

LOOKED_AT: Final = 500
"""Maximum number of matches to look at after one command, about 3 ms of work."""
MAX_SEARCHES: Final = 8
"""How many searches a queue remembers."""
Waiting: TypeAlias = Fixture | PlannedMatch
_Match = TypeVar("_Match", bound=Waiting)


@dataclass(frozen=True, slots=True)
class Dropped:
    """The matches that were removed from a queue."""

    count: int
    arranged: Sequence[PlannedMatch] = ()
    """The removed matches if they were arranged. Matches of a programme are only counted."""


class MatchQueue(Protocol):
    """The waiting matches, in the order of their numbers."""

    @property
    def cut_short(self) -> bool:
        """Whether the last call of `playable` reached the limit before looking at every match."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Waiting]: ...

    def playable(self, here: frozenset[str]) -> Iterator[Waiting]:
        """Yield the matches that the connected players (`here`) can play, up to the limit per
        command. The queue must not change during the iteration.
        """

    def take(self, number: int) -> PlannedMatch:
        """Remove a match that begins; raises `KeyError` if it is not waiting."""

    def put_back(self, planned: PlannedMatch) -> None:
        """Return a match to the queue after `take`."""

    def drop(self, player: str | None = None) -> Dropped:
        """Remove the matches of a player, or all matches."""


@dataclass(slots=True)
class _Search:
    """A search for matches that one set of players can play."""

    found: list[int] = field(default_factory=list)
    """The numbers of the matches found, in order. Some may no longer be waiting."""
    next: int = 1
    """The first number that the search has not looked at."""


@dataclass(slots=True)
class _Searches:
    """The searches for the most recently used sets of players."""

    cut_short: bool = False
    _by_players: dict[frozenset[str], _Search] = field(default_factory=dict)

    def playable(
        self,
        here: frozenset[str],
        spans: Iterable[range],
        waiting: Callable[[int], _Match | None],
    ) -> Iterator[_Match]:
        """Yield the waiting matches that the connected players (`here`) can play.

        `spans` are the ranges of numbers to look at, in order, and `waiting` returns the waiting
        match of a number.
        """
        self.cut_short = False
        search = self._of(here)
        known = [candidate for candidate in map(waiting, search.found) if candidate is not None]
        search.found = [candidate.number for candidate in known]
        yield from known
        looked = 0
        for span in spans:
            for number in range(max(span.start, search.next), span.stop):
                if looked == LOOKED_AT:
                    self.cut_short = True
                    return
                looked += 1
                search.next = number + 1
                match = waiting(number)
                if match is not None and _all_in(match.players, here):
                    search.found.append(number)
                    yield match

    def put_back(self, planned: PlannedMatch) -> None:
        """Add a match that waits again to the searches that have already looked at its number."""
        for here, search in self._by_players.items():
            known = planned.number >= search.next or planned.number in search.found
            if not known and _all_in(planned.players, here):
                insort(search.found, planned.number)

    def _of(self, here: frozenset[str]) -> _Search:
        search = self._by_players.pop(here, None) or _Search()
        self._by_players[here] = search
        if len(self._by_players) > MAX_SEARCHES:
            del self._by_players[next(iter(self._by_players))]
        return search


@dataclass(slots=True)
class ProgrammeQueue:
    """The waiting matches of a programme."""

    _programme: Programme
    _left: int = field(init=False)
    _begun: bytearray = field(default_factory=bytearray)
    """By number, 1 if the match has begun. Only as long as the highest number that has begun."""
    _returned: frozenset[int] = frozenset()
    """Matches that were put back into the queue. Players who left earlier do not make them void."""
    _gone: frozenset[str] = frozenset()
    """Players who have left; their matches are not played."""
    _searches: _Searches = field(default_factory=_Searches, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._left = self._programme.count

    @property
    def cut_short(self) -> bool:
        return self._searches.cut_short

    def __len__(self) -> int:
        return self._left

    def __iter__(self) -> Iterator[Fixture]:
        fixtures = map(self._waiting, range(1, self._programme.count + 1))
        return (fixture for fixture in fixtures if fixture is not None)

    def playable(self, here: frozenset[str]) -> Iterator[Fixture]:
        parts = self._programme.parts
        spans = (range(part.first, part.last + 1) for part in parts if part.is_playable(here))
        return self._searches.playable(here, spans, self._waiting)

    def take(self, number: int) -> PlannedMatch:
        planned = self._programme.match(number)
        if self._waiting(number) is None:
            raise KeyError(f"match {number} has begun already, or a player has left")
        self._mark_begun(number)
        self._left -= 1
        return planned

    def put_back(self, planned: PlannedMatch) -> None:
        self._begun[planned.number] = 0
        self._returned |= {planned.number}
        self._left += 1
        self._searches.put_back(planned)

    def drop(self, player: str | None = None) -> Dropped:
        if player is None:
            count = self._left
            self._begun = bytearray(b"\1" * (self._programme.count + 1))
            self._returned = frozenset()
        else:
            count = self._drop_returned(player)
            if player not in self._gone:
                count += sum(self._left_in(part, player) for part in self._programme.parts)
                self._gone |= {player}
        self._left -= count
        return Dropped(count)

    def _drop_returned(self, player: str) -> int:
        players = self._programme.players
        numbers = [returned for returned in self._returned if _plays(player, players(returned))]
        for number in numbers:
            self._mark_begun(number)
        return len(numbers)

    def _left_in(self, part: Part, player: str) -> int:
        """Return how many waiting matches of a part include the player.

        Fast if everybody plays all matches. Otherwise it looks at each match, but only once per
        round and player.
        """
        players = [item.player for item in part.regulars()]
        if player not in players:
            return 0
        span = range(part.first, part.last + 1)
        if part.everybody_plays:
            gone = not self._gone.isdisjoint(players)
            return 0 if gone else len(span) - self._begun.count(1, span.start, span.stop)
        waiting = (item for item in map(self._waiting, span) if item is not None)
        return sum(_plays(player, item.players) for item in waiting)

    def _waiting(self, number: int) -> Fixture | None:
        """Return the match with this number, or None if it is not waiting."""
        if number < len(self._begun) and self._begun[number]:
            return None
        players, gone = self._programme.players(number), self._gone
        waits = number in self._returned or not gone
        if not waits and any(player.player in gone for player in players):
            return None
        return Fixture(number, players)

    def _mark_begun(self, number: int) -> None:
        if number >= len(self._begun):
            self._begun.extend(bytes(number + 1 - len(self._begun)))
        self._begun[number] = 1
        self._returned -= {number}


@dataclass(slots=True)
class ArrangedQueue:
    """The waiting matches of an arranged lobby."""

    _matches: dict[int, PlannedMatch] = field(default_factory=dict)
    _last: int = 0
    """The highest number of a match so far."""
    _waiting_of: Counter[str] = field(default_factory=Counter)
    """The number of waiting matches of each player."""
    _searches: _Searches = field(default_factory=_Searches, compare=False, repr=False)

    @property
    def cut_short(self) -> bool:
        return self._searches.cut_short

    def __len__(self) -> int:
        return len(self._matches)

    def __iter__(self) -> Iterator[PlannedMatch]:
        return (self._matches[number] for number in sorted(self._matches))

    def playable(self, here: frozenset[str]) -> Iterator[PlannedMatch]:
        return self._searches.playable(here, [range(1, self._last + 1)], self._matches.get)

    def add(self, planned: PlannedMatch) -> None:
        """Add a match at the end of the queue."""
        self._matches[planned.number] = planned
        self._last = planned.number
        self._count(planned, 1)

    def take(self, number: int) -> PlannedMatch:
        planned = self._matches.pop(number)
        self._count(planned, -1)
        return planned

    def put_back(self, planned: PlannedMatch) -> None:
        self._matches[planned.number] = planned
        self._count(planned, 1)
        self._searches.put_back(planned)

    def drop(self, player: str | None = None) -> Dropped:
        if player is not None and not self._waiting_of[player]:
            return Dropped(0)
        dropped = [planned for planned in self if player is None or _plays(player, planned.players)]
        for planned in dropped:
            self.take(planned.number)
        return Dropped(len(dropped), dropped)

    def _count(self, planned: PlannedMatch, by: int) -> None:
        for player in {seated.player for seated in planned.players}:
            self._waiting_of[player] += by
            if not self._waiting_of[player]:
                del self._waiting_of[player]


def _plays(player: str, players: Sequence[Player]) -> bool:
    return any(other.player == player for other in players)


def _all_in(players: Sequence[Player], here: Collection[str]) -> bool:
    return all(player.player in here for player in players)
