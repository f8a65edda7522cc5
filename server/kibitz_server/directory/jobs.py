"""Limits expensive requests: one at a time for each player, and one at a time in total.

Replaying a match occupies a core for a time proportional to the match's length. The replaying
thread shares the interpreter with the event loop: two such threads would leave the event loop only
a third of the time. So jobs wait, and the players take turns. Heavy users only delay themselves.
Full queues refuse requests.

    async with jobs.turn(player):
        ...                             # read and replay, one at a time

This module starts no threads or tasks; a waiting job is the caller's coroutine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary


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
    """The running and waiting expensive requests.

    A job waits for its player's lock, then for one of the places that all players share. Both are
    first in, first out. At most one job of each player waits for a place, so the players take
    turns.
    """

    def __init__(self, limits: JobLimits | None = None) -> None:
        self._limits = limits or JobLimits()
        self._places = asyncio.Semaphore(self._limits.at_once)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._waiting: list[tuple[str, str | None]] = []
        """The player and the address of each waiting job."""

    @asynccontextmanager
    async def turn(
        self, player: str, address: str | None = None, people: int = 0
    ) -> AsyncIterator[None]:
        """Wait for the player's turn, which lasts until the block exits.

        Raises `QueueFull`. `address` is the player's address, or None for this machine, which has
        no limit. `people` is the number of people that the address counts as, 0 for an ordinary
        address.
        """
        lock = self._locks.setdefault(player, asyncio.Lock())
        # A lock that passes to the next in line is unlocked for an iteration of the loop.
        if self._waiting or lock.locked() or self._places.locked():
            self._admit(player, address, people)
        self._waiting.append((player, address))
        async with AsyncExitStack() as held:
            try:
                await held.enter_async_context(lock)
                await held.enter_async_context(self._places)
            finally:
                self._waiting.remove((player, address))
            yield

    def _admit(self, player: str, address: str | None, people: int) -> None:
        """Raise `QueueFull` if the limits do not allow one more job to wait."""
        limits = self._limits
        own = sum(other == player for other, _ in self._waiting)
        near = sum(other == address for _, other in self._waiting)
        if address is not None and near >= max(limits.waiting_an_address, people):
            message = "too many requests from your address are waiting; try again later"
        elif own >= limits.waiting_a_player:
            message = f"{own} of your requests are waiting; try again later"
        elif len(self._waiting) >= limits.waiting:
            message = "too many requests are waiting; try again later"
        else:
            return
        raise QueueFull(message, limits.retry_after_ms)
