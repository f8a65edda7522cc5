"""Builds a server, and shuts it down."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

from kibitz_games.core.game import Game
from kibitz_server.app.backend import Backend
from kibitz_server.app.config import Config
from kibitz_server.app.task_set import TaskSet
from kibitz_server.directory.analyses import (
    Analyses,
    AnalysisCommand,
    AnalysisLimits,
    AnalysisProcesses,
)
from kibitz_server.directory.hints import Hints
from kibitz_server.directory.rules import CompileCommand, Rules
from kibitz_server.handlers.pages import RecordPages
from kibitz_server.housebots.catalog import BotLauncher
from kibitz_server.maintenance.retention import Retention
from kibitz_server.metrics import Metrics
from kibitz_server.net.connection import Connection
from kibitz_server.net.connections import Connections
from kibitz_server.net.downloads import Downloads
from kibitz_server.net.http import PageSource
from kibitz_server.net.loop_clock import ServerClock
from kibitz_server.net.peer import PeerContext
from kibitz_server.net.send_queue import WriteBatcher
from kibitz_server.net.site import Site
from kibitz_server.net.timeouts import Timeouts
from kibitz_server.net.token_watch import CHECK_INTERVAL_S, SHARED_INTERVAL_S, watch_tokens
from kibitz_server.net.turn_budget import TurnBudget
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.opening import open_store

LOG = logging.getLogger("kibitz.app")
HINT_MS = 500
"""The thinking time for a hint."""
LISTEN_BACKLOG = 1024
SEND_BUFFER = 128 * 1024
"""Bytes of output that the kernel buffers for a peer that does not read."""
RECEIVE_BUFFER = 64 * 1024
"""Bytes of a peer's input that the kernel buffers, which also limits the size of a read."""
USER_TIMEOUT_MS = 15_000
"""Milliseconds after which Linux drops a peer that acknowledges nothing."""


class Server:
    """A running server, created only by `running`."""

    def __init__(
        self,
        config: Config,
        backend: Backend,
        listener: asyncio.Server,
        timeouts: Timeouts,
        clock: ServerClock,
        tasks: TaskSet,
        port: int,
    ) -> None:
        self.config = config
        self.port = port
        """The port that it listens on."""
        self.backend = backend
        self._listener = listener
        self._timeouts = timeouts
        self._clock = clock
        self._tasks = tasks
        self.failure: StoreError | None = None
        """The error that made the server shut down: another server has taken over its database."""
        self.failed = asyncio.Event()
        self._draining: asyncio.Task[None] | None = None
        backend.store.on_failure = self._fail
        if backend.store.failure is not None:
            self._fail(backend.store.failure)

    @property
    def url(self) -> str:
        """The URL for clients."""
        return self.config.url("ws", self.port)

    @property
    def http_url(self) -> str:
        """The URL of the plain pages."""
        return self.config.url("http", self.port)

    async def drain(self) -> None:
        """Shut down the server: refuse new requests, notify all peers, suspend matches.

        When this returns, accepted input is on disk, and the next start resumes every match. It
        takes at most `drain_s` plus a few seconds, even if the disk or peers do not respond.
        """
        if self._draining is None:
            self._draining = asyncio.ensure_future(self._drain())
        await asyncio.shield(self._draining)

    def _fail(self, error: StoreError) -> None:
        """Shut down at once, because nothing can be written to disk any more."""
        LOG.critical("%s; shutting down", error)
        self.failure = error
        self.backend.stop()
        self.failed.set()
        if self._draining is None:
            self._draining = asyncio.ensure_future(self._drain())

    async def _drain(self) -> None:
        self._listener.close()
        self.backend.stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.backend.store.flush(), self.config.drain_s / 3)
        await self._leave()
        self.backend.send_farewell()
        self.backend.house_bots.close()
        await self._wait_disconnected()
        self._timeouts.stop()
        self._clock.stop()
        await self._tasks.close()
        await self.backend.store.close(self.config.drain_s / 2)

    async def _leave(self) -> None:
        """Let other nodes take over the lobbies, because this one has finished writing."""
        if self.backend.store.nodes is None or self.failure is not None:
            return
        try:
            await self.backend.store.nodes.leave()
        except StoreError as error:
            LOG.warning("cannot tell the other nodes that this one is leaving: %s", error)

    async def _wait_disconnected(self) -> None:
        """Wait until all peers have disconnected; abort those that do not in time."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.backend.connections.wait_closed(), self.config.drain_s)
        for peer in list(self.backend.connections.peers):
            peer.abort()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.backend.connections.wait_closed(), 1)


@asynccontextmanager
async def running(
    config: Config,
    games: Mapping[str, Game],
    launcher: BotLauncher | None = None,
    site: Site | None = None,
    compile_command: CompileCommand | None = None,
    rules_loaded: Callable[[], object] = int,
    analysis_command: AnalysisCommand | None = None,
) -> AsyncIterator[Server]:
    """Run a server until the block exits, then drain it.

    `site` is served on its port. `compile_command` starts the compilation of a game's rules in
    another process; without it, a thread compiles them. `rules_loaded` is called whenever a game's
    rules were loaded. `analysis_command` starts the analysis of a match; without it, there are no
    analyses. Raises `StoreError` if the database cannot be used, and `OSError` if the port cannot
    be used.
    """
    tasks = TaskSet()
    rules = Rules(games, tasks.spawn, compile_command, rules_loaded)
    server = await _start(config, games, launcher, site, tasks, rules, analysis_command)
    try:
        yield server
    finally:
        await server.drain()


async def _start(
    config: Config,
    games: Mapping[str, Game],
    launcher: BotLauncher | None,
    site: Site | None,
    tasks: TaskSet,
    rules: Rules,
    analysis_command: AnalysisCommand | None,
) -> Server:
    loop = asyncio.get_running_loop()
    sock = _listen(config.host, config.port)
    port: int = sock.getsockname()[1]
    metrics = Metrics()
    try:
        store = open_store(config.db, loop, observe=metrics.committed, node=config.identity())
    except BaseException:
        sock.close()
        raise
    clock = ServerClock(loop)
    turns = TurnBudget(loop)
    timeouts = Timeouts(loop, config.patience, turns, metrics.loop_lag.observe, clock.seconds)
    url = config.url("ws", port)
    backend = Backend(
        loop=loop,
        clock=clock.milliseconds,
        lag=clock.lag_ms,
        store=store,
        games=games,
        launcher=launcher,
        url=url,
        metrics=metrics,
        name=f"{config.name} {_version()}",
        guests=config.guests,
        organizer=config.organizer,
        connections=Connections(
            loop, config.rate_limits(), config.quota(), config.guest_networks()
        ),
        spawn=tasks.spawn,
        rules=rules,
        operators=config.operators,
    )
    backend.accounts.public_boards = config.public_boards
    metrics.gauges = backend.gauges
    records = _record_pages(config, backend, tasks, url, analysis_command)
    context = _peer_context(config, backend, metrics, timeouts, turns, site, records, clock, tasks)
    try:
        await backend.restore_when_loaded()
        listener = await loop.create_server(
            lambda: Connection(context), sock=sock, backlog=LISTEN_BACKLOG
        )
    except BaseException:
        sock.close()
        await tasks.close()
        await store.close()
        raise
    clock.start()
    timeouts.start()
    _begin_upkeep(config, backend, tasks)
    return Server(config, backend, listener, timeouts, clock, tasks, port)


def _record_pages(
    config: Config,
    backend: Backend,
    tasks: TaskSet,
    url: str,
    analysis_command: AnalysisCommand | None,
) -> RecordPages:
    store, quarantine = backend.store, backend.directory.quarantine
    if analysis_command is None:
        return RecordPages(store, quarantine, notes=config.notes)
    hints = Hints(backend.registry.matches)
    moves = AnalysisProcesses(analysis_command, url, position=hints.position)
    return RecordPages(
        store,
        quarantine,
        notes=config.notes,
        analyses=Analyses(AnalysisProcesses(analysis_command, url), tasks.spawn),
        hints=(hints, Analyses(moves, tasks.spawn, AnalysisLimits(turn_ms=HINT_MS))),
    )


def _peer_context(
    config: Config,
    backend: Backend,
    metrics: Metrics,
    timeouts: Timeouts,
    turns: TurnBudget,
    site: Site | None,
    records: RecordPages,
    clock: ServerClock,
    tasks: TaskSet,
) -> PeerContext:
    """Return the state shared by the server's connections."""
    loop, connections = asyncio.get_running_loop(), backend.connections
    return PeerContext(
        loop=loop,
        clock=clock.milliseconds,
        handler=backend.handlers,
        registry=connections,
        pages=PageSource(
            backend.ready, metrics.page, records.record, records.analysis, records.hint
        ),
        site=site,
        metrics=metrics,
        batcher=WriteBatcher(loop),
        timeouts=timeouts,
        turns=turns,
        rate_limits=connections.rate_limits,
        send_limits=config.allowance,
        servers=lambda: backend.directory.others.urls,
        access=config.access_policy(),
        downloads=Downloads(config.download_limits()),
        guest_networks=connections.guest_networks,
        spawn=tasks.spawn,
    )


def _begin_upkeep(config: Config, backend: Backend, tasks: TaskSet) -> None:
    """Start the background tasks, which run until the server shuts down."""
    retention = Retention(
        backend.store.expiry,
        config.keeping,
        is_busy=backend.is_busy,
        on_deleted=backend.registry.forget_matches,
    )
    tasks.spawn(retention.run)
    every_s = CHECK_INTERVAL_S if backend.store.nodes is None else SHARED_INTERVAL_S
    connections, accounts = backend.connections, backend.accounts
    tasks.spawn(lambda: watch_tokens(lambda: connections.peers, accounts, every_s))
    tasks.spawn(backend.rules.compile_all)
    if backend.failover is not None:
        tasks.spawn(backend.failover.run)


def _listen(host: str, port: int) -> socket.socket:
    """Bind the port; on Linux every connection inherits the options set here."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT_MS)
        sock.bind((host, port))
    except BaseException:
        sock.close()
        raise
    return sock


def _version() -> str:
    try:
        return version("kibitz")
    except PackageNotFoundError:
        return "unknown"
