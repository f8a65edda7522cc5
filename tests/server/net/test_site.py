"""Files of a web site: headers, compression, and keep-alive connections."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

import pytest
from websockets.datastructures import Headers

from kibitz_server.net.access import AccessPolicy
from kibitz_server.net.addresses import network
from kibitz_server.net.connections import Connections, Quotas
from kibitz_server.net.http_exchange import KEEP_ALIVE_S
from kibitz_server.net.proxies import TrustedProxies
from kibitz_server.net.rate_limit import Rate, RateLimits
from kibitz_server.net.site import site_response, takes_gzip
from kibitz_server.net.turn_budget import UNITS_A_TURN
from tests.server.fakes import PeerRig, ScriptedConnection

BODY = b"export const x = 1;\n" * 100
REQUEST = "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n"


@dataclass(frozen=True)
class FakeFile:
    body: bytes = BODY
    content_type: str = "text/javascript"
    digest: str = "abc"
    immutable: bool = True


def fake_site(path: str) -> FakeFile | None:
    files = {"/": FakeFile(b"<p>", "text/html", "d", False), "/static/abc/x.js": FakeFile()}
    return files.get(path)


def rig() -> PeerRig:
    return PeerRig(site=fake_site)


def ask(
    line: ScriptedConnection, path: str = "/static/abc/x.js", more: str = "", method: str = "GET"
) -> str:
    """Request a file and return the head of the response; discard the body."""
    line.feed(REQUEST.format(method=method, path=path, more=more).encode())
    head = line.head()
    line.transport.written = b""
    return head


# --- answers ----------------------------------------------------------------------------------


def test_a_file_says_how_long_it_may_be_kept_and_what_it_may_do() -> None:
    line = rig().connect()
    head = ask(line)
    assert head.startswith("HTTP/1.1 200")
    assert "Cache-Control: public, max-age=31536000, immutable" in head
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in head
    assert "unsafe" not in head
    for name in ("X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer"):
        assert name in head
    assert "Cache-Control: no-cache" in ask(line, "/")


@pytest.mark.parametrize(
    ("tags", "status"),
    [
        ([], 200),
        (['W/"abc"'], 304),
        (['"abc"'], 304),
        (['"x", W/"abc"'], 304),
        (['"x"', '"abc"'], 304),
        (["*"], 304),
        (['"abcd"'], 200),
        (["abc"], 200),
    ],
)
def test_what_has_not_changed_is_not_sent_again(tags: list[str], status: int) -> None:
    request = Headers([("If-None-Match", tag) for tag in tags])
    response = site_response(FakeFile(), request, head=False, keep=True)
    assert response.status_code == status
    assert bool(response.body) == (status == 200)
    assert response.headers["ETag"] == 'W/"abc"'


def test_a_page_may_connect_to_the_other_servers_and_nowhere_else() -> None:
    alone = site_response(FakeFile(), Headers(), head=False, keep=True)
    others = ["wss://a.example.org", "wss://b.example.org"]
    urls = ["wss://a.example.org", "wss://b.example.org/kibitz/", "wss://b.example.org/other/"]
    several = site_response(FakeFile(), Headers(), head=False, keep=True, servers=urls)
    name = "Content-Security-Policy"
    assert several.headers.get_all(name) == [
        alone.headers[name].replace("connect-src 'self'", f"connect-src 'self' {' '.join(others)}")
    ]
    assert "example.org" not in alone.headers[name]


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        ([], False),
        (["gzip, br"], True),
        (["br;q=1.0, GZIP;q=0.5"], True),
        (["gzip;q=0"], False),
        (["gzip; q=0.000"], False),
        (["*"], True),
        (["*;q=0"], False),
        (["*, gzip;q=0"], False),
        (["identity"], False),
        (["gzip;q=x"], False),
        (["br", "gzip"], True),
    ],
)
def test_gzip_is_for_who_takes_it(accepted: list[str], taken: bool) -> None:
    assert takes_gzip(accepted) == taken
    request = Headers([("Accept-Encoding", each) for each in accepted])
    response = site_response(FakeFile(), request, head=False, keep=True)
    assert ("Content-Encoding" in response.headers) == taken
    assert (gzip.decompress(response.body) if taken else response.body) == BODY
    assert response.headers["Content-Length"] == str(len(response.body))
    assert response.headers["Vary"] == "Accept-Encoding"


def test_a_file_is_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    compress = gzip.compress

    def counting(data: bytes, *args: int, **kwargs: int) -> bytes:
        calls.append(len(data))
        return compress(data, *args, **kwargs)

    monkeypatch.setattr(gzip, "compress", counting)
    file = FakeFile(b"one of its own " * 100)
    for _ in range(3):
        site_response(file, Headers({"Accept-Encoding": "gzip"}), head=False, keep=True)
    assert len(calls) == 1


def test_head_has_the_length_and_no_body() -> None:
    line = rig().connect()
    line.feed(REQUEST.format(method="HEAD", path="/static/abc/x.js", more="").encode())
    head, _, body = line.transport.written.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(BODY)}".encode() in head
    assert body == b""


def test_only_reading_is_served() -> None:
    line = rig().connect()
    head = ask(line, "/", method="POST")
    assert head.startswith("HTTP/1.1 405")
    assert line.transport.ended


def test_without_a_site_there_are_no_files() -> None:
    assert ask(PeerRig().connect()).startswith("HTTP/1.1 404")


def test_a_websocket_at_the_path_of_a_page_is_a_websocket() -> None:
    assert rig().open("/").head().startswith("HTTP/1.1 101")


# --- keep-alive connections ----------------------------------------------------------------------


def test_a_connection_is_kept_for_the_next_file() -> None:
    line = rig().connect()
    for _ in range(30):
        assert "Connection: keep-alive" in ask(line)
    assert not line.transport.ended
    assert "304" in ask(line, more='If-None-Match: "abc"\r\n').splitlines()[0]
    assert not line.transport.ended


def test_a_kept_connection_may_become_a_websocket() -> None:
    here = rig()
    line = here.connect()
    ask(line)
    more = (
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    )
    assert ask(line, "/", more).startswith("HTTP/1.1 101")
    here.loop.advance(KEEP_ALIVE_S + 1)
    assert not line.transport.ended


def test_any_other_page_ends_the_connection() -> None:
    line = rig().connect()
    ask(line)
    assert "Connection: close" in ask(line, "/healthz")
    assert line.transport.ended
    line.feed(REQUEST.format(method="GET", path="/", more="").encode())
    assert line.transport.written == b""


@pytest.mark.parametrize(
    "more",
    [
        "Connection: close\r\n",
        "Connection: keep-alive, Close\r\n",
        "Content-Length: 0\r\n",
        "X-Forwarded-For: 192.0.2.9\r\n",
    ],
)
def test_what_speaks_against_keeping(more: str) -> None:
    line = rig().connect()
    assert "Connection: close" in ask(line, more=more)
    assert line.transport.ended


def test_an_older_http_is_not_kept() -> None:
    line = rig().connect()
    line.feed(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
    assert line.transport.ended


def test_requests_that_are_sent_together_are_not_answered_together() -> None:
    line = rig().connect()
    request = REQUEST.format(method="GET", path="/static/abc/x.js", more="").encode()
    line.feed(request * 2)
    assert line.transport.written.count(b"HTTP/1.1 ") == 1
    assert b"Connection: close" in line.transport.written
    assert line.transport.ended


def test_a_connection_through_a_proxy_is_not_kept_for_somebody_else() -> None:
    here = PeerRig(
        site=fake_site, access=AccessPolicy(proxies=TrustedProxies((network("127.0.0.1"),)))
    )
    assert "Connection: close" in ask(here.connect(), more="X-Forwarded-For: 192.0.2.9\r\n")


def test_an_idle_connection_is_ended_without_being_aborted() -> None:
    here = rig()
    line = here.connect()
    ask(line)
    here.loop.advance(KEEP_ALIVE_S - 0.5)
    assert not line.transport.ended
    ask(line)
    here.loop.advance(KEEP_ALIVE_S - 0.5)
    assert not line.transport.ended
    here.loop.advance(1)
    assert line.transport.ended
    assert not line.transport.aborted


def test_half_a_second_request_is_not_waited_for_for_ever() -> None:
    here = rig()
    line = here.connect()
    ask(line)
    for _ in range(8):
        line.feed(b"GET /")
        here.loop.advance(1)
    assert line.transport.ended


def test_a_head_that_never_ends_is_refused_on_a_kept_connection_too() -> None:
    line = rig().connect()
    ask(line)
    line.feed(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 4000)
    assert line.head().startswith("HTTP/1.1 431")


def test_a_slow_reader_has_one_answer_waiting() -> None:
    line = rig().connect()
    line.transport.backlog = 100_000
    line.feed(REQUEST.format(method="GET", path="/", more="").encode())
    line.connection.pause_writing()
    line.transport.written = b""
    request = REQUEST.format(method="GET", path="/static/abc/x.js", more="").encode()
    line.feed(request)
    assert line.transport.written == b""
    line.transport.backlog = 0
    line.connection.resume_writing()
    assert line.transport.written.startswith(b"HTTP/1.1 200")


def test_a_request_that_waits_for_its_turn_is_read_once() -> None:
    here = rig()
    line = here.connect()
    ask(line)
    line.connection.pause_writing()
    line.feed(REQUEST.format(method="GET", path="/", more="").encode())
    here.turns.spend(UNITS_A_TURN)
    for _ in range(2):
        line.connection.resume_writing()
        line.connection.pause_writing()
    here.loop.advance()
    assert line.transport.written.count(b"HTTP/1.1 200") == 1
    assert not line.peer.leaving


def test_a_slow_reader_that_goes_on_asking_is_dropped() -> None:
    line = rig().connect()
    line.feed(REQUEST.format(method="GET", path="/", more="").encode())
    line.connection.pause_writing()
    line.feed(b"x" * 20_000)
    assert line.transport.aborted


# --- cost -----------------------------------------------------------------------------------------


def counted(here: PeerRig, quotas: Quotas) -> Connections:
    connections = Connections(here.loop.loop, here.rate_limits, quotas)
    here.handler.admit = connections.admit  # type: ignore[method-assign]
    here.handler.may_stay = connections.may_stay  # type: ignore[method-assign]
    return connections


def test_a_classroom_loads_the_page_behind_one_address() -> None:
    here = PeerRig(site=fake_site, rate_limits=RateLimits())
    counted(here, Quotas())
    for _ in range(30):  # browsers, each with a few connections
        lines = [here.connect("192.0.2.1") for _ in range(3)]
        heads = [ask(lines[i % 3]) for i in range(60)]
        assert {head.split()[1] for head in heads} == {"200"}


def test_files_are_paid_for() -> None:
    here = PeerRig(site=fake_site, rate_limits=RateLimits(address=Rate(1, 10), static=1))
    counted(here, Quotas())
    line = here.connect("192.0.2.1")
    assert [ask(line).split()[1] for _ in range(11)] == ["200"] * 10 + ["429"]


def test_where_connections_are_short_none_is_kept() -> None:
    here = PeerRig(site=fake_site)
    counted(here, Quotas(connections_an_address=4))
    lines = [here.connect("192.0.2.1") for _ in range(3)]
    assert "Connection: close" in ask(lines[0])
    assert "Connection: keep-alive" in ask(here.connect("192.0.2.2"))
