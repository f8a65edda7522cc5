"""WebSocket handshakes: each is checked and charged individually."""

import base64

import pytest

from kibitz_server.net.rate_limit import Bucket, Rate
from tests.server.fakes import HANDSHAKE, PeerRig, ScriptedConnection

KEYS = [base64.b64encode(bytes([n] * 16)).decode() for n in (0, 1, 127, 255)]
FIRST_KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def head(key: str = FIRST_KEY, *, path: str = "/", more: str = "") -> bytes:
    return HANDSHAKE.format(path=path, more=more).replace(FIRST_KEY, key).encode()


def say(rig: PeerRig, data: bytes) -> ScriptedConnection:
    line = rig.connect("127.0.0.1")
    line.feed(data)
    return line


def test_what_follows_a_head_is_read_as_frames() -> None:
    rig = PeerRig()
    line = say(rig, head(KEYS[0]) + b"\x81\x80\0\0\0\0")
    assert line.head().startswith("HTTP/1.1 101")
    assert [each["code"] for each in line.received()] == ["malformed"]


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
def test_a_head_that_is_wrong_is_refused_after_one_that_was_let_in(bad: bytes, status: str) -> None:
    rig = PeerRig()
    assert say(rig, head()).head().startswith("HTTP/1.1 101")
    assert say(rig, bad).head().split()[1] == status


def test_every_handshake_is_paid_for() -> None:
    rig = PeerRig()
    empty = Bucket(Rate(1, 1), rig.loop.now)
    statuses = []
    for key in KEYS[:3]:
        line = rig.connect("192.0.2.1")
        line.peer.rate_limiter.share(empty)
        line.feed(head(key))
        statuses.append(line.head().split()[1])
    assert statuses == ["101", "429", "429"]
    assert rig.metrics.drops == {"too many HTTP requests": 2}
