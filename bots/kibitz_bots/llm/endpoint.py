"""A request to an endpoint with the chat-completions API, and its answer.

Requests to a busy or failing endpoint are retried while time remains, after the delay that it
requests or with exponential backoff.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx

MOST_BYTES: Final = 1 << 20
"""The maximum size of an answer in bytes."""
FIRST_PAUSE_S: Final = 0.5
BUSY: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Status codes worth retrying."""
LETTERS_A_TOKEN: Final = 4
"""The approximate characters per token, for endpoints that do not report usage."""

Message = dict[str, str]
"""A chat message with ``role`` and ``content``."""


class EndpointError(Exception):
    """The endpoint gave no answer; the message contains no secrets."""


class EndpointRefusedError(EndpointError):
    """The endpoint rejected the request and would reject the next one too."""


@dataclass(frozen=True)
class Reply:
    """The model's answer."""

    text: str
    tokens: int
    """The tokens of the request and the answer, as reported by the endpoint or estimated."""
    seconds: float


class ChatEndpoint:
    """A client for one model. `transport` replaces the network in tests."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = url.rstrip("/") + "/chat/completions"
        self._model = model
        self._key = key
        self._transport = transport

    async def ask(self, messages: Sequence[Message], *, answer: int, seconds: float) -> Reply:
        """Request an answer of at most `answer` tokens.

        Raises `EndpointRefusedError` if a retry cannot help, and `EndpointError` if there is no
        answer within `seconds`.
        """
        body = {"model": self._model, "messages": [*messages], "max_tokens": answer}
        began, pause, last = time.monotonic(), FIRST_PAUSE_S, "the request timed out"
        try:
            async with asyncio.timeout(seconds), self._client() as client:
                while True:
                    try:
                        text, used = await self._once(client, body)
                    except _BusyError as error:
                        last = str(error)
                        await asyncio.sleep(pause if error.wait_s is None else error.wait_s)
                        pause *= 2
                        continue
                    tokens = used or _about(messages, text)
                    return Reply(text, tokens, time.monotonic() - began)
        except TimeoutError:
            raise EndpointError(f"no answer in {seconds:.1f} s: {last}") from None

    def _client(self) -> httpx.AsyncClient:
        headers = {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        return httpx.AsyncClient(headers=headers, timeout=None, transport=self._transport)

    async def _once(
        self, client: httpx.AsyncClient, body: dict[str, Any]
    ) -> tuple[str, int | None]:
        try:
            async with client.stream("POST", self._url, json=body) as response:
                content = await _read(response)
                if response.status_code in BUSY:
                    wait = _retry_after(response)
                    raise _BusyError(f"status {response.status_code}", wait)
                if response.status_code >= 300:
                    raise EndpointRefusedError(
                        f"the endpoint refused the request with status {response.status_code}"
                    )
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise EndpointRefusedError(f"expected an endpoint's URL: {error}") from None
        except httpx.HTTPError as error:
            raise _BusyError(f"the connection failed ({type(error).__name__})", None) from None
        return _answer(content)


class _BusyError(Exception):
    def __init__(self, sentence: str, wait_s: float | None) -> None:
        super().__init__(sentence)
        self.wait_s = wait_s


async def _read(response: httpx.Response) -> bytes:
    content = bytearray()
    parts: AsyncIterator[bytes] = response.aiter_bytes()
    async for part in parts:
        content += part
        if len(content) > MOST_BYTES:
            raise EndpointError(f"the endpoint answered with more than {MOST_BYTES >> 20} MiB")
    return bytes(content)


def _retry_after(response: httpx.Response) -> float | None:
    """Return the delay that the endpoint requests, in seconds; None if it requests none."""
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def _answer(content: bytes) -> tuple[str, int | None]:
    try:
        answer = json.loads(content)
        text = answer["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError):
        raise EndpointError("the endpoint's answer is not a chat completion") from None
    return text if isinstance(text, str) else "", _used(answer)


def _used(answer: dict[str, Any]) -> int | None:
    usage = answer.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and total >= 0 else None


def _about(messages: Sequence[Message], text: str) -> int:
    letters = sum(len(message["content"]) for message in messages) + len(text)
    return -(-letters // LETTERS_A_TOKEN)
