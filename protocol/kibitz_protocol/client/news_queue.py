"""The queue of news that a client has received and its owner has not read yet."""

from __future__ import annotations

import asyncio

from kibitz_protocol.client.errors import ClosedError, SessionError
from kibitz_protocol.client.events import MatchLost, News


class NewsQueue:
    """A bounded first-in, first-out queue that can be closed with an error."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._news: asyncio.Queue[News | MatchLost | None] = asyncio.Queue()
        """The news; the last item is None once the queue is closed."""
        self._error: SessionError | None = None

    def put(self, news: News | MatchLost) -> bool:
        """Append news; return False, and change nothing, if the queue is full."""
        if self._news.qsize() >= self.capacity:
            return False
        self._news.put_nowait(news)
        return True

    def close(self, error: SessionError) -> None:
        """Make `get` end once the queue is empty."""
        self._error = error
        self._news.put_nowait(None)

    async def get(self) -> News | MatchLost | None:
        """Wait for the next news and return it.

        After the end, return None if the owner closed the session, and raise the session's error
        otherwise.
        """
        news = await self._news.get()
        if news is None:
            self._news.put_nowait(None)  # for later calls
            if self._error is not None and not isinstance(self._error, ClosedError):
                raise self._error
        return news
