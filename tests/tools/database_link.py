"""A link between a node and its database, which tests can cut or stall.

A temporary cluster listens on a Unix socket; a link is a TCP port in front of it. A cut link resets
existing connections and refuses new ones. A stalled link accepts data and connections but forwards
nothing in either direction. A query then gets no answer, and a COMMIT in transit arrives only when
the link is mended.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

CHUNK = 65_536


class DatabaseLink:
    """A port through which one node reaches its database; made by `database_link`."""

    def __init__(self, socket_path: str) -> None:
        self._socket_path = socket_path
        self.port = 0
        self._is_cut = False
        self._flows = asyncio.Event()
        self._flows.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    def url(self, user: str) -> str:
        """Return the URL of the cluster's first database through this link, for a role."""
        plain = "sslmode=disable&gssencmode=disable"
        return f"postgresql://{user}@127.0.0.1:{self.port}/postgres?{plain}"

    def cut(self) -> None:
        self._is_cut = True
        self._reset()

    def hang(self) -> None:
        self._flows.clear()

    def mend(self) -> None:
        """Forward data again, beginning with the data that was held back."""
        self._is_cut = False
        self._flows.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            if not self._is_cut:
                await self._carry(reader, writer)
        finally:
            writer.transport.abort()
            self._writers.discard(writer)
            self._tasks.discard(task)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._flows.wait()
        try:
            onward = await asyncio.open_unix_connection(self._socket_path)
        except OSError:
            return  # the database is not running
        self._writers.add(onward[1])
        try:
            await asyncio.gather(self._pump(reader, onward[1]), self._pump(onward[0], writer))
        finally:
            onward[1].transport.abort()
            self._writers.discard(onward[1])

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward bytes one way; end the output after the end of the input."""
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        writer.close()

    def _reset(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def close(self) -> None:
        self._reset()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def database_link(socket_path: str) -> AsyncIterator[DatabaseLink]:
    """Run a link to the Unix socket of a cluster during the block."""
    link = DatabaseLink(socket_path)
    listener = await asyncio.start_server(link.serve, "127.0.0.1", 0)
    link.port = listener.sockets[0].getsockname()[1]
    try:
        yield link
    finally:
        listener.close()
        await link.close()
        await listener.wait_closed()
