"""The state of a tournament, derived from the entries of its journal.

The state is the same while running and after a restart.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from kibitz_arena import sprt
from kibitz_arena.entries import (
    Entry,
    GameEnded,
    GameRequeued,
    GamesRequested,
    IsolationTool,
    RunStarted,
    RunStopped,
    StopReason,
)
from kibitz_arena.journal import JournalError, apply_entries
from kibitz_arena.schedule import Block, Schedule, ScheduledGame
from kibitz_arena.tournament import Tournament
from kibitz_protocol.wire.records import UNDECIDED, Result
from kibitz_protocol.wire.shares import beaten_share


def attempt_tag(tag: str, number: int) -> str:
    """Return the tag of an attempt; the first attempt, number 0, has the game's own tag."""
    return f"{tag}~{number}" if number else tag


def original_tag(tag: str) -> str:
    """Return the game's own tag for any attempt's tag."""
    return tag.partition("~")[0]


@dataclass(frozen=True, slots=True)
class DueGame:
    """A game to request, with the tag of its current attempt."""

    tag: str
    game: ScheduledGame


class TournamentState:
    """The progress of a tournament, derived from its entries.

    Every entry goes through `apply`, whether it was just written or read from disk. `due` returns
    the games to request next; they must be written as `GamesRequested` and applied before they are
    requested.
    """

    def __init__(self, tournament: Tournament, schedule: Schedule | None = None) -> None:
        """Create the initial state; `schedule` defaults to the tournament's own."""
        self.tournament = tournament
        self.schedule = schedule or Schedule(tournament)
        self._planned = self.schedule.total
        self.ended: dict[str, GameEnded] = {}
        """The games that count, by their own tags, in the order in which they ended."""
        self.points: dict[str, float] = dict.fromkeys(tournament.names, 0.0)
        """The entrants' points from games, without byes."""
        self.requeued = 0
        self.sessions = 0
        """The number of times that the tournament was started or resumed."""
        self.isolation: list[IsolationTool] = []
        """The tools that isolated untrusted entrants, in order of first use."""
        self.stopped: RunStopped | None = None
        """Why the tournament stopped; None while it runs."""
        self.running_ms = 0
        self._last_ms: int | None = None
        self._blocks: dict[str, Block] = {}
        self._games: dict[str, ScheduledGame] = {}
        self._queue: deque[str] = deque()
        """Games that were never arranged, by their own tags."""
        self._retry_queue: deque[str] = deque()
        """Games that failed and have not been arranged again."""
        self._outstanding: dict[str, str] = {}
        """Maps the tag of each outstanding attempt to the game's own tag."""
        self._attempts: Counter[str] = Counter()
        self._remaining: Counter[str] = Counter()
        """The number of unfinished games of each block."""
        paired = tournament.seats == 2
        self._sprt = sprt.Sprt(tournament.stop, paired=paired) if tournament.stop else None
        self._add_new_blocks()

    @classmethod
    def fold(
        cls, tournament: Tournament, entries: Iterable[Entry], schedule: Schedule | None = None
    ) -> Self:
        """Return the state after `entries`; raise `JournalError` if they are inconsistent."""
        progress = cls(tournament, schedule)
        apply_entries(progress.apply, entries)
        return progress

    # Queries

    def due(self, at_most: int) -> list[DueGame]:
        """Return the next games to request, so that at most `at_most` are outstanding.

        Failed games come first. The list is empty once the tournament has stopped or is decided.
        """
        room = at_most - len(self._outstanding)
        if room <= 0 or self.over:
            return []
        again = [tag for tag in self._retry_queue if not self._exhausted(tag)]
        tags = itertools.islice(itertools.chain(again, self._queue), room)
        return [DueGame(attempt_tag(tag, self._attempts[tag]), self._games[tag]) for tag in tags]

    @property
    def outstanding(self) -> list[DueGame]:
        """The games that were arranged and have not ended, in the order of arrangement."""
        return [DueGame(tag, self._games[own]) for tag, own in self._outstanding.items()]

    @property
    def outstanding_tags(self) -> Collection[str]:
        """The tags of the outstanding games."""
        return self._outstanding.keys()

    @property
    def stuck(self) -> list[str]:
        """Games that failed more often than the tournament allows, so it cannot finish."""
        return [tag for tag in self._retry_queue if self._exhausted(tag)]

    @property
    def planned(self) -> int:
        """The number of games in the whole tournament."""
        return self._planned

    @property
    def played(self) -> int:
        """The number of games that count so far."""
        return len(self.ended)

    def games_of(self, name: str) -> int:
        """Return the number of an entrant's games that have ended."""
        return sum(name in game.players for game in self.ended.values())

    @property
    def finished(self) -> bool:
        """Whether all games have ended or the sequential test is decided."""
        if self._outstanding:
            return False
        return self.decided or (self.schedule.complete and self.played == self.planned)

    @property
    def over(self) -> bool:
        """Whether no more games will be requested."""
        return self.stopped is not None or self.decided

    @property
    def decided(self) -> bool:
        """Whether the sequential test is decided, or the journal says that it was."""
        by_entry = self.stopped is not None and self.stopped.reason == "decided"
        return by_entry or (self._sprt is not None and self._sprt.result.decided)

    @property
    def sprt_result(self) -> sprt.SprtResult | None:
        """The state of the sequential test, if the tournament has one."""
        return self._sprt.result if self._sprt else None

    def game(self, tag: str) -> ScheduledGame:
        """Return the game for any attempt's tag; raise `JournalError` for an unknown tag."""
        try:
            return self._games[original_tag(tag)]
        except KeyError:
            raise JournalError(f"unknown game {tag!r}") from None

    def entry_for(
        self,
        at_ms: int,
        tag: str,
        match: str,
        result: Result,
        *,
        used_ms: Sequence[int] | None = None,
        record: str | None = None,
        report: str | None = None,
    ) -> GameEnded | GameRequeued:
        """Return the entry for a finished match: failed games are requeued, all others count."""
        if result.cause in UNDECIDED:
            return GameRequeued(at_ms=at_ms, tag=tag, match=match, detail=result.reason)
        return GameEnded(
            at_ms=at_ms,
            tag=tag,
            match=match,
            players=[*self.game(tag).players],
            result=result,
            used_ms=None if used_ms is None else [*used_ms],
            record=record,
            report=report,
        )

    def stop_entry(self, at_ms: int, stop: tuple[StopReason, str] | None) -> RunStopped | None:
        """Return the entry with the reason for the end; None if all games were played.

        It is also None if the entry already exists. `stop` is the reason to start no more games,
        with details.
        """
        if self.finished:
            stop = ("decided", "") if self.played < self.planned else None
        elif stop is None and self.stuck:
            games = ", ".join(self.stuck[:3])
            stop = "failed", f"{games} failed more than {self.tournament.retries} times"
        if stop is None or self.stopped is not None:
            return None
        return RunStopped(at_ms=at_ms, reason=stop[0], detail=stop[1])

    # Events

    def apply(self, entry: Entry) -> None:
        """Apply an entry; raise `JournalError` and change nothing if it is inconsistent."""
        match entry:
            case RunStarted():
                self._apply_started(entry)
            case GamesRequested():
                self._apply_requested(entry)
            case GameEnded():
                self._apply_ended(entry)
            case GameRequeued():
                self._apply_requeued(entry)
            case RunStopped():
                self.stopped = entry
        self._count_running_time(entry)

    def _count_running_time(self, entry: Entry) -> None:
        """Add the time since the last entry, except for breaks, which end with `RunStarted`."""
        if self._last_ms is not None and not isinstance(entry, RunStarted):
            self.running_ms += max(0, entry.at_ms - self._last_ms)
        self._last_ms = entry.at_ms

    def _apply_started(self, entry: RunStarted) -> None:
        self.sessions += 1
        if entry.isolation is not None and entry.isolation not in self.isolation:
            self.isolation.append(entry.isolation)
        if self.stopped is not None and self.stopped.reason != "decided":
            self.stopped = None

    def _apply_requested(self, entry: GamesRequested) -> None:
        owns = [self._requestable(tag) for tag in entry.tags]
        if len(set(owns)) < len(owns):
            raise JournalError(f"expected different games, got {entry.tags}")
        for tag, own in zip(entry.tags, owns, strict=True):
            queue = self._retry_queue if own in self._retry_queue else self._queue
            queue.remove(own)
            self._outstanding[tag] = own

    def _requestable(self, tag: str) -> str:
        own = self.game(tag).tag
        expected = attempt_tag(own, self._attempts[own])
        if tag != expected or own in self.ended or tag in self._outstanding:
            raise JournalError(f"the game {tag!r} cannot be requested now")
        return own

    def _apply_ended(self, entry: GameEnded) -> None:
        own = self._require_outstanding(entry.tag)
        game = self._games[own]
        if tuple(entry.players) != game.players or len(entry.result.seats) != len(game.players):
            raise JournalError(f"expected the players {list(game.players)}, got {entry.players}")
        if entry.result.cause in UNDECIDED:
            raise JournalError(f"the game {entry.tag!r} failed, so it cannot count")
        del self._outstanding[entry.tag]
        self.ended[own] = entry
        ranks = [seat.rank for seat in entry.result.seats]
        for seat, name in enumerate(game.players):
            self.points[name] += beaten_share(ranks, seat, alone=1.0)
        self._remaining[game.block] -= 1
        if not self._remaining[game.block]:
            self._complete_block(game.block)

    def _apply_requeued(self, entry: GameRequeued) -> None:
        own = self._require_outstanding(entry.tag)
        del self._outstanding[entry.tag]
        self._attempts[own] += 1
        self._retry_queue.append(own)
        self.requeued += 1

    def _require_outstanding(self, tag: str) -> str:
        own = self.game(tag).tag
        if tag not in self._outstanding:
            raise JournalError(f"the game {tag!r} is not outstanding")
        return own

    def _complete_block(self, block: str) -> None:
        """Update the sequential test after a completed block, and pair the next Swiss round if
        due."""
        if self._sprt is not None:
            places = [*self._ranks_of(block, self._sprt.stop.better)]
            if places:
                self._sprt.add(sprt.block_score(places))
        if self.played == len(self._games) and not self.schedule.complete:
            self.schedule.add_round(self.points)
            self._add_new_blocks()

    def _ranks_of(self, block: str, names: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the places of two entrants in the games of a block that both play."""
        a, b = names
        for game in self._blocks[block].games:
            entry = self.ended[game.tag]
            if a in entry.players and b in entry.players:
                seats = entry.result.seats
                yield seats[entry.players.index(a)].rank, seats[entry.players.index(b)].rank

    def _add_new_blocks(self) -> None:
        """Add blocks that are new in the schedule."""
        for block in self.schedule.blocks[len(self._blocks) :]:
            self._blocks[block.tag] = block
            self._remaining[block.tag] = len(block.games)
            for game in block.games:
                self._games[game.tag] = game
                self._queue.append(game.tag)

    def _exhausted(self, tag: str) -> bool:
        return self._attempts[tag] > self.tournament.retries
