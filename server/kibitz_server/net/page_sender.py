"""Sends a long page on one connection, piece by piece, as the transport has room.

It reads each piece after the previous one was written to the socket, so a slow client takes the
memory of only one piece (`downloads`). A client that does not receive a piece in time is dropped.
"""

from __future__ import annotations

import contextlib
from asyncio import AbstractEventLoop, Future, Transport
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from http import HTTPStatus
from typing import cast

from kibitz_server.net import http
from kibitz_server.net.downloads import Download, Downloads
from kibitz_server.net.send_queue import SendQueue


def download_refusal(downloads: Downloads, address: str | None, people: int) -> http.Page | None:
    """Return the page that refuses a download for now; None if it may start."""
    if downloads.address_is_full(address, people):
        status, body = HTTPStatus.TOO_MANY_REQUESTS, http.TOO_MANY_DOWNLOADS
    elif downloads.full():
        status, body = HTTPStatus.SERVICE_UNAVAILABLE, http.NO_ROOM_FOR_DOWNLOADS
    else:
        return None
    return http.Page(status, body, retry_after_s=downloads.limits.retry_after_s)


class PageSender:
    """Sends one page."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        transport: Transport,
        send_queue: SendQueue,
        expect_progress: Callable[[], None],
    ) -> None:
        """`expect_progress` is called for each piece, to start the piece's deadline."""
        self._loop = loop
        self._transport = transport
        self._send_queue = send_queue
        self._expect_progress = expect_progress
        self.done = False
        """Whether the whole page was written."""
        self._writable: Future[None] | None = None
        """A future that is done when the transport has room again, or is lost."""

    async def send(
        self, page: http.StreamedPage, download: Download, *, head: bool, chunked: bool
    ) -> bool:
        """Write a page, without its body for HEAD; return False if the connection is lost."""
        self._transport.write(page.head(chunked=chunked))
        pieces = cast(AsyncGenerator[bytes, None], page.pieces)
        async with contextlib.aclosing(pieces) as closing:
            self.done = head or await self._send_pieces(closing, download, chunked)
            return self.done

    def wake(self) -> None:
        """Continue sending, because the transport has room again or is lost."""
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    async def _send_pieces(
        self, pieces: AsyncIterator[bytes], download: Download, chunked: bool
    ) -> bool:
        async for piece in pieces:
            if self._lost:  # the client may be gone by now
                return False
            download.held_bytes = len(piece)
            self._expect_progress()
            self._transport.write(http.chunk(piece) if chunked else piece)
            await self._wait_writable()
            if self._lost:
                return False
            download.held_bytes = 0
        if chunked:
            self._transport.write(http.LAST_CHUNK)
        return True

    async def _wait_writable(self) -> None:
        if self._send_queue.paused and not self._lost:
            self._writable = self._loop.create_future()
            await self._writable

    @property
    def _lost(self) -> bool:
        """Whether writing is no longer possible."""
        return self._send_queue.closed or self._transport.is_closing()
