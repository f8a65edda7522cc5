"""The request `hello`: identifies a connection's player, and answers with a welcome."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from kibitz_protocol.wire.messages import VERSIONS, Hello, Limits, Welcome
from kibitz_protocol.wire.refusals import CloseCode, Code
from kibitz_protocol.wire.unchecked import construct
from kibitz_protocol.wire.values import MAX_FRAME
from kibitz_server.accounts.sign_in import Accounts, Admission, Denied
from kibitz_server.accounts.tickets import lobby_of
from kibitz_server.directory.directory import Directory
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.handlers.answering import Answers
from kibitz_server.lobby.commands import Connected
from kibitz_server.match.lifecycle import is_unfinished
from kibitz_server.net.connections import Connections, Quotas
from kibitz_server.net.peer import RETRY_AFTER_MS, Peer
from kibitz_server.net.rate_limit import UNLIMITED, Rate

LOG = logging.getLogger("kibitz.handlers")
RETRY_SOON_MS: Final = 300
"""The retry delay in milliseconds while a node waits for another node's lines."""


class HelloHandler:
    """Identifies connections and sends them their welcome."""

    def __init__(
        self,
        directory: Directory,
        accounts: Accounts,
        connections: Connections,
        substitutes: Substitutes,
        answers: Answers,
        server_name: str,
        is_open: Callable[[], bool],
    ) -> None:
        """`is_open` returns whether players may connect."""
        self._directory = directory
        self._accounts = accounts
        self._connections = connections
        self._substitutes = substitutes
        self._answers = answers
        self._server_name = server_name
        self._is_open = is_open
        self._limits = _limits(connections.quotas, connections.rate_limits.socket)
        self._no_limits = _limits(connections.quotas, UNLIMITED)

    def hello(self, peer: Peer, hello: Hello) -> None:
        """Identify a player, and send its welcome."""
        if peer.identity is not None:
            peer.refuse(
                hello.id, Code.WRONG_STATE, "this connection has already said hello", hint=""
            )
            return
        known = sorted(set(hello.versions) & set(VERSIONS))
        if not known:
            spoken = ", ".join(map(str, VERSIONS))
            _reject(peer, hello.id, Code.VERSION, f"this server speaks version {spoken}")
            return
        if not self._is_open():
            peer.refuse(
                hello.id,
                Code.UNAVAILABLE,
                "the server is starting or shutting down"
                if self._directory.registry.draining
                else "this node is a standby: another node serves",
                retry_after_ms=RETRY_AFTER_MS,
            )
            return
        try:
            admission = self._accounts.identify(
                hello,
                peer.bearer,
                local=peer.local,
                invited=self._connections.invites_guests(peer),
                room=self._connections.room_for_guests(peer),
            )
        except Denied as denied:
            if denied.code is Code.UNAVAILABLE:
                peer.refuse(hello.id, denied.code, str(denied), retry_after_ms=RETRY_SOON_MS)
            else:
                _reject(peer, hello.id, denied.code, str(denied))
            return
        if self._belongs_elsewhere(peer, hello, admission):
            return
        peer.capabilities = hello.capabilities
        peer.instance = hello.instance
        peer.views = hello.views
        peer.newer = hello.is_newer
        peer.token = admission.token
        peer.entrant = admission.entrant
        self._connections.greeted(peer, admission.identity)
        if admission.organizer:
            peer.lift_rate_limit()
        if admission.fresh:
            self._accounts.save(admission)
        self._send_welcome(peer, hello.id, known[-1], admission)

    def _belongs_elsewhere(self, peer: Peer, hello: Hello, admission: Admission) -> bool:
        """Redirect a player to its lobby on another node, or refuse while the location is unknown.

        Return False for players who belong here. These include a player with a ticket for a lobby
        on this node, and a house bot that a lobby or match of this node started.
        """
        others, registry = self._directory.others, self._directory.registry
        player = admission.identity.key
        sent = hello.ticket is not None and lobby_of(hello.ticket) in registry.lobbies
        known = admission.fresh or admission.identity.viewer or sent
        house = admission.identity.player.kind == "house"
        if self._directory.nodes is None or known or house or registry.is_busy(player):
            return False
        place = others.player(player)
        if place is not None:
            self._answers.refuse_elsewhere(peer, hello.id, place, player)
            return True
        if not others.certain:
            message = "lobbies are moving between nodes: reconnect in a moment"
            peer.refuse(hello.id, Code.UNAVAILABLE, message, retry_after_ms=RETRY_SOON_MS)
            return True
        return False

    def _send_welcome(self, peer: Peer, request: int, version: int, admission: Admission) -> None:
        identity = admission.identity
        key = identity.key
        lobbies = self._directory.registry.lobbies_of(key)
        unfinished = [
            match.key
            for match in self._directory.registry.matches_of(key)
            if is_unfinished(match, key)
        ]
        values: dict[str, object] = {
            "re": request,
            "ignored": None,
            "type": "welcome",
            "version": version,
            "player": key,
            "name": identity.player.name,
            "kind": identity.player.kind,
            "resume": admission.resume,
            "server": self._server_name,
            "limits": self._no_limits if admission.organizer else self._limits,
            "seats": unfinished,
            "lobbies": [lobby.key for lobby in lobbies if key in lobby.shown.seats.members],
            "viewer": identity.viewer,
            "nodes": self._directory.others.urls,
        }
        LOG.info("%s %s connected", identity.player.kind, identity.player.name)
        peer.answer(construct(Welcome, values))
        for lobby in lobbies:
            if lobby.engine.state.is_insider(key):
                lobby.command(Connected(key))
            lobby.news.follow(peer, key)
        self._substitutes.seat_arrived(key, peer)


def _limits(quotas: Quotas, rate: Rate) -> Limits:
    return Limits(
        frame_bytes=MAX_FRAME,
        messages_per_second=rate.per_second,
        burst=int(rate.burst),
        lobbies=quotas.lobbies,
        house_bots=quotas.house_bots,
    )


def _reject(peer: Peer, request: int, code: Code, message: str) -> None:
    peer.refuse(request, code, message)
    peer.close(CloseCode.NO_HELLO, message)
