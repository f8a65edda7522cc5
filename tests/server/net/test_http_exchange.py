"""Requests as other programs write them, and the limits of a request's head."""

from __future__ import annotations

import pytest

from kibitz_server.net.access import AccessPolicy
from tests.server.fakes import PeerRig

KEY = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
H2C = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
"""The upgrade headers that `curl --http2` and the JDK's HTTP client send to any URL without TLS."""


def answer(request: str) -> str:
    """Return the response of a server named games.example."""
    line = PeerRig(access=AccessPolicy(hosts=frozenset({"games.example"}))).connect()
    line.feed(request.encode("latin-1"))
    return line.transport.written.decode("latin-1")


def get(target: str, more: str = "", version: str = "1.1", host: str = "games.example") -> str:
    named = f"Host: {host}\r\n" if host else ""
    return answer(f"GET {target} HTTP/{version}\r\n{named}{more}\r\n")


# --- upgrades -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "status"), [("/healthz", 200), ("/metrics", 200), ("/none", 404)])
@pytest.mark.parametrize(
    "upgrade",
    [
        H2C,
        "Connection: Upgrade\r\nUpgrade: TLS/1.0, HTTP/2.0\r\n",
        "Connection: Upgrade\r\nUpgrade: foo/2\r\n",
        "Upgrade: h2c\r\n",
        "Upgrade: \r\n",
        "Upgrade: websockets\r\n",
        "Connection: upgrade\r\nUpgrade: h2c\r\nUpgrade: h3\r\n",
    ],
)
def test_upgrades_to_anything_but_a_websocket_are_ignored(
    path: str, status: int, upgrade: str
) -> None:
    assert get(path, upgrade).startswith(f"HTTP/1.1 {status}")


@pytest.mark.parametrize(
    "upgrade",
    [
        "Connection: Upgrade\r\nUpgrade: websocket\r\n",
        "Connection: keep-alive, upgrade\r\nUpgrade: WebSocket\r\n",
    ],
)
def test_a_websocket_is_opened_however_its_name_is_written(upgrade: str) -> None:
    assert get("/ws", upgrade + KEY).startswith("HTTP/1.1 101")


def test_a_websocket_is_opened_at_its_own_paths_only() -> None:
    more = f"Connection: Upgrade\r\nUpgrade: websocket\r\n{KEY}"
    assert get("/healthz", more).startswith("HTTP/1.1 404")


def test_a_page_with_an_ignored_upgrade_is_still_not_for_other_sites_scripts() -> None:
    more = f"{H2C}Origin: https://evil.example\r\n"
    assert get("/healthz", more).startswith("HTTP/1.1 403")


@pytest.mark.parametrize(
    ("version", "more"),
    [
        ("1.1", ""),
        ("1.1", "Connection: close\r\n"),  # after a proxy drops hop-by-hop headers
        ("1.1", H2C),
        ("1.0", f"Connection: upgrade\r\nUpgrade: websocket\r\n{KEY}"),  # RFC 9110, section 7.8
    ],
)
def test_the_path_of_the_websocket_says_what_a_proxy_has_to_pass_on(
    version: str, more: str
) -> None:
    head, _, body = get("/ws", more, version).partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 426")
    assert {"Upgrade: websocket", "Connection: Upgrade, close"} <= {*head.split("\r\n")}
    assert "this path only serves websockets" in body
    assert "Upgrade and Connection" in body


# --- hosts and targets --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_line", "hosts", "status"),
    [
        ("GET /healthz HTTP/1.0", [], 200),
        ("HEAD /healthz HTTP/1.0", [], 200),
        ("GET /healthz HTTP/1.0", ["games.example"], 200),
        ("GET /healthz HTTP/1.0", ["evil.example"], 421),
        ("GET /healthz HTTP/1.0", ["games.example", "games.example"], 400),
        ("GET /healthz HTTP/1.1", [], 400),
        ("GET http://games.example/healthz HTTP/1.1", ["games.example"], 200),
        ("GET HTTP://Games.Example:80/healthz HTTP/1.1", ["games.example"], 200),
        ("GET https://games.example/healthz?x=1 HTTP/1.1", ["games.example"], 200),
        ("GET http://127.0.0.1:8765/healthz HTTP/1.1", ["127.0.0.1:8765"], 200),
        ("GET http://[::1]:8765/healthz HTTP/1.1", ["[::1]:8765"], 200),
        ("GET http://games.example/healthz HTTP/1.0", [], 200),
        # The target's host takes precedence over the header (RFC 9112, section 3.2.2).
        ("GET http://games.example/healthz HTTP/1.1", ["evil.example"], 200),
        ("GET http://evil.example/healthz HTTP/1.1", ["games.example"], 421),
        ("GET http://evil.example/healthz HTTP/1.0", [], 421),
        ("GET http://games.example/healthz HTTP/1.1", [], 400),
        ("GET http://games.example/healthz HTTP/1.1", ["games.example"] * 2, 400),
        ("GET http://ada:pw@games.example/healthz HTTP/1.1", ["games.example"], 400),
        ("GET http:///healthz HTTP/1.1", ["games.example"], 400),
        ("GET http://[/healthz HTTP/1.1", ["games.example"], 400),
        ("GET http://games.example/a%zz HTTP/1.1", ["games.example"], 400),
        ("GET http://games.example/?token=x HTTP/1.1", ["games.example"], 400),
        ("GET http://games.example HTTP/1.1", ["games.example"], 404),
        ("GET http://games.example?x=1 HTTP/1.1", ["games.example"], 404),
        ("GET ftp://games.example/healthz HTTP/1.1", ["games.example"], 400),
        ("OPTIONS * HTTP/1.1", ["games.example"], 400),
        ("CONNECT games.example:80 HTTP/1.1", ["games.example"], 400),
    ],
)
def test_the_forms_of_a_request(request_line: str, hosts: list[str], status: int) -> None:
    lines = "".join(f"Host: {host}\r\n" for host in hosts)
    assert answer(f"{request_line}\r\n{lines}\r\n").startswith(f"HTTP/1.1 {status}")


def test_a_head_without_a_request_line_ends_the_connection_at_once() -> None:
    line = PeerRig().connect()
    line.feed(b"\r\n\r\n")
    assert line.transport.ended
    assert line.transport.written == b""


def test_a_websocket_opens_at_an_absolute_target() -> None:
    more = f"Connection: Upgrade\r\nUpgrade: websocket\r\n{KEY}"
    assert get("http://games.example/ws", more).startswith("HTTP/1.1 101")
    own = "Origin: http://evil.example\r\n"
    refused = get("http://games.example/ws", more + own, host="evil.example")
    assert refused.startswith("HTTP/1.1 403")


# --- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "status", "words"),
    [
        (f"GET /{'a' * 9_000} HTTP/1.1\r\n\r\n", 414, "request line is longer than 8192 bytes"),
        (f"GET /{'a' * 20_000}", 414, "request line is longer than 8192 bytes"),
        (f"GET / HTTP/1.1\r\nX: {'a' * 9_000}\r\n\r\n", 431, "a header is longer than 8192 bytes"),
        ("GET / HTTP/1.1\r\n" + "X: y\r\n" * 200 + "\r\n", 431, "more than 128 headers"),
        (f"GET / HTTP/1.1\r\nX: {'a' * 20_000}", 431, "headers are longer than 16384 bytes"),
        (
            "GET / HTTP/1.1\r\n" + f"X: {'a' * 4_000}\r\n" * 5 + "\r\n",
            431,
            "headers are longer than 16384 bytes",
        ),
    ],
    ids=["line", "endless line", "header", "headers", "endless header", "together"],
)
def test_a_head_that_is_too_large_is_told_which_limit_it_has_hit(
    request_: str, status: int, words: str
) -> None:
    said = answer(request_)
    assert said.startswith(f"HTTP/1.1 {status}")
    assert words in said
