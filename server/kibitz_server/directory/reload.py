"""Reloads matches and lobbies from disk after their logs could not be written.

Matches and lobbies that failed together are read in one pass, in a reader thread. Then they are
loaded one by one, so that the event loop can do other work in between. Until then the former runner
remains registered and refuses requests as `unavailable`. While the disk cannot be read, reading is
retried.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from kibitz_protocol.wire.messages import LobbyClosed
from kibitz_server.directory.loading import Loader
from kibitz_server.directory.match_setup import DAMAGED_LOG, aborted_result
from kibitz_server.directory.recovery import Recovery
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.lobby.commands import BeginMatch, Connected
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match.lifecycle import take_over
from kibitz_server.match.runner import MatchContext, MatchRunner
from kibitz_server.net.connections import Connections
from kibitz_server.storage.errors import NotStored, StoreError
from kibitz_server.storage.quarantine import Quarantine
from kibitz_server.storage.streams import Stored

LOG = logging.getLogger("kibitz.reloads")
RETRY_PAUSE_S = 1.0
"""Seconds between attempts to read the disk."""


class LogReloader:
    """Reloads lost matches and lobbies."""

    def __init__(
        self,
        context: MatchContext,
        *,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        registry: Registry,
        quarantine: Quarantine,
        loader: Loader,
        recovery: Recovery,
        substitutes: Substitutes,
        connections: Connections,
        begin_match: Callable[[LobbyRunner, BeginMatch], None],
    ) -> None:
        self._context = context
        self._spawn = spawn
        self._registry = registry
        self._quarantine = quarantine
        self._loader = loader
        self._recovery = recovery
        self._substitutes = substitutes
        self._connections = connections
        self._begin_match = begin_match
        self._lost: dict[str, MatchRunner | LobbyRunner] = {}
        self._not_before = 0.0
        self._running = False

    def match_lost(self, match: MatchRunner, error: StoreError) -> None:
        """Reload a match that lost entries or is ahead of its log."""
        LOG.error("lost entries of match %s: %s", match.key, error)
        if not self._registry.draining and self._is_current(match):
            self._add(match)

    def lobby_lost(self, lobby: LobbyRunner, error: StoreError) -> None:
        """Reload a lobby; the new runner restarts its house bots."""
        LOG.error("lost entries of lobby %s: %s", lobby.key, error)
        if not self._registry.draining and self._is_current(lobby):
            lobby.bots.stop_all()
            self._add(lobby)

    def _add(self, lost: MatchRunner | LobbyRunner) -> None:
        """Reload a match or a lobby, together with all others that fail in this loop iteration."""
        self._lost[lost.key] = lost
        if not self._running:
            self._running = True
            loop = self._context.loop
            loop.call_later(max(0.0, self._not_before - loop.time()), self._begin)

    def _begin(self) -> None:
        if self._registry.draining:
            return  # the next start loads them, and the store may already be closed
        self._spawn(self._run)

    async def _run(self) -> None:
        self._not_before = self._context.loop.time() + RETRY_PAUSE_S
        lost, self._lost = self._lost, {}
        try:
            await self._reload(lost)
        finally:
            self._running = False
            if self._lost and not self._registry.draining:
                self._add(next(iter(self._lost.values())))

    async def _reload(self, lost: dict[str, MatchRunner | LobbyRunner]) -> None:
        try:
            stored = await self._context.store.reload(list(lost))
        except StoreError as error:
            LOG.error("%s; %d matches and lobbies are waiting to be reloaded", error, len(lost))
            self._lost = lost | self._lost
            return
        # Matches first, because a reloaded lobby looks up its matches.
        for former in sorted(lost.values(), key=lambda runner: isinstance(runner, LobbyRunner)):
            self._reinstate(former, stored[former.key])
            await asyncio.sleep(0)

    def _reinstate(self, former: MatchRunner | LobbyRunner, stored: Stored | StoreError) -> None:
        if self._registry.draining or not self._is_current(former):
            return  # another node may own the lobby by now
        try:
            if isinstance(stored, StoreError):
                raise stored
            if isinstance(former, MatchRunner):
                self._replace_match(former, stored)
            else:
                self._replace_lobby(former, stored)
        except Exception as error:
            if not isinstance(error, NotStored):
                unforeseen = not isinstance(error, StoreError | ValueError)
                LOG.error("cannot reload %s", former.key, exc_info=unforeseen)
            gone = error if isinstance(error, StoreError) else StoreError(str(error))
            if isinstance(former, MatchRunner):
                self._give_up_match(former, gone)
            else:
                self.give_up_lobby(former, gone)

    def _is_current(self, former: MatchRunner | LobbyRunner) -> bool:
        if isinstance(former, MatchRunner):
            return self._registry.matches.get(former.key) is former
        return self._registry.lobbies.get(former.key) is former

    def _replace_match(self, former: MatchRunner, stored: Stored) -> None:
        """Replace the runner of a match whose log was lost."""
        fresh = self._loader.match(stored)
        ended = stored.stream.closed  # a commit that seemed to fail has happened
        self._registry.add_match(fresh)
        for peer in list(self._connections.peers):
            if peer.subscriptions.get(former.key) is former:
                peer.subscriptions[former.key] = fresh
        fresh.listed = former.listed
        self._substitutes.match_reloaded(former, fresh)
        take_over(fresh, former)
        if ended:
            self._context.over(fresh)

    def _give_up_match(self, former: MatchRunner, error: StoreError) -> None:
        """Give up a match that cannot be reloaded; if it is not on disk, its lobby begins it again.

        A match that cannot be read is set aside, and its lobby is notified that it has ended.
        """
        never_stored = isinstance(error, NotStored)
        if not never_stored:
            self._quarantine.add("match", former.key, error)
        peers = list(former.peers())
        self._registry.remove_match(former)
        self._substitutes.match_over(former)
        for peer in peers if not never_stored else ():
            peer.close(1013, "the log of the match cannot be read")
        lobby = self._registry.lobby_of(former)
        planned = None if lobby is None else lobby.engine.state.round.running.get(former.key)
        if lobby is None or planned is None:
            return
        if never_stored:
            self._begin_match(lobby, BeginMatch(former.key, planned))
        else:
            lobby.match_lost(former.key, aborted_result(len(planned.players), DAMAGED_LOG))

    def _replace_lobby(self, former: LobbyRunner, stored: Stored) -> None:
        """Replace the runner of a lobby whose log was lost."""
        fresh = self._loader.lobby(stored)
        fresh.reloads = former.reloads
        self._registry.add_lobby(fresh)
        self._recovery.resume_lobby(fresh)
        for player in fresh.engine.state.insiders():
            if self._connections.peer_of(player) is not None:
                fresh.command(Connected(player))
        fresh.news.take_over(former.news)

    def give_up_lobby(self, former: LobbyRunner, error: StoreError) -> None:
        """Give up a lobby that cannot be reloaded, and notify its players.

        If it is on disk, it is set aside.
        """
        if not isinstance(error, NotStored):
            self._quarantine.add("lobby", former.key, error)
        former.news.broadcast(LobbyClosed(lobby=former.key, reason="closed"))
        self._registry.remove_lobby(former)
        for match in list(self._registry.matches.values()):
            self._recovery.end_without_lobby(match)
