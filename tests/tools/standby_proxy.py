"""A proxy that forwards connections to the first ready server, like a load balancer.

It polls each server's `/readyz` a few times per second. It does not touch existing connections.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

POLL_S = 0.2
CHECK_TIMEOUT_S = 1.0
P = TypeVar("P", bound="StandbyProxy")


class StandbyProxy:
    """The shared address of several nodes; created by `standby_proxy`."""

    def __init__(self, targets: Sequence[int]) -> None:
        self._targets = targets
        self.target: int | None = None
        """The port of the server for the next connection."""
        self.port = 0
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    async def watch(self) -> None:
        while True:
            ready = await asyncio.gather(*map(is_ready, self._targets))
            self.target = next(
                (port for port, answered in zip(self._targets, ready, strict=True) if answered),
                None,
            )
            await asyncio.sleep(POLL_S)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            if self.target is not None:
                with contextlib.suppress(OSError):
                    onward = await asyncio.open_connection("127.0.0.1", self.target)
                    self._writers.add(onward[1])
                    await asyncio.gather(_pump(reader, onward[1]), _pump(onward[0], writer))
                    self._writers.discard(onward[1])
        finally:
            writer.close()
            self._writers.discard(writer)

    def close(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forward bytes one way; end the output at the end of the input."""
    try:
        while data := await reader.read(16_384):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def is_ready(port: int) -> bool:
    """Return whether a local server promptly reports that it is ready."""
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(
                    b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                )
                return (await reader.readline()).startswith(b"HTTP/1.1 200")
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False


@asynccontextmanager
async def running_proxy(proxy: P) -> AsyncIterator[P]:
    """Run a proxy on a free local port during the block."""
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    watch = asyncio.create_task(proxy.watch())
    try:
        yield proxy
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
        server.close()
        proxy.close()
        await server.wait_closed()


def standby_proxy(targets: Sequence[int]) -> AbstractAsyncContextManager[StandbyProxy]:
    """Run a proxy to the servers on these local ports."""
    return running_proxy(StandbyProxy(targets))
