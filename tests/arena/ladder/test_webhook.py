"""The webhook: ordered, retried after failures, bounded, and non-blocking."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from kibitz_arena.ladder.state import PlayedGame
from kibitz_arena.ladder.webhook import CAPACITY, UndeliveredError, Webhook, post_json
from tests.arena.ladder.runs import virtually

pytestmark = pytest.mark.filterwarnings(
    "ignore::async_solipsism.exceptions.ResolutionWarning"  # waits shorter than it can measure
)


def result(number: int) -> PlayedGame:
    return PlayedGame(
        number=number,
        at_ms=0,
        match=f"m{number}",
        lobby="L1",
        entrants=["a", "b"],
        ranks=[1, 2],
        causes=[None, None],
        plies=3,
        reason="",
    )


class Receiver:
    """Accepts results unless told to fail."""

    def __init__(self) -> None:
        self.got: list[int] = []
        self.tries: list[float] = []
        self.failures: list[UndeliveredError] = []
        self.up = True

    async def post(self, url: str, body: bytes) -> None:
        self.tries.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.01)
        if self.failures:
            raise self.failures.pop(0)
        if not self.up:
            raise UndeliveredError("nobody there")
        self.got.append(json.loads(body)["number"])


async def run_for(hook: Webhook, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(hook.run(), seconds)


def test_results_come_in_order_and_again_after_failures() -> None:
    async def main() -> None:
        receiver, told = Receiver(), list[str]()
        receiver.failures = [UndeliveredError("500")] * 3
        hook = Webhook("http://x", receiver.post, told.append)
        for number in range(5):
            hook.put(result(number))
        await run_for(hook, 30)
        assert receiver.got == [0, 1, 2, 3, 4]
        pauses = [b - a for a, b in zip(receiver.tries, receiver.tries[1:], strict=False)]
        assert [round(pause) for pause in pauses[:3]] == [1, 2, 4]
        assert [line.partition(":")[0] for line in told] == [
            "the webhook does not accept results",
            "the webhook accepts results again; 0 were dropped",
        ]

    virtually(main())


def test_what_is_refused_is_not_sent_again() -> None:
    async def main() -> None:
        receiver = Receiver()
        receiver.failures = [UndeliveredError("404", final=True)]
        hook = Webhook("http://x", receiver.post, lambda line: None)
        hook.put(result(0))
        hook.put(result(1))
        await run_for(hook, 5)
        assert (receiver.got, hook.dropped) == ([1], 1)

    virtually(main())


def test_an_address_that_is_away_for_days_costs_a_bounded_queue() -> None:
    async def main() -> None:
        receiver = Receiver()
        receiver.up = False
        hook = Webhook("http://x", receiver.post, lambda line: None)
        sending = asyncio.create_task(hook.run())
        for number in range(CAPACITY + 500):
            hook.put(result(number))
            await asyncio.sleep(60)
        tries = len(receiver.tries)
        assert tries < 60 * (CAPACITY + 500) / 290
        receiver.up = True
        await asyncio.sleep(900)
        assert receiver.got[-1] == CAPACITY + 499
        assert len(receiver.got) == CAPACITY + 1, "and the one that was being sent"
        assert hook.dropped == 499
        sending.cancel()

    virtually(main())


class Answering(BaseHTTPRequestHandler):
    """Answers according to the path."""

    bodies: list[bytes]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).bodies.append(body)
        self.send_response(int(self.path[1:]))
        self.send_header("Location", "/200")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    Answering.bodies = []
    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_over_http(address: str) -> None:
    await post_json(f"{address}/200", b'{"number": 1}')
    assert Answering.bodies == [b'{"number": 1}']
    for status, final in ((404, True), (429, False), (500, False), (302, False)):
        with pytest.raises(UndeliveredError, match=str(status)) as caught:
            await post_json(f"{address}/{status}", b"{}")
        assert caught.value.final is final
    assert len(Answering.bodies) == 5, "a redirect is not followed"


async def test_nobody_there(address: str) -> None:
    with pytest.raises(UndeliveredError):
        await post_json("http://127.0.0.1:9/", b"{}")
