"""The dispatch of requests: each is looked up by its type, and answered once.

A request arrives paid for and decoded. Its handler checks what no single lobby or match can
check, and hands it over to the runner of the lobby or match, which answers. Nothing here is kept
from one request to the next.

    hello      who somebody is            lobbies    hosting, joining, starting, closing, ...
    lists      what there is to see       matches    coming back, resigning, notes, the past
    watching   one match, or a wall

Moves have a way of their own, `RequestHandlers.move`, because they are most of the traffic.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from websockets.frames import CloseCode as Standard

from kibitz_protocol.wire.messages import ClientMessage, Hello, Move
from kibitz_server.directory.directory import Directory
from kibitz_server.handlers.hello import HelloHandler, require_hello
from kibitz_server.handlers.lists import ListHandlers
from kibitz_server.handlers.lobbies import LobbyHandlers
from kibitz_server.handlers.matches import MatchHandlers
from kibitz_server.handlers.rights import allowed
from kibitz_server.handlers.watching import WatchHandlers
from kibitz_server.lobby.commands import Disconnected
from kibitz_server.net.connections import Connections
from kibitz_server.net.peer import Peer

LOG = logging.getLogger("kibitz.handlers")


class RequestHandlers:
    """Receives what happens on the connections of one server (`net.peer.PeerHandler`)."""

    def __init__(self, directory: Directory, connections: Connections) -> None:
        self._directory = directory
        self._connections = connections
        self._hello = HelloHandler(directory, connections)
        self._matches = MatchHandlers(directory, connections)
        self._handlers: Mapping[type[ClientMessage], Callable[..., None]] = {
            **ListHandlers(directory).by_type(),
            **LobbyHandlers(directory, connections).by_type(),
            **WatchHandlers(directory).by_type(),
            **self._matches.by_type(),
        }

    # --- connections ------------------------------------------------------------------------

    def admit(self, peer: Peer) -> bool:
        """Whether there is room for another connection from this address."""
        return self._connections.admit(peer, open_=self._directory.up)

    def relocate(self, peer: Peer) -> bool:
        """Whether there is, now that its headers say that it comes from another one."""
        return self._connections.relocate(peer)

    def may_stay(self, peer: Peer) -> bool:
        """Whether there is room for others beside this connection, when it has its page."""
        return self._connections.may_stay(peer)

    def socket_closed(self, peer: Peer) -> None:
        """A socket is closed."""
        self._connections.socket_closed(peer)

    def disconnected(self, peer: Peer) -> None:
        """Tell a connection's matches, and its player's lobbies, that nothing more comes of it."""
        subscriptions = list(peer.subscriptions.values())
        peer.subscriptions.clear()
        for subscription in subscriptions:
            try:
                subscription.disconnected(peer)
            except Exception:
                LOG.exception("the end of a connection could not be told")
        if peer.identity is not None and self._connections.left(peer, peer.identity):
            player = peer.identity.key
            try:
                for lobby in self._directory.registry.lobbies_of(player):
                    lobby.command(Disconnected(player))
            except Exception:
                LOG.exception("the end of a connection could not be told")

    # --- requests ---------------------------------------------------------------------------

    def move(self, peer: Peer, move: Move) -> None:
        """Carry a move out; one that is refused is charged for. It is answered, whatever raises."""
        match = self._directory.matches.get(move.match)
        try:
            if match is not None and peer.identity is not None:
                if not match.move(peer, move):
                    peer.charge_refused_move(1)
                return
            peer.charge_refused_move(1)
            if require_hello(peer, move.id) is not None:
                self._matches.move_after_end(peer, move)
        except Exception:
            LOG.exception("request Move failed")
            peer.fail(move.id)

    def request(self, peer: Peer, message: ClientMessage) -> None:
        """Carry a request out, or refuse it: each is answered, whatever raises."""
        try:
            if isinstance(message, Hello):
                self._hello.hello(peer, message)
                return
            identity = require_hello(peer, message.id)
            if identity is not None and allowed(peer, message):
                self._handlers[type(message)](peer, identity, message)
        except Exception:
            LOG.exception("request %s failed", type(message).__name__)
            peer.fail(message.id)
            if isinstance(message, Hello):
                peer.close(Standard.INTERNAL_ERROR, "hello failed")
