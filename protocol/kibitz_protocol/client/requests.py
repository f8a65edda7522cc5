"""Outstanding requests: each has a unique id and gets exactly one answer.

If a connection breaks between a request and its answer, the client does not know whether the server
has carried out the request. So it resends requests on the next connection with their old ids, and
the server carries out each only once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from kibitz_protocol.wire.messages import (
    AddComment,
    LeaveMatch,
    Move,
    Note,
    Rejoin,
    Request,
    Resign,
    Watch,
)
from kibitz_protocol.wire.refusals import Code

Requester: TypeAlias = Literal["caller", "session", "nobody"]
"""The owner of a request: the caller, the session itself, or nobody after `withdraw`."""

_NEED_PLACE: Final = (Move, Resign, LeaveMatch, Note, AddComment)
"""The requests of players or spectators of a match."""

_WITHOUT_PLACE: Final = frozenset({Code.NOT_SEATED, Code.WRONG_STATE})
"""Refusals of these requests on a connection that does not play or watch the match."""


@dataclass(slots=True)
class PendingRequest:
    """A request that has no answer yet."""

    request: Request
    frame: bytes
    """The encoded request."""
    requester: Requester
    sent: bool = False
    """Whether it was passed to this connection, or an earlier one, for sending."""


class PendingRequests:
    """The requests that have no answer yet, oldest first."""

    def __init__(self, first_id: int = 1) -> None:
        self._next = first_id
        self._pending: dict[int, PendingRequest] = {}

    def __iter__(self) -> Iterator[PendingRequest]:
        return iter(tuple(self._pending.values()))

    def __len__(self) -> int:
        return len(self._pending)

    def new_id(self) -> int:
        """Return an id larger than all earlier ones."""
        number, self._next = self._next, self._next + 1
        return number

    def add(self, request: Request, frame: bytes, requester: Requester = "caller") -> None:
        """Expect an answer to a request, which `frame` encodes.

        Raises `ValueError` for an id not from `new_id`, or in use.
        """
        if request.id in self._pending or request.id >= self._next:
            raise ValueError(f"request id {request.id} was not made by new_id, or was used before")
        self._pending[request.id] = PendingRequest(request, frame, requester)

    def get(self, id: int) -> PendingRequest | None:
        return self._pending.get(id)

    def pop(self, id: int) -> PendingRequest | None:
        """Remove and return the request with this id, or None if nobody waits for its answer."""
        return self._pending.pop(id, None)

    def withdraw(self, id: int) -> None:
        """Stop waiting for an answer; an unsent request is dropped."""
        pending = self._pending.get(id)
        if pending is None:
            return
        if pending.sent:
            pending.requester = "nobody"
        else:
            del self._pending[id]

    def keep_callers(self) -> None:
        """Keep only the callers' requests. The session makes its own again on the next connection,
        and nobody waits for withdrawn ones."""
        for id, pending in list(self._pending.items()):
            if pending.requester != "caller":
                del self._pending[id]

    def drop_all(self) -> list[int]:
        """Drop all requests; return the callers' ids."""
        lost = [id for id, pending in self._pending.items() if pending.requester == "caller"]
        self._pending.clear()
        return lost

    def awaited_place(self, request: Request, refused_as: Code) -> int | None:
        """Return the id of the request that restores the place in the match that this one lacked.

        After a reconnect, the server may refuse a `rejoin` and ask for it again (`unavailable`),
        and carry out the requests sent behind it, which then find no seat.
        """
        if refused_as not in _WITHOUT_PLACE or not isinstance(request, _NEED_PLACE):
            return None
        for id, pending in self._pending.items():
            other = pending.request
            if pending.sent and isinstance(other, Rejoin | Watch) and other.match == request.match:
                return id
        return None

    def has_move(self, match: str, ply: int) -> bool:
        """Return whether a move at this ply waits for its answer."""
        return any(
            isinstance(pending.request, Move)
            and pending.request.match == match
            and pending.request.ply == ply
            for pending in self._pending.values()
        )
