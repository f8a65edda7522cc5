"""A round of a lobby: its matches, from waiting to settled, and their outcomes. Pure.

A match of the round is waiting, running, or settled. There are three ways to settle it. An *ended*
match has a result that counts. An *aborted* match, after two server failures or by the operator,
does not count. A *void* match never began, because a player left, the host closed the lobby, or too
many matches failed in a row (`stopped`).

In an arranged lobby, which has one round, the host chooses each match and gives it a tag. The
outcomes of all tags are kept in compact form until the lobby closes, because there may be
thousands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Cause, Player, Result
from kibitz_server.lobby.entries import ArrangedMatch, MatchBegun, MatchEnded
from kibitz_server.lobby.schedule import PlannedMatch
from kibitz_server.lobby.standings import StandingsTable
from kibitz_server.lobby.waiting import ArrangedQueue, MatchQueue


@dataclass(frozen=True, slots=True)
class SettledMatch:
    """The outcome of an arranged match; `result` is its JSON, None if void."""

    match: str
    item: ProgrammeItem
    players: tuple[Player, ...]
    result: bytes | None


@dataclass(slots=True)
class Round:
    """One round of a lobby. Only `LobbyState` changes it."""

    lobby: str
    number: int
    seed: int
    started: bool = False
    roster: tuple[Player, ...] = ()
    """All players who have been members since the start of the round."""
    planned: int = 0
    """The total number of matches of the round."""
    waiting: MatchQueue = field(default_factory=ArrangedQueue)
    """Matches of the round that have not begun."""
    running: dict[str, PlannedMatch] = field(default_factory=dict)
    """The running matches by identifier."""
    repeated: frozenset[int] = frozenset()
    """Numbers of the matches that are played again after a server failure."""
    tags: dict[str, int] = field(default_factory=dict)
    """The numbers of arranged matches by tag."""
    settled: dict[int, SettledMatch] = field(default_factory=dict)
    """The settled arranged matches by number."""
    item_kinds: dict[str, ProgrammeItem] = field(default_factory=dict)
    """The items of arranged matches, without seeds; equal items are stored once."""
    ended: int = 0
    aborted: int = 0
    void: int = 0
    failed_in_a_row: int = 0
    """The number of matches, including repeated ones, that failed since the last one that ended."""
    last_failure: str = ""
    """The reason for the last of these failures."""
    stopped: str = ""
    """Why the rest of the round is canceled, or an empty text."""
    standings: StandingsTable = field(default_factory=StandingsTable)

    @property
    def playing(self) -> bool:
        """Whether a match is running or waiting."""
        return bool(self.running or self.waiting)

    @property
    def done(self) -> int:
        """The number of settled matches."""
        return self.ended + self.aborted + self.void

    def matches_of(self, player: str) -> list[str]:
        """Return the running matches in which the player had a seat at the start."""
        return [
            match
            for match, planned in self.running.items()
            if any(planned_player.player == player for planned_player in planned.players)
        ]

    def match_key(self, number: int) -> str:
        """Return the identifier of a match; it stays the same if the match is begun again."""
        again = "b" if number in self.repeated else ""
        return f"{self.lobby}-{self.number}-{number}{again}"

    # --- changes --------------------------------------------------------------------------

    def start(self, roster: Iterable[Player]) -> None:
        self.planned = len(self.waiting)
        self.started = True
        self.roster = tuple(roster)

    def admit(self, player: Player) -> None:
        """Add a player who joins a running round to the roster."""
        if all(other.player != player.player for other in self.roster):
            self.roster = (*self.roster, player)

    def arrange(self, allotted: ArrangedMatch, players: tuple[Player, ...]) -> None:
        self.planned += 1
        item = allotted.item.model_copy(update={"seed": None})
        item = self.item_kinds.setdefault(item.model_dump_json(), item)
        self.tags[allotted.tag] = self.planned
        queue = self.waiting
        if not isinstance(queue, ArrangedQueue):
            raise ValueError(f"match {allotted.tag!r} is arranged in a lobby with a programme")
        queue.add(PlannedMatch(self.planned, item, players, allotted.seed, tag=allotted.tag))

    def begin(self, entry: MatchBegun) -> None:
        self.running[entry.match] = self.waiting.take(entry.number)

    def end(self, entry: MatchEnded, here: Collection[str]) -> None:
        """Count a finished match; repeat it after a server failure if all players are `here`."""
        planned = self.running.pop(entry.match)
        if entry.result.cause is Cause.ABORTED:
            self._settle(planned, entry.result)
            self.aborted += 1
            return
        if entry.result.cause is not Cause.INFRASTRUCTURE:
            self.standings.add(planned.players, entry.result)
            self._settle(planned, entry.result)
            self.ended += 1
            self.failed_in_a_row = 0
            return
        self.failed_in_a_row += 1
        self.last_failure = entry.result.reason
        if planned.number in self.repeated:
            self._settle(planned, entry.result)
            self.aborted += 1
        elif any(player.player not in here for player in planned.players):
            self._settle(planned, None)
            self.void += 1
        else:
            self.repeated |= {planned.number}
            self.waiting.put_back(planned)

    def drop(self, player: str | None = None) -> None:
        """Void the waiting matches of a player, or all waiting matches."""
        dropped = self.waiting.drop(player)
        for planned in dropped.arranged:
            self._settle(planned, None)
        self.void += dropped.count

    def _settle(self, planned: PlannedMatch, result: Result | None) -> None:
        """Store the outcome of an arranged match, for later requests of the host."""
        if planned.tag is not None:
            line = None
            if result is not None:
                line = result.__pydantic_serializer__.to_json(result, exclude_none=True)
            match = self.match_key(planned.number)
            self.settled[planned.number] = SettledMatch(match, planned.item, planned.players, line)
