"""The dispatch of requests: `RequestHandlers` has the table of all handlers.

A request arrives decoded and charged (`net.connection`). `rights` may refuse it. Its handler makes
the checks that involve more than one lobby or match, and passes the request to the runner of its
lobby or match, which answers it. Handlers are stateless. Each request is answered once.

Two requests have their own methods: `hello`, the only one allowed before the player is known, and
moves, which are most of the traffic.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from websockets.frames import CloseCode as Standard

from kibitz_protocol.wire import messages
from kibitz_protocol.wire.messages import ClientMessage, Hello, Move
from kibitz_server.accounts.identity import Identity
from kibitz_server.directory.registry import Registry
from kibitz_server.handlers.hello import HelloHandler
from kibitz_server.handlers.lists import ListHandlers
from kibitz_server.handlers.lobbies import LobbyHandlers
from kibitz_server.handlers.matches import MatchHandlers
from kibitz_server.handlers.rights import allowed
from kibitz_server.handlers.seeks import SeekHandler
from kibitz_server.handlers.watching import WatchHandlers
from kibitz_server.lobby.commands import Disconnected
from kibitz_server.net.connections import Connections
from kibitz_server.net.peer import Peer

LOG = logging.getLogger("kibitz.handlers")
Handler: TypeAlias = Callable[[Peer, Identity, Any], None]
"""Carries out or refuses a request of one type."""


class RequestHandlers:
    """Receives the events of one server's connections (`net.peer.PeerHandler`)."""

    def __init__(
        self,
        registry: Registry,
        connections: Connections,
        hello: HelloHandler,
        lists: ListHandlers,
        lobbies: LobbyHandlers,
        matches: MatchHandlers,
        seeks: SeekHandler,
        watching: WatchHandlers,
    ) -> None:
        self._registry = registry
        self._connections = connections
        self._hello = hello
        self._matches = matches
        self.handlers: Mapping[type[ClientMessage], Handler] = {
            messages.ListGames: lists.list_games,
            messages.ListLobbies: lists.list_lobbies,
            messages.ListMatches: lists.list_matches,
            messages.AskLadder: lists.ask_ladder,
            messages.Subscribe: lists.subscribe,
            messages.Unsubscribe: lists.unsubscribe,
            messages.Host: lobbies.host,
            messages.Seek: seeks.seek,
            messages.Join: lobbies.join,
            messages.Leave: lobbies.leave,
            messages.Kick: lobbies.kick,
            messages.Ready: lobbies.ready,
            messages.Start: lobbies.start,
            messages.Close: lobbies.close,
            messages.Arrange: lobbies.arrange,
            messages.Rematch: lobbies.rematch,
            messages.Watch: watching.watch,
            messages.Unwatch: watching.unwatch,
            messages.Wall: watching.wall,
            messages.Rejoin: matches.rejoin,
            messages.Resign: matches.resign,
            messages.LeaveMatch: matches.leave,
            messages.Note: matches.note,
            messages.AddComment: matches.comment,
            messages.Abort: matches.abort,
            messages.AskReport: matches.report,
            messages.History: matches.history,
        }
        """The handler of each type of request, except `Hello` and `Move`."""

    # --- connections ------------------------------------------------------------------------

    def disconnected(self, peer: Peer) -> None:
        """Notify a closed connection's matches and its player's lobbies."""
        subscriptions = list(peer.subscriptions.values())
        peer.subscriptions.clear()
        for subscription in subscriptions:
            try:
                subscription.disconnected(peer)
            except Exception:
                LOG.exception("cannot handle the end of a connection")
        if peer.identity is not None and self._connections.left(peer, peer.identity):
            player = peer.identity.key
            try:
                for lobby in self._registry.lobbies_of(player):
                    lobby.command(Disconnected(player))
            except Exception:
                LOG.exception("cannot handle the end of a connection")

    # --- requests ---------------------------------------------------------------------------

    def move(self, peer: Peer, move: Move) -> None:
        """Carry out a move, and charge for a refused one.

        The client gets an answer even after an exception.
        """
        match = self._registry.matches.get(move.match)
        try:
            if match is None:
                peer.charge_unanswered(1)
                self._matches.move_after_end(peer, move)
            elif not match.move(peer, move):
                peer.charge_unanswered(1)
        except Exception:
            LOG.exception("request Move failed")
            peer.fail(move.id)

    def request(self, peer: Peer, message: ClientMessage) -> None:
        """Carry out or refuse a request. The client gets an answer even after an exception."""
        try:
            if isinstance(message, Hello):
                self._hello.hello(peer, message)
            elif peer.identity is None:
                raise AssertionError("requests other than hello must not be decoded before hello")
            elif allowed(peer, message):
                self.handlers[type(message)](peer, peer.identity, message)
        except Exception:
            LOG.exception("request %s failed", type(message).__name__)
            peer.fail(message.id)
            if isinstance(message, Hello):
                peer.close(Standard.INTERNAL_ERROR, "hello failed")
