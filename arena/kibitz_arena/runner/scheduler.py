"""The scheduler of a running tournament: requests games, a few at a time, and records results.

A scheduler arranges the games of one lobby and writes one journal, and can be restarted with both
at any time. After a restart it requests the journal's outstanding games again with the same tags,
and the server answers with their outcomes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from kibitz_arena.entries import GameEnded, GameRequeued, GamesRequested, StopReason
from kibitz_arena.report.formatting import placings
from kibitz_arena.runner.arranged_lobby import (
    POLL_SECONDS,
    ArrangedLobby,
    LobbyGoneError,
    uninterrupted,
)
from kibitz_arena.runner.concurrency import ConcurrencyLimit
from kibitz_arena.runner.journal_file import TournamentJournal
from kibitz_arena.tournament import Tournament
from kibitz_arena.tournament_state import DueGame, TournamentState
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.lobbies import Arrangement, LobbyView, MatchBrief, ProgrammeItem
from kibitz_protocol.wire.refusals import Code

TRANSIENT_REFUSALS: Final = frozenset({Code.NO_SUCH_PLAYER, Code.RATE_LIMITED, Code.UNAVAILABLE})
"""Refusals after which a request is retried: a player is away, or a rate limit was exceeded."""
LOOKAHEAD: Final = 16
"""How far ahead in the schedule to look for a game whose players are free."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class CollectedRecord:
    """A fetched record: its path in the tournament's directory, and the time used by seat."""

    path: str
    used_ms: tuple[int, ...]
    report: str | None = None
    """The path of the forensic report, if a seat was at fault."""


Fetch = Callable[[str], Awaitable[CollectedRecord | None]]
RunInThread = Callable[..., Awaitable[None]]


def programme_item(tournament: Tournament) -> ProgrammeItem:
    """Return the programme item of a tournament's games, without opening and seed."""
    return ProgrammeItem(
        game=tournament.game.name,
        options=tournament.game.options,
        seats=tournament.seats,
        time_control=tournament.clock,
    )


class GameScheduler:
    """Schedules the remaining games.

    `play` returns when no game is outstanding. `now` returns the time in milliseconds since 1970.
    `fetch` stores the record of a match, or returns None on failure. `tell` receives the log lines
    for people. `in_thread` runs functions that wait for the disk.
    """

    def __init__(
        self,
        host: Client,
        lobby: str,
        journal: TournamentJournal,
        concurrency: ConcurrencyLimit,
        *,
        now: Callable[[], int],
        fetch: Fetch,
        tell: Tell,
        in_thread: RunInThread = asyncio.to_thread,
    ) -> None:
        self._lobby = ArrangedLobby(
            host, lobby, lambda: self.progress.outstanding_tags, self._apply_view
        )
        self._journal = journal
        self._concurrency = concurrency
        self._now = now
        self._fetch = fetch
        self._tell = tell
        self._in_thread = in_thread
        self._stop: tuple[StopReason, str] | None = None
        self._abandoned: set[str] = set()
        """Entrants whose process has failed for good: the scheduler does not wait for their
        games."""
        self._player_ids: dict[str, str] = {}
        """The player ids of the entrants seen in the lobby."""
        self._connected: set[str] = set()
        """The connected entrants."""

    @property
    def progress(self) -> TournamentState:
        return self._journal.state

    @property
    def tournament(self) -> Tournament:
        return self.progress.tournament

    @property
    def view(self) -> LobbyView | None:
        """The latest view of the lobby."""
        return self._lobby.view

    # Called by other tasks

    def stop(self, reason: StopReason, detail: str = "", lost: Iterable[str] = ()) -> None:
        """Start no more games, and do not wait for games of `lost` entrants."""
        self._stop = self._stop or (reason, detail)
        self._abandoned |= {*lost}
        self._lobby.wake()

    def wake(self) -> None:
        """Make the scheduler check for work."""
        self._lobby.wake()

    # The games

    async def play(self) -> None:
        """Play until no game is outstanding and none is left to start.

        The journal contains the reason for the end. Raises `LobbyGoneError`, and errors that end
        the connection.
        """
        await self._lobby.play(self._step, self._is_done)
        self._write_end()

    def _is_done(self) -> bool:
        """Return whether no game is outstanding and none is left to start."""
        waited = any(
            self._abandoned.isdisjoint(due.game.players) for due in self.progress.outstanding
        )
        return not waited and not self._lobby.over and not self._may_begin

    @property
    def _may_begin(self) -> bool:
        """Whether more games may start, now or later."""
        return self._stop is None and bool(self.progress.due(self._limit(1)))

    def _limit(self, more: int) -> int:
        return len(self.progress.outstanding) + more

    async def _step(self) -> None:
        """Poll, record finished games and start new ones; if there was nothing to do, wait."""
        if self._lobby.closed is not None:
            raise LobbyGoneError(f"the tournament's lobby no longer exists: {self._lobby.closed}")
        self._check_deadline()
        if self._lobby.take_poll():
            over = self._lobby.over
            await self._arrange([due for due in self.progress.outstanding if due.tag not in over])
        worked = await self._write_ended()
        if not worked and not await self._request_games():
            await self._lobby.wait(POLL_SECONDS)

    def _check_deadline(self) -> None:
        if self.tournament.is_past_deadline(self._now()) and self._may_begin:
            self.stop("deadline")

    async def _request_games(self) -> bool:
        """Request more games; return whether there were any."""
        if self._stop is not None or not self._lobby.running:
            return False
        chosen = self._choose_games(self._concurrency.current - len(self.progress.outstanding))
        if chosen:
            tags = [due.tag for due in chosen]
            await self._write(GamesRequested(at_ms=self._now(), tags=tags))
            await self._arrange(chosen)
        return bool(chosen)

    def _choose_games(self, room: int) -> list[DueGame]:
        """Return the next games, preferring free players and skipping games with absent players."""
        busy = Counter(name for due in self.progress.outstanding for name in due.game.players)
        next_up = self.progress.due(self._limit(room + LOOKAHEAD)) if room > 0 else []
        able = [due for due in next_up if self._connected.issuperset(due.game.players)]
        chosen: list[DueGame] = []
        while able and len(chosen) < room:
            least = min(able, key=lambda due: max(busy[name] for name in due.game.players))
            able.remove(least)
            chosen.append(least)
            busy.update(least.game.players)
        return chosen

    async def _arrange(self, games: Sequence[DueGame]) -> None:
        """Request new and outstanding games, and process those that are over."""
        able = [due for due in games if self._player_ids.keys() >= set(due.game.players)]
        if not able:
            return
        try:
            await self._lobby.arrange([self._arrangement(due) for due in able])
        except RefusedError as error:
            if error.code not in TRANSIENT_REFUSALS:
                raise
            self._tell(f"the server refuses games; retrying soon: {error}")

    def _arrangement(self, due: DueGame) -> Arrangement:
        options = self.progress.schedule.options(due.game)
        what = programme_item(self.tournament).model_copy(
            update={"options": options, "seed": due.game.seed}
        )
        return Arrangement(
            tag=due.tag, item=what, players=[self._player_ids[name] for name in due.game.players]
        )

    def _apply_view(self, view: LobbyView) -> None:
        """Process a view; the lobby's seats are the entrants in the tournament's order."""
        names = {
            member.player: self.tournament.names[member.seat] for member in view.members.values()
        }
        self._player_ids |= {name: player for player, name in names.items()}
        self._connected = {
            names[member.player] for member in view.members.values() if member.connected
        }

    async def _write_ended(self) -> bool:
        """Record finished games; return whether there were any."""
        over = dict(self._lobby.over)
        if not over:
            return False
        entries = await asyncio.gather(*(self._entry(*ended) for ended in over.items()))
        await self._write(*entries)
        self._lobby.forget(over.keys())
        for entry in entries:
            self._tell(self._describe(entry))
        return True

    async def _entry(self, tag: str, brief: MatchBrief) -> GameEnded | GameRequeued:
        if brief.result is None:
            detail = "not played because a player had left or the lobby was closed"
            return GameRequeued(at_ms=self._now(), tag=tag, match=brief.match, detail=detail)
        kept = await self._fetch(brief.match)
        return self.progress.entry_for(
            self._now(),
            tag,
            brief.match,
            brief.result,
            used_ms=None if kept is None else kept.used_ms,
            record=None if kept is None else kept.path,
            report=None if kept is None else kept.report,
        )

    def _describe(self, entry: GameEnded | GameRequeued) -> str:
        if isinstance(entry, GameRequeued):
            return f"{entry.tag} will be replayed: {entry.detail or 'the server failed'}"
        seats = entry.result.seats
        placed = placings(
            [seat.rank for seat in seats], entry.players, [seat.cause for seat in seats]
        )
        return f"{entry.tag} ended after {entry.result.plies} plies: {placed}"

    # The journal

    async def _write(self, *entries: GameEnded | GameRequeued | GamesRequested) -> None:
        """Append to the journal and wait for the disk, even if this task is canceled."""
        await uninterrupted(self._in_thread(self._journal.append, *entries))

    def _write_end(self) -> None:
        """Journal why the tournament ends, unless all games were played."""
        entry = self.progress.stop_entry(self._now(), self._stop)
        if entry is not None:
            self._journal.append(entry)
