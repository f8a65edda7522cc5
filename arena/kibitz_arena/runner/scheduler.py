"""The scheduler of a running tournament: requests games, a few at a time, and writes down results.

It knows one lobby whose games it arranges, and one journal. Whatever happens to either, it can
be begun again with both: games that the journal has as outstanding are requested once more by
their tags, and the server answers with what became of them meanwhile. News only says when to look;
games are polled from time to time as well, so lost news costs a moment.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from kibitz_arena.entries import GameEnded, GameRequeued, GamesRequested, RunStopped
from kibitz_arena.runner.concurrency import ConcurrencyLimit
from kibitz_arena.runner.journal_file import TournamentJournal
from kibitz_arena.state import DueGame, TournamentState
from kibitz_arena.tournament import Tournament
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.lobbies import Arrangement, LobbyView, MatchBrief, ProgrammeItem
from kibitz_protocol.wire.messages import Arranged as Answered
from kibitz_protocol.wire.messages import LobbyClosed, LobbyNews, MatchEnded
from kibitz_protocol.wire.records import Cause
from kibitz_protocol.wire.refusals import Code

POLL_SECONDS: Final = 10.0
"""How often all outstanding games are asked after."""
TRANSIENT_REFUSALS: Final = frozenset({Code.NO_SUCH_PLAYER, Code.RATE_LIMITED, Code.UNAVAILABLE})
"""Refusals of games that may be taken a little later: somebody is away, or too much is asked."""
LOOKAHEAD: Final = 16
"""How many games further down the schedule one may be taken because its players are free."""

Reason: TypeAlias = Literal["decided", "deadline", "asked", "failed"]
Tell = Callable[[str], None]


class ArrangingClient(Protocol):
    """What the scheduler asks of a connection; `kibitz_protocol.client.client.Client` has it."""

    def news(self) -> AsyncIterator[object]: ...
    async def arrange(self, lobby: str, matches: Sequence[Arrangement]) -> Answered: ...


@dataclass(frozen=True)
class CollectedRecord:
    """A record that was fetched: its path from the event's schedulery, time used by seat."""

    path: str
    used_ms: tuple[int, ...]
    report: str | None = None
    """The path of the forensic report, where a seat was at fault."""


Fetch = Callable[[str], Awaitable[CollectedRecord | None]]
RunInThread = Callable[..., Awaitable[None]]


class LobbyGoneError(Exception):
    """The lobby of an event is closed; the event can go on in another one."""


def programme_item(tournament: Tournament) -> ProgrammeItem:
    """Return what every game of an event is, before its opening and seed."""
    return ProgrammeItem(
        game=tournament.game.name,
        options=tournament.game.options,
        seats=tournament.seats,
        time_control=tournament.clock,
    )


class GameScheduler:
    """Plays what is left of an event. `play` returns when nothing is outstanding any more.

    `now` is the time of day in milliseconds since 1970; `fetch` stores the record of a match, or
    returns None where it cannot; `tell` is given a line for everything that a person may want
    to know; `aside` runs a function that waits for the disk.
    """

    def __init__(
        self,
        host: ArrangingClient,
        lobby: str,
        journal: TournamentJournal,
        width: ConcurrencyLimit,
        *,
        now: Callable[[], int],
        fetch: Fetch,
        tell: Tell,
        aside: RunInThread = asyncio.to_thread,
    ) -> None:
        self._host = host
        self._lobby = lobby
        self._journal = journal
        self._concurrency = width
        self._now = now
        self._fetch = fetch
        self._tell = tell
        self._in_thread = aside
        self.view: LobbyView | None = None
        """What the lobby looked like last."""
        self._reported: dict[str, MatchBrief] = {}
        """Games that are over and not in the journal yet, by tag."""
        self._stop: tuple[Reason, str] | None = None
        self._abandoned: set[str] = set()
        """Entrants for whom nobody plays any more: their games are not waited for."""
        self._player_ids: dict[str, str] = {}
        """The server's ids of the entrants that were seen in the lobby."""
        self._connected: set[str] = set()
        """Entrants that are connected."""
        self._closed: str | None = None
        self._wake = asyncio.Event()
        self._asked_at = float("-inf")
        """When all outstanding games were asked after."""

    @property
    def progress(self) -> TournamentState:
        return self._journal.state

    @property
    def tournament(self) -> Tournament:
        return self.progress.tournament

    # From outside

    def stop(self, reason: Reason, detail: str = "", lost: Iterable[str] = ()) -> None:
        """Begin no more games; those of `lost` entrants are not waited for either."""
        self._stop = self._stop or (reason, detail)
        self._abandoned |= {*lost}
        self._wake.set()

    def wake(self) -> None:
        """Look what there is to do, for something has changed."""
        self._wake.set()

    # The games

    async def play(self) -> None:
        """Play until nothing is outstanding and nothing more is to begin.

        What stopped it is in the journal. Raises `LobbyGoneError`, and what ends the connection.
        """
        async with asyncio.TaskGroup() as group:
            ear = group.create_task(self._listen())
            while not self._done:
                await self._step()
            ear.cancel()
        self._write_end()

    @property
    def _done(self) -> bool:
        """Whether nothing is waited for, and nothing more is to begin."""
        waited = any(
            self._abandoned.isdisjoint(due.game.players) for due in self.progress.outstanding
        )
        return not waited and not self._reported and not self._may_begin

    @property
    def _may_begin(self) -> bool:
        """Whether another game may begin, now or when there is room."""
        return self._stop is None and bool(self.progress.due(self._limit(1)))

    def _limit(self, more: int) -> int:
        return len(self.progress.outstanding) + more

    async def _step(self) -> None:
        """Ask, write down what is over, begin what there is room for; or wait."""
        if self._closed is not None:
            raise LobbyGoneError(f"the lobby of the event is gone: {self._closed}")
        self._wake.clear()
        self._check_deadline()
        await self._poll()
        worked = await self._write_ended()
        if not worked and not await self._request_games():
            await self._wait()

    async def _wait(self) -> None:
        """Until something has happened, or it is time to ask."""
        moment = asyncio.get_running_loop().time()
        due = self._asked_at if self._running else moment
        try:
            async with asyncio.timeout_at(due + POLL_SECONDS):
                await self._wake.wait()
        except TimeoutError:  # a timer may be a hair early, and then it is time all the same
            self._asked_at = float("-inf")

    def _check_deadline(self) -> None:
        deadline = self.tournament.deadline
        past = deadline is not None and self._now() >= deadline.timestamp() * 1000
        if past and self._may_begin:
            self.stop("deadline")

    @property
    def _running(self) -> bool:
        return self.view is not None and self.view.state == "running"

    async def _poll(self) -> None:
        """Ask what became of all outstanding games, when it is time to."""
        moment = asyncio.get_running_loop().time()
        if not self._running or moment < self._asked_at + POLL_SECONDS:
            return
        self._asked_at = moment
        await self._arrange(
            [due for due in self.progress.outstanding if due.tag not in self._reported]
        )

    async def _request_games(self) -> bool:
        """Ask for more games; return whether there were any."""
        if self._stop is not None or not self._running:
            return False
        chosen = self._choose_games(self._concurrency.current - len(self.progress.outstanding))
        if chosen:
            tags = [due.tag for due in chosen]
            await self._write(GamesRequested(at_ms=self._now(), tags=tags))
            await self._arrange(chosen)
        return bool(chosen)

    def _choose_games(self, room: int) -> list[DueGame]:
        """Return the next games, those first whose players are free; none of who is away."""
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
        """Arrange games, new ones and known ones alike, and take in what is over."""
        able = [due for due in games if self._player_ids.keys() >= set(due.game.players)]
        if not able:
            return
        try:
            answer = await self._host.arrange(self._lobby, [self._arrangement(due) for due in able])
        except RefusedError as error:
            if error.code not in TRANSIENT_REFUSALS:
                raise
            self._tell(f"the server refuses games, which are asked for again soon: {error}")
            return
        for due, brief in zip(able, answer.matches, strict=True):
            if brief is not None:
                self._report(due.tag, brief)

    def _arrangement(self, due: DueGame) -> Arrangement:
        options = self.progress.schedule.options(due.game)
        what = programme_item(self.tournament).model_copy(
            update={"options": options, "seed": due.game.seed}
        )
        return Arrangement(
            tag=due.tag, item=what, players=[self._player_ids[name] for name in due.game.players]
        )

    # What is heard

    async def _listen(self) -> None:
        async for message in self._host.news():
            self._apply_message(message)
        self._closed = "the connection has ended"
        self._wake.set()

    def _apply_message(self, message: object) -> None:
        match message:
            case LobbyNews(lobby=view) if view.lobby == self._lobby:
                self._apply_view(view)
            case MatchEnded(lobby=self._lobby, match=brief) if brief.tag is not None:
                self._apply_end(brief.tag, brief)
            case LobbyClosed(lobby=self._lobby, reason=reason):
                self._closed = reason
            case _:
                return
        self._wake.set()

    def _apply_view(self, view: LobbyView) -> None:
        """Take in a view; the lobby's seats are the entrants, in the order of the event."""
        self.view = view
        names = {member.player: self.tournament.names[member.seat] for member in view.members}
        self._player_ids |= {name: player for player, name in names.items()}
        self._connected = {names[member.player] for member in view.members if member.connected}

    def _apply_end(self, tag: str, brief: MatchBrief) -> None:
        """Believe a result; what failed may be played once more by the server, so ask."""
        if brief.result is None or brief.result.cause is Cause.INFRASTRUCTURE:
            self._asked_at = float("-inf")
        else:
            self._report(tag, brief)

    def _report(self, tag: str, brief: MatchBrief) -> None:
        """Note that a game is over, if it is and is not in the journal yet."""
        if brief.result is None and not brief.void:
            return
        if any(due.tag == tag for due in self.progress.outstanding):
            self._reported[tag] = brief

    async def _write_ended(self) -> bool:
        """Write down what is over; return whether anything was."""
        if not self._reported:
            return False
        reported = dict(self._reported)
        entries = await asyncio.gather(*(self._entry(*each) for each in reported.items()))
        await self._write(*entries)
        for tag in reported:
            del self._reported[tag]
        for entry in entries:
            self._tell(self._describe(entry))
        return True

    async def _entry(self, tag: str, brief: MatchBrief) -> GameEnded | GameRequeued:
        if brief.result is None:
            detail = "it was not played: a player had left, or the lobby was closed"
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
            return f"{entry.tag} is played again: {entry.detail or 'the server had trouble'}"
        seats = zip(entry.result.seats, entry.players, strict=True)
        ranked = sorted(seats, key=lambda pair: pair[0].rank)
        placed = "  ".join(
            f"{seat.rank}. {name}" + (f" ({seat.cause})" if seat.cause else "")
            for seat, name in ranked
        )
        return f"{entry.tag} ends after {entry.result.plies} plies: {placed}"

    # What is written

    async def _write(self, *entries: GameEnded | GameRequeued | GamesRequested) -> None:
        """Append to the journal and wait for the disk, also when this task is to end."""
        writing = asyncio.ensure_future(self._in_thread(self._journal.append, *entries))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait({writing})
            raise

    def _write_end(self) -> None:
        """Say why the event ends here, unless it ends because all is played."""
        reason = self._stop_reason()
        if reason is not None and self.progress.stopped is None:
            self._journal.append(RunStopped(at_ms=self._now(), reason=reason[0], detail=reason[1]))

    def _stop_reason(self) -> tuple[Reason, str] | None:
        progress = self.progress
        if progress.finished:
            return ("decided", "") if progress.played < progress.planned else None
        if self._stop is None and progress.stuck:
            games = ", ".join(progress.stuck[:3])
            return "failed", f"{games} failed more than {self.tournament.retries} times"
        return self._stop
