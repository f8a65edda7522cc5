"""The websocket of a client.

The session (`session.py`) decides when to connect and what to send. This module moves its frames to
and from a socket, and calls it when its timers expire.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Sequence
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidMessage,
    InvalidStatus,
    WebSocketException,
)
from websockets.frames import CloseCode

from kibitz_protocol.client.errors import OversizedError, SessionError, UnreachableError
from kibitz_protocol.client.events import SessionEvent
from kibitz_protocol.client.session import Session, SessionState

MAX_SERVER_FRAME: Final = 4 * 1024 * 1024
"""The largest frame accepted from a server, in bytes. A long history is one frame."""
PING_INTERVAL_S: Final = 4.0
"""The seconds without data from the server before a ping, and the timeout for its answer. A cluster
replaces a stalled node after some seconds; the sum must not exceed that time."""
PING_CHECKS: Final = 4
"""How often to check for data from the server per `PING_INTERVAL_S`. With several short waits, a
pause of this program, such as for loading a bot, does not look like silence of the server."""
OPEN_TIMEOUT_S: Final = 10.0
"""Timeout for opening a connection if the client knows no other node of the cluster."""
SEND_TIMEOUT_S: Final = 15.0
"""Timeout for sending a frame. Pings do not detect a server that sends but no longer reads."""
CLOSE_TIMEOUT_S: Final = 3.0
"""Timeout for the closing handshake of the websocket."""

_RETRYABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP statuses, from a server or a proxy in front of it, after which to retry."""


class _HeardConnection(ClientConnection):
    """A websocket that records when it received data, including parts of long frames."""

    heard = 0

    def data_received(self, data: bytes) -> None:
        self.heard += 1
        super().data_received(data)


class ConnectionLoop:
    """The task that keeps a session connected to the server at `url`, or to another one of its
    cluster.

    `run` passes events to `on_event` in order, on the event loop's thread.
    """

    def __init__(
        self, url: str, session: Session, on_event: Callable[[SessionEvent], None]
    ) -> None:
        self._url = url
        self._session = session
        self._on_event = on_event
        # Set whenever there may be frames to send.
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Open connections until the session has ended."""
        try:
            while self._session.state is not SessionState.ENDED:
                await self._attempt()
        except Exception as error:
            # A bug in this program: fail all waiting requests, and the task.
            self.close(SessionError(f"the client failed: {error!r}"))
            raise

    def wake(self) -> None:
        """Send the session's pending frames."""
        self._wake.set()

    def close(self, error: SessionError | None = None) -> None:
        """End the session; `error` is the reason, None if the owner closes it."""
        self._handle(self._session.close(error))

    async def _attempt(self) -> None:
        """Wait until a connection is due, open it, and use it until it ends."""
        await asyncio.sleep(max(0, self._session.connect_at - now_ms()) / 1000)
        addresses = self._session.addresses
        address = addresses.present or self._url
        if _is_encrypted(self._url) and not _is_encrypted(address):
            # Never send secrets over an unencrypted connection if the first one was encrypted.
            self._on_connect_failure(OSError("expected a wss:// address, like the server's"))
            return
        try:
            connection = await connect(
                address,
                compression=None,
                proxy=None,
                max_size=MAX_SERVER_FRAME,
                open_timeout=PING_INTERVAL_S
                if self._session.addresses.has_others
                else OPEN_TIMEOUT_S,
                ping_interval=None,
                create_connection=_HeardConnection,
                close_timeout=CLOSE_TIMEOUT_S,
            )
        except (OSError, EOFError, WebSocketException) as error:
            self._on_connect_failure(error)
            return
        assert isinstance(connection, _HeardConnection), "set by create_connection"
        try:
            await self._use(connection)
        finally:
            await _close(connection)

    def _on_connect_failure(self, error: Exception) -> None:
        why = (
            f"{self._session.addresses.present or self._url}: {str(error) or type(error).__name__}"
        )
        if _is_transient(error) or self._session.addresses.present is not None:
            self._handle(self._session.lost(now_ms(), None, why))
        else:
            self.close(UnreachableError(why))

    async def _use(self, connection: _HeardConnection) -> None:
        self._session.connected(now_ms())
        async with asyncio.TaskGroup() as group:
            tasks = [self._write(connection), self._watch(connection)]
            beside = [group.create_task(work) for work in tasks]
            await self._read(connection)
            for task in beside:
                task.cancel()
        if self._session.live:
            code, reason = connection.close_code, connection.close_reason or ""
            self._handle(self._session.lost(now_ms(), code, reason))

    async def _read(self, connection: ClientConnection) -> None:
        """Read until the connection ends or the session abandons it."""
        try:
            while self._session.live:
                frame = await connection.recv(decode=False)
                self._handle(self._session.receive(frame, now_ms()))
                # Most frames answer no request, and then there is nothing to write.
                if not self._session.live or self._session.deadline() is not None:
                    self._wake.set()
        except ConnectionClosed as error:
            # End the session: the server would send the same frame again on the next connection.
            if error.sent is not None and error.sent.code == CloseCode.MESSAGE_TOO_BIG:
                most = f"{MAX_SERVER_FRAME // 2**20} MiB"
                self.close(
                    OversizedError(
                        f"the server sent a message of more than {most}, the limit of this client:"
                        " request less data at a time"
                    )
                )

    async def _write(self, connection: ClientConnection) -> None:
        try:
            while self._session.live:
                self._wake.clear()
                await self._flush(connection)
                await self._wait_for_work()
                self._handle(self._session.tick(now_ms()))
            connection.transport.abort()
        except TimeoutError:
            # The server has stopped reading. Aborting the transport ends `_read`.
            connection.transport.abort()
        except ConnectionClosed:
            # `_read` ends too, after it has read the remaining frames.
            pass

    async def _watch(self, connection: _HeardConnection) -> None:
        """Close the connection if the server stops answering; this ends `_read`."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                heard = connection.heard
                await asyncio.sleep(PING_INTERVAL_S)
                if connection.heard == heard and not await self._answers(connection):
                    connection.transport.abort()
                    return

    async def _answers(self, connection: _HeardConnection) -> bool:
        """Ping the server and return whether it sends anything in time."""
        heard = connection.heard
        try:
            async with asyncio.timeout(PING_INTERVAL_S):
                await connection.ping()
        except TimeoutError:
            return False  # the server has stopped reading, so not even a ping can be sent
        for _ in range(PING_CHECKS):
            await asyncio.sleep(PING_INTERVAL_S / PING_CHECKS)
            if connection.heard != heard:
                return True
        return False

    async def _flush(self, connection: ClientConnection) -> None:
        for frame in self._session.frames(now_ms()):
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await connection.send(frame, text=True)

    async def _wait_for_work(self) -> None:
        """Wait until there may be something to send, or until the session's next deadline."""
        deadline = self._session.deadline()
        if deadline is None:
            await self._wake.wait()
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0, deadline - now_ms()) / 1000):
                await self._wake.wait()

    def _handle(self, events: Sequence[SessionEvent]) -> None:
        for event in events:
            self._on_event(event)


def _is_encrypted(url: str) -> bool:
    return url.lower().startswith("wss:")


def now_ms() -> int:
    """Return the time of the running event loop in integer milliseconds, the unit of sessions."""
    return int(asyncio.get_running_loop().time() * 1000)


async def _close(connection: ClientConnection) -> None:
    """Close with a timeout, because `close` alone waits for a peer that reads nothing."""
    try:
        async with asyncio.timeout(2 * CLOSE_TIMEOUT_S):
            await connection.close()
    except TimeoutError:
        pass
    finally:
        connection.transport.abort()


def _is_transient(error: Exception) -> bool:
    """Return whether to retry opening a connection after this error."""
    if isinstance(error, InvalidStatus):
        return error.response.status_code in _RETRYABLE_STATUSES
    if isinstance(error, ssl.SSLCertVerificationError):
        return False
    return isinstance(error, (OSError, EOFError, InvalidMessage))
