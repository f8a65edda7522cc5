"""A server, its disk and its clients in one thread on virtual time, reproducible by a seed.

Everything above the sockets is the real code: `Backend`, runners of matches and lobbies,
`Connection` with its frames, `Store` with its SQLite file, and on the other side the clients'
`Session`. The layers between and below are simulated with one random source:

    Session --frames--> connection --late, cut, reset--> Peer -- Backend -- Store --late--> disk
                                                         `------ killed, started again ------'

A commit takes time. A crash may happen before the commit, or between the commit and its
acknowledgments. A commit may fail, report a failure although it succeeded, or fail for so long that
the store gives up the batch and reloads its matches. The journal is small, so that it is compacted
often. Clients misbehave: they resend moves, move for others, sign in twice with the same secret,
stop reading, and leave.

When all matches have ended, `violations` lists the errors: contradictions found by the auditor,
gaps in the messages to a connection, events that differ from a replay of the log, clocks that do
not add up. It also lists matches that did not end. `trace` is a hash over all messages and their
times.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast
from unittest.mock import patch

from kibitz_games.core.game import Game
from kibitz_protocol.client.session import SessionState
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.messages import Event, Finished, Refused
from kibitz_protocol.wire.records import Cause, Entry, Moved, Result
from kibitz_protocol.wire.visibility import PUBLIC, Viewer, WantedViews
from kibitz_server.accounts import identity
from kibitz_server.app.backend import Backend
from kibitz_server.directory import match_setup
from kibitz_server.directory.registry import Registry
from kibitz_server.handlers import hosting
from kibitz_server.lobby.views import lobby_brief
from kibitz_server.match.record import read_entry, read_setup, restore
from kibitz_server.match.visibility import replay
from kibitz_server.metrics import Metrics
from kibitz_server.net import http
from kibitz_server.net.connection import Connection
from kibitz_server.net.connections import Connections, Quotas
from kibitz_server.net.peer import PeerContext
from kibitz_server.net.rate_limit import Rate, RateLimits
from kibitz_server.net.send_queue import SendLimits, WriteBatcher
from kibitz_server.net.timeouts import TimeoutConfig, Timeouts
from kibitz_server.net.turn_budget import TurnBudget
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.group_commit import Batch
from kibitz_server.storage.interface import Store
from kibitz_server.storage.sqlite import journal
from kibitz_server.storage.sqlite.compaction import COMPACT_BYTES
from kibitz_server.storage.sqlite.store import SQLiteStore
from tests.tools.log_audit import Observation, audit
from tests.tools.simulated_clients import (
    LobbySetup,
    SimulatedClient,
    SimulatedPlayer,
    SimulatedSpectator,
)
from tests.tools.virtual_time import Scheduler, VirtualLoop

UNLIMITED = Rate(1e9, 1e9)
FAULT_SECONDS = 20.0
"""The time until which faults are injected; afterwards all matches can finish."""
TIME_LIMIT_S = 900.0
FIXED_UTC = "2030-01-02T03:04:05.000+00:00"


@dataclass(frozen=True, kw_only=True)
class FaultRates:
    """The faults of a simulation, as rates per second or shares from 0 to 1."""

    lobbies: int = 2
    games: int = 2
    crashes: float = 0.25
    resets: float = 0.25
    """Per connection."""
    second_sockets: float = 0.05
    """Per player."""
    spectator_pauses: float = 0.2
    """Per spectator: it stops reading for a while."""
    duplicate_moves: float = 0.2
    """The share of moves that are sent twice."""
    invalid_requests: float = 0.15
    """The share of turns with an additional message that must be refused."""
    commit_failures: float = 0.03
    """The share of commits that report an error; half of these have succeeded."""
    outages: float = 0.06
    """How often the disk is full for longer than the store retries."""
    journal_bytes: int = 5_000
    """The journal's size limit: a few dozen batches, so that a short run compacts it."""


# --- the disk -----------------------------------------------------------------------------------


class SimulatedStore(SQLiteStore):
    """The real store with a COMMIT that takes virtual time and can fail."""

    def __init__(
        self,
        path: Path,
        loop: VirtualLoop,
        simulation: Simulation,
        journal_bytes: int = COMPACT_BYTES,
    ) -> None:
        super().__init__(path, loop.loop, journal_bytes=journal_bytes)
        self._simulation = simulation
        self._virtual_loop = loop
        writer = cast(Any, self._writer)
        writer._commits.put(False)
        writer._thread.join()
        writer.db.execute("PRAGMA synchronous = OFF")
        writer._commits = self
        cast(Any, self._compaction)._read_journal = self.read_journal
        self._give_up = self.commits._give_up
        cast(Any, self.commits)._give_up = self.give_up

    def put(self, begun: bool) -> None:
        """Accept a transaction to commit, in place of the writer thread."""
        self._simulation.check_lobbies()
        self._simulation.trims += self._writer._share.trim_to is not None
        self._virtual_loop.call_later(self._simulation.delay(0.02), self._commit_now)

    def _commit_now(self) -> None:
        error: sqlite3.Error | None = None
        chance = self._simulation.random.random() / (self._simulation.rates.commit_failures or 1e-9)
        if self._simulation.faults_active and chance < 1:
            error = sqlite3.OperationalError("disk I/O error")
        if self._simulation.scheduler.now < self._simulation.full_until:
            error = sqlite3.OperationalError("database or disk is full")
        elif error is None or chance < 0.5:
            self._writer._commit()
        writer = self._writer
        settled = writer._succeeded if error is None else partial(writer._failed, error)
        self._virtual_loop.call_later(self._simulation.delay(0.01), settled)

    def give_up(self, batch: Batch, error: StoreError) -> None:
        self._simulation.losses += 1
        self._give_up(batch, error)

    def read_journal(self, reading: object) -> None:
        """Read immediately; deliver the result after the disk's delay."""
        weight = self._compaction._weight
        done = self._readers.submit(lambda db: journal.read(db, weight=weight))
        wait([done])
        self._virtual_loop.call_later(
            self._simulation.delay(0.2), self._compaction._journal_read, reading, done
        )

    def crash(self) -> None:
        """Lose uncommitted data; the next life opens the same file."""
        self._readers.close()
        self._writer.db.close()
        self._writer.mark.close()
        self._lock.release()


class SeededSecrets:
    """The server's random source, a replacement for `secrets`."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def token_hex(self, count: int) -> str:
        return self._random.randbytes(count).hex()

    def token_urlsafe(self, count: int) -> str:
        return self.token_hex(count)

    def randbits(self, count: int) -> int:
        return self._random.getrandbits(count)

    def choice(self, options: Sequence[str]) -> str:
        return self._random.choice(options)


# --- the network --------------------------------------------------------------------------------


class SimulatedConnection(asyncio.Transport):
    """One connection: the server's transport and the network to the client."""

    def __init__(self, simulation: Simulation, life: VirtualLoop, client: SimulatedClient) -> None:
        super().__init__()
        self._simulation = simulation
        self._virtual_loop = life
        self._client = client
        self._arrival = {"up": 0.0, "down": 0.0}
        self.server_gone = False
        self.client_gone = False
        self.connection: Connection

    def accept(self, connection: Connection) -> None:
        self.connection = connection
        connection.connection_made(self)

    # --- the server's side: a transport ---

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 4711) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        """Pause reading; arriving data waits in the connection."""

    def resume_reading(self) -> None:
        """Do nothing, since no data waits here."""

    def is_closing(self) -> bool:
        return self.server_gone

    def write(self, data: bytes | bytearray | memoryview) -> None:
        text = bytes(data)
        self._deliver("down", lambda: self._client.data_received(self, text))

    def write_eof(self) -> None:
        self._deliver("down", lambda: self.end_client(None, ""))

    def close(self) -> None:
        self.write_eof()
        self.end_server(None)

    def abort(self) -> None:
        self.close()

    # --- the client's side ---

    def send(self, data: bytes) -> None:
        if self._simulation.random.random() < 0.2 and len(data) > 1:
            cut = self._simulation.random.randrange(1, len(data))
            self.send(data[:cut])
            data = data[cut:]
        received = self.connection.data_received
        self._deliver("up", lambda: received(data) if self._virtual_loop.running else None)

    # --- ends ---

    def reset(self) -> None:
        """Reset the connection: both sides notice independently, and data in transit is lost."""
        simulation = self._simulation
        simulation.scheduler.call_after(
            simulation.delay(1.0), lambda: self.end_client(None, "reset")
        )
        simulation.scheduler.call_after(
            simulation.delay(1.0), lambda: self.end_server(ConnectionResetError())
        )
        self._arrival = {"up": float("inf"), "down": float("inf")}

    def end_server(self, error: Exception | None) -> None:
        if not self.server_gone:
            self.server_gone = True
            self._virtual_loop.call_soon(self.connection.connection_lost, error)

    def end_client(self, code: int | None, reason: str) -> None:
        if not self.client_gone:
            self.client_gone = True
            self._client.connection_lost(self, code, reason)
            self._deliver("up", lambda: self.end_server(None))

    def _deliver(self, way: Literal["up", "down"], deliver: Callable[[], object]) -> None:
        """Deliver in order after a delay, if the receiver is still connected."""
        arrival = max(
            self._arrival[way], self._simulation.scheduler.now + self._simulation.delay(0.05)
        )
        self._arrival[way] = arrival
        if arrival == float("inf"):
            return

        def arrive() -> None:
            gone = self.server_gone if way == "up" else self.client_gone
            if not gone and self._arrival[way] != float("inf"):
                deliver()

        self._simulation.scheduler.call_at(arrival, arrive)


# --- the run ------------------------------------------------------------------------------------


@dataclass(eq=False)
class Simulation:
    """One run, determined by its seed."""

    seed: int
    game: Game
    directory: Path
    rates: FaultRates = field(default_factory=FaultRates)
    store_type: type[SimulatedStore] = SimulatedStore

    time_limit_s: float = TIME_LIMIT_S

    def __post_init__(self) -> None:
        self.scheduler = Scheduler()
        self.random = random.Random(f"world {self.seed}")
        self.clients: list[SimulatedClient] = []
        self.history: list[Observation] = []
        self.shown: list[tuple[str, WantedViews, Event]] = []
        self.seats: dict[str, list[str]] = {}
        self.ended: dict[str, Finished] = {}
        self.secrets: dict[str, str] = {}
        self.violations: list[str] = []
        self.crashes = 0
        self.losses = 0
        """The number of batches given up."""
        self.trims = 0
        """How often rows were deleted from a running server's journal."""
        self.full_until = 0.0
        self._over = False
        self._trace = hashlib.sha256()
        self._links: list[SimulatedConnection] = []
        self._backend: Backend | None = None
        self._path = self.directory / f"{self.seed}.db"

    # --- common methods ---

    def milliseconds(self) -> int:
        return round(self.scheduler.now * 1000)

    def delay(self, most: float) -> float:
        """Return a random delay that is usually short."""
        return most * self.random.random() ** 3

    @property
    def faults_active(self) -> bool:
        return not self._over and self.scheduler.now < 1000.0 + FAULT_SECONDS

    @property
    def ended_count(self) -> int:
        """The number of finished matches."""
        return len(self.ended)

    def trace_message(self, actor: SimulatedClient, way: str, data: bytes) -> None:
        self._trace.update(b"%d %d %s " % (self.milliseconds(), actor.number, way.encode()))
        self._trace.update(data)

    @property
    def trace(self) -> str:
        return self._trace.hexdigest()

    def declines(self, refused: Refused, actor: SimulatedClient) -> bool:
        """Return whether a refusal means that a move is not in the log."""
        return self.current_client(actor) is actor

    def current_client(self, actor: SimulatedClient) -> SimulatedClient:
        """Return the newest client with the same name."""
        return [other for other in self.clients if other.name == actor.name][-1]

    # --- the server's lives ---

    def start(self) -> None:
        loop = self._loop = VirtualLoop(self.scheduler)
        offset = self.random.randrange(1 << 40)

        def clock() -> int:
            return self.milliseconds() + offset

        def spawn(work: Callable[[], Awaitable[None]]) -> None:
            loop.spawn(work, self.delay(0.02))

        store = self._store = self.store_type(self._path, loop, self, self.rates.journal_bytes)
        self._backend, self._port = build_server(loop, self.game, store, clock, spawn)
        self._backend.restore()
        self._port.timeouts.start()

    def crash(self) -> None:
        """Kill the server: its memory is lost, its sockets are reset, its disk is kept."""
        if self._backend is None:
            return
        self.crashes += 1
        self._loop.stop()
        self._backend = None
        self._store.crash()
        for link in self._links:
            link.server_gone = True
            self.scheduler.call_after(self.delay(0.3), partial(link.end_client, None, "reset"))
        self._links.clear()
        self.scheduler.call_after(0.05 + self.delay(2.0), self.start)

    def connect(self, actor: SimulatedClient) -> SimulatedConnection | None:
        if self._backend is None:
            return None
        link = SimulatedConnection(self, self._loop, actor)
        self._links.append(link)
        link.accept(Connection(self._port))
        if self.faults_active:
            self._inject_once(self.rates.resets, link.reset)
        return link

    # --- faults ---

    def _inject_once(self, rate: float, call: Callable[[], object]) -> None:
        """Schedule a single fault unless it would fall after the end of injection."""
        if rate:
            wait = self.random.expovariate(rate)
            self.scheduler.call_after(wait, lambda: call() if self.faults_active else None)

    def _inject_repeatedly(self, rate: float, call: Callable[[], object]) -> None:
        def happen() -> None:
            call()
            self._inject_once(rate, happen)

        self._inject_once(rate, happen)

    def _open_second_socket(self, player: SimulatedPlayer) -> None:
        """Sign in again with the same secret; the older session ends at the takeover."""
        newest = self.current_client(player)
        seated = any(newest.player in seats for seats in self.seats.values())
        if newest.session.state is SessionState.ONLINE and seated:
            secret = self.secrets[player.name]
            SimulatedPlayer(self, player.name, player._lobby, resume=secret, life=newest.life + 1)

    def _fill_disk(self) -> None:
        self.full_until = self.scheduler.now + 4.0 + self.delay(4.0)

    def _pause(self, watcher: SimulatedSpectator) -> None:
        link, loop = watcher.connection, self._loop
        if link is None or link.server_gone or not loop.running:
            return
        link.connection.pause_writing()

        def resume() -> None:
            if not link.server_gone:
                link.connection.resume_writing()

        loop.call_later(self.delay(2.0), resume)

    # --- the run ---

    def run(self) -> Simulation:
        """Run to the end and check for errors; the results are in `wrongs` and `trace`."""
        chances = SeededSecrets(f"secrets {self.seed}")
        with ExitStack() as stack:
            for module in (hosting, identity):
                stack.enter_context(patch.object(module, "secrets", chances))
            for module in (hosting, match_setup):
                stack.enter_context(patch.object(module, "utc_now", lambda: FIXED_UTC))
            self.start()
            watchers = [SimulatedSpectator(self, f"w{n}") for n in range(self.rates.lobbies)]
            meetings = [LobbySetup(self, n, watcher) for n, watcher in enumerate(watchers)]
            self._inject_repeatedly(self.rates.crashes, self.crash)
            self._inject_repeatedly(self.rates.outages, self._fill_disk)
            for watcher in watchers:
                self._inject_repeatedly(self.rates.spectator_pauses, partial(self._pause, watcher))
            for meeting in meetings:
                for player in meeting.players:
                    self._inject_repeatedly(
                        self.rates.second_sockets, partial(self._open_second_socket, player)
                    )
            self._run_matches()
            self._check()
            self._loop.stop()
            self._store.crash()
        return self

    def _run_matches(self) -> None:
        wanted = self.rates.lobbies * self.rates.games
        while self.ended_count < wanted or self._backend is None:
            if self.scheduler.now > 1000.0 + self.time_limit_s or not self.scheduler.run_next():
                self.violations.append(f"{self.ended_count} of {wanted} matches ended")
                break
        self._over = True
        end = self.scheduler.now + 1
        while self._backend is not None and self.scheduler.now < end and self.scheduler.run_next():
            pass

    # --- judgement ---

    def backends(self) -> Iterable[Backend]:
        """Return the backends of all running servers."""
        return () if self._backend is None else (self._backend,)

    def check_lobbies(self) -> None:
        """Compare what the servers store about their lobbies with the states of these."""
        for backend in self.backends():
            self._check_registry(backend.directory.registry)

    def _check_registry(self, registry: Registry) -> None:
        self.violations += (
            f"the line of lobby {lobby.key} is out of date"
            for lobby in registry.lobbies.values()
            if lobby.brief != lobby_brief(lobby.shown)
        )

    def _check(self) -> None:
        self.check_lobbies()
        logs = {match: self._stored_lines(match) for match in self.seats}
        entries = {match: list(map(read_entry, lines[1:])) for match, lines in logs.items()}
        self.violations += audit(entries, self.seats, self.history)
        for match, lines in logs.items():
            self.violations += (
                f"match {match}: {wrong}" for wrong in self._check_match(match, lines)
            )

    def was_told(self, match: str, result: Result | None) -> bool:
        """Return whether clients received the result in the log."""
        told = self.ended.get(match)
        return told is not None and told.result == result

    def _stored_lines(self, match: str) -> list[bytes]:
        rows = self._store._writer.db.execute(
            "SELECT stream.number, head, footer FROM stream WHERE key = ?", (match,)
        ).fetchall()
        [(number, head, footer)] = rows
        if footer is None:
            self.violations.append(f"match {match} is not closed on disk")
        parts = self._store._writer.db.execute(
            "SELECT lines FROM stretch WHERE stream = ? ORDER BY first", (number,)
        ).fetchall()
        lines = [bytes(head), *(line for (text,) in parts for line in bytes(text).split(b"\n"))]
        seen = len(lines) - 1
        for (text,) in self._store._writer.db.execute("SELECT lines FROM journal ORDER BY batch"):
            for row in filter(None, bytes(text).split(b"\n")):
                stream, seq, _, line = row.split(b" ", 3)
                if int(stream) == number and int(seq) == seen + 1:
                    lines.append(line)
                    seen += 1
        return lines

    def _check_match(self, match: str, lines: list[bytes]) -> Iterator[str]:
        """Replay the log and compare it with the shown events and the result."""
        replayed = restore(self.game, lines)
        if replayed.result is not None and replayed.result.cause is Cause.INFRASTRUCTURE:
            yield f"it was aborted: {replayed.result}"
        if not self.was_told(match, replayed.result):
            yield f"{self.ended.get(match)} was told, the log leads to {replayed.result}"
        yield from _clock_errors(replayed.setup.time_control, lines[1:], replayed.clocks or ())
        setup = read_setup(lines[0])
        views: dict[tuple[Viewer, WantedViews], Mapping[int, bytes]] = {}
        for player, wanted, event in self.shown:
            if event.match != match:
                continue
            seats = self.seats[match]
            viewer = seats.index(player) if player in seats else PUBLIC
            known = views.get((viewer, wanted))
            if known is None:
                sights = replay(self.game, setup, map(read_entry, lines[1:]))
                known = {s.entry.seq: encode(s.event(viewer, wanted)) for s in sights}
                views[viewer, wanted] = known
            if known.get(event.entry.seq) != encode(event):
                yield f"viewer {viewer} was shown {event!r}, which the log does not show"


def _clock_errors(
    control: TimeControl, lines: Sequence[bytes], clocks: Sequence[Any]
) -> Iterator[str]:
    """Yield an error for each seat whose remaining time does not match its charges."""
    if not control.main_ms:
        return
    entries: list[Entry] = list(map(read_entry, lines))
    for seat, clock in enumerate(clocks):
        left = control.main_ms
        for entry in entries:
            if isinstance(entry, Moved) and entry.seat == seat:
                left += control.increment_ms - max(0, entry.elapsed_ms - entry.allowance_ms)
        if clock.main_ms != left:
            yield f"seat {seat} has {clock.main_ms} ms left, its moves leave it {left} ms"


def build_server(
    loop: VirtualLoop,
    game: Game,
    store: Store,
    clock: Callable[[], int],
    spawn: Callable[[Callable[[], Awaitable[None]]], None],
    *,
    lag: Callable[[], int] = int,
) -> tuple[Backend, PeerContext]:
    """Build a server like the real one, without a listener and without starting it."""
    tariff = RateLimits(socket=UNLIMITED, account=UNLIMITED, address=UNLIMITED)
    door = Connections(loop.loop, tariff, Quotas(lobbies=1000))
    figures = Metrics()
    backend = Backend(
        loop=loop.loop,
        clock=clock,
        lag=lag,
        store=store,
        games={game.info.name: game},
        launcher=None,
        url="ws://nowhere",
        metrics=figures,
        name="simulated",
        guests="anyone",
        connections=door,
        spawn=spawn,
    )
    turns = TurnBudget(loop.loop)
    port = PeerContext(
        loop=loop.loop,
        clock=clock,
        handler=backend.handlers,
        registry=door,
        pages=cast(http.PageSource, None),
        metrics=figures,
        batcher=WriteBatcher(loop.loop),
        timeouts=Timeouts(loop.loop, TimeoutConfig(sweep_s=0.5), turns),
        turns=turns,
        rate_limits=tariff,
        send_limits=SendLimits(),
        spawn=spawn,
    )
    return backend, port


def make_template(directory: Path) -> Path:
    """Write an empty database as a template, since copying is faster than creating."""
    path = directory / "template.db"
    path.write_bytes(_empty_database())
    return path


@cache
def _empty_database() -> bytes:
    """Return the file of an empty database."""

    async def make(path: Path) -> None:
        await SQLiteStore(path, asyncio.get_running_loop()).close()

    with TemporaryDirectory() as directory:
        path = Path(directory) / "empty.db"
        asyncio.run(make(path))
        return path.read_bytes()


def simulate(
    seed: int,
    game: Game,
    directory: Path,
    rates: FaultRates | None = None,
    disk: type[SimulatedStore] = SimulatedStore,
) -> Simulation:
    """Run one simulation in `directory`, which has a `template`."""
    simulation = Simulation(seed, game, directory, rates or FaultRates(), disk)
    path = directory / f"{seed}.db"
    shutil.copy(directory / "template.db", path)
    try:
        return simulation.run()
    finally:
        for left in directory.glob(f"{seed}.db*"):
            left.unlink()
