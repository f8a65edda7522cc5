"""The webhook of a ladder: sends each result to an address, one after the other.

Failed deliveries are retried with growing pauses. The queue is bounded: if an address is down for
long the oldest results are dropped, which their numbers show. The webhook never delays the ladder.
The feed has the results that a receiver missed.
"""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from kibitz_arena.ladder.state import PlayedGame

CAPACITY: Final = 1000
"""How many results wait at most."""
FIRST_PAUSE: Final = 1.0
"""Seconds after a first failure ..."""
LONGEST_PAUSE: Final = 300.0
"""... which double with each further one, up to this."""
TIMEOUT: Final = 10.0

Post = Callable[[str, bytes], Awaitable[None]]


class UndeliveredError(Exception):
    """A result was not delivered; `final` if the receiver will never accept it."""

    def __init__(self, sentence: str, *, final: bool = False) -> None:
        super().__init__(sentence)
        self.final = final


class Webhook:
    """Results on their way to one address. `tell` is given a line when that changes."""

    def __init__(self, url: str, post: Post, tell: Callable[[str], None]) -> None:
        self._url = url
        self._post = post
        self._tell = tell
        self._queue: deque[PlayedGame] = deque()
        self._filled = asyncio.Event()
        self.delivered = 0
        self.dropped = 0
        """Results that were given up: there were too many, or they were refused."""
        self._failing = False

    def put(self, result: PlayedGame) -> None:
        """Let a result be sent; never waits."""
        if len(self._queue) >= CAPACITY:
            self._queue.popleft()
            self.dropped += 1
        self._queue.append(result)
        self._filled.set()

    async def run(self) -> None:
        """Send queued results, until canceled."""
        pause = FIRST_PAUSE
        while True:
            await self._filled.wait()
            if await self._send():
                pause = FIRST_PAUSE
                continue
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _send(self) -> bool:
        """Send the oldest result; return whether the next one may follow at once."""
        result = self._queue[0]
        try:
            await self._post(self._url, result.model_dump_json().encode())
        except UndeliveredError as error:
            self._say_failing(str(error))
            if not error.final:
                return False
            self.dropped += 1
        else:
            self.delivered += 1
            if self._failing:
                self._failing = False
                self._tell(f"the webhook takes results again; {self.dropped} were dropped")
        self._take(result)
        return True

    def _take(self, result: PlayedGame) -> None:
        """Remove a result that is done, unless it was dropped meanwhile."""
        if self._queue and self._queue[0] is result:
            self._queue.popleft()
        if not self._queue:
            self._filled.clear()

    def _say_failing(self, why: str) -> None:
        if not self._failing:
            self._tell(f"the webhook takes no results: {why}; they are sent again")
        self._failing = True


async def post_json(url: str, body: bytes) -> None:
    """Send JSON to an address; raises `UndeliveredError`."""
    await asyncio.to_thread(_post, url, body)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nowhere: a result goes to the address that the keeper has named, or nowhere."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def _post(url: str, body: bytes) -> None:
    head = {"Content-Type": "application/json", "User-Agent": "kibitz ladder"}
    request = urllib.request.Request(url, body, head, method="POST")
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=TIMEOUT):
            return
    except urllib.error.HTTPError as error:
        error.close()
        refused = 400 <= error.code < 500 and error.code not in (408, 425, 429)
        raise UndeliveredError(f"{url} answers {error.code}", final=refused) from None
    except (OSError, ValueError) as error:
        raise UndeliveredError(f"{url}: {error}") from None
