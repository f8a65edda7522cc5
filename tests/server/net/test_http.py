"""The plain pages."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kibitz_server.net import http
from kibitz_server.storage.errors import UnusableDatabase
from tests.server.fakes import FakePages, read_page


@pytest.mark.parametrize(
    ("method", "target", "status", "body"),
    [
        ("GET", "/healthz", 200, b"ok\n"),
        ("HEAD", "/healthz", 200, b"ok\n"),
        ("GET", "/readyz", 503, b"not ready\n"),
        ("GET", "/metrics", 200, b"figures\n"),
        ("GET", "/records/m1.jsonl", 200, b"lines\nmore\n"),
        ("GET", "/records/m2.jsonl", 404, b"not found\n"),
        ("GET", "/records/m1/analysis", 200, b"m1 for 192.0.2.1\n"),
        ("GET", "/records/m1/hint", 200, b"hint in m1\n"),
        ("POST", "/records/m1/analysis", 405, b"only GET and HEAD are supported\n"),
        ("GET", "/records/m1/analysis/", 404, b"not found\n"),
        ("GET", "/records/../kibitz.db", 404, b"not found\n"),
        ("GET", "/records/%2e%2e.jsonl", 404, b"not found\n"),
        ("GET", "/", 404, b"not found\n"),
        ("POST", "/healthz", 405, b"only GET and HEAD are supported\n"),
        ("DELETE", "/records/m1.jsonl", 405, b"only GET and HEAD are supported\n"),
        ("POST", "/nowhere", 404, b"not found\n"),
    ],
)
async def test_pages(method: str, target: str, status: int, body: bytes) -> None:
    page = await read_page(
        http.page_at(method, target, FakePages().source(), http.Asker("192.0.2.1"))
    )
    assert (page.status.value, page.body) == (status, body)


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("/healthz", ("/healthz", "")),
        ("/healthz?x=1?2", ("/healthz", "x=1?2")),
        ("//evil.example/x", ("//evil.example/x", "")),
        ("/%7Ea?x[]=1", ("/%7Ea", "x[]=1")),
        ("//[", None),
        ("/a%zz", None),
        ("/a\\b", None),
        ("/a#b", None),
        ("*", None),
        ("http://localhost/healthz", None),
        ("", None),
    ],
)
def test_a_target_is_a_path_and_a_query(target: str, parts: tuple[str, str] | None) -> None:
    assert http.split_target(target) == parts


def test_a_response_is_not_kept_and_has_its_length() -> None:
    head, _, body = http.NOT_ALLOWED.response().serialize().partition(b"\r\n\r\n")
    assert body == http.NOT_ALLOWED.body
    lines = head.decode().splitlines()
    assert lines[0].startswith("HTTP/1.1 405")
    assert {"Connection: close", f"Content-Length: {len(body)}", "Allow: GET, HEAD"} <= {*lines}


def test_head_has_the_length_and_no_body() -> None:
    text = http.NOT_FOUND.response(head=True).serialize()
    assert text.endswith(b"\r\n\r\n")
    assert f"Content-Length: {len(http.NOT_FOUND.body)}".encode() in text


async def test_a_record_that_cannot_be_read_now_is_asked_for_later() -> None:
    class Away(FakePages):
        async def record(self, match: str) -> AsyncIterator[bytes] | None:
            raise UnusableDatabase("planted")

    page = await read_page(
        http.page_at("GET", "/records/m1.jsonl", Away().source(), http.Asker("192.0.2.1"))
    )
    assert (page.status.value, page.body) == (503, b"the database cannot be read at the moment\n")
