"""Expensive requests: one at a time for each player, and one at a time for all of them.

Folding a match again takes a core for as long as the match is long. A thread that folds takes
turns with the event loop at the interpreter, so two of them would leave the players a third of
it. Jobs therefore wait in a line for each player, and the players take turns: who asks for much
waits for itself. A line that is full refuses.

    async with jobs.turn(player):
        ...                             # read and fold; nobody else does meanwhile

Nothing here starts a thread or a task; a job that waits is its own coroutine.
"""

from __future__ import annotations

import contextlib
from asyncio import AbstractEventLoop, Future
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLimits:
    """How many expensive requests run and wait."""

    at_once: int = 1
    """How many run at the same time."""
    waiting_a_player: int = 8
    """How many of one player wait, besides the one that runs."""
    waiting_an_address: int = 32
    """How many from one address wait, where guests are free to call themselves many things; or one
    for each of the people that it is counted as, where those are more."""
    waiting: int = 256
    """How many wait in all."""
    retry_after_ms: int = 1000
    """What somebody is told to wait for whose request finds the line full."""


class QueueFull(Exception):
    """A job for which there is no room; it may come again after `retry_after_ms`."""

    def __init__(self, message: str, retry_after_ms: int) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class JobQueue:
    """The expensive requests that run, and those that wait."""

    def __init__(self, loop: AbstractEventLoop, limits: JobLimits | None = None) -> None:
        self._loop = loop
        self._limits = limits or JobLimits()
        self._running: set[str] = set()
        self._queues: dict[str, deque[Future[None]]] = {}
        """Who waits, by player; the player whose turn is next comes first."""
        self._waiting = 0
        self._by_address: Counter[str] = Counter()
        """How many wait from each address."""

    @property
    def waiting(self) -> int:
        return self._waiting

    @property
    def running(self) -> int:
        return len(self._running)

    @asynccontextmanager
    async def turn(
        self, player: str, address: str | None = None, people: int = 0
    ) -> AsyncIterator[None]:
        """Wait for the player's turn, and hold it until the block is left. Raises `QueueFull`.

        `address` is where the player is, None for this machine, which may have any number;
        `people` is as how many people it is counted, 0 where it is counted as itself.
        """
        if player in self._running or len(self._running) >= self._limits.at_once:
            await self._wait_at_address(player, address, people)
        else:
            self._running.add(player)
        try:
            yield
        finally:
            self._running.discard(player)
            self._start_next()

    async def _wait_at_address(self, player: str, address: str | None, people: int) -> None:
        if address is None:
            await self._wait(player)
            return
        if self._by_address[address] >= max(self._limits.waiting_an_address, people):
            message = "too many requests of your address wait already, ask again later"
            raise QueueFull(message, self._limits.retry_after_ms)
        self._by_address[address] += 1
        try:
            await self._wait(player)
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    async def _wait(self, player: str) -> None:
        """Wait until `_next` has put the player among those who run."""
        limits = self._limits
        line = self._queues.get(player, ())
        if len(line) >= limits.waiting_a_player:
            message = f"{len(line)} requests of yours wait already, ask again later"
            raise QueueFull(message, limits.retry_after_ms)
        if self._waiting >= limits.waiting:
            raise QueueFull(
                "too many requests wait already, ask again later", limits.retry_after_ms
            )
        come: Future[None] = self._loop.create_future()
        self._queues.setdefault(player, deque()).append(come)
        self._waiting += 1
        try:
            await come
        except BaseException:
            if come.done() and not come.cancelled():  # the turn came, and nobody takes it
                self._running.discard(player)
                self._start_next()
            else:
                self._withdraw(player, come)
            raise

    def _withdraw(self, player: str, come: Future[None]) -> None:
        line = self._queues.get(player, deque())
        with contextlib.suppress(ValueError):
            line.remove(come)
            self._waiting -= 1
        if not line:
            self._queues.pop(player, None)

    def _start_next(self) -> None:
        """Give free places to the players whose turns are next."""
        while len(self._running) < self._limits.at_once:
            player = next((other for other in self._queues if other not in self._running), None)
            if player is None:
                return
            line = self._queues.pop(player)
            come = line.popleft()
            self._waiting -= 1
            if line:
                self._queues[player] = line  # behind everybody else who waits
            if come.cancelled():
                continue
            self._running.add(player)
            come.set_result(None)
