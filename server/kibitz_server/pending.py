"""Requests that wait for the disk, and what becomes of them when what they wait for is lost.

A match or lobby whose entries could not be written is loaded again from the disk (`reloads.py`).
Nobody was told anything of what was lost, so its requests are not refused: they are carried out
again, in their order, on what was loaded; and so are those that come in the meantime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kibitz_protocol.refusals import Code
from kibitz_server.peer import Peer

_Runner = TypeVar("_Runner")
MOST = 256
"""How many requests wait for one match or lobby that is being loaded; more are refused."""


@dataclass(slots=True)
class Request(Generic[_Runner]):
    """A request; called, it is answered, as what it made is on the disk now."""

    again: Callable[[_Runner], object]
    """Carries it out on the match or lobby as it was loaded again."""
    peer: Peer | None = None
    number: int = 0
    answer: Callable[[], object] | None = None

    def __call__(self) -> None:
        if self.answer is not None:
            self.answer()

    def is_of(self, peer: Peer, number: int) -> bool:
        return self.peer is peer and self.number == number

    def refuse(self, message: str) -> None:
        """Answer that it cannot be carried out now, if it is not answered already."""
        if self.peer is not None and not self.peer.leaving:
            self.peer.fail(self.number, Code.UNAVAILABLE, message)

    def fail(self) -> None:
        """Answer that something went wrong with it, if it is not answered already."""
        if self.peer is not None and not self.peer.leaving:
            self.peer.fail(self.number)


def requests_in(held: Iterable[object]) -> list[Request[Any]]:
    """Return the requests in what waits for the disk."""
    return [each for each in held if isinstance(each, Request)]


class Backlog(Generic[_Runner]):
    """The requests of a match or lobby that is being loaded again."""

    def __init__(self) -> None:
        self._requests: list[Request[_Runner]] = []

    def add(self, request: Request[_Runner]) -> None:
        if len(self._requests) >= MOST:
            request.refuse("too many requests wait for this log to be read again")
        else:
            self._requests.append(request)

    def waiting(self) -> list[Request[_Runner]]:
        return self._requests.copy()

    def take(self) -> list[Request[_Runner]]:
        requests, self._requests = self._requests, []
        return requests

    def refuse(self, message: str) -> None:
        for request in self.take():
            request.refuse(message)
