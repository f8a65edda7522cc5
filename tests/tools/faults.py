"""A bad network between clients and a server: a proxy that injects faults, from one seed.

Each connection through it gets, by chance, latency and jitter, slices of single bytes, a reset
after some bytes, or a *half-open* end: one side is gone, and the other is not told, so that
only its own pings can find out.

    client <--socket--> proxy <--socket--> server
                          |
        late, sliced, reset after n bytes, or silent after n bytes
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

CHUNK = 16_384
SLICED = 64
"""Bytes of a chunk that travel one by one; what follows them goes whole."""


@dataclass(frozen=True, kw_only=True)
class Weather:
    """How bad the network is. Shares are of connections, from 0 to 1."""

    latency_s: float = 0.002
    jitter_s: float = 0.01
    sliced: float = 0.3
    """Share of connections whose bytes come one by one."""
    reset: float = 0.5
    """Share of connections that are reset."""
    half_open: float = 0.1
    """Share of connections that fall silent, one end of them being closed."""
    life_bytes: int = 12_000
    """The most that passes through a connection before it is reset or falls silent."""


@dataclass
class Toll:
    """What the proxy has done so far."""

    connections: int = 0
    resets: int = 0
    silences: int = 0
    sliced: int = 0
    refused: int = 0


@dataclass
class Proxy:
    """The proxy: `port` is where clients connect."""

    target: int
    seed: int
    weather: Weather
    toll: Toll = field(default_factory=Toll)
    port: int = 0

    def __post_init__(self) -> None:
        self._links: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    async def attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection from its beginning to its end."""
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        try:
            await self._carry(reader, writer)
        finally:
            self._links.discard(task)
            _reset(writer)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.toll.connections += 1
        fate = Fate(random.Random(f"{self.seed} {self.toll.connections}"), self.weather)
        try:
            upstream = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            self.toll.refused += 1
            return
        self.toll.sliced += fate.sliced
        try:
            await self._pump(fate, (reader, writer), upstream)
        finally:
            _reset(upstream[1])

    async def _pump(self, fate: Fate, client: End, server: End) -> None:
        pumps = {
            asyncio.create_task(fate.pump(client[0], server[1])),
            asyncio.create_task(fate.pump(server[0], client[1])),
        }
        end = asyncio.create_task(fate.spent.wait())
        try:
            await asyncio.wait({*pumps, end}, return_when=asyncio.FIRST_COMPLETED)
            if fate.spent.is_set() and fate.silent:
                self.toll.silences += 1
                # One side is gone; the other has nobody left who would tell it.
                _reset((server if fate.chance.random() < 0.5 else client)[1])
                await asyncio.wait(pumps)
            elif fate.spent.is_set():
                self.toll.resets += 1
        finally:
            for task in [*pumps, end]:
                task.cancel()
            await asyncio.gather(*pumps, end, return_exceptions=True)

    async def close(self) -> None:
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)


End = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Fate:
    """What is in store for one connection."""

    def __init__(self, chance: random.Random, weather: Weather) -> None:
        self.chance = chance
        self._weather = weather
        lot = chance.random()
        self.silent = lot < weather.half_open
        self.sliced = chance.random() < weather.sliced
        mortal = lot < weather.half_open + weather.reset
        self._left = chance.randrange(200, weather.life_bytes) if mortal else None
        self.spent = asyncio.Event()
        """Set when its last byte has passed."""

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry bytes one way until the end; a silent connection swallows them then."""
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                if not self.spent.is_set() and not writer.is_closing():
                    await asyncio.sleep(self._weather.latency_s + self._jitter())
                    await self._write(writer, self._taken(data))

    def _jitter(self) -> float:
        return self._weather.jitter_s * self.chance.random() ** 4

    def _taken(self, data: bytes) -> bytes:
        """Return what may still pass."""
        if self._left is None:
            return data
        data = data[: self._left]
        self._left -= len(data)
        if self._left == 0:
            self.spent.set()
        return data

    async def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        """Write what a side that may be gone at any moment can still take."""
        slices = [data[at : at + 1] for at in range(min(SLICED, len(data)))] if self.sliced else []
        for part in [*slices, data[len(slices) :]]:
            if writer.is_closing():
                return
            writer.write(part)
            await asyncio.sleep(0)
        await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close at once; the other side gets a reset and not a farewell."""
    sock = writer.get_extra_info("socket")
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def proxied(target: int, seed: int, weather: Weather) -> AsyncIterator[Proxy]:
    """Run a proxy to port `target` until the block is left."""
    proxy = Proxy(target, seed, weather)
    listener = await asyncio.start_server(proxy.attend, "127.0.0.1", 0, backlog=1024)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        await proxy.close()
        await listener.wait_closed()
