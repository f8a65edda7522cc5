"""Failover: a node takes over the lobbies of dead nodes, and releases lobbies it has lost.

The store records the owners (`storage.interface.Nodes`). This module starts and stops runners
accordingly. Of the nodes with the same URL, one serves and the others are standbys. When a player
says hello, the node redirects it to the node that has its lobby. To know that node, it admits
players only if every open lobby is here or on a living node with another URL. `HallSharing` reads
which lobbies the other nodes have.

A lobby that was taken over is loaded with its matches in the same way as at startup (`recovery`).
At first nobody is connected. Grace periods run, and no turn is opened before its player reconnects.
When another node takes over a lobby, this one stops its runners and house bots, and closes the
connections of its players, so that they reconnect to the new node.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from kibitz_protocol.wire.records import Player
from kibitz_server.directory.hall_sharing import HallSharing
from kibitz_server.directory.recovery import Recovery, StoredLog
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.lobby.entries import TakenOver
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match.runner import MatchRunner
from kibitz_server.net.connections import Connections
from kibitz_server.net.peer import Peer
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.interface import Nodes, Store, TakenLobby
from kibitz_server.storage.streams import Stored

LOG = logging.getLogger("kibitz.directory")
LOOK_S: Final = 0.5
"""Seconds between checks of which node serves, and whether lobbies have no owner."""
MOST_AT_ONCE: Final = 20
"""The number of lobbies to take over in one transaction."""
SERVICE_RESTART: Final = 1012
"""The close code (RFC 6455 registry) for the sockets of a lobby that has moved."""


class Failover:
    """Takes over lobbies, and releases lost ones."""

    def __init__(
        self,
        nodes: Nodes,
        store: Store,
        recovery: Recovery,
        registry: Registry,
        substitutes: Substitutes,
        connections: Connections,
        sharing: HallSharing,
        moved: Counter[Literal["taken", "lost"]] | None = None,
    ) -> None:
        """`moved` counts the lobbies taken over and lost."""
        self._nodes = nodes
        self._store = store
        self._recovery = recovery
        self._registry = registry
        self._substitutes = substitutes
        self._connections = connections
        self._sharing = sharing
        self._moved = Counter() if moved is None else moved
        self._loaded = False
        """Whether this node has loaded every open lobby that it must serve."""
        self._waiting: dict[str, TakenLobby] = {}
        """The lobbies that were taken over but are not loaded yet."""
        nodes.on_lost = self.step_down

    @property
    def serving(self) -> bool:
        """Whether players are admitted: this node is the one to serve, and no open lobby is
        missing."""
        return self._loaded and self._nodes.first

    # --- taking over ----------------------------------------------------------------------------

    async def run(self) -> None:
        """Look for lobbies without an owner, until the server shuts down."""
        while not self._registry.draining:
            try:
                await self.look()
            except StoreError as error:
                LOG.warning("cannot look for lobbies of other nodes: %s", error)
            except Exception:
                LOG.exception("cannot take over lobbies of other nodes")
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Take over lobbies and serve, or be a standby; then exchange lines with other nodes.

        Raises `StoreError`.
        """
        await self._serve()
        await self._sharing.exchange(self._waiting)

    async def _serve(self) -> None:
        if not self._nodes.first:
            await self._beat()  # do not wait for the next heartbeat: the serving node may have died
        if not self._nodes.first:
            self._stand_by("another node serves")
            return
        while await self._take():
            await self._load()
        await self._load()
        if self._loaded or not await self._nodes.has_all():
            return
        if self._nodes.first and not self._registry.draining:
            LOG.warning("node %s serves now", self._nodes.name)
            self._loaded = True

    async def _beat(self) -> None:
        try:
            await self._nodes.beat()
        except StoreError:
            if not self._nodes.first:
                # Without the database no node knows which one serves, so this one must stop.
                self._stand_by("its database is unreachable")
            raise

    def _stand_by(self, why: str) -> None:
        if not self._loaded:
            return
        LOG.warning("node %s is a standby now: %s", self._nodes.name, why)
        self._loaded = False
        for match in self._registry.matches.values():
            match.await_all()
        for peer in list(self._connections.peers):
            if peer.identity is None:
                continue  # pages are served, but a hello is refused now
            peer.close(SERVICE_RESTART, f"this node is a standby: {why}")

    async def _take(self) -> bool:
        """Take over a batch of lobbies; return whether there were any to take over."""
        taken = await self._nodes.take(self._entry, MOST_AT_ONCE)
        for lobby in taken:
            LOG.warning("lobby %s was taken over from node %s", lobby.key, lobby.former)
            self._waiting[lobby.key] = lobby
        self._moved["taken"] += len(taken)
        return bool(taken)

    async def _load(self) -> None:
        """Load the lobbies that were taken over."""
        if not self._waiting:
            return
        keys = [key for lobby in self._waiting.values() for key in (*lobby.matches, lobby.key)]
        stored = await self._store.reload(keys)
        logs = {taken.key: _logs_of(taken, stored) for taken in self._waiting.values()}
        await self._recovery.load_rules(log for each in logs.values() for log in each)
        for taken in list(self._waiting.values()):
            if self._registry.draining:
                return
            if self._waiting.pop(taken.key, None) is not None:  # it may have been lost meanwhile
                self._take_up(taken, logs[taken.key])
            await asyncio.sleep(0)

    def _entry(self, seq: int, former: str | None) -> bytes:
        entry = TakenOver(seq=seq, node=self._nodes.name, former=former)
        return entry.model_dump_json().encode()

    def _take_up(self, taken: TakenLobby, logs: Sequence[StoredLog]) -> None:
        try:
            self._recovery.restore(logs)
        except Exception:
            LOG.exception("cannot take over lobby %s", taken.key)
        for player in self._players_of(taken):
            peer = self._connections.peer_of(player)
            if peer is not None:  # the lobby was missing from its welcome
                peer.close(SERVICE_RESTART, f"lobby {taken.key} continues here: reconnect")

    def _players_of(self, taken: TakenLobby) -> dict[str, None]:
        lobby = self._registry.lobbies.get(taken.key)
        players = dict.fromkeys(() if lobby is None else lobby.engine.state.insiders())
        for match in self._matches_of(taken.key):
            seats: tuple[Player, ...] = tuple(match.engine.state.players)
            players.update(dict.fromkeys(player.player for player in seats))
        return players

    def _matches_of(self, lobby: str) -> list[MatchRunner]:
        matches = self._registry.matches.values()
        return [match for match in matches if match.engine.state.setup.lobby == lobby]

    # --- releasing --------------------------------------------------------------------------

    def step_down(self, owners: Mapping[str, str | None]) -> None:
        """Stop the runners of lobbies that other nodes own, and close their connections."""
        self._moved["lost"] += len(owners)
        self._sharing.lost_lobbies()
        for key, node in owners.items():
            self._waiting.pop(key, None)
            peers: dict[Peer, None] = {}
            for match in self._matches_of(key):
                peers.update(dict.fromkeys(match.peers()))
                self._drop_match(match)
            lobby = self._registry.lobbies.get(key)
            if lobby is not None:
                peers.update(lobby.news.followers())
                self._drop_lobby(lobby)
            where = "elsewhere" if node is None else f"on node {node}"
            for peer in peers:
                peer.close(SERVICE_RESTART, f"lobby {key} continues {where}")
        self._stand_by("another node serves")

    def _drop_match(self, match: MatchRunner) -> None:
        match.drop()
        self._registry.remove_match(match)
        self._substitutes.match_over(match)

    def _drop_lobby(self, lobby: LobbyRunner) -> None:
        lobby.bots.stop_all()
        lobby.drop()
        self._registry.remove_lobby(lobby)


def _logs_of(taken: TakenLobby, stored: Mapping[str, Stored | StoreError]) -> list[StoredLog]:
    """Return the logs of a lobby that was taken over, and of its matches."""
    logs = [StoredLog("match", key, stored[key]) for key in taken.matches]
    if taken.open:
        logs.append(StoredLog("lobby", taken.key, stored[taken.key]))
    return logs
