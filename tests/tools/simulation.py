"""A server, its disk and its clients in one thread on virtual time: a run is one integer.

Everything above the sockets is the real thing: `Hall`, tables, rooms, `Peer` with its frames,
`Store` with its SQLite file, and on the other side the clients' `Session`. What stands between
and below them is simulated, from one random source:

    Session --frames--> Link --late, cut, reset, half-open--> Peer -- Hall -- Store --late--> disk
                                                              `--- killed, started again ---'

A commit takes its time, and a crash may come before it, or after it and before anybody was told;
it may fail, report a failure and have happened, or fail for so long that the batch is given up and
its matches are loaded again. The journal is small, so that it is compacted all the time. Clients
are impatient: they send a move twice, play for others, come a second time with the same secret,
stop reading, leave.

When all matches have ended, `faults` names what is wrong: contradictions of the auditor, holes
in what any connection was told, events that the fold of the log does not show, clocks whose sums
do not add up, matches that did not end. `trace` is a hash over all that was said, and when.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast
from unittest.mock import patch

from kibitz_games.api import Game
from kibitz_protocol.audit import Observation, audit
from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.codec import encode
from kibitz_protocol.messages import (
    Event,
    Finished,
)
from kibitz_protocol.records import Cause, Entry, Moved
from kibitz_protocol.session import (
    State,
)
from kibitz_server import accounts, hall, http, journal
from kibitz_server.counter import Counter
from kibitz_server.credits import Rate, Tariff
from kibitz_server.database import StoreError
from kibitz_server.door import Door, Quotas
from kibitz_server.hall import Hall
from kibitz_server.house import Staff
from kibitz_server.match import Match
from kibitz_server.metrics import Figures
from kibitz_server.outbox import Allowance, Cork
from kibitz_server.peer import Peer, Port
from kibitz_server.record import fold, read_entry, read_setup
from kibitz_server.store import JOURNAL_BYTES, Store
from kibitz_server.sweep import Patience as Sweeping
from kibitz_server.sweep import Sweep
from kibitz_server.view import PUBLIC, Viewer
from tests.tools.actors import Actor, Meeting, Seated, Watcher
from tests.tools.agenda import Agenda, Loop

UNLIMITED = Rate(1e9, 1e9)
STORMY_S = 20.0
"""Until when things go wrong; from then on everything may come to its end."""
LONGEST_S = 900.0
PLAYED = "2030-01-02T03:04:05.000+00:00"


@dataclass(frozen=True, kw_only=True)
class Climate:
    """How a world goes wrong; each is a number a second, or a share from 0 to 1."""

    lobbies: int = 2
    games: int = 2
    crashes: float = 0.25
    resets: float = 0.25
    """Of each connection."""
    second_sockets: float = 0.05
    """Of each player."""
    pauses: float = 0.2
    """Of each spectator: it does not read for a while."""
    twice: float = 0.2
    """Share of moves that are sent twice."""
    wrong: float = 0.15
    """Share of turns at which something is sent that has to be refused."""
    commit_fails: float = 0.03
    """Share of commits that report an error, half of which have happened."""
    outages: float = 0.06
    """How often the disk is full, for longer than the store goes on trying."""
    journal_bytes: int = 5_000
    """How heavy the journal may be: a few dozen batches, so that a short run compacts it."""


# --- the disk -----------------------------------------------------------------------------------


class Disk(Store):
    """The real store, whose COMMIT takes virtual time and can fail."""

    def __init__(
        self, path: Path, loop: Loop, world: World, journal_bytes: int = JOURNAL_BYTES
    ) -> None:
        super().__init__(path, loop.loop, journal_bytes=journal_bytes)
        self._commits.put(None)
        self._thread.join()
        self._db.execute("PRAGMA synchronous = OFF")
        self._world = world
        self._life = loop
        self._commits = cast(Any, self)

    def put(self, batch: Any) -> None:
        """Take a batch; the writer's thread would wait for it."""
        self._life.call_later(self._world.delay(0.02), self._write_now, batch)

    def _write_now(self, batch: Any) -> None:
        error: sqlite3.Error | None = None
        chance = self._world.chance.random() / (self._world.climate.commit_fails or 1e-9)
        if self._world.stormy and chance < 1:
            error = sqlite3.OperationalError("disk I/O error")
        if self._world.agenda.now < self._world.full_until:
            error = sqlite3.OperationalError("database or disk is full")
        elif error is None or chance < 0.5:
            self._commit(batch)
        self._life.call_later(self._world.delay(0.01), self._settled, error)

    def _give_up(self, batch: Any, error: StoreError) -> None:
        self._world.losses += 1
        super()._give_up(batch, error)

    def _insert(self, batch: Any) -> None:
        super()._insert(batch)
        self._world.trims += batch.trims is not None

    def _read_journal(self, compacting: object) -> None:
        """Read at once; what was read arrives when the disk has gone on."""
        done: Future[journal.Reading] = Future()
        done.set_result(self._query(lambda db: journal.read(db, weight=self._weight)))
        self._life.call_later(self._world.delay(0.2), self._found, compacting, done)

    def crash(self) -> None:
        """Lose what was not committed; the next life opens the same file."""
        while not self._connections.empty():
            self._connections.get().close()
        self._look.close()
        self._db.close()
        self._mark.close()
        self._readers.shutdown()
        self._lock.release()


class Chances:
    """The random source of the server, in place of `secrets`."""

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


class Link(asyncio.Transport):
    """One connection: the server's transport, and the wire to the client and back."""

    def __init__(self, world: World, life: Loop, client: Actor) -> None:
        super().__init__()
        self._world = world
        self._life = life
        self._client = client
        self._arrival = {"up": 0.0, "down": 0.0}
        self.server_gone = False
        self.client_gone = False
        self.peer: Peer

    def accept(self, peer: Peer) -> None:
        self.peer = peer
        peer.connection_made(self)

    # --- the server's side: a transport ---

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 4711) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.server_gone

    def write(self, data: bytes | bytearray | memoryview) -> None:
        text = bytes(data)
        self._carry("down", lambda: self._client.heard(self, text))

    def write_eof(self) -> None:
        self._carry("down", lambda: self.end_client(None, ""))

    def close(self) -> None:
        self.write_eof()
        self.end_server(None)

    def abort(self) -> None:
        self.close()

    # --- the client's side ---

    def say(self, data: bytes) -> None:
        if self._world.chance.random() < 0.2 and len(data) > 1:
            cut = self._world.chance.randrange(1, len(data))
            self.say(data[:cut])
            data = data[cut:]
        self._carry("up", lambda: self.peer.data_received(data) if self._life.alive else None)

    # --- ends ---

    def reset(self) -> None:
        """Both sides lose the connection, each in its own time; what was on its way is lost."""
        world = self._world
        world.agenda.after(world.delay(1.0), lambda: self.end_client(None, "reset"))
        world.agenda.after(world.delay(1.0), lambda: self.end_server(ConnectionResetError()))
        self._arrival = {"up": float("inf"), "down": float("inf")}

    def end_server(self, error: Exception | None) -> None:
        if not self.server_gone:
            self.server_gone = True
            self._life.call_soon(self.peer.connection_lost, error)

    def end_client(self, code: int | None, reason: str) -> None:
        if not self.client_gone:
            self.client_gone = True
            self._client.cut_off(self, code, reason)
            self._carry("up", lambda: self.end_server(None))

    def _carry(self, way: Literal["up", "down"], deliver: Callable[[], object]) -> None:
        """Deliver in order, after a while, to a side that is still there."""
        arrival = max(self._arrival[way], self._world.agenda.now + self._world.delay(0.05))
        self._arrival[way] = arrival
        if arrival == float("inf"):
            return

        def arrive() -> None:
            gone = self.server_gone if way == "up" else self.client_gone
            if not gone and self._arrival[way] != float("inf"):
                deliver()

        self._world.agenda.at(arrival, arrive)


# --- the world ----------------------------------------------------------------------------------


@dataclass(eq=False)
class World:
    """One run, from its seed."""

    seed: int
    game: Game
    directory: Path
    climate: Climate = field(default_factory=Climate)
    disk: type[Disk] = Disk

    def __post_init__(self) -> None:
        self.agenda = Agenda()
        self.chance = random.Random(f"world {self.seed}")
        self.actors: list[Actor] = []
        self.history: list[Observation] = []
        self.shown: list[tuple[str, Event]] = []
        self.seats: dict[str, list[str]] = {}
        self.ended: dict[str, Finished] = {}
        self.secrets: dict[str, str] = {}
        self.wrongs: list[str] = []
        self.crashes = 0
        self.losses = 0
        """Batches that were given up."""
        self.trims = 0
        """Times that rows were deleted from the journal of a running server."""
        self.full_until = 0.0
        self._over = False
        self._trace = hashlib.sha256()
        self._links: list[Link] = []
        self._hall: Hall | None = None
        self._path = self.directory / f"{self.seed}.db"

    # --- what all stand on ---

    def milliseconds(self) -> int:
        return round(self.agenda.now * 1000)

    def delay(self, most: float) -> float:
        """Return a time that is mostly short."""
        return most * self.chance.random() ** 3

    @property
    def stormy(self) -> bool:
        return not self._over and self.agenda.now < 1000.0 + STORMY_S

    def said(self, actor: Actor, way: str, data: bytes) -> None:
        self._trace.update(b"%d %d %s " % (self.milliseconds(), actor.number, way.encode()))
        self._trace.update(data)

    @property
    def trace(self) -> str:
        return self._trace.hexdigest()

    def present(self, actor: Actor) -> Actor:
        """Return the newest client of the same name."""
        return [other for other in self.actors if other.name == actor.name][-1]

    # --- the server's lives ---

    def start(self) -> None:
        loop = self._loop = Loop(self.agenda)
        offset = self.chance.randrange(1 << 40)

        def clock() -> int:
            return self.milliseconds() + offset

        def spawn(work: Awaitable[None]) -> None:
            loop.spawn(work, self.delay(0.02))

        tariff = Tariff(socket=UNLIMITED, account=UNLIMITED, address=UNLIMITED)
        door = Door(loop.loop, tariff, Quotas(lobbies=1000))
        figures = Figures()
        store = self._store = self.disk(self._path, loop, self, self.climate.journal_bytes)
        self._hall = Hall(
            loop=loop.loop,
            clock=clock,
            store=store,
            games={self.game.info.name: self.game},
            staff=Staff(None, spawn, lambda: "ws://nowhere"),
            figures=figures,
            name="simulated",
            guests="anyone",
            door=door,
            spawn=spawn,
        )
        sweep = Sweep(loop.loop, Sweeping())
        self._port = Port(
            loop=loop.loop,
            clock=clock,
            desk=Counter(self._hall, door),
            site=cast(http.Site, None),
            figures=figures,
            cork=Cork(loop.loop),
            sweep=sweep,
            tariff=tariff,
            allowance=Allowance(),
            spawn=spawn,
        )
        self._hall.restore()
        sweep.start()

    def crash(self) -> None:
        """Kill the server: its memory is gone, its sockets are reset, its disk stays."""
        if self._hall is None:
            return
        self.crashes += 1
        self._loop.die()
        self._hall = None
        self._store.crash()
        for link in self._links:
            link.server_gone = True
            self.agenda.after(self.delay(0.3), partial(link.end_client, None, "reset"))
        self._links.clear()
        self.agenda.after(0.05 + self.delay(2.0), self.start)

    def connect(self, actor: Actor) -> Link | None:
        if self._hall is None:
            return None
        link = Link(self, self._loop, actor)
        self._links.append(link)
        link.accept(Peer(self._port))
        if self.stormy:
            self._once(self.climate.resets, link.reset)
        return link

    # --- the storm ---

    def _once(self, rate: float, call: Callable[[], object]) -> None:
        """Let something happen once, if it does before the storm is over."""
        if rate:
            wait = self.chance.expovariate(rate)
            self.agenda.after(wait, lambda: call() if self.stormy else None)

    def _often(self, rate: float, call: Callable[[], object]) -> None:
        def happen() -> None:
            call()
            self._once(rate, happen)

        self._once(rate, happen)

    def _second_socket(self, player: Seated) -> None:
        """Come again with the same secret; the older session ends once the seat is taken."""
        newest = self.present(player)
        if newest.session.state is State.ONLINE and self.seats:
            secret = self.secrets[player.name]
            Seated(self, player.name, player._lobby, resume=secret, life=newest.life + 1)

    def _fill_disk(self) -> None:
        self.full_until = self.agenda.now + 4.0 + self.delay(4.0)

    def _pause(self, watcher: Watcher) -> None:
        link, loop = watcher.link, self._loop
        if link is None or link.server_gone or not loop.alive:
            return
        link.peer.pause_writing()

        def resume() -> None:
            if not link.server_gone:
                link.peer.resume_writing()

        loop.call_later(self.delay(2.0), resume)

    # --- the run ---

    def run(self) -> World:
        """Run to the end and find out what is wrong; then look at `wrongs` and `trace`."""
        chances = Chances(f"secrets {self.seed}")
        with ExitStack() as stack:
            for module in (hall, accounts):
                stack.enter_context(patch.object(module, "secrets", chances))
            stack.enter_context(patch.object(hall, "_utc", lambda: PLAYED))
            self.start()
            watchers = [Watcher(self, f"w{n}") for n in range(self.climate.lobbies)]
            meetings = [Meeting(self, n, watcher) for n, watcher in enumerate(watchers)]
            self._often(self.climate.crashes, self.crash)
            self._often(self.climate.outages, self._fill_disk)
            for watcher in watchers:
                self._often(self.climate.pauses, partial(self._pause, watcher))
            for meeting in meetings:
                for player in meeting.players:
                    self._often(self.climate.second_sockets, partial(self._second_socket, player))
            self._until_over()
            self._judge()
            self._loop.die()
            self._store.crash()
        return self

    def _until_over(self) -> None:
        wanted = self.climate.lobbies * self.climate.games
        while len(self.ended) < wanted or self._hall is None:
            if self.agenda.now > 1000.0 + LONGEST_S or not self.agenda.step():
                self.wrongs.append(f"{len(self.ended)} of {wanted} matches ended")
                break
        self._over = True
        end = self.agenda.now + 1
        while self._hall is not None and self.agenda.now < end and self.agenda.step():
            pass

    # --- judgement ---

    def _judge(self) -> None:
        logs = {match: self._lines(match) for match in self.seats}
        entries = {match: list(map(read_entry, lines[1:])) for match, lines in logs.items()}
        self.wrongs += audit(entries, self.seats, self.history)
        for match, lines in logs.items():
            self.wrongs += (f"match {match}: {wrong}" for wrong in self._untrue(match, lines))

    def _lines(self, match: str) -> list[bytes]:
        rows = self._store._db.execute(
            "SELECT stream.number, head, footer FROM stream WHERE key = ?", (match,)
        ).fetchall()
        [(number, head, footer)] = rows
        if footer is None:
            self.wrongs.append(f"match {match} is not closed on the disk")
        parts = self._store._db.execute(
            "SELECT lines FROM stretch WHERE stream = ? ORDER BY first", (number,)
        ).fetchall()
        lines = [bytes(head), *(line for (text,) in parts for line in bytes(text).split(b"\n"))]
        seen = len(lines) - 1
        for (text,) in self._store._db.execute("SELECT lines FROM journal ORDER BY batch"):
            for row in filter(None, bytes(text).split(b"\n")):
                stream, seq, _, line = row.split(b" ", 3)
                if int(stream) == number and int(seq) == seen + 1:
                    lines.append(line)
                    seen += 1
        return lines

    def _untrue(self, match: str, lines: list[bytes]) -> Iterator[str]:
        """Fold the log again: what was shown and how it ended has to come out of it."""
        replayed = fold(self.game, lines)
        told = self.ended.get(match)
        if replayed.result is not None and replayed.result.cause is Cause.INFRASTRUCTURE:
            yield f"it was aborted: {replayed.result}"
        if told is None or told.result != replayed.result:
            yield f"{told} was told, the log leads to {replayed.result}"
        yield from _miscounted(replayed.setup.time_control, lines[1:], replayed.clocks or ())
        setup = read_setup(lines[0])
        views: dict[Viewer, Mapping[int, bytes]] = {}
        for player, event in self.shown:
            if event.match != match:
                continue
            seats = self.seats[match]
            viewer = seats.index(player) if player in seats else PUBLIC
            if viewer not in views:
                sights = Match.replay(self.game, setup, map(read_entry, lines[1:]))
                views[viewer] = {s.entry.seq: encode(s.event(viewer)) for s in sights}
            if views[viewer].get(event.entry.seq) != encode(event):
                yield f"viewer {viewer} was shown {event!r}, which the log does not show"


def _miscounted(
    control: TimeControl, lines: Sequence[bytes], clocks: Sequence[Any]
) -> Iterator[str]:
    """What a seat has left is what it had and was given, less what it was charged."""
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


def template(directory: Path) -> Path:
    """Make an empty database, which is copied faster than made."""
    path = directory / "template.db"

    async def make() -> None:
        await Store(path, asyncio.get_running_loop()).close()

    asyncio.run(make())
    return path


def simulate(
    seed: int,
    game: Game,
    directory: Path,
    climate: Climate | None = None,
    disk: type[Disk] = Disk,
) -> World:
    """Run one world in `directory`, which has a `template`."""
    world = World(seed, game, directory, climate or Climate(), disk)
    path = directory / f"{seed}.db"
    shutil.copy(directory / "template.db", path)
    try:
        return world.run()
    finally:
        for left in directory.glob(f"{seed}.db*"):
            left.unlink()
