"""A proxy between clients and a server that injects random network faults from a seed.

Each connection has latency and jitter. Some are sent byte by byte or at a low rate, and many get
one of three endings. It can be *reset* after some bytes. It can become *half-open*: one side
disappears silently, so that only the other side's pings can detect it. Or it can be *half-closed*:
one direction ends properly (FIN) and the other stays open.

    client <--socket--> proxy <--socket--> server
                          |
        late, sliced, slow; reset, silent or ended one way after n bytes
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
from typing import Literal

CHUNK = 16_384
SLOW_CHUNK = 512
"""The chunk size of slow connections in bytes."""
SLICED_BYTES = 64
"""The number of bytes of a chunk to send one by one before sending the rest at once."""


@dataclass(frozen=True, kw_only=True)
class NetworkFaults:
    """The faults of a network. Shares are fractions of connections, from 0 to 1."""

    latency_s: float = 0.002
    jitter_s: float = 0.01
    sliced: float = 0.3
    """Share of connections that send single bytes."""
    reset: float = 0.5
    """Share of connections that are reset."""
    half_open: float = 0.1
    """Share of connections that become half-open."""
    half_closed: float = 0.0
    """Share of connections that become half-closed."""
    slow: float = 0.0
    """Share of connections limited to `slow_bytes_s` bytes per second each way."""
    slow_bytes_s: int = 20_000
    max_bytes: int = 12_000
    """The maximum number of bytes before a connection's ending, whatever its kind."""


@dataclass
class FaultCounts:
    """The numbers of faults injected so far."""

    connections: int = 0
    resets: int = 0
    silences: int = 0
    half_closed: int = 0
    sliced: int = 0
    slow: int = 0
    refused: int = 0


@dataclass
class FaultProxy:
    """The proxy; clients connect to `port`."""

    target: int
    seed: int
    faults: NetworkFaults
    counts: FaultCounts = field(default_factory=FaultCounts)
    port: int = 0

    def __post_init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection from start to end."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._carry(reader, writer)
        finally:
            self._tasks.discard(task)
            _reset(writer)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.counts.connections += 1
        plan = ConnectionFaults(
            random.Random(f"{self.seed} {self.counts.connections}"), self.faults
        )
        try:
            upstream = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            self.counts.refused += 1
            return
        self.counts.sliced += plan.sliced
        self.counts.slow += plan.slow
        try:
            await self._pump(plan, (reader, writer), upstream)
        finally:
            _reset(upstream[1])

    async def _pump(self, plan: ConnectionFaults, client: StreamPair, server: StreamPair) -> None:
        pumps = {
            asyncio.create_task(plan.pump(client[0], server[1], to_client=False)),
            asyncio.create_task(plan.pump(server[0], client[1], to_client=True)),
        }
        end = asyncio.create_task(plan.spent.wait())
        try:
            await asyncio.wait({*pumps, end}, return_when=asyncio.FIRST_COMPLETED)
            if plan.spent.is_set():
                await self._end_connection(plan, pumps, client, server)
        finally:
            for task in [*pumps, end]:
                task.cancel()
            await asyncio.gather(*pumps, end, return_exceptions=True)

    async def _end_connection(
        self,
        plan: ConnectionFaults,
        pumps: set[asyncio.Task[None]],
        client: StreamPair,
        server: StreamPair,
    ) -> None:
        """End a connection that has reached its byte limit, with its kind of ending."""
        one = client if plan.to_client else server
        match plan.end:
            case "silent":
                self.counts.silences += 1
                # One side is gone, and the other is not notified.
                _reset(one[1])
                await asyncio.wait(pumps)
            case "half-closed":
                self.counts.half_closed += 1
                # One side sees the end of its input; its output still arrives.
                plan.half_closed = True
                with contextlib.suppress(OSError):
                    one[1].write_eof()
                await asyncio.wait(pumps)
            case "reset":
                self.counts.resets += 1
            case None:
                raise AssertionError("a connection without an ending has no byte limit")

    async def close(self) -> None:
        for link in self._tasks:
            link.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


StreamPair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
EndKind = Literal["silent", "reset", "half-closed"]


class ConnectionFaults:
    """The faults of one connection, drawn when it is opened."""

    def __init__(self, chance: random.Random, faults: NetworkFaults) -> None:
        self.chance = chance
        self._faults = faults
        self.end = _draw_end(chance.random(), faults)
        self.to_client = chance.random() < 0.5
        """Whether the ending affects the client: it disappears, or its direction ends."""
        self.sliced = chance.random() < faults.sliced
        self._left = None if self.end is None else chance.randrange(200, faults.max_bytes)
        self.slow = chance.random() < faults.slow
        self.spent = asyncio.Event()
        """Set when the last allowed byte has passed."""
        self.half_closed = False
        """Whether the end of one direction was sent, after which nothing may be written to it."""

    async def pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, to_client: bool
    ) -> None:
        """Forward bytes one way until the ending; discard later bytes."""
        with contextlib.suppress(OSError):
            while data := await reader.read(SLOW_CHUNK if self.slow else CHUNK):
                if self._passes(to_client) and not writer.is_closing():
                    await asyncio.sleep(self._delay(len(data)))
                    await self._write(writer, self._truncate(data, to_client), to_client)

    def _passes(self, to_client: bool) -> bool:
        """Return whether bytes are still forwarded in this direction."""
        if not self.spent.is_set():
            return True
        return self.end == "half-closed" and to_client != self.to_client

    def _delay(self, size: int) -> float:
        """Return the delay of a piece of `size` bytes."""
        late = self._faults.latency_s + self._jitter()
        return late + size / self._faults.slow_bytes_s if self.slow else late

    def _jitter(self) -> float:
        return self._faults.jitter_s * self.chance.random() ** 4

    def _truncate(self, data: bytes, to_client: bool) -> bytes:
        """Return the bytes that may still pass, and set `spent` with the last one.

        A direction that continues after the ending loses nothing.
        """
        if self._left is None or self.spent.is_set():
            return data
        taken = data[: self._left]
        self._left -= len(taken)
        if self._left == 0:
            self.spent.set()
        return data if self._passes(to_client) else taken

    async def _write(self, writer: asyncio.StreamWriter, data: bytes, to_client: bool) -> None:
        """Write to a side that may disconnect at any moment."""
        slices = (
            [data[at : at + 1] for at in range(min(SLICED_BYTES, len(data)))] if self.sliced else []
        )
        for part in [*slices, data[len(slices) :]]:
            if writer.is_closing() or (self.half_closed and to_client == self.to_client):
                return
            writer.write(part)
            await asyncio.sleep(0)
        await writer.drain()


def _draw_end(lot: float, faults: NetworkFaults) -> EndKind | None:
    """Return the kind of ending; None if the proxy leaves the connection to its peers."""
    kinds: list[tuple[EndKind, float]] = [
        ("silent", faults.half_open),
        ("reset", faults.reset),
        ("half-closed", faults.half_closed),
    ]
    for kind, share in kinds:
        if lot < share:
            return kind
        lot -= share
    return None


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with a TCP reset."""
    sock = writer.get_extra_info("socket")
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def fault_proxy(target: int, seed: int, faults: NetworkFaults) -> AsyncIterator[FaultProxy]:
    """Run a proxy to port `target` during the block."""
    proxy = FaultProxy(target, seed, faults)
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, backlog=1024)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        await proxy.close()
        await listener.wait_closed()
