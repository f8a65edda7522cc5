"""Requests and their answers: each request is a coroutine that returns its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from kibitz_protocol.client.errors import GarbledError, RefusedError, UnansweredError
from kibitz_protocol.client.events import Answered, Unanswered
from kibitz_protocol.client.session import Session
from kibitz_protocol.wire.messages import Answer, Done, Refused, Request

_AnswerT = TypeVar("_AnswerT", bound=Answer)


class RequestExchange:
    """Sends requests through a session and hands each answer to the coroutine that waits for it.

    `wake` is called after each request, so that the session's frames are sent. The owner passes
    every `Answered` and `Unanswered` of the session to `handle`.
    """

    def __init__(self, session: Session, wake: Callable[[], None]) -> None:
        self._session = session
        self._wake = wake
        self._futures: dict[int, asyncio.Future[Answer]] = {}

    @property
    def max_request_bytes(self) -> int:
        """The size of the largest frame that the server reads."""
        return self._session.max_request_bytes

    async def done(self, build: Callable[[int], Request]) -> Done:
        """Send a request whose answer is a `Done`; see `request`."""
        return await self.request(build, Done)

    async def request(self, build: Callable[[int], Request], kind: type[_AnswerT]) -> _AnswerT:
        """Send the request that `build` makes for its id, and return its answer of type `kind`.

        Keeps waiting across reconnects. Canceling it stops the wait; a request that was already
        sent may still be carried out. Raises `RefusedError`, `UnansweredError`, `ValueError` for a
        request larger than the server's frame limit, and the session's `SessionError` once it is
        over.
        """
        answer = await self._await_answer(build(self._session.new_id()))
        if isinstance(answer, Refused):
            raise RefusedError.of(answer)
        if not isinstance(answer, kind):
            raise GarbledError(
                f"expected {kind.__name__} as the answer, got {type(answer).__name__}"
            )
        return answer

    def handle(self, event: Answered | Unanswered) -> None:
        """Pass an answer, or the error if there will be none, to the waiting coroutine."""
        future = self._futures.get(event.id)
        if future is None or future.done():
            return
        if isinstance(event, Answered):
            future.set_result(event.answer)
        else:
            future.set_exception(self._session.error or UnansweredError(event.why))

    async def _await_answer(self, request: Request) -> Answer:
        self._session.ask(request)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._futures[request.id] = future
        self._wake()
        try:
            return await future
        finally:
            del self._futures[request.id]
            self._session.withdraw(request.id)
