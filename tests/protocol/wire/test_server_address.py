"""A server's URL, and the URLs of its WebSocket and pages."""

from __future__ import annotations

import pytest

from kibitz_protocol.wire.server_address import page_url, websocket_url


@pytest.mark.parametrize(
    ("given", "socket", "page"),
    [
        ("ws://127.0.0.1:8765", "ws://127.0.0.1:8765", "http://127.0.0.1:8765/"),
        ("ws://127.0.0.1:8765/", "ws://127.0.0.1:8765/", "http://127.0.0.1:8765/"),
        ("http://[::1]:8765", "ws://[::1]:8765", "http://[::1]:8765/"),
        ("HTTPS://example.org", "wss://example.org", "https://example.org/"),
        ("WSS://example.org", "WSS://example.org", "https://example.org/"),
        ("wss://example.org/ws", "wss://example.org/ws", "https://example.org/"),
        ("wss://example.org/kibitz", "wss://example.org/kibitz/", "https://example.org/kibitz/"),
        ("wss://example.org/kibitz/", "wss://example.org/kibitz/", "https://example.org/kibitz/"),
        ("https://example.org/kibitz", "wss://example.org/kibitz/", "https://example.org/kibitz/"),
        (
            "wss://example.org/kibitz/ws",
            "wss://example.org/kibitz/ws",
            "https://example.org/kibitz/",
        ),
        ("wss://example.org/a/b", "wss://example.org/a/b/", "https://example.org/a/b/"),
        ("wss://example.org/news", "wss://example.org/news/", "https://example.org/news/"),
        (
            "wss://example.org/kibitz?x=1",
            "wss://example.org/kibitz?x=1",
            "https://example.org/kibitz/",
        ),
    ],
)
def test_an_address_means_its_websocket_and_its_pages(given: str, socket: str, page: str) -> None:
    assert websocket_url(given) == socket
    assert page_url(given) == page
    assert page_url(given, "records/M2.jsonl") == f"{page}records/M2.jsonl"
    assert websocket_url(socket) == socket


@pytest.mark.parametrize("text", ["", "example.org", "127.0.0.1:8765", "game.jsonl"])
def test_what_is_no_address_stays_as_it_is(text: str) -> None:
    assert websocket_url(text) == text
