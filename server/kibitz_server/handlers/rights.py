"""What an entrant of an event may ask the event's own server for: what playing its seats needs.

An entrant is code of others beside the server, so all that it could use against other entrants or
against the machine is refused before any work is done: it hosts nothing, starts no house bots and
watches nothing. `Request.of_entrants` says which requests it may make. The rule holds for
connections, not for players: the organizer's own connections, which came with its secret, may ask
for everything (`accounts`).

Moves have a way of their own, and need no right but a seat.
"""

from __future__ import annotations

from typing import Final

from kibitz_protocol.wire.messages import ClientMessage, Join
from kibitz_protocol.wire.refusals import Code
from kibitz_server.net.peer import Peer

HINT: Final = "play the seats that the organizer gave you; everything else is the organizer's"


def allowed(peer: Peer, request: ClientMessage) -> bool:
    """Whether a connection may ask for this; where it may not, the request is refused."""
    if not peer.entrant or _is_of_entrants(request):
        return True
    what = "watch the lobby" if isinstance(request, Join) else f"ask for {request.type!r}"
    message = f"an entrant of an event cannot {what}"
    peer.refuse(request.id, Code.UNAUTHORIZED, message, hint=HINT)
    return False


def _is_of_entrants(request: ClientMessage) -> bool:
    if isinstance(request, Join) and request.role == "spectator":
        return False
    return request.of_entrants
