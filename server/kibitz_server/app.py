"""A whole server: the one place where everything is constructed, and taken down again.

    async with running(Config(db=path), games) as server:
        ...                                 # server.url, server.port, await server.drain()

Two of them in one process have nothing in common but the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

from kibitz_games.api import Game
from kibitz_server.access import Access, access
from kibitz_server.accounts import Guests
from kibitz_server.bouncer import Bouncer
from kibitz_server.counter import Counter
from kibitz_server.credits import Rate, Tariff
from kibitz_server.database import StoreError, faults
from kibitz_server.door import Door, Quotas
from kibitz_server.downloads import PIECE_BYTES, DownloadLimits, Downloads
from kibitz_server.hall import Hall
from kibitz_server.house import House, Staff
from kibitz_server.metrics import Figures
from kibitz_server.outbox import Allowance, Cork
from kibitz_server.peer import Peer, Port
from kibitz_server.record import Export
from kibitz_server.retention import Keeping, Retention
from kibitz_server.server_clock import ServerClock
from kibitz_server.store import Closed, Store
from kibitz_server.sweep import Patience, Sweep

LOG = logging.getLogger("kibitz.app")
_T = TypeVar("_T")
BACKLOG = 1024
SEND_BUFFER = 128 * 1024
"""Bytes that the kernel keeps for a peer that does not read."""
USER_TIMEOUT_MS = 15_000
"""Milliseconds after which Linux gives up a peer that acknowledges nothing."""
YOUNG_OBJECTS = 20_000
"""New objects between two collections of garbage: a move makes some dozens and no cycles."""
LAST_S = 20.0
"""Seconds beyond `drain_s` after which a process that should have ended is ended."""
UNLIMITED = Rate(1e9, 1e9)
BOUNDLESS = Quotas(**{limit.name: 10**9 for limit in fields(Quotas)})
BOUNDLESS_DOWNLOADS = DownloadLimits(at_once=10**9, an_address=10**9, held_bytes=10**12)


@dataclass(frozen=True, kw_only=True)
class Config:
    """All that can be chosen about a server."""

    db: Path
    """The database file; it is made where there is none."""
    host: str = "127.0.0.1"
    """The address to listen on."""
    port: int = 0
    """The port to listen on; 0 for a free one."""
    name: str = "kibitz"
    """What the server calls itself."""
    guests: Guests = "loopback"
    """Who may come without a token: those on the same machine, anyone, or nobody."""
    origins: tuple[str, ...] = ()
    """Origins whose pages browsers may connect from, such as ``https://example.org``."""
    hosts: tuple[str, ...] = ()
    """Names that the server is known by, besides addresses, ``localhost`` and the machine's own
    name; ``*`` for any."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies that say truly where a connection comes from."""
    notes: bool = False
    """Whether downloaded records hold what bots noted for themselves, such as tracebacks."""
    unlimited: bool = False
    """Whether credits and quotas are off, for tests and measurements."""
    tariff: Tariff = field(default_factory=Tariff)
    """Credits: what requests cost, and how fast one earns them."""
    quotas: Quotas = field(default_factory=Quotas)
    """How many connections and lobbies there may be."""
    downloads: DownloadLimits = field(default_factory=DownloadLimits)
    """How much of the server downloads of records may take."""
    patience: Patience = field(default_factory=Patience)
    """How long peers may take for what is due from them."""
    allowance: Allowance = field(default_factory=Allowance)
    """How much may wait for a slow peer."""
    keeping: Keeping = field(default_factory=Keeping)
    """How long closed matches and lobbies, and guests who are away, are kept."""
    drain_s: float = 10
    """How long peers may take to leave when the server goes down, before they are aborted."""

    def __post_init__(self) -> None:
        _access(self)


class Server:
    """A running server. Made by `running` only."""

    def __init__(
        self,
        config: Config,
        hall: Hall,
        listener: asyncio.Server,
        sweep: Sweep,
        clock: ServerClock,
        bouncer: Bouncer,
        crew: Crew,
        store: Store,
        port: int,
    ) -> None:
        self.config = config
        self.port = port
        """The port that it listens on."""
        self.hall = hall
        self._listener = listener
        self._sweep = sweep
        self._clock = clock
        self._bouncer = bouncer
        self._crew = crew
        self._store = store
        self.failure: StoreError | None = None
        """Why the server goes down by itself: its database was taken over by another one."""
        self.failed = asyncio.Event()
        self._draining: asyncio.Task[None] | None = None
        store.on_failure = self._fail
        if store.failure is not None:
            self._fail(store.failure)

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"ws://{_reachable(self.config.host)}:{self.port}"

    @property
    def http_url(self) -> str:
        """Where the plain pages are."""
        return f"http://{_reachable(self.config.host)}:{self.port}"

    async def drain(self) -> None:
        """Take the server down: nothing new, a farewell to everybody, matches suspended.

        What was accepted is on the disk when this returns, and the next start takes up every
        match. It takes at most `drain_s` and a few seconds, whatever state disk and peers are in.
        """
        if self._draining is None:
            self._draining = asyncio.ensure_future(self._drain())
        await asyncio.shield(self._draining)

    def _fail(self, error: StoreError) -> None:
        """Go down at once: nothing that is done from now on would be on the disk."""
        LOG.critical("%s; the server goes down", error)
        self.failure = error
        self.hall.stop()
        self.failed.set()
        if self._draining is None:
            self._draining = asyncio.ensure_future(self._drain())

    async def _drain(self) -> None:
        self._listener.close()
        self.hall.stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._store.flush(), self.config.drain_s / 3)
        self.hall.farewell()
        self.hall.staff.close()
        await self._see_off()
        self._sweep.stop()
        self._clock.stop()
        self._bouncer.stop()
        await self._crew.close()
        await self._store.close(self.config.drain_s / 2)

    async def _see_off(self) -> None:
        """Wait until everybody has left, and abort who has not."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.hall.door.empty(), self.config.drain_s)
        for peer in list(self.hall.door.peers):
            peer.abort()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.hall.door.empty(), 1)


class Pages:
    """What the plain pages of a server say (`http.Site`)."""

    def __init__(self, hall: Hall, figures: Figures, store: Store, *, notes: bool) -> None:
        self._notes = notes
        self._hall = hall
        self._figures = figures
        self._store = store

    def ready(self) -> bool:
        return self._hall.ready()

    def figures(self) -> bytes:
        return self._figures.page()

    async def record(self, match: str) -> AsyncIterator[bytes] | None:
        """Return the record of a finished match, piece by piece; a damaged one is set aside.

        Where the damage is not in the first piece, the rest is not sent.
        """
        try:
            closed = self._store.closed(match)
            if closed is None or closed.footer is None:
                return None
            first = await self._lines(closed, 1)
        except StoreError as error:
            self._hall.quarantine.add("match", match, error)
            return None
        return self._pieces(match, closed, first)

    async def _lines(self, closed: Closed, first: int) -> list[bytes]:
        lines = await self._store.piece(closed.number, first, PIECE_BYTES)
        if not lines and first <= closed.tail:
            raise StoreError(f"entries from {first} on are missing")
        return lines

    async def _pieces(self, match: str, closed: Closed, lines: list[bytes]) -> AsyncIterator[bytes]:
        export = Export(closed.head, notes=self._notes)
        yield export.head
        seq = 0
        while lines:
            seq += len(lines)
            yield export.entries(lines)
            try:
                lines = await self._lines(closed, seq + 1)
            except StoreError as error:
                self._hall.quarantine.add("match", match, error)
                raise
        footer = closed.footer or b""
        yield footer + b"\n" if self._notes else export.end(footer)


class Crew:
    """The few tasks of a server: house bots and what comes from the disk."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(_guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, patience_s: float = 2.0) -> None:
        """Cancel what still runs, and wait for it a while."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=patience_s)


async def _guarded(work: Awaitable[None]) -> None:
    try:
        await work
    except Exception:
        LOG.exception("a task of the server failed")


@asynccontextmanager
async def running(
    config: Config, games: Mapping[str, Game], house: House | None = None
) -> AsyncIterator[Server]:
    """Run a server until the block is left; then it is drained.

    Raises `StoreError` where the database cannot be used, `OSError` where the port cannot.
    """
    server = await _start(config, games, house)
    try:
        yield server
    finally:
        await server.drain()


async def _start(config: Config, games: Mapping[str, Game], house: House | None) -> Server:
    loop = asyncio.get_running_loop()
    sock = _listen(config.host, config.port)
    port: int = sock.getsockname()[1]
    figures = Figures()
    try:
        store = Store(config.db, loop, observe=figures.committed)
    except BaseException:
        sock.close()
        raise
    crew = Crew()
    tariff = _tariff(config)
    door = Door(loop, tariff, BOUNDLESS if config.unlimited else config.quotas)
    clock = ServerClock(loop)
    sweep = Sweep(loop, config.patience, figures.lagged, clock.seconds)
    url = f"ws://{_reachable(config.host)}:{port}"
    hall = Hall(
        loop=loop,
        clock=clock.milliseconds,
        lag=clock.lag_ms,
        store=store,
        games=games,
        staff=Staff(house, crew.spawn, lambda: url),
        figures=figures,
        name=f"{config.name} {_version()}",
        guests=config.guests,
        door=door,
        spawn=crew.spawn,
    )
    figures.gauges = hall.gauges
    shared = Port(
        loop=loop,
        clock=clock.milliseconds,
        desk=Counter(hall, door),
        site=Pages(hall, figures, store, notes=config.notes),
        figures=figures,
        cork=Cork(loop),
        sweep=sweep,
        tariff=tariff,
        allowance=config.allowance,
        access=_access(config),
        downloads=Downloads(BOUNDLESS_DOWNLOADS if config.unlimited else config.downloads),
        spawn=crew.spawn,
    )
    try:
        hall.restore()
        listener = await loop.create_server(lambda: Peer(shared), sock=sock, backlog=BACKLOG)
    except BaseException:
        sock.close()
        await store.close()
        raise
    clock.start()
    sweep.start()
    bouncer = Bouncer(loop, lambda: door.peers, hall.accounts)
    bouncer.start()
    retention = Retention(store, config.keeping, busy=hall.is_busy, forgotten=hall.forget_finished)
    crew.spawn(retention.run())
    return Server(config, hall, listener, sweep, clock, bouncer, crew, store, port)


def _listen(host: str, port: int) -> socket.socket:
    """Bind the port; what is set here is inherited by every connection (on Linux)."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT_MS)
        sock.bind((host, port))
    except BaseException:
        sock.close()
        raise
    return sock


def _tariff(config: Config) -> Tariff:
    if not config.unlimited:
        return config.tariff
    return Tariff(socket=UNLIMITED, account=UNLIMITED, address=UNLIMITED)


def _access(config: Config) -> Access:
    """Return whom the server listens to; raises `ValueError`."""
    return access(
        host=config.host,
        names=config.hosts,
        origins=config.origins,
        proxies=config.proxies,
        machine=socket.gethostname(),
    )


def _reachable(host: str) -> str:
    """Return the address that a client on this machine uses for a listening address."""
    if host in {"", "0.0.0.0", "::"}:
        return "127.0.0.1" if host != "::" else "[::1]"
    return f"[{host}]" if ":" in host else host


def _version() -> str:
    try:
        return version("kibitz")
    except PackageNotFoundError:
        return "unknown"


# --- the command's side -----------------------------------------------------------------------


def run(
    config: Config,
    games: Mapping[str, Game],
    house: House | None = None,
    *,
    started: Callable[[Server], None] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then drain. `started` is told of the running server.

    The process ends in any case: also where a disk does not answer, and a thread waits for it.
    Raises `StoreError` where the database cannot be used, or was taken over by another server.
    """
    for fault in faults(sqlite3.sqlite_version_info):
        LOG.warning("%s", fault)
    with_loop(_serve(config, games, house, started))


def with_loop(main: Coroutine[None, None, _T]) -> _T:
    """Run a coroutine on uvloop where there is one, else on asyncio's own loop."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    result: _T = uvloop.run(main)
    return result


async def _serve(
    config: Config,
    games: Mapping[str, Game],
    house: House | None,
    started: Callable[[Server], None] | None,
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # The writer's thread asks for the interpreter once a commit, and should not wait long.
    sys.setswitchinterval(0.001)
    async with running(config, games, house) as server:
        # What the start has made stays for good: do not walk over it in every collection.
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS)
        if started is not None:
            started(server)
        await _first(stop, server.failed)
        _end_later(config.drain_s + LAST_S)
        LOG.info("draining")
    if server.failure is not None:
        raise server.failure


async def _first(*events: asyncio.Event) -> None:
    """Wait until one of the events is set."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def _end_later(seconds: float) -> None:
    """End the process after a while, whatever its threads wait for; most end long before."""

    def end() -> None:
        LOG.critical("the server did not end within %.0f s; it is ended", seconds)
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
