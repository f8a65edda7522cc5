"""Reloads matches and lobbies from disk after their logs could not be written.

Those that failed together are read in one pass, in a reader thread. Then they are restored one by
one (`recovery`), so that the event loop can do other work in between. Until then the former runner
remains registered and refuses requests as `unavailable`. While the disk cannot be read, reading is
retried.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from kibitz_server.directory.recovery import Recovery, StoredLog
from kibitz_server.directory.registry import Registry
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.net.log_runner import LogRunner
from kibitz_server.storage.errors import StoreError, UnusableDatabase
from kibitz_server.storage.interface import Store

LOG = logging.getLogger("kibitz.reloads")
RETRY_PAUSE_S = 1.0
"""Seconds between attempts to read the disk."""
ENDING_ATTEMPTS = 2
"""The number of exceptions for which a match or lobby that is being ended is reloaded."""


class LogReloader:
    """Reloads lost matches and lobbies."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        store: Store,
        registry: Registry,
        recovery: Recovery,
    ) -> None:
        self._loop = loop
        self._spawn = spawn
        self._store = store
        self._registry = registry
        self._recovery = recovery
        self._lost: dict[str, LogRunner] = {}
        self._not_before = 0.0
        self._running = False

    def lost(self, runner: LogRunner, error: StoreError) -> None:
        """Reload a match or a lobby that has lost entries or was stopped by an exception.

        It is set aside instead if all attempts to end it after exceptions have failed. A lobby's
        new runner restarts its house bots.
        """
        kind, key = runner.stream.kind, runner.key
        if self._registry.draining or self._registry.runner(key) is not runner:
            return  # for example, its lobby belongs to another node by now
        LOG.error("%s %s is reloaded: %s", kind, key, error)
        if isinstance(runner, LobbyRunner):
            runner.bots.stop_all()
        if runner.failures > runner.MAX_FAILURES + ENDING_ATTEMPTS:
            failed = StoreError("it cannot be continued or ended, because of exceptions")
            self._recovery.restore([StoredLog(kind, key, failed)])
        else:
            self._add(runner)

    def _add(self, lost: LogRunner) -> None:
        """Reload a match or a lobby, together with all others that fail in this loop iteration."""
        self._lost[lost.key] = lost
        if not self._running:
            self._running = True
            self._loop.call_later(max(0.0, self._not_before - self._loop.time()), self._begin)

    def _begin(self) -> None:
        if self._registry.draining:
            return  # the next start loads them, and the store may already be closed
        self._spawn(self._run)

    async def _run(self) -> None:
        self._not_before = self._loop.time() + RETRY_PAUSE_S
        lost, self._lost = self._lost, {}
        try:
            await self._reload(lost)
        finally:
            self._running = False
            if self._lost and not self._registry.draining:
                self._add(next(iter(self._lost.values())))

    async def _reload(self, lost: dict[str, LogRunner]) -> None:
        try:
            stored = await self._store.reload(list(lost))
        except StoreError as error:
            LOG.error("%s; %d matches and lobbies are waiting to be reloaded", error, len(lost))
            self._lost = lost | self._lost
            return
        # Matches first, because a reloaded lobby looks up its matches.
        for former in sorted(lost.values(), key=lambda runner: runner.stream.kind, reverse=True):
            # Another node may own the lobby by now.
            if not self._registry.draining and self._registry.runner(former.key) is former:
                log = StoredLog(former.stream.kind, former.key, stored[former.key])
                try:
                    self._recovery.restore([log])
                except UnusableDatabase as error:
                    LOG.error("%s; %s is waiting to be reloaded", error, former.key)
                    current = self._registry.runner(former.key) or former
                    current.suspend()
                    self._lost[former.key] = current
                await asyncio.sleep(0)
