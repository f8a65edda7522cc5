"""The webhook of a ladder: sends each result to a URL, in order.

Failed deliveries are retried with increasing pauses. The queue is bounded: if the receiver is down
for a long time, the oldest results are dropped. The receiver sees a gap in the game numbers and can
look up recent results in the feed. The webhook never delays the ladder.
"""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Final

from kibitz_arena.ladder.state import PlayedGame

CAPACITY: Final = 1000
"""The maximum number of queued results."""
FIRST_PAUSE: Final = 1.0
"""The pause after a first failure, in seconds."""
LONGEST_PAUSE: Final = 300.0
"""The maximum pause; pauses double with each further failure."""
TIMEOUT: Final = 10.0

Post = Callable[[str, bytes], Awaitable[None]]


class UndeliveredError(Exception):
    """A result was not delivered; `final` means that the receiver will never accept it."""

    def __init__(self, sentence: str, *, final: bool = False) -> None:
        super().__init__(sentence)
        self.final = final


class Webhook:
    """Delivers results to one URL. `tell` receives a line when delivery starts or stops failing."""

    def __init__(self, url: str, post: Post, tell: Callable[[str], None]) -> None:
        self._url = url
        self._post = post
        self._tell = tell
        self._queue: asyncio.Queue[PlayedGame] = asyncio.Queue(CAPACITY)
        self.dropped = 0
        """The number of results dropped because the queue was full or the receiver refused them."""
        self._failing = False

    def put(self, result: PlayedGame) -> None:
        """Queue a result without blocking."""
        if self._queue.full():
            self._queue.get_nowait()
            self.dropped += 1
        self._queue.put_nowait(result)

    async def run(self) -> None:
        """Send queued results, until canceled."""
        while True:
            await self._deliver(await self._queue.get())

    async def _deliver(self, result: PlayedGame) -> None:
        """Send a result until it is accepted or refused."""
        pause = FIRST_PAUSE
        while True:
            try:
                await self._post(self._url, result.model_dump_json().encode())
            except UndeliveredError as error:
                self._say_failing(str(error))
                if error.final:
                    self.dropped += 1
                    return
            else:
                self._say_accepted()
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _say_accepted(self) -> None:
        if self._failing:
            self._tell(f"the webhook accepts results again; {self.dropped} were dropped")
        self._failing = False

    def _say_failing(self, why: str) -> None:
        if not self._failing:
            self._tell(f"the webhook does not accept results: {why}; retrying")
        self._failing = True


async def post_json(url: str, body: bytes) -> None:
    """POST JSON to a URL; raises `UndeliveredError`."""
    await asyncio.to_thread(_post, url, body)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Rejects redirects: results go only to the configured URL."""

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
        raise UndeliveredError(f"{url} answered with status {error.code}", final=refused) from None
    except (OSError, ValueError) as error:
        raise UndeliveredError(f"{url}: {error}") from None
