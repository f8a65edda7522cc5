"""The state of a standing ladder, derived from its journal without I/O.

Every entry goes through `LadderState.apply`, whether it was just written or read from disk. So a
ladder has the same state after a crash. Times come from the entries, not from a clock.

An *entrant* is one version of a bot. Each version has its own rating, because results of one
version say nothing about another. When a newer version joins, the older ones retire: they keep
their ratings and play until they leave.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from pydantic import Field

from kibitz_arena.journal import JournalError, apply_entries
from kibitz_arena.ladder.config import Ladder
from kibitz_arena.ladder.entries import (
    Entered,
    Entry,
    GameCancelled,
    GameEnded,
    GameRequested,
    Hosted,
    Kept,
)
from kibitz_arena.ratings import RatedGame
from kibitz_protocol.wire.records import Cause, PlayerKind
from kibitz_protocol.wire.shares import seat_outcome
from kibitz_protocol.wire.values import Tolerant

FORM: Final = 10
"""The number of recent games in an entrant's form."""
LAST_LOSSES: Final = 5
"""The number of recent losses to keep per entrant."""
LAST_RESULTS: Final = 100
"""The number of recent results of the ladder to keep."""
FAULTS: Final = frozenset({Cause.CRASH, Cause.ILLEGAL, Cause.DISCONNECT, Cause.ABANDONED})
"""The causes of drop-outs that count as failures; several in a row pause the entrant."""
MAX_DOUBLINGS: Final = 8
"""The maximum number of times a pause is doubled."""

Group: TypeAlias = frozenset[str]
Outcome: TypeAlias = Literal["W", "D", "L"]
LETTERS: Final[Mapping[str, Outcome]] = {"win": "W", "draw": "D", "loss": "L"}


class PlayedGame(Tolerant):
    """A game that counts."""

    number: int = Field(description="consecutive from 1, in the order in which games ended")
    at_ms: int
    match: str
    lobby: str
    entrants: tuple[str, ...] = Field(description="by seat")
    ranks: tuple[int, ...] = Field(description="by seat; 1 is best, ties share a place")
    causes: tuple[Cause | None, ...] = Field(description="why a seat dropped out, by seat")
    plies: int
    reason: str


@dataclass(slots=True)
class Entrant:
    """The state of an entrant."""

    entrant: str
    name: str
    """The name without the version."""
    kind: PlayerKind
    number: int
    """The entrant's number, from 0 in order of arrival."""
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    form: deque[Outcome] = field(default_factory=lambda: deque(maxlen=FORM))
    last_losses: deque[PlayedGame] = field(default_factory=lambda: deque(maxlen=LAST_LOSSES))
    faults: int = 0
    """The number of consecutive losses through a failure of its own."""
    pauses: int = 0
    """The number of pauses since the last game without such a failure."""
    paused_until_ms: int = 0


class LadderState:
    """The state of a ladder, derived from its journal. Only `apply` changes it."""

    def __init__(self, ladder: Ladder) -> None:
        self.ladder = ladder
        """The configuration of the most recent keeper."""
        self.lobby: str | None = None
        """The current lobby."""
        self.requested_there = 0
        """The number of games requested in the current lobby."""
        self.requested = 0
        """The number of games requested in total."""
        self.cancelled = 0
        self.sessions = 0
        """The number of times that a keeper started."""
        self.entrants: dict[str, Entrant] = {}
        self.newest: dict[str, str] = {}
        """The newest version of each name."""
        self.outstanding: dict[str, GameRequested] = {}
        """Games that were requested and have not ended, by tag."""
        self.rated: list[RatedGame] = []
        """All games that count, with players by number."""
        self.last_results: deque[PlayedGame] = deque(maxlen=LAST_RESULTS)
        self.scores: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        """Head-to-head results: the first entrant's wins, draws and losses against the second."""
        self._groups: Counter[Group] = Counter()
        self._seeds: dict[Group, int | str] = {}

    @classmethod
    def fold(cls, ladder: Ladder, entries: Iterable[Entry]) -> LadderState:
        """Return the state after `entries`; raise `JournalError` if they are inconsistent."""
        state = cls(ladder)
        apply_entries(state.apply, entries)
        return state

    # Queries

    @property
    def played(self) -> int:
        """The number of games that count."""
        return len(self.rated)

    def next_tag(self) -> str:
        """Return an unused tag."""
        return f"g{self.requested + 1}"

    def games_of(self, group: Group) -> int:
        """Return the number of games played by exactly this group."""
        return self._groups[group]

    def block_seed(self, group: Group) -> int | str | None:
        """Return the seed of a group's current block; None if a new block starts."""
        return self._seeds.get(group) if self._groups[group] % self.ladder.seats else None

    def met(self, one: str, other: str) -> int:
        """Return how often two entrants have met."""
        return self.scores.get((one, other), Counter[str]()).total()

    def retired(self, entrant: str) -> bool:
        """Return whether a newer version of the entrant has joined."""
        return self.newest[self.entrants[entrant].name] != entrant

    def paused(self, entrant: str, now_ms: int) -> bool:
        """Return whether an entrant is currently paused."""
        known = self.entrants.get(entrant)
        return known is not None and now_ms < known.paused_until_ms

    # Events

    def apply(self, entry: Entry) -> None:
        """Apply an entry; raise `JournalError` and change nothing if it is inconsistent."""
        match entry:
            case Kept():
                self.ladder = Ladder.model_validate(entry.ladder)
                self.sessions += 1
            case Hosted():
                self.lobby, self.requested_there = entry.lobby, 0
            case Entered():
                self._apply_entered(entry)
            case GameRequested():
                self._apply_requested(entry)
            case GameEnded():
                self._apply_ended(entry)
            case GameCancelled():
                self._take_outstanding(entry.tag)
                self.cancelled += 1

    def _apply_entered(self, entry: Entered) -> None:
        if entry.entrant in self.entrants:
            raise JournalError(f"{entry.entrant!r} has already entered")
        number = len(self.entrants)
        self.entrants[entry.entrant] = Entrant(entry.entrant, entry.name, entry.player, number)
        self.newest[entry.name] = entry.entrant

    def _apply_requested(self, entry: GameRequested) -> None:
        if entry.tag != self.next_tag():
            raise JournalError(f"expected game {self.next_tag()!r}, got {entry.tag!r}")
        unknown = [name for name in entry.entrants if name not in self.entrants]
        if unknown or len({*entry.entrants}) != len(entry.entrants) or self.lobby is None:
            raise JournalError(f"the game {entry.tag!r} cannot be played by {entry.entrants}")
        self.requested += 1
        self.requested_there += 1
        self.outstanding[entry.tag] = entry
        self._seeds[frozenset(entry.entrants)] = entry.seed

    def _take_outstanding(self, tag: str) -> GameRequested:
        requested = self.outstanding.pop(tag, None)
        if requested is None:
            raise JournalError(f"the game {tag!r} is not outstanding")
        return requested

    def _apply_ended(self, entry: GameEnded) -> None:
        requested = self.outstanding.get(entry.tag)
        if requested is not None and len(entry.ranks) != len(requested.entrants):
            raise JournalError(f"the game {entry.tag!r} has {len(requested.entrants)} seats")
        requested = self._take_outstanding(entry.tag)
        game = PlayedGame(
            number=self.played + 1,
            at_ms=entry.at_ms,
            match=entry.match,
            lobby=self.lobby or "",
            entrants=tuple(requested.entrants),
            ranks=tuple(entry.ranks),
            causes=tuple(entry.causes),
            plies=entry.plies,
            reason=entry.reason,
        )
        self.last_results.append(game)
        self._rate(game, requested.block)
        self._count_meetings(game)
        for seat, name in enumerate(game.entrants):
            self._count(self.entrants[name], game, seat)

    def _rate(self, game: PlayedGame, block: int) -> None:
        group = frozenset(game.entrants)
        self._groups[group] += 1
        numbers = tuple(self.entrants[name].number for name in game.entrants)
        together = "-".join(map(str, sorted(numbers)))
        self.rated.append(RatedGame(f"{together}.{block}", numbers, game.ranks))

    def _count_meetings(self, game: PlayedGame) -> None:
        seated = zip(game.entrants, game.ranks, strict=True)
        for (one, rank), (other, other_rank) in itertools.permutations(seated, 2):
            self.scores[one, other][seat_outcome((rank, other_rank), 0)] += 1

    def _count(self, entrant: Entrant, game: PlayedGame, seat: int) -> None:
        outcome = seat_outcome(game.ranks, seat)
        entrant.games += 1
        entrant.wins += outcome == "win"
        entrant.draws += outcome == "draw"
        entrant.losses += outcome == "loss"
        entrant.form.append(LETTERS[outcome])
        if outcome == "loss":
            entrant.last_losses.append(game)
        self._count_fault(entrant, game.causes[seat], game.at_ms)

    def _count_fault(self, entrant: Entrant, cause: Cause | None, at_ms: int) -> None:
        """Update an entrant's failures; pause it after several in a row, longer each time."""
        if cause not in FAULTS:
            entrant.faults = entrant.pauses = 0
            return
        entrant.faults += 1
        if entrant.faults >= self.ladder.pause.after:
            first_ms = self.ladder.pause.minutes * 60_000
            entrant.paused_until_ms = at_ms + int(
                first_ms * 2 ** min(entrant.pauses, MAX_DOUBLINGS)
            )
            entrant.faults, entrant.pauses = 0, entrant.pauses + 1
