"""The rights of restricted connections: entrants and viewers.

A viewer has no name. It may only make read-only requests (`Request.of_viewers`). On the server of
an event, entrants may only make the requests that playing requires (`Request.of_entrants`).
Entrants are third-party code on the server's machine. So requests that could harm other entrants or
the machine are refused before any work is done: entrants cannot host, start house bots, or watch.

The rules apply to connections, not to players: the organizer's own connections, which use its
secret, may make any request (`accounts`). These rules do not cover moves, which only require a
seat.
"""

from __future__ import annotations

from typing import Final

from kibitz_protocol.wire.messages import ClientMessage, Join
from kibitz_protocol.wire.refusals import Code
from kibitz_server.net.peer import Peer

ENTRANT_HINT: Final = "you may only play the seats that the organizer gave you"
VIEWER_HINT: Final = "reconnect, and say hello with a name or a token"


def allowed(peer: Peer, request: ClientMessage) -> bool:
    """Return whether a connection may make this request; refuse it otherwise."""
    if peer.identity is not None and peer.identity.viewer and not request.of_viewers:
        message = f"viewers without a name cannot request {request.type!r}"
        peer.refuse(request.id, Code.UNAUTHORIZED, message, hint=VIEWER_HINT)
        return False
    watches = isinstance(request, Join) and request.role == "spectator"
    if not peer.entrant or (request.of_entrants and not watches):
        return True
    what = "watch the lobby" if watches else f"request {request.type!r}"
    message = f"an entrant of an event cannot {what}"
    peer.refuse(request.id, Code.UNAUTHORIZED, message, hint=ENTRANT_HINT)
    return False
