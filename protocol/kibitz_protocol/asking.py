"""Requests on their way: each has an id of its own and gets exactly one answer.

A connection can break between a request and its answer, and then nobody here knows whether
the server has carried it out. `REPEATABLE` says which requests are sent again on the next
connection with their old id, and why that is harmless; the others are reported as
unanswered, for the caller to look before it repeats them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from kibitz_protocol.messages import (
    Arrange,
    AskLadder,
    AskReport,
    Close,
    Hello,
    History,
    Host,
    Join,
    Kick,
    Leave,
    LeaveMatch,
    ListGames,
    ListLobbies,
    ListMatches,
    Move,
    Note,
    Ready,
    Rejoin,
    Rematch,
    Request,
    Resign,
    Start,
    Unwatch,
    Watch,
)

REPEATABLE: Final[Mapping[type[Request], str]] = MappingProxyType(
    {
        Move: "applied once by id and ply, and answered the same",
        ListGames: "only reads",
        ListLobbies: "only reads",
        ListMatches: "only reads",
        AskLadder: "only reads",
        AskReport: "only reads",
        History: "only reads",
        Join: "joining again changes nothing",
        Leave: "who has left is refused as not_member, and has left",
        Ready: "says the same again",
        Start: "a programme that runs is refused as wrong_state, and runs",
        Close: "a closed lobby is refused as no_such_lobby, and is closed",
        Arrange: "a tag is played once, and answered with how it stands",
        Watch: "answered with the present state",
        Unwatch: "not watching is not watching",
        Rejoin: "answered with the present state",
        Resign: "a seat drops out once",
        LeaveMatch: "a seat is left once",
        Note: "at worst the line stands twice in the own record",
    }
)
"""Requests that are sent again when their answer was lost, with the reason why they may be."""

ONCE: Final[Mapping[type[Request], str]] = MappingProxyType(
    {
        Hello: "belongs to its connection; the next one begins with a hello of its own",
        Host: "would open a second lobby",
        Kick: "would remove a player who has come back meanwhile",
        Rematch: "would play the programme once more",
    }
)
"""Requests that are not, with the reason. Both tables together name every request."""


Asker: TypeAlias = Literal["caller", "session", "nobody"]
"""Who waits for an answer: the caller, the session itself, or nobody any more."""


@dataclass(slots=True)
class Pending:
    """A request without an answer."""

    request: Request
    asker: Asker
    sent: bool = False
    """Whether it was handed out to be sent on the present connection or an earlier one."""


class Asking:
    """The requests that have no answer yet, oldest first."""

    def __init__(self, first_id: int = 1) -> None:
        self._next = first_id
        self._pending: dict[int, Pending] = {}

    def __iter__(self) -> Iterator[Pending]:
        return iter(tuple(self._pending.values()))

    def __len__(self) -> int:
        return len(self._pending)

    def new_id(self) -> int:
        """An id larger than all before it."""
        number, self._next = self._next, self._next + 1
        return number

    def add(self, request: Request, asker: Asker = "caller") -> None:
        """Expect an answer. Raises `ValueError` for an id that was not just made."""
        if request.id in self._pending or request.id >= self._next:
            raise ValueError(f"request id {request.id} was not made by new_id, or was used before")
        self._pending[request.id] = Pending(request, asker)

    def get(self, id: int) -> Pending | None:
        return self._pending.get(id)

    def answered(self, id: int) -> Pending | None:
        """Take the request that an answer is for; None for an answer nobody waits for."""
        return self._pending.pop(id, None)

    def withdraw(self, id: int) -> None:
        """Nobody waits any more: a request that was not sent yet never will be."""
        pending = self._pending.get(id)
        if pending is None:
            return
        if pending.sent:
            pending.asker = "nobody"
        else:
            del self._pending[id]

    def interrupt(self) -> list[int]:
        """The connection is gone: ids of the requests that stay without an answer for ever.

        What the session had asked by itself is forgotten, it asks anew on the next connection,
        and so is what nobody waits for.
        """
        lost = []
        for id, pending in list(self._pending.items()):
            once = pending.sent and type(pending.request) not in REPEATABLE
            if pending.asker != "caller" or once:
                del self._pending[id]
            if pending.asker == "caller" and once:
                lost.append(id)
        return lost

    def moving(self, match: str, ply: int) -> bool:
        """Whether a move at this ply waits for its answer."""
        return any(
            isinstance(pending.request, Move)
            and pending.request.match == match
            and pending.request.ply == ply
            for pending in self._pending.values()
        )
