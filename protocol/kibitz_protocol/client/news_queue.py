"""The queue of news that a client has received and its owner has not read yet."""

from __future__ import annotations

import asyncio
from collections import deque

from kibitz_protocol.client.errors import ClosedError, SessionError
from kibitz_protocol.client.events import MatchLost, News


class NewsQueue:
    """A bounded first-in, first-out queue that can be closed with an error."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._news: deque[News | MatchLost] = deque()
        self._changed = asyncio.Event()
        self._closed = False
        self._error: SessionError | None = None

    def put(self, news: News | MatchLost) -> bool:
        """Append news; return False, and change nothing, if the queue is full."""
        if len(self._news) >= self.capacity:
            return False
        self._news.append(news)
        self._changed.set()
        return True

    def close(self, error: SessionError) -> None:
        """Make `get` end once the queue is empty."""
        self._closed = True
        self._error = error
        self._changed.set()

    async def get(self) -> News | MatchLost | None:
        """Wait for the next news and return it.

        After the end, return None if the owner closed the session, and raise the session's error
        otherwise.
        """
        while not self._news and not self._closed:
            self._changed.clear()
            await self._changed.wait()
        if self._news:
            return self._news.popleft()
        if self._error is not None and not isinstance(self._error, ClosedError):
            raise self._error
        return None
