"""What an entrant of an event may ask the event's own server for: what playing its seats needs.

An entrant is code of others beside the server, so all that it could use against other entrants or
against the machine is refused before any work is done: it hosts nothing, starts no house bots and
watches nothing. That holds for connections, not for players: the organizer's own connections, which
came with its secret, may ask for everything (`accounts`).

Moves have a way of their own, and need no right but a seat.
"""

from __future__ import annotations

from typing import Final

from kibitz_protocol.wire import messages
from kibitz_protocol.wire.messages import ClientMessage
from kibitz_protocol.wire.refusals import Code
from kibitz_server.net.peer import Peer

OF_ENTRANTS: Final[frozenset[type[ClientMessage]]] = frozenset(
    {
        messages.Join,
        messages.Leave,
        messages.Ready,
        messages.Rejoin,
        messages.Resign,
        messages.LeaveMatch,
        messages.Note,
        messages.AddComment,
    }
)
"""The requests of entrants, besides `hello` and `move`. One that is not here is refused."""
HINT: Final = "play the seats that the organizer gave you; everything else is the organizer's"


def allowed(peer: Peer, request: ClientMessage) -> bool:
    """Whether a connection may ask for this; where it may not, the request is refused."""
    if not peer.entrant or _is_of_entrants(request):
        return True
    kind = type(request).model_fields["type"].default
    what = "watch the lobby" if isinstance(request, messages.Join) else f"ask for {kind!r}"
    message = f"an entrant of an event cannot {what}"
    peer.refuse(request.id, Code.UNAUTHORIZED, message, hint=HINT)
    return False


def _is_of_entrants(request: ClientMessage) -> bool:
    if isinstance(request, messages.Join) and request.role == "spectator":
        return False
    return type(request) in OF_ENTRANTS
