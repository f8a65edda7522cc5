"""Requests to an endpoint: answers, and endpoint failures."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from kibitz_bots.llm.endpoint import (
    MOST_BYTES,
    ChatEndpoint,
    EndpointError,
    EndpointRefusedError,
    Reply,
)
from tests.tools.chat_endpoint import Answer, ChatScript, completion

QUESTION = [{"role": "user", "content": "x" * 400}]


def endpoint(script: ChatScript, key: str | None = None) -> ChatEndpoint:
    transport = httpx.MockTransport(script.handle)
    return ChatEndpoint("http://model.example/v1/", "small", key, transport)


async def ask(*answers: Answer | httpx.Response | Exception, seconds: float = 5.0) -> Reply:
    return await endpoint(ChatScript(*answers)).ask(QUESTION, answer=100, seconds=seconds)


async def test_a_question_has_the_model_the_messages_and_the_key() -> None:
    script = ChatScript(completion("move: a1"))
    reply = await endpoint(script, "secret").ask(QUESTION, answer=100, seconds=5)
    assert (reply.text, reply.tokens) == ("move: a1", 50)
    assert script.asked == [{"model": "small", "messages": QUESTION, "max_tokens": 100}]
    assert script.headers[0]["authorization"] == "Bearer secret"
    assert script.headers[0]["host"] == "model.example"


async def test_without_a_key_none_is_sent_and_without_usage_tokens_are_estimated() -> None:
    script = ChatScript(completion("y" * 40, tokens=None))
    reply = await endpoint(script).ask(QUESTION, answer=100, seconds=5)
    assert reply.tokens == 110
    assert "authorization" not in script.headers[0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 301])
async def test_a_refusal_is_final(status: int) -> None:
    with pytest.raises(EndpointRefusedError, match=f"status {status}"):
        await ask(httpx.Response(status, text="the key sk-12345 is wrong"))


async def test_a_busy_endpoint_is_asked_again_when_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    busy = httpx.Response(429, headers={"retry-after": "2.5"})
    odd = httpx.Response(429, headers={"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"})
    cut = httpx.ReadError("cut in the middle")
    reply = await ask(busy, odd, httpx.Response(503), cut, completion("move: a1"))
    assert reply.text == "move: a1"
    assert slept == [2.5, 1.0, 2.0, 4.0]


async def test_one_that_stays_busy_or_is_slow_ends_with_the_time() -> None:
    with pytest.raises(EndpointError, match=r"no answer in 0\.1 s: status 429"):
        await ask(httpx.Response(429, headers={"retry-after": "60"}), seconds=0.1)

    async def slow(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(60)
        raise AssertionError

    model = ChatEndpoint("http://model.example", "small", None, httpx.MockTransport(slow))
    with pytest.raises(EndpointError, match=r"no answer in 0\.1 s"):
        await model.ask(QUESTION, answer=1, seconds=0.1)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"choices": []}),
        httpx.Response(200, json={"choices": [{"message": None}]}),
    ],
)
async def test_rubbish_is_no_answer(answer: httpx.Response) -> None:
    with pytest.raises(EndpointError, match="not a chat completion"):
        await ask(answer)


async def test_an_answer_without_text_is_empty() -> None:
    body = {"choices": [{"message": {"content": None}}], "usage": "much"}
    assert (await ask(httpx.Response(200, json=body))).text == ""


async def test_an_endless_answer_is_cut_off() -> None:
    with pytest.raises(EndpointError, match="more than 1 MiB"):
        await ask(httpx.Response(200, content=b"x" * (MOST_BYTES + 1)))


async def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(EndpointRefusedError, match="endpoint's URL"):
        await ChatEndpoint("ftp://model", "small", None).ask(QUESTION, answer=1, seconds=5)
