"""Handshakes that are answered again: as the first time, and only where the first time counts."""

import base64
import re

import pytest

from kibitz_server.net import http_exchange
from kibitz_server.net.access import AccessPolicy, network
from kibitz_server.net.handshakes import (
    KNOWN_BYTES,
    MOST_KNOWN,
    KnownHandshakes,
    handshake_response,
)
from kibitz_server.net.http_exchange import parse_request
from kibitz_server.net.rate_limit import Bucket, Rate
from tests.server.fakes import HANDSHAKE, PeerRig, ScriptedConnection

KEYS = [base64.b64encode(bytes([n] * 16)).decode() for n in (0, 1, 127, 255)]
FIRST_KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def head(key: str = FIRST_KEY, *, path: str = "/", more: str = "") -> bytes:
    return HANDSHAKE.format(path=path, more=more).replace(FIRST_KEY, key).encode()


def say(rig: PeerRig, data: bytes, address: str = "127.0.0.1") -> ScriptedConnection:
    line = rig.connect(address)
    line.feed(data)
    return line


def without_date(response: str) -> str:
    return re.sub(r"Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", "", response)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The heads that were parsed."""
    heads: list[bytes] = []

    def parse(head: bytes) -> object:
        heads.append(head)
        return parse_request(head)

    monkeypatch.setattr(http_exchange, "parse_request", parse)
    return heads


@pytest.mark.parametrize("key", KEYS)
def test_a_known_head_is_answered_as_the_library_answers_it(key: str) -> None:
    known, first = KnownHandshakes(), head()
    known.remember(first, parse_request(first))
    found = known.find(head(key))
    assert found is not None
    library = handshake_response(parse_request(head(key))).serialize().decode()
    assert without_date(library) != library
    assert without_date(found[1].decode()) == without_date(library)


def test_a_head_that_comes_again_is_parsed_once_and_its_own_key_answered(
    parsed: list[bytes],
) -> None:
    rig = PeerRig()
    answers = [say(rig, head(key)).head() for key in KEYS]
    assert parsed == [head(KEYS[0])]
    assert all(answer.startswith("HTTP/1.1 101") for answer in answers)
    assert len({without_date(answer) for answer in answers}) == len(KEYS)


def test_what_follows_a_known_head_is_read_as_frames() -> None:
    rig = PeerRig()
    for key in KEYS[:2]:
        line = say(rig, head(key) + b"\x81\x80\0\0\0\0")
        assert line.head().startswith("HTTP/1.1 101")
        assert [each["code"] for each in line.received()] == ["malformed"]


@pytest.mark.parametrize(
    "more",
    [
        "Authorization: Bearer secret\r\n",
        "Origin: http://localhost\r\n",
        "X-Forwarded-For: 192.0.2.1\r\n",
        "Via: 1.1 proxy\r\n",
        f"Sec-WebSocket-Extensions: {'x' * KNOWN_BYTES}\r\n",
    ],
)
def test_secrets_browsers_and_proxies_are_looked_at_each_time(
    more: str, parsed: list[bytes]
) -> None:
    rig = PeerRig(access=AccessPolicy(hosts=frozenset({"localhost"})))
    answers = [say(rig, head(key, more=more)).head() for key in KEYS]
    assert all(answer.startswith("HTTP/1.1 101") for answer in answers)
    assert len(parsed) == len(KEYS)
    assert len(rig.context.handshakes) == 0


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        (head(KEYS[0]).replace(b"Version: 13", b"Version: 12"), "400"),
        (head(KEYS[0]).replace(b"GET", b"PUT"), "405"),
        (head(KEYS[0]).replace(b"Host: localhost", b"Host: a, b"), "400"),
        (head(KEYS[0], path="/elsewhere"), "404"),
        (head(KEYS[0], path="/?token=x"), "400"),
        (head(KEYS[0], more="Origin: http://elsewhere\r\n"), "403"),
        (head(KEYS[0], more=f"Sec-WebSocket-Key: {KEYS[1]}\r\n"), "400"),
        (head("AAAAAAAAAAAAAAAAAAAA"), "400"),
        (head("AAAAAAAAAAAAAAAAAAAAAAAA"), "400"),
        (head("no key"), "400"),
    ],
)
def test_a_head_that_differs_in_more_than_its_key_is_judged_by_itself(
    bad: bytes, status: str
) -> None:
    rig = PeerRig()
    assert say(rig, head()).head().startswith("HTTP/1.1 101")
    for _ in range(2):
        assert say(rig, bad).head().split()[1] == status
    assert len(rig.context.handshakes) == 1


def test_a_known_head_from_a_proxy_is_looked_at(parsed: list[bytes]) -> None:
    rig = PeerRig(access=AccessPolicy(proxies=(network("192.0.2.7"),)))
    say(rig, head())
    say(rig, head(KEYS[0]), "192.0.2.7")
    assert len(parsed) == 2
    assert rig.handler.addresses == [("192.0.2.7", False)]


def test_a_known_head_is_paid_for() -> None:
    rig = PeerRig()
    empty = Bucket(Rate(1, 1), rig.loop.now)
    statuses = []
    for key in KEYS[:3]:
        line = rig.connect("192.0.2.1")
        line.peer.share_bucket(empty)
        line.feed(head(key))
        statuses.append(line.head().split()[1])
    assert statuses == ["101", "429", "429"]
    assert rig.metrics.drops == {"too many HTTP requests": 2}


def test_of_many_heads_those_that_were_used_last_are_known() -> None:
    known = KnownHandshakes()
    heads = [head(more=f"User-Agent: bot {n}\r\n") for n in range(MOST_KNOWN + 1)]
    for each in heads[:-1]:
        known.remember(each, parse_request(each))
    assert known.find(heads[0])
    known.remember(heads[-1], parse_request(heads[-1]))
    assert len(known) == MOST_KNOWN
    assert known.find(heads[0])
    assert known.find(heads[1]) is None
