"""A fleet of scripted players on real sockets, with a history for the auditor.

Every player is a `Client` that answers its turns with a random legal move. A spectator watches
every match of the fleet. All requests, answers and events go into one shared history with one
clock. Afterwards, `contradictions` compares it with the server's records. The auditor looks for
moves that were lost, duplicated or changed. Every event must be byte-identical to the one derived
from the record for that viewer.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from kibitz_games.core.game import Game
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError, UnansweredError
from kibitz_protocol.client.events import MatchLost
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import (
    Capabilities,
    Event,
    Finished,
    LobbyNews,
    MatchStarted,
    Snapshot,
    YourTurn,
)
from kibitz_protocol.wire.recordfile import parse_record
from kibitz_protocol.wire.records import Setup, Spectating
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.values import Scalar
from kibitz_protocol.wire.visibility import PUBLIC, Viewer
from kibitz_server.match.history import read_page
from kibitz_server.match.record import restore
from kibitz_server.match.state import MatchState
from tests.tools.log_audit import Acknowledged, Observation, Sent, Shown, audit

STOP_S = 10.0
POLL_S = 0.02


@dataclass
class Fleet:
    """The players, the events they received, and the matches they saw end."""

    seed: int
    pause: float = 0.0
    """Seconds that a player waits before each move."""
    history: list[Observation] = field(default_factory=list)
    events: list[tuple[str, Event]] = field(default_factory=list)
    """All events that the server sent, with their viewers."""
    seats: dict[str, list[str]] = field(default_factory=dict)
    ended: dict[str, Finished] = field(default_factory=dict)
    players: list[FleetPlayer] = field(default_factory=list)
    spectators: list[FleetSpectator] = field(default_factory=list)
    moves: int = 0
    """The number of acknowledged moves of all players."""
    returns: list[tuple[str, float]] = field(default_factory=list)
    """Players who reconnected to a seat after their connection broke, with the times."""
    answer_times: list[float] = field(default_factory=list)
    """The time from sending each move to its answer, in seconds."""
    lag_counts: Counter[str] = field(default_factory=Counter)
    """The number of snapshots that each spectator got because it read too slowly."""

    @property
    def members(self) -> list[FleetMember]:
        return [*self.players, *self.spectators]

    async def finished(self, matches: int) -> None:
        """Wait until the end of `matches` matches has been seen."""
        await self.until(lambda: len(self.ended) >= matches)

    async def moved(self, moves: int) -> None:
        """Wait until `moves` moves have been acknowledged."""
        await self.until(lambda: self.moves >= moves)

    async def online(self) -> None:
        """Wait until every player is connected."""
        await self.until(lambda: all(player.client.online for player in self.players))

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait for a condition; raise any exception that ends a member."""
        while not reached():
            for member in self.members:
                member.check()
            await asyncio.sleep(POLL_S)

    def viewers(self) -> Mapping[tuple[str, str], Viewer]:
        """Return each player's seat as a viewer; all others are the public."""
        return {
            (match, player): seat
            for match, players in self.seats.items()
            for seat, player in enumerate(players)
        }


class FleetMember:
    """A client whose events are read until it is stopped; keeps the exception that ends it."""

    def __init__(self, fleet: Fleet, client: Client) -> None:
        self.fleet, self.client = fleet, client
        self._snapshot_seq: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None
        self._task = asyncio.create_task(self._follow())

    def check(self) -> None:
        """Raise the exception that has ended this member, if any."""
        if self._failure is not None:
            raise self._failure
        if self._task.done():
            self._task.result()

    async def stop(self) -> None:
        """Wait for pending requests, then stop reading."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_S):
                await asyncio.gather(*self._tasks, return_exceptions=True)
        for task in [*self._tasks, self._task]:
            task.cancel()
        await asyncio.gather(*self._tasks, self._task, return_exceptions=True)

    async def _follow(self) -> None:
        async for message in self.client.news():
            match message:
                case Snapshot():
                    self._snapshot(message)
                case Event():
                    self._event(message)
                case Finished():
                    self.fleet.ended[message.match] = message
                case _:
                    self.on_news(message)

    def on_news(self, news: object) -> None:
        """Handle any other event."""

    def _snapshot(self, news: Snapshot) -> None:
        fleet = self.fleet
        self._snapshot_seq[news.match] = news.seq
        fleet.seats[news.match] = [seat.player for seat in news.seats]
        if news.why == "rejoined":
            fleet.returns.append((self.client.player, time.monotonic()))
        elif news.why == "lagged":
            fleet.lag_counts[self.client.player] += 1

    def _event(self, news: Event) -> None:
        viewer, since = self.client.player, self._snapshot_seq[news.match]
        self.fleet.history.append(Shown(news.match, viewer, since, news.entry))
        self.fleet.events.append((viewer, news))

    def _spawn(self, work: asyncio.Task[None]) -> None:
        self._tasks.add(work)
        work.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failure = self._failure or task.exception()


class FleetPlayer(FleetMember):
    """A client that plays random moves in all of its matches."""

    def __init__(self, fleet: Fleet, client: Client, number: int) -> None:
        self._random = random.Random(f"{fleet.seed} {number}")
        self._answered: set[tuple[str, int]] = set()
        super().__init__(fleet, client)

    def on_news(self, news: object) -> None:
        # The turn is announced again after a reconnect; its move is already in transit.
        if isinstance(news, YourTurn) and (news.match, news.ply) not in self._answered:
            self._answered.add((news.match, news.ply))
            self._spawn(asyncio.create_task(self._move(news)))

    async def _move(self, turn: YourTurn) -> None:
        fleet, player = self.fleet, self.client.player
        if fleet.pause:
            await asyncio.sleep(fleet.pause * 2 * self._random.random())
        action = random_action(turn, self._random)
        sent = time.monotonic()
        done = await self.client.move(turn.match, turn.ply, action)
        answered = time.monotonic()
        assert done.seq is not None
        fleet.history.append(Sent(turn.match, player, done.re, turn.ply, action, sent))
        fleet.history.append(Acknowledged(turn.match, player, done.re, done.seq, answered))
        fleet.answer_times.append(answered - sent)
        fleet.moves += 1


class FleetSpectator(FleetMember):
    """A client that watches every match of the lobbies it sees."""

    def __init__(self, fleet: Fleet, client: Client) -> None:
        self._watched: set[str] = set()
        super().__init__(fleet, client)

    def on_news(self, news: object) -> None:
        match news:
            case MatchStarted(match=brief):
                self._watch(brief.match)
            case LobbyNews(lobby=lobby):
                for match in lobby.live:
                    self._watch(match)
            case MatchLost():
                pass  # the match ended while this spectator was disconnected
            case _:
                pass

    def _watch(self, match: str) -> None:
        if match not in self._watched:
            self._watched.add(match)
            self._spawn(asyncio.create_task(self._enter(match)))

    async def _enter(self, match: str) -> None:
        try:
            await self.client.watch(match)
        except RefusedError as refused:
            # The match may be over when the request arrives.
            if refused.code is not Code.OVER:
                raise


def random_action(turn: YourTurn, chance: random.Random) -> dict[str, Scalar]:
    """Return a random legal action: one of the turn's list, or if it has none, an empty cell."""
    if turn.legal is not None:
        return {key: _scalar(value) for key, value in chance.choice(turn.legal).items()}
    cells = (turn.view or {}).get("cells")
    assert isinstance(cells, str)
    return {"cell": chance.choice([cell for cell, glyph in enumerate(cells) if glyph == "."])}


def _scalar(value: object) -> Scalar:
    assert isinstance(value, bool | int | str)
    return value


@asynccontextmanager
async def fleet_of(
    url: str | Sequence[str],
    pairs: int,
    item: ProgrammeItem,
    *,
    seed: int = 1,
    pause: float = 0.0,
    spectators: int = 1,
    patience: float = 120.0,
) -> AsyncIterator[Fleet]:
    """Open `pairs` lobbies with the item's number of seats, and let their players play.

    If there are several URLs, players connect to them in rotation.
    """
    addresses = itertools.cycle([url] if isinstance(url, str) else url)
    fleet = Fleet(seed, pause)
    async with AsyncExitStack() as stack:

        async def enter(name: str) -> Client:
            client = Client(
                next(addresses),
                name=name,
                capabilities=Capabilities(at_once=1000),
                agent="fleet",
                opening=patience,
                patience=patience,
            )
            return await stack.enter_async_context(client)

        watchers = [await enter(f"watcher {number}") for number in range(spectators)]
        fleet.spectators += (FleetSpectator(fleet, client) for client in watchers)
        try:
            for number in range(pairs):
                clients = [await enter(f"fleet {number}.{seat}") for seat in range(item.seats)]
                for client in clients:
                    fleet.players.append(FleetPlayer(fleet, client, len(fleet.players)))
                await _gather(f"fleet {number}", clients, watchers, item)
            yield fleet
        finally:
            await asyncio.gather(*(member.stop() for member in fleet.members))


async def _gather(
    name: str, clients: list[Client], watchers: Iterable[Client], item: ProgrammeItem
) -> None:
    settings = LobbySettings(
        name=name,
        seats=[OpenSeat()] * item.seats,
        programme=[item],
        at_once=item.games or 1,
        spectating=Spectating(comments="spectators"),
    )
    lobby = await _host(clients[0], settings)
    for watcher in watchers:
        await watcher.join(lobby, role="spectator")
    for client in clients:
        await client.join(lobby)
    for client in clients:
        await client.ready(lobby)


async def _host(client: Client, settings: LobbySettings) -> str:
    """Open a lobby, retrying; a lobby whose answer was lost remains empty and expires."""
    while True:
        with contextlib.suppress(UnansweredError):
            lobby = (await client.hosting.host(settings)).lobby
            assert lobby is not None
            return lobby


def percentile(values: Iterable[float], share: float) -> float:
    """Return the percentile of the values for a `share` from 0 to 1."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1]


def contradictions(fleet: Fleet, game: Game, records: Mapping[str, bytes]) -> list[str]:
    """Compare the fleet's events with the server's records; return the contradictions."""
    parsed = {
        match: parse_record(text.splitlines(keepends=True), path=match)
        for match, text in records.items()
    }
    logs = {match: record.entries for match, record in parsed.items()}
    faults = audit(logs, fleet.seats, fleet.history)
    for match, text in records.items():
        faults += _mismatches(fleet, game, match, text.splitlines())
    return faults


def _mismatches(fleet: Fleet, game: Game, match: str, lines: list[bytes]) -> Iterator[str]:
    """Replay a record and compare all shown events with it."""
    replayed = restore(game, lines)
    finished = fleet.ended.get(match)
    if finished is None:
        yield f"match {match}: nobody saw it end"
    elif finished.result != replayed.result:
        yield f"match {match}: {finished.result} was reported, the record has {replayed.result}"
    seats = fleet.viewers()
    shown: dict[Viewer, dict[int, bytes]] = {}
    for player, event in fleet.events:
        if event.match == match:
            viewer = seats.get((match, player), PUBLIC)
            known = shown.setdefault(viewer, {}).setdefault(event.entry.seq, encode(event))
            if known != encode(event):
                yield f"match {match}: {player} was shown two versions of {event.entry.seq}"
    for viewer, seen in shown.items():
        expected = dict(_replayed(game, replayed.setup, lines[1:-1], viewer))
        for seq, text in seen.items():
            true = expected.get(seq)
            if true != text:
                yield f"match {match}: viewer {viewer} was shown {text!r}, not {true!r}"


def _replayed(
    game: Game, setup: Setup, lines: list[bytes], viewer: Viewer
) -> Iterator[tuple[int, bytes]]:
    """Yield the number and text of every event as seen by this viewer."""
    more, first = True, 1
    own = None if viewer == PUBLIC else viewer  # seats do not see spectators' chat
    while more:
        page = read_page(MatchState(game, setup), lines, viewer, first, len(lines), own=own)
        yield from ((event.entry.seq, encode(event)) for event in page.events)
        first += len(page.events)
        more = page.more
