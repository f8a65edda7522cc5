"""The dispatch of requests: each is looked up by its type, and answered once.

A request arrives paid for and decoded. Its handler makes the checks that no single lobby or match
can make, and hands it over to the runner of the lobby or match, which answers. Handlers keep no
state between requests.

    hello      identifying a player       lobbies    hosting, joining, starting, closing, ...
    lists      games, lobbies, matches    matches    rejoining, resigning, notes, the past
    watching   one match, or a wall

Moves have their own path, `RequestHandlers.move`, because they are most of the traffic.
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
    """Receives the events of one server's connections (`net.peer.PeerHandler`)."""

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
        """Return whether there is room for another connection from this address."""
        return self._connections.admit(peer, open_=self._directory.up)

    def relocate(self, peer: Peer) -> bool:
        """Return whether there is room at the address that the connection's headers name."""
        return self._connections.relocate(peer)

    def may_stay(self, peer: Peer) -> bool:
        """Return whether a connection that has its page may stay open for another request."""
        return self._connections.may_stay(peer)

    def socket_closed(self, peer: Peer) -> None:
        """Handle a closed socket."""
        self._connections.socket_closed(peer)

    def disconnected(self, peer: Peer) -> None:
        """Notify a closed connection's matches, and its player's lobbies."""
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
        """Carry out a move and charge for a refused one. It is answered, whatever raises."""
        match = self._directory.matches.get(move.match)
        try:
            if match is not None and peer.identity is not None:
                if not match.move(peer, move):
                    peer.charge_unanswered(1)
                return
            peer.charge_unanswered(1)
            if require_hello(peer, move.id) is not None:
                self._matches.move_after_end(peer, move)
        except Exception:
            LOG.exception("request Move failed")
            peer.fail(move.id)

    def request(self, peer: Peer, message: ClientMessage) -> None:
        """Carry out a request, or refuse it: each is answered, whatever raises."""
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
