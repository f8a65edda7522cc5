"""Records fetched over plain HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kibitz_clients.matches import fetch
from kibitz_protocol.wire.recordfile import Record, RecordError, record_lines


@asynccontextmanager
async def serving(status: str, body: bytes) -> AsyncIterator[str]:
    """Answer every request with this; yields a WebSocket URL."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        assert request.startswith(b"GET /records/M2.jsonl ")
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"ws://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("ws://host:1/", "http://host:1/records/M2.jsonl"),
        ("wss://host", "https://host/records/M2.jsonl"),
        ("wss://host/kibitz", "https://host/kibitz/records/M2.jsonl"),
        ("wss://host/kibitz/ws", "https://host/kibitz/records/M2.jsonl"),
    ],
)
def test_records_are_beside_the_websocket(url: str, address: str) -> None:
    assert fetch.record_url(url, "M2") == address


@pytest.mark.e2e
async def test_a_record_is_what_the_server_gives(finished: Record) -> None:
    assert finished.footer is not None
    lines = record_lines(finished.setup, finished.entries, finished.footer.result)
    async with serving("200 OK", b"".join(lines)) as url:
        got = await fetch.fetch_record(url, "M2")
    assert got.entries == finished.entries


@pytest.mark.e2e
async def test_what_is_no_record_is_named() -> None:
    async with serving("200 OK", b"<html>\n") as url:
        with pytest.raises(RecordError, match=r"M2\.jsonl:1: "):
            await fetch.fetch_record(url, "M2")


@pytest.mark.e2e
async def test_an_answer_that_is_no_success_is_named() -> None:
    async with serving("404 Not Found", b"no\n") as url:
        with pytest.raises(OSError, match=r"M2\.jsonl: the server answered 404 Not Found"):
            await fetch.fetch_record(url, "M2")


@pytest.mark.e2e
async def test_nobody_there_is_an_error_of_the_system() -> None:
    async with serving("200 OK", b"") as url:
        pass
    with pytest.raises(OSError, match="refused"):
        await fetch.fetch_record(url, "M2")


@pytest.mark.e2e
async def test_a_server_that_is_busy_is_asked_again_and_then_given_up() -> None:
    waited: list[float] = []
    async with serving("503 Service Unavailable\r\nRetry-After: 7", b"busy\n") as url:
        with pytest.raises(OSError, match="503 Service Unavailable"):
            await asyncio.to_thread(fetch.download, fetch.record_url(url, "M2"), waited.append)
    assert waited == [7.0] * (fetch.MAX_ATTEMPTS - 1)
    async with serving("429 Too Many Requests\r\nRetry-After: 9999", b"") as url:
        with pytest.raises(OSError, match="429"):
            await asyncio.to_thread(fetch.download, fetch.record_url(url, "M2"), waited.append)
    assert waited[-1] == fetch.MAX_WAIT_S


@pytest.mark.e2e
async def test_a_record_that_is_cut_off_is_none() -> None:
    cut_off = b"6\r\nlines\n\r\n"
    async with serving("200 OK\r\nTransfer-Encoding: chunked", cut_off) as url:
        with pytest.raises(OSError, match="the answer is incomplete"):
            await fetch.fetch_record(url, "M2")
