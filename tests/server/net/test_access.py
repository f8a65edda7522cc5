"""Access to requests: by the requested name and the origin."""

from __future__ import annotations

import pytest
from websockets.datastructures import Headers

from kibitz_server.net.access import (
    AccessPolicy,
    BadHeader,
    access_policy,
    origin_of,
)


def chosen(**fields: object) -> AccessPolicy:
    usual: dict[str, object] = {"host": "0.0.0.0", "names": (), "origins": (), "proxies": ()}
    return access_policy(**{**usual, "machine": "box", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("localhost", True),
        ("a.localhost:80", True),
        ("127.0.0.1:8765", True),
        ("[::1]:8765", True),
        ("203.0.113.4", True),  # an IP address cannot be redirected
        ("Games.Example.", True),
        ("box", True),
        ("box.local", True),
        ("evil.example", False),
        ("games.example.evil.example", False),
        ("localhost.evil.example", False),
    ],
)
def test_a_server_is_known_by_its_names(host: str, known: bool) -> None:
    assert chosen(names=["games.example"]).knows_host(Headers({"Host": host})) is known


def test_any_name_is_known_where_the_operator_says_so() -> None:
    assert chosen(names=["*"]).knows_host(Headers({"Host": "evil.example"}))


@pytest.mark.parametrize(
    "headers", [[], [("Host", "a"), ("Host", "b")], [("Host", "")], [("Host", "a/b")]]
)
def test_a_request_has_one_host(headers: list[tuple[str, str]]) -> None:
    with pytest.raises(BadHeader, match="Host"):
        chosen().knows_host(Headers(headers))


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("wss://a.example.org", "https://a.example.org"),
        ("wss://A.example.org:443/ws", "https://a.example.org"),
        ("ws://127.0.0.1:8765", "http://127.0.0.1:8765"),
        ("ws://a.example.org:80", "http://a.example.org"),
    ],
)
def test_pages_of_the_other_servers_of_a_cluster_may_connect(url: str, origin: str) -> None:
    assert origin_of(url) == origin
    headers = Headers({"Host": "box", "Origin": origin})
    assert chosen().allows_handshake(headers, [url])
    assert not chosen().allows_handshake(headers, ["wss://other.example.org"])
    assert not chosen().allows_handshake(Headers({"Host": "box", "Origin": "null"}), [url])


BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)"}
GOOD = "https://good.example"


@pytest.mark.parametrize(
    ("headers", "let_in"),
    [
        ({}, True),  # programs
        ({"User-Agent": "Python/3.11 websockets/15.0"}, True),
        ({"User-Agent": "node", "Sec-Fetch-Mode": "websocket", "Accept-Language": "*"}, True),
        ({"Origin": GOOD, **BROWSER}, True),
        ({"Origin": "HTTPS://Good.Example", **BROWSER}, True),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "https://good.example.evil.example"}, False),
        ({"Origin": "null"}, False),
        (BROWSER, False),
        ({"Sec-Fetch-Site": "same-origin"}, False),
        ({"Cookie": "a=b"}, False),
        ({"Referer": "https://good.example/"}, False),
    ],
)
def test_browsers_come_from_listed_origins_only(headers: dict[str, str], let_in: bool) -> None:
    sent = Headers({"Host": "games.example", **headers})
    assert chosen(origins=[GOOD + "/"]).allows_handshake(sent) is let_in


@pytest.mark.parametrize(
    ("host", "origin", "let_in"),
    [
        ("games.example", "https://games.example", True),  # TLS ends at a proxy
        ("games.example", "http://games.example", True),
        ("Games.Example", "HTTPS://games.example", True),
        ("games.example:443", "https://games.example", True),
        ("games.example:80", "http://games.example", True),
        ("games.example:8765", "http://games.example:8765", True),
        ("127.0.0.1:8765", "http://127.0.0.1:8765", True),
        ("[::1]:8765", "http://[::1]:8765", True),
        ("localhost:8765", "http://localhost:8765", True),
        ("box.local:8765", "http://box.local:8765", True),
        ("games.example:8765", "http://games.example", False),  # another program on that machine
        ("games.example:8765", "http://games.example:8080", False),
        ("127.0.0.1:8765", "http://localhost:8765", False),
        ("games.example", "http://games.example:443", False),
        ("games.example", "https://games.example.evil.example", False),
        ("games.example", "https://evil.example", False),
        ("games.example", "file://games.example", False),
        ("games.example", "games.example", False),
        ("games.example", "null", False),
        ("evil.example", "http://evil.example", False),  # a name that points here (DNS rebinding)
    ],
)
def test_pages_of_the_server_itself_may_connect(host: str, origin: str, let_in: bool) -> None:
    access = chosen(names=["games.example"])
    headers = Headers({"Host": host, "Origin": origin, **BROWSER})
    assert access.allows_handshake(headers) is let_in
    assert access.allows_page(headers) is let_in


@pytest.mark.parametrize(("host", "let_in"), [("evil.example", False), ("192.0.2.7", True)])
def test_where_any_name_will_do_only_an_address_is_the_own_one(host: str, let_in: bool) -> None:
    headers = Headers({"Host": host, "Origin": f"http://{host}"})
    assert chosen(names=["*"]).knows_host(headers)
    assert chosen(names=["*"]).allows_handshake(headers) is let_in


def test_the_origin_of_sandboxed_pages_cannot_be_listed() -> None:
    with pytest.raises(ValueError, match="'null'"):
        chosen(origins=["null"])


@pytest.mark.parametrize(
    ("headers", "let_in"),
    [
        ({}, True),
        (BROWSER, True),
        ({"Origin": GOOD}, True),
        ({"Origin": "null"}, False),
        ({"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, True),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, True),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, False),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, False),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, True),
    ],
)
def test_pages_are_not_for_other_sites_scripts(headers: dict[str, str], let_in: bool) -> None:
    sent = Headers({"Host": "games.example", **headers})
    assert chosen(origins=[GOOD]).allows_page(sent) is let_in


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(ValueError, match="expected an address or network"):
        chosen(proxies=["proxy.example"])
