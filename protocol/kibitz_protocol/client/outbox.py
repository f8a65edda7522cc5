"""The requests that a connection still has to send, in order and within the rate limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kibitz_protocol.client.requests import PendingRequests
from kibitz_protocol.client.throttle import RequestThrottle
from kibitz_protocol.wire.messages import (
    WALL_MATCH_COST,
    Hello,
    Limits,
    Move,
    Refused,
    Rejoin,
    Request,
    Wall,
)
from kibitz_protocol.wire.refusals import Code

DEFAULT_RETRY_MS: Final = 1_000
"""Delay before a refused request is resent if the refusal gives none."""


class Outbox:
    """The queue of a connection's unsent requests, by id.

    Hello must be the only message sent so far.

    If `requests` no longer has an id, the request was withdrawn, and the queue skips it.
    """

    def __init__(self, requests: PendingRequests, limits: Limits, now: int) -> None:
        self._requests = requests
        self._throttle = RequestThrottle(limits.messages_per_second, limits.burst, now)
        self._throttle.try_take(now, Hello.cost)
        self._waiting: list[int] = []
        # Requests to resend because the server was too busy: (time, id).
        self._postponed: list[tuple[int, int]] = []
        # Requests to resend once another one has its answer: (the other one's id, id).
        self._behind: list[tuple[int, int]] = []

    def add(self, ids: Iterable[int]) -> None:
        """Queue requests by their ids."""
        self._waiting.extend(ids)

    def postpone(self, refused: Refused, now: int) -> None:
        """Schedule a retry of a refused request at the time that the refusal names."""
        wait = DEFAULT_RETRY_MS if refused.retry_after_ms is None else refused.retry_after_ms
        self._postponed.append((now + wait, refused.re))
        if refused.code is Code.RATE_LIMITED:
            self._throttle.drain(now, wait)

    def postpone_behind(self, other: int, id: int) -> None:
        """Schedule a retry for when another request has its answer."""
        self._behind.append((other, id))

    def frames(self, now: int) -> list[bytes]:
        """Return the frames to send now, and mark their requests as sent."""
        self.add(id for at, id in self._postponed if at <= now)
        self._postponed = [(at, id) for at, id in self._postponed if at > now]
        self.add(id for other, id in self._behind if self._requests.get(other) is None)
        self._behind = [(other, id) for other, id in self._behind if self._requests.get(other)]
        frames = []
        held: list[Request] = []
        for pending in filter(None, map(self._requests.get, self._waiting)):
            if self._may_send(pending.request, held, now):
                pending.sent = True
                frames.append(pending.frame)
            else:
                held.append(pending.request)
        self._waiting = [request.id for request in held]
        return frames

    def deadline(self) -> int | None:
        """Return when the next frame may be sent."""
        times = [at for at, _ in self._postponed]
        if self._waiting:
            times.append(self._throttle.ready_at())
        return min(times, default=None)

    def _may_send(self, request: Request, held: Sequence[Request], now: int) -> bool:
        """Return whether a request may be sent now, given the order and the rate limit.

        A move overtakes all other requests except the rejoin of its match, which it needs.
        """
        if isinstance(request, Move):
            return not any(isinstance(one, Rejoin) and one.match == request.match for one in held)
        return not held and self._throttle.try_take(now, _cost(request))


def _cost(request: Request) -> float:
    """Return the most that the server may charge for a request.

    For a wall, it assumes that no match is watched yet.
    """
    cost: float = request.cost
    if isinstance(request, Wall):
        cost += WALL_MATCH_COST * len(request.matches)
    return cost
