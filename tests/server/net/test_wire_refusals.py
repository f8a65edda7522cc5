"""Refusals of invalid requests on real sockets: the documented codes, and no changes.

The tests send all kinds of invalid requests to a server with a running match. After each test the
lobbies, the matches and a spectator's view of the match must be unchanged.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.frames import Opcode

from kibitz_protocol.wire.refusals import CloseCode
from kibitz_server.accounts.token_admin import TokenAdmin
from tests.tools.raw_connection import RawConnection, client_frame, greeted_connection
from tests.tools.server_thread import ServerThread, server_thread

# One server for all tests of this module.
pytestmark = pytest.mark.xdist_group("wire refusals")

UNLIMITED = {"per_second": 1e9, "burst": 1e9}
LOBBY = {
    "name": "the quiet room",
    "seats": [{"kind": "open"}, {"kind": "open"}],
    "programme": [{"game": "mnk", "options": {"columns": 3, "rows": 3, "row": 3}}],
}
SECOND_LOBBY = {**LOBBY, "name": "the waiting room", "seats": [{"kind": "open"}] * 3}


@dataclass
class RunningMatch:
    """A server with a match that waits for ada's move, and a connection for each role."""

    server: ServerThread
    ada: RawConnection
    bob: RawConnection
    eve: RawConnection
    """A spectator without a seat."""
    match: str = ""
    lobby: str = ""
    waiting: str = ""
    """A lobby of ada that has not started."""
    tokens: dict[str, str] = field(default_factory=dict)

    def state(self) -> tuple[Any, ...]:
        """Return all state that is visible to a spectator.

        A refused move leaves a note in its seat's own record; others only see that it exists.
        """
        events = self.eve.ask("history", match=self.match)["events"]
        return (
            self.eve.ask("list_lobbies")["lobbies"],
            self.eve.ask("list_matches")["matches"],
            [event for event in events if event["entry"]["kind"] != "hidden"],
        )

    @contextlib.contextmanager
    def stranger(self) -> Iterator[RawConnection]:
        """Return a connection after the handshake without any messages."""
        with RawConnection(self.server.port) as connection:
            assert b" 101 " in connection.handshake()
            yield connection


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningMatch]:
    directory = tmp_path_factory.mktemp("server")
    tariff = {"socket": UNLIMITED, "account": UNLIMITED, "address": UNLIMITED}
    with ExitStack() as stack:
        server = stack.enter_context(
            server_thread(directory, tariff=tariff, patience={"pong_s": 3600})
        )
        ada, bob, eve = (
            stack.enter_context(greeted_connection(server.port, name))
            for name in ("ada", "bob", "eve")
        )
        running = RunningMatch(server, ada, bob, eve)
        running.waiting = ada.ask("host", settings=SECOND_LOBBY)["lobby"]
        running.lobby = ada.ask("host", settings=LOBBY)["lobby"]
        for what in ("join", "ready"):
            for player in (ada, bob):
                assert player.ask(what, lobby=running.lobby)["type"] == "done"
        running.match = bob.wait_for("snapshot")["match"]
        assert eve.ask("watch", match=running.match)["type"] == "done"
        for ply, player in enumerate((ada, bob)):
            played = player.ask("move", match=running.match, ply=ply, action={"cell": ply})
            assert played["type"] == "done"
        with TokenAdmin(server.database) as register:
            running.tokens["expired"] = register.issue("carl", "bot", days=1e-9).token
            issued = register.issue("dora", "bot")
            register.revoke(issued.id)
            running.tokens["revoked"] = issued.token
            running.tokens["unknown"] = issued.token[:-3] + "abc"
        yield running


@pytest.fixture(autouse=True)
def unmoved(request: pytest.FixtureRequest) -> Iterator[None]:
    """Assert that nothing has changed after each test and no error was logged."""
    if "running" not in request.fixturenames:
        yield
        return
    running: RunningMatch = request.getfixturevalue("running")
    before = running.state()
    yield
    assert running.state() == before
    assert running.server.errors == []


@pytest.mark.parametrize(
    ("path", "more", "status"),
    [
        ("/", "Origin: https://evil.example\r\n", 403),
        ("/", "Origin: null\r\n", 403),
        ("/?token=kbz_abcdefgh", "", 400),
        ("/?x=1&resume=abcdefgh", "", 400),
        ("/elsewhere", "", 404),
        ("/", f"X-Long: {'x' * 20_000}\r\n", 431),
        ("/", "X-Many: x\r\n" * 2000, 431),
    ],
)
def test_handshakes_that_are_refused(
    running: RunningMatch, path: str, more: str, status: int
) -> None:
    with RawConnection(running.server.port) as connection:
        assert connection.handshake(path, more).split()[1] == str(status).encode()
        assert connection.close_code() is None


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": "аԁа"}, "name_taken"),  # all letters are Cyrillic
        ({"name": "аda"}, "name_invalid"),  # the first one only
        ({"name": "a.d.m.i.n"}, "name_invalid"),
        ({"name": "ADA"}, "name_taken"),
        ({"name": "ada\u202e"}, "name_invalid"),
        ({"name": "a\x00da"}, "name_invalid"),
        ({"name": "house random 1"}, "name_invalid"),
        ({"name": "z" + "\u0301" * 9}, "name_invalid"),
        ({"token": "kbz_no_such_token"}, "unauthorized"),
        ({"resume": "no such secret"}, "unauthorized"),
        ({"name": "zoe", "versions": [99]}, "version"),
    ],
)
def test_hellos_that_are_refused(running: RunningMatch, fields: dict[str, Any], code: str) -> None:
    with running.stranger() as connection:
        assert connection.ask("hello", **{"versions": [1], **fields})["code"] == code
        assert connection.close_code() == CloseCode.NO_HELLO


@pytest.mark.parametrize("kind", ["expired", "revoked", "unknown"])
@pytest.mark.parametrize("in_header", [False, True])
def test_tokens_that_are_none(running: RunningMatch, kind: str, in_header: bool) -> None:
    token = running.tokens[kind]
    with RawConnection(running.server.port) as connection:
        more = f"Authorization: Bearer {token}\r\n" if in_header else ""
        connection.handshake(more=more)
        said = {} if in_header else {"token": token}
        answer = connection.ask("hello", versions=[1], **said)
        assert answer["code"] == "unauthorized"
        assert token not in str(answer)
        assert connection.close_code() == CloseCode.NO_HELLO


def test_a_guest_where_there_are_none(tmp_path: Path) -> None:
    with (
        server_thread(tmp_path, guests="nobody") as server,
        RawConnection(server.port) as connection,
    ):
        connection.handshake()
        assert connection.hello("ada")["code"] == "unauthorized"
        assert connection.close_code() == CloseCode.NO_HELLO
        assert server.metrics()["kibitz_players"] == 0


def test_nothing_comes_before_hello(running: RunningMatch) -> None:
    with running.stranger() as connection:
        for what, fields in (
            ("move", {"match": running.match, "ply": 2, "action": {"cell": 5}}),
            ("resign", {"match": running.match}),
            ("close", {"lobby": running.lobby}),
            ("list_matches", {}),
        ):
            assert connection.ask(what, **fields)["code"] == "hello_first"


Ask = Callable[[RunningMatch], dict[str, Any]]
MOVE = {"ply": 2, "action": {"cell": 5}}


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda w: w.eve.ask("move", match=w.match, **MOVE), "not_seated"),
        (lambda w: w.bob.ask("move", match=w.match, **MOVE), "not_your_turn"),
        (lambda w: w.ada.ask("move", match="x", **MOVE), "no_such_match"),
        (lambda w: w.ada.ask("move", match=w.match, **{**MOVE, "ply": 0}), "stale"),
        (lambda w: w.ada.ask("move", match=w.match, **{**MOVE, "ply": 4}), "stale"),
        (lambda w: w.ada.ask("move", match=w.match, ply=2, action={"cell": 0}), "illegal"),
        (lambda w: w.ada.ask("move", match=w.match, ply=2, action={"cel": 5}), "malformed"),
        (lambda w: w.ada.ask("move", match=w.match, ply=2, action={"cell": True}), "malformed"),
        (lambda w: w.eve.ask("resign", match=w.match), "not_seated"),
        (lambda w: w.eve.ask("leave_match", match=w.match), "not_seated"),
        (lambda w: w.eve.ask("note", match=w.match, text="x"), "not_seated"),
        (lambda w: w.eve.ask("rejoin", match=w.match), "not_seated"),
        (lambda w: w.ada.ask("watch", match=w.match), "not_watchable"),
        (lambda w: w.bob.ask("close", lobby=w.lobby), "not_host"),
        (lambda w: w.eve.ask("start", lobby=w.waiting), "not_host"),
        (lambda w: w.eve.ask("kick", lobby=w.lobby, player="x"), "not_host"),
        (lambda w: w.eve.ask("ready", lobby=w.waiting), "not_member"),
        (lambda w: w.eve.ask("join", lobby=w.lobby), "wrong_state"),
        (lambda w: w.eve.ask("join", lobby="nowhere"), "no_such_lobby"),
        (lambda w: w.ada.hello("ada"), "wrong_state"),
        (lambda w: w.eve.ask("host", settings={**LOBBY, "name": "a\u202eb"}), "bad_option"),
        (lambda w: w.eve.ask("host", settings={**LOBBY, "seats": []}), "malformed"),
        (lambda w: w.eve.ask("shout"), "unknown_type"),
    ],
)
def test_requests_that_are_refused(running: RunningMatch, ask: Ask, code: str) -> None:
    answer = ask(running)
    assert (answer["type"], answer["code"]) == ("refused", code)
    assert answer["message"]


BAD_COMMENTS = [
    "nan",
    '{"value": Infinity}',
    '{"value": 1e999}',
    '{"text": "\\ud800"}',
    '{"text": "%s"}' % ("x" * 201),
    '{"line": %s}' % ("[" * 3000 + "]" * 3000),
    '{"mood": 1}',
    '"good"',
]


def test_bad_comments_are_refused_with_their_moves_and_not_counted(running: RunningMatch) -> None:
    """The turn continues, and the seat's own record has no note of an illegal move."""
    before = running.ada.ask("history", match=running.match)["events"]
    for id, comment in enumerate(BAD_COMMENTS, 10_000):
        head = f'{{"type":"move","id":{id},"match":"{running.match}","ply":2,"action":{{"cell":5}}'
        running.ada.send(client_frame(f'{head},"comment":{comment}}}'.encode()))
        assert running.ada.refusal()["code"] == "malformed"
    assert running.ada.ask("history", match=running.match)["events"] == before


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b'{"type":"list_games","id":' + b"9" * 4000 + b"}",
        b'{"type":"list_games","id":NaN}',
        b'{"type":"list_games","id":1e999}',
        b'{"type":"list_games","id":7,"extra":' + b"[" * 7000 + b"]" * 7000 + b"}",
        b'{"a":' * 2000 + b"1" + b"}" * 2000,
        b'{"type":"hello","id":7,"versions":[1],"name":"\\ud800"}',
        b'{"type":"list_games","id":7,"token":"x"}',
    ],
)
def test_messages_that_are_none(running: RunningMatch, text: bytes) -> None:
    with greeted_connection(running.server.port, "zoe") as connection:
        connection.send(client_frame(text))
        assert connection.refusal()["code"] == "malformed"
        assert connection.ask("list_lobbies")["type"] == "lobbies"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (client_frame(b"{}", Opcode.BINARY), 1003),
        (client_frame(b'{"type":"\xff\xfe"}'), 1007),
        (client_frame(b"x" * (16 * 1024 + 1)), 1009),
        (client_frame(b"x" * 10_000, fin=False) + client_frame(b"x" * 10_000, Opcode.CONT), 1009),
        (bytes((0x81, 2)) + b"{}", 1002),
        (b"\x8b\x80\0\0\0\0", 1002),
    ],
    # Masks are random, so the bytes are not usable as test names shared by workers.
    ids=["binary", "no utf-8", "too long", "too long in parts", "unmasked", "unknown opcode"],
)
def test_frames_that_end_the_connection(running: RunningMatch, data: bytes, code: int) -> None:
    with greeted_connection(running.server.port, "zoe") as connection:
        connection.send(data)
        assert connection.close_code() == code
