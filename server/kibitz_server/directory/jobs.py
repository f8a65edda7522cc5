"""Limits expensive requests: one at a time for each player, and one at a time in total.

Replaying a match occupies a core for a time proportional to the match's length. The replaying
thread shares the interpreter with the event loop: two such threads would leave the event loop only
a third of the time. So jobs wait in one queue per player, and the players take turns. Heavy users
only delay themselves. Full queues refuse requests.

    async with jobs.turn(player):
        ...                             # read and replay, one at a time

This module starts no threads or tasks; a waiting job is the caller's coroutine.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLimits:
    """Limits on running and waiting expensive requests."""

    at_once: int = 1
    """The number of requests that run at the same time."""
    waiting_a_player: int = 8
    """The maximum number of one player's waiting requests, in addition to the running one."""
    waiting_an_address: int = 32
    """The maximum number of waiting requests from one address, where a guest can use many names. An
    address that counts as many people may have one for each of them.
    """
    waiting: int = 256
    """The maximum number of waiting requests in total."""
    retry_after_ms: int = 1000
    """The retry delay for clients whose request was refused because the queue is full."""


class QueueFull(Exception):
    """The queue is full; the client may retry after `retry_after_ms`."""

    def __init__(self, message: str, retry_after_ms: int) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class JobQueue:
    """The running and waiting expensive requests."""

    def __init__(self, loop: AbstractEventLoop, limits: JobLimits | None = None) -> None:
        self._loop = loop
        self._limits = limits or JobLimits()
        self._running: set[str] = set()
        self._queues: dict[str, deque[tuple[Future[None], str | None]]] = {}
        """The waiting jobs by player, each with its address; the player whose turn is next comes
        first."""

    @property
    def waiting(self) -> int:
        return sum(map(len, self._queues.values()))

    @property
    def running(self) -> int:
        return len(self._running)

    @asynccontextmanager
    async def turn(
        self, player: str, address: str | None = None, people: int = 0
    ) -> AsyncIterator[None]:
        """Wait for the player's turn, which lasts until the block exits.

        Raises `QueueFull`. `address` is the player's address, or None for this machine, which has
        no limit. `people` is the number of people that the address counts as, 0 for an ordinary
        address.
        """
        if player in self._running or len(self._running) >= self._limits.at_once:
            self._admit(player, address, people)
            await self._wait(player, address)
        else:
            self._running.add(player)
        try:
            yield
        finally:
            self._running.discard(player)
            self._start_next()

    def _admit(self, player: str, address: str | None, people: int) -> None:
        """Raise `QueueFull` if the limits do not allow one more job to wait."""
        limits, own = self._limits, len(self._queues.get(player, ()))
        near = sum(each == address for line in self._queues.values() for _, each in line)
        if address is not None and near >= max(limits.waiting_an_address, people):
            message = "too many requests from your address are waiting; try again later"
        elif own >= limits.waiting_a_player:
            message = f"{own} of your requests are waiting; try again later"
        elif self.waiting >= limits.waiting:
            message = "too many requests are waiting; try again later"
        else:
            return
        raise QueueFull(message, limits.retry_after_ms)

    async def _wait(self, player: str, address: str | None) -> None:
        """Wait until `_start_next` starts the player's job."""
        come: Future[None] = self._loop.create_future()
        self._queues.setdefault(player, deque()).append((come, address))
        try:
            await come
        except BaseException:
            if come.done() and not come.cancelled():  # canceled just after its turn came
                self._running.discard(player)
                self._start_next()
            else:
                self._withdraw(player, come)
            raise

    def _withdraw(self, player: str, come: Future[None]) -> None:
        left = deque(job for job in self._queues.get(player, ()) if job[0] is not come)
        if left:
            self._queues[player] = left
        else:
            self._queues.pop(player, None)

    def _start_next(self) -> None:
        """Start the jobs of the players whose turns are next, up to the limit."""
        while len(self._running) < self._limits.at_once:
            player = next((other for other in self._queues if other not in self._running), None)
            if player is None:
                return
            line = self._queues.pop(player)
            come, _ = line.popleft()
            if line:
                self._queues[player] = line  # the player moves behind all other waiting players
            if come.cancelled():
                continue
            self._running.add(player)
            come.set_result(None)
