"""The rights of connections that may not make every request: entrants and viewers.

A viewer has no name. It may make the requests that only read, `Request.of_viewers`.

At an event's own server, its entrants may only do what playing requires. Entrants are third-party
code on the server's machine. So every request that could be used against other entrants or the
machine is refused before any work is done: entrants cannot host, start house bots, or watch.
`Request.of_entrants` lists the requests they may make. The rule applies to connections, not to
players: the organizer's own connections, which use its secret, may make any request (`accounts`).

Moves have their own path, and need no right but a seat.
"""

from __future__ import annotations

from typing import Final

from kibitz_protocol.wire.messages import ClientMessage, Join
from kibitz_protocol.wire.refusals import Code
from kibitz_server.net.peer import Peer

ENTRANT_HINT: Final = (
    "play the seats that the organizer gave you; everything else is the organizer's"
)
VIEWER_HINT: Final = "connect again and say hello with a name or a token"


def allowed(peer: Peer, request: ClientMessage) -> bool:
    """Return whether a connection may make this request; otherwise refuse it."""
    if peer.identity is not None and peer.identity.viewer and not request.of_viewers:
        message = f"a viewer without a name cannot ask for {request.type!r}"
        peer.refuse(request.id, Code.UNAUTHORIZED, message, hint=VIEWER_HINT)
        return False
    watches = isinstance(request, Join) and request.role == "spectator"
    if not peer.entrant or (request.of_entrants and not watches):
        return True
    what = "watch the lobby" if watches else f"ask for {request.type!r}"
    message = f"an entrant of an event cannot {what}"
    peer.refuse(request.id, Code.UNAUTHORIZED, message, hint=ENTRANT_HINT)
    return False
