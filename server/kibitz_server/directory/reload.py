"""Matches and lobbies whose log could not be written are loaded again from the disk.

All that were lost together are read in one pass, in a reader's thread; then they are taken up
one by one, and the event loop does other things between two of them. Until then the former
runner stays where it is found and keeps what is asked of it (`storage/pending.py`). As long as the
disk cannot even be read it is tried again.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable
from typing import Protocol

from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match.runner import MatchRunner
from kibitz_server.storage.errors import NotStored, StoreError
from kibitz_server.storage.interface import Store
from kibitz_server.storage.streams import Stored

LOG = logging.getLogger("kibitz.reloads")
RETRY_PAUSE_S = 1.0
"""Seconds between two attempts: a disk that cannot be read is not hammered."""


class ReloadContext(Protocol):
    """What is needed of the directory."""

    loop: AbstractEventLoop
    store: Store
    spawn: Callable[[Callable[[], Awaitable[None]]], None]

    @property
    def draining(self) -> bool: ...

    def is_current(self, former: MatchRunner | LobbyRunner) -> bool:
        """Whether a runner is still that of its match or lobby, and of this server."""

    def match_reloaded(self, former: MatchRunner, stored: Stored) -> None:
        """Put another runner in the place of one that was lost."""

    def match_unreadable(self, former: MatchRunner, error: StoreError) -> None:
        """Give up a match: the disk has nothing of it, or nothing that can be read."""

    def lobby_reloaded(self, former: LobbyRunner, stored: Stored) -> None:
        """Put another runner in the place of one that was lost."""

    def lobby_unreadable(self, former: LobbyRunner, error: StoreError) -> None:
        """Give up a lobby: the disk has nothing of it, or nothing that can be read."""


class LogReloader:
    """The matches and lobbies that are to be loaded again."""

    def __init__(self, directory: ReloadContext) -> None:
        self._directory = directory
        self._lost: dict[str, MatchRunner | LobbyRunner] = {}
        self._not_before = 0.0
        self._running = False

    def add(self, lost: MatchRunner | LobbyRunner) -> None:
        """Load a match or a lobby again, together with what else is lost in this turn."""
        self._lost[lost.key] = lost
        if not self._running:
            self._running = True
            loop = self._directory.loop
            loop.call_later(max(0.0, self._not_before - loop.time()), self._begin)

    def _begin(self) -> None:
        if self._directory.draining:
            return  # the next start takes them up, and the store may be closed by now
        self._directory.spawn(self._run)

    async def _run(self) -> None:
        self._not_before = self._directory.loop.time() + RETRY_PAUSE_S
        lost, self._lost = self._lost, {}
        try:
            await self._reload(lost)
        finally:
            self._running = False
            if self._lost and not self._directory.draining:
                self.add(next(iter(self._lost.values())))

    async def _reload(self, lost: dict[str, MatchRunner | LobbyRunner]) -> None:
        try:
            found = await self._directory.store.reload(list(lost))
        except StoreError as error:
            LOG.error("%s; %d matches and lobbies wait for it", error, len(lost))
            self._lost = lost | self._lost
            return
        # Tables first: a lobby that comes back asks which of its matches are there.
        for former in sorted(lost.values(), key=lambda each: isinstance(each, LobbyRunner)):
            self._reinstate(former, found[former.key])
            await asyncio.sleep(0)

    def _reinstate(self, former: MatchRunner | LobbyRunner, stored: Stored | StoreError) -> None:
        directory = self._directory
        if directory.draining or not directory.is_current(former):
            return  # it may be another node's by now
        try:
            if isinstance(stored, StoreError):
                raise stored
            if isinstance(former, MatchRunner):
                directory.match_reloaded(former, stored)
            else:
                directory.lobby_reloaded(former, stored)
        except Exception as error:
            if not isinstance(error, NotStored):
                unforeseen = not isinstance(error, StoreError | ValueError)
                LOG.error("%s cannot be taken up again", former.key, exc_info=unforeseen)
            gone = error if isinstance(error, StoreError) else StoreError(str(error))
            if isinstance(former, MatchRunner):
                directory.match_unreadable(former, gone)
            else:
                directory.lobby_unreadable(former, gone)
