"""What bad peers get: each its documented code, and nothing that happens changes for others.

The first half knocks on every door of a server with a match on it, and looks whether anything
has moved. The second half floods it and stops reading, while a fleet plays on.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from websockets.frames import Opcode

from benchmarks.mnk import GAME
from kibitz_protocol.refusals import CloseCode
from kibitz_server.accounts import Register
from tests.tools.crowd import HANDSHAKE, Rude, masked, opened, said
from tests.tools.figures import Tell
from tests.tools.fleet import Fleet, contradictions, fleet_of, percentile
from tests.tools.hosted import Held, Process, draw, hosted, settled

PLENTY = {"per_second": 1e9, "burst": 1e9}
LOBBY = {
    "name": "the quiet room",
    "seats": [{"kind": "open"}, {"kind": "open"}],
    "programme": [{"game": "mnk", "options": {"columns": 3, "rows": 3, "row": 3}}],
}
HALL = {**LOBBY, "name": "the waiting room", "seats": [{"kind": "open"}] * 3}
FLOOD_CODE = 1008
HANDSHAKE_S = 5.0
"""How long a handshake may take (`sweep.Patience`)."""


# --- doors ------------------------------------------------------------------------------------


@dataclass
class World:
    """A server with a match that waits for ada's next move, and everybody's connections."""

    server: Process
    ada: Rude
    bob: Rude
    eve: Rude
    """Has a seat nowhere, and watches."""
    match: str = ""
    lobby: str = ""
    waiting: str = ""
    """A lobby of ada's that has not begun."""
    tokens: dict[str, str] = field(default_factory=dict)

    def state(self) -> tuple[Any, ...]:
        """Return all that could have changed for who watches.

        A refused move leaves a note in its seat's own record, of which others see that it is there.
        """
        events = self.eve.ask("history", match=self.match)["events"]
        return (
            self.eve.ask("list_lobbies")["lobbies"],
            self.eve.ask("list_matches")["matches"],
            [event for event in events if event["entry"]["kind"] != "hidden"],
        )

    @contextlib.contextmanager
    def stranger(self) -> Iterator[Rude]:
        """A connection that has shaken hands and said nothing."""
        with Rude(self.server.port) as rude:
            assert b" 101 " in rude.shake()
            yield rude


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("world")
    tariff = {"socket": PLENTY, "account": PLENTY, "address": PLENTY}
    with ExitStack() as stack:
        server = stack.enter_context(hosted(directory, tariff=tariff, patience={"pong_s": 3600}))
        ada, bob, eve = (
            stack.enter_context(opened(server.port, name)) for name in ("ada", "bob", "eve")
        )
        world = World(server, ada, bob, eve)
        world.waiting = ada.ask("host", settings=HALL)["lobby"]
        world.lobby = ada.ask("host", settings=LOBBY)["lobby"]
        for what in ("join", "ready"):
            for player in (ada, bob):
                assert player.ask(what, lobby=world.lobby)["type"] == "done"
        [brief] = eve.ask("list_matches")["matches"]
        world.match = brief["match"]
        assert eve.ask("watch", match=world.match)["type"] == "done"
        for ply, player in enumerate((ada, bob)):
            played = player.ask("move", match=world.match, ply=ply, action={"cell": ply})
            assert played["type"] == "done"
        with Register(directory / "hosted.db") as register:
            world.tokens["expired"] = register.issue("carl", "bot", days=1e-9).token
            issued = register.issue("dora", "bot")
            register.revoke(issued.id)
            world.tokens["revoked"] = issued.token
            world.tokens["unknown"] = issued.token[:-3] + "abc"
        yield world


@pytest.fixture(autouse=True)
def unmoved(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test of the doors does: nothing has changed afterwards."""
    if "world" not in request.fixturenames:
        yield
        return
    world: World = request.getfixturevalue("world")
    before = world.state()
    yield
    assert world.state() == before
    assert world.server.trouble() == []


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
def test_handshakes_that_are_refused(world: World, path: str, more: str, status: int) -> None:
    with Rude(world.server.port) as rude:
        assert rude.shake(path, more).split()[1] == str(status).encode()
        assert rude.close_code() is None


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
def test_hellos_that_are_refused(world: World, fields: dict[str, Any], code: str) -> None:
    with world.stranger() as rude:
        assert rude.ask("hello", **{"versions": [1], **fields})["code"] == code
        assert rude.close_code() == CloseCode.NO_HELLO


@pytest.mark.parametrize("kind", ["expired", "revoked", "unknown"])
@pytest.mark.parametrize("in_header", [False, True])
def test_tokens_that_are_none(world: World, kind: str, in_header: bool) -> None:
    token = world.tokens[kind]
    with Rude(world.server.port) as rude:
        more = f"Authorization: Bearer {token}\r\n" if in_header else ""
        rude.shake(more=more)
        said = {} if in_header else {"token": token}
        answer = rude.ask("hello", versions=[1], **said)
        assert answer["code"] == "unauthorized"
        assert token not in str(answer)
        assert rude.close_code() == CloseCode.NO_HELLO


def test_a_guest_where_there_are_none(tmp_path: Path) -> None:
    with hosted(tmp_path, guests="nobody") as server, Rude(server.port) as rude:
        rude.shake()
        assert rude.hello("ada")["code"] == "unauthorized"
        assert rude.close_code() == CloseCode.NO_HELLO
        assert server.figures()["kibitz_players"] == 0


def test_nothing_comes_before_hello(world: World) -> None:
    with world.stranger() as rude:
        for what, fields in (
            ("move", {"match": world.match, "ply": 2, "action": {"cell": 5}}),
            ("resign", {"match": world.match}),
            ("close", {"lobby": world.lobby}),
            ("list_matches", {}),
        ):
            assert rude.ask(what, **fields)["code"] == "hello_first"


Ask = Callable[[World], dict[str, Any]]
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
def test_requests_that_are_refused(world: World, ask: Ask, code: str) -> None:
    answer = ask(world)
    assert (answer["type"], answer["code"]) == ("refused", code)
    assert answer["message"]


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
def test_messages_that_are_none(world: World, text: bytes) -> None:
    with opened(world.server.port, "zoe") as rude:
        rude.send(masked(text))
        assert rude.refusal()["code"] == "malformed"
        assert rude.ask("list_lobbies")["type"] == "lobbies"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (masked(b"{}", Opcode.BINARY), 1003),
        (masked(b'{"type":"\xff\xfe"}'), 1007),
        (masked(b"x" * (16 * 1024 + 1)), 1009),
        (masked(b"x" * 10_000, fin=False) + masked(b"x" * 10_000, Opcode.CONT), 1009),
        (bytes((0x81, 2)) + b"{}", 1002),
        (b"\x8b\x80\0\0\0\0", 1002),
    ],
    # Masks are random: the bytes are no names that two workers would agree on.
    ids=["binary", "no utf-8", "too long", "too long in parts", "unmasked", "unknown opcode"],
)
def test_frames_that_end_the_connection(world: World, data: bytes, code: int) -> None:
    with opened(world.server.port, "zoe") as rude:
        rude.send(data)
        assert rude.close_code() == code


# --- crowds -----------------------------------------------------------------------------------


async def faults(server: Process, fleet: Fleet) -> list[str]:
    fetched = {
        match: await asyncio.to_thread(server.page, f"/records/{match}.jsonl")
        for match in fleet.seats
    }
    return [*contradictions(fleet, GAME, fetched), *server.trouble()]


@contextlib.asynccontextmanager
async def playing(server: Process, matches: int, size: int, pause: float) -> AsyncIterator[Fleet]:
    """Let a fleet play while the block runs; then all its matches end, and nothing is left."""
    before: Held = await asyncio.to_thread(server.held)
    async with fleet_of(server.url, matches, draw(size), pause=pause) as fleet:
        await fleet.moved(matches)
        moves = fleet.moves
        yield fleet
        assert fleet.moves > moves, "nobody has moved meanwhile"
        fleet.pause = 0.0
        await fleet.finished(matches)
        assert await faults(server, fleet) == []
    assert await settled(server, before, 20)


def flood(port: int, name: str, count: int) -> tuple[int | None, float]:
    """Send requests as fast as they go; return the close code and after how many seconds."""
    with opened(port, name) as rude:
        began = time.monotonic()
        asked = b"".join(said(type="list_lobbies", id=n + 1) for n in range(count))
        with contextlib.suppress(ConnectionError):
            rude.send(asked)
        with contextlib.suppress(ConnectionError):
            return rude.close_code(), time.monotonic() - began
    return None, time.monotonic() - began


async def test_a_flood_is_closed_and_nobody_else_notices(tmp_path: Path) -> None:
    with hosted(tmp_path) as server:
        async with asyncio.timeout(40), playing(server, 4, 8, 0.03) as fleet:
            ends = []
            moves = fleet.moves
            # One wave is over within milliseconds: they come until everybody had turns meanwhile.
            while fleet.moves < moves + 40:
                ends += await asyncio.gather(
                    *(asyncio.to_thread(flood, server.port, f"flood {n}", 500) for n in range(5))
                )
        assert {code for code, _ in ends} == {FLOOD_CODE}
        assert max(seconds for _, seconds in ends) < 2
        figures = server.figures()
        assert figures['kibitz_peers_shed_total{why="flood"}'] == len(ends)
        assert figures['kibitz_refusals_total{code="rate_limited"}'] > 0


def creations(port: int, name: str, count: int) -> tuple[set[str], int | None]:
    """Open lobbies until thrown out; return the codes of refusals and the close code."""
    codes: set[str] = set()
    with opened(port, name) as rude:
        try:
            for _ in range(count):
                answer = rude.ask("host", settings=HALL)
                codes.add(answer.get("code", "done"))
        except ConnectionError as error:
            return codes, error.args[0]
    return codes, None


async def test_lobbies_have_a_limit_and_creating_them_a_price(tmp_path: Path) -> None:
    with hosted(tmp_path) as server:
        async with asyncio.timeout(40), fleet_of(server.url, 2, draw(8), pause=0.02) as fleet:
            codes, code = await asyncio.to_thread(creations, server.port, "estate", 1000)
            await fleet.finished(2)
        assert codes == {"done", "rate_limited"}
        assert code == FLOOD_CODE
        assert server.figures()["kibitz_lobbies_open"] <= 8 + 2
        assert await faults(server, fleet) == []


async def dripping(port: int) -> float:
    """Send headers a byte at a time; return how long the server has put up with it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()
    try:
        with contextlib.suppress(ConnectionError):
            for byte in HANDSHAKE.format(path="/", more="X-Slow: x\r\n" * 50).encode():
                writer.write(bytes((byte,)))
                await writer.drain()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.1):
                        if not await reader.read(1):
                            break
    finally:
        writer.transport.abort()
    return time.monotonic() - began


async def waiting(port: int, first: bytes) -> float:
    """Say something and then nothing; return how long the server has put up with it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()
    try:
        with contextlib.suppress(ConnectionError):
            writer.write(first)
            await reader.read()
    finally:
        writer.transport.abort()
    return time.monotonic() - began


async def test_handshakes_that_never_end_are_ended(tmp_path: Path) -> None:
    with hosted(tmp_path) as server:
        async with asyncio.timeout(50), playing(server, 4, 15, 0.03):
            begun = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
            half = [waiting(server.port, begun) for _ in range(200)]
            mute = [waiting(server.port, b"") for _ in range(50)]
            slow = [dripping(server.port) for _ in range(20)]
            ends = await asyncio.gather(*half, *mute, *slow)
        assert max(ends) < HANDSHAKE_S + 2
        assert server.figures()['kibitz_peers_shed_total{why="aborted"}'] >= 270


def stuck_spectators(
    stack: ExitStack, port: int, matches: list[str], name: str, count: int
) -> list[Rude]:
    """Open connections that watch all matches and have little room for what they hear."""
    rudes = []
    for number in range(count):
        rude = stack.enter_context(opened(port, f"{name} {number}", narrow=True))
        rudes.append(rude)
        for match in matches:
            assert rude.ask("watch", match=match)["type"] == "done"
    return rudes


async def sip(rude: Rude, until: asyncio.Event) -> None:
    """Read a kilobyte a second."""
    loop = asyncio.get_running_loop()
    rude.socket.setblocking(False)
    with contextlib.suppress(ConnectionError):
        while not until.is_set():
            await loop.sock_recv(rude.socket, 102)
            await asyncio.sleep(0.1)


def gone(server: Process, spectators: int) -> None:
    """Wait until there are at most so many watchers."""
    while server.held().spectators > spectators:
        time.sleep(0.2)


async def test_spectators_who_do_not_read_are_dropped_and_slow_ones_fall_behind(
    tmp_path: Path,
) -> None:
    matches, stuck, slow = 6, 5, 5
    with hosted(tmp_path, unlimited=True) as server, ExitStack() as stack:
        async with asyncio.timeout(50), playing(server, matches, 15, 0.05) as fleet:
            seen = list(fleet.seats)
            open_ = stuck_spectators
            await asyncio.to_thread(open_, stack, server.port, seen, "stuck", stuck)
            slows = await asyncio.to_thread(open_, stack, server.port, seen, "slow", slow)
            over = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                for rude in slows:
                    group.create_task(sip(rude, over))
                # The fleet's own spectator and the slow ones may stay.
                await asyncio.to_thread(gone, server, matches * (1 + slow))
                over.set()
            assert fleet.ended == {}, "the matches were over before anybody was stuck"
            stack.close()
        assert server.figures()['kibitz_peers_shed_total{why="aborted"}'] >= stuck


# --- crowds of full size ----------------------------------------------------------------------


def told(fleet: Fleet, first: int) -> str:
    """Say how long moves took for the players, who share their process with the crowd."""
    waits = fleet.waits[first:]
    p50, p99 = percentile(waits, 0.5) * 1000, percentile(waits, 0.99) * 1000
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms of {len(waits)} moves"


def slow_moves(server: Process) -> dict[str, int]:
    """Return how many moves took the server itself longer than so many seconds."""
    figures = server.figures()
    total = figures["kibitz_move_seconds_count"]
    bounds = ("0.005", "0.01", "0.02", "0.05", "0.1")
    return {
        bound: int(total - figures[f'kibitz_move_seconds_bucket{{le="{bound}"}}'])
        for bound in bounds
    }


class Sink(asyncio.Protocol):
    """A spectator that reads everything and looks at nothing."""

    def __init__(self, hello: bytes) -> None:
        self._hello = hello

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._hello)


@pytest.mark.slow
async def test_a_thousand_spectators(tmp_path: Path, tell: Tell) -> None:
    """T8: 800 that read, 100 that never do, 100 at a kilobyte a second; 20 matches play on."""
    matches, each = 20, 40
    with hosted(tmp_path, unlimited=True) as server, ExitStack() as stack:
        async with asyncio.timeout(280), playing(server, matches, 15, 0.5) as fleet:
            await fleet.moved(600)
            tell(f"T8: alone {told(fleet, 0)}")
            seen = list(fleet.seats)
            loop = asyncio.get_running_loop()
            sinks = []
            for number in range(matches * each):
                hello = HANDSHAKE.format(path="/", more="").encode()
                hello += said(type="hello", id=1, versions=[1], name=f"sink {number}")
                hello += said(type="watch", id=2, match=seen[number % matches])
                sinks.append(
                    await loop.create_connection(partial(Sink, hello), "127.0.0.1", server.port)
                )
            for part in range(10):
                pair = seen[2 * part : 2 * part + 2]
                names = (stack, server.port, pair)
                await asyncio.to_thread(stuck_spectators, *names, f"stuck {part}", 10)
                slows = await asyncio.to_thread(stuck_spectators, *names, f"slow {part}", 10)
                over = asyncio.Event()
                sips = [asyncio.create_task(sip(rude, over)) for rude in slows]
            first = fleet.moves
            await fleet.moved(first + 1200)
            tell(f"T8: with 1,000 spectators {told(fleet, first)}; {slow_moves(server)}")
            over.set()
            await asyncio.gather(*sips)
            for transport, _ in sinks:
                transport.abort()
            stack.close()


@pytest.mark.slow
async def test_every_flood_at_once(tmp_path: Path, tell: Tell) -> None:
    """T9: 50 flooding sockets, 2,000 half-open handshakes, 10,000 lobbies, slow headers."""
    with hosted(tmp_path) as server:
        async with asyncio.timeout(280), playing(server, 20, 15, 0.3) as fleet:
            await fleet.moved(1000)
            tell(f"T9: alone {told(fleet, 0)}")
            first = fleet.moves
            half = [waiting(server.port, b"GET / HTTP/1.1\r\n") for _ in range(2000)]
            slow = [dripping(server.port) for _ in range(50)]
            ends, *_ = await asyncio.gather(
                asyncio.gather(
                    *(asyncio.to_thread(flood, server.port, f"f {n}", 10_000) for n in range(50))
                ),
                asyncio.to_thread(creations, server.port, "estate", 10_000),
                asyncio.gather(*half),
                asyncio.gather(*slow),
            )
            tell(f"T9: under every flood {told(fleet, first)}; {slow_moves(server)} in the server")
        assert {code for code, _ in ends} <= {FLOOD_CODE, None}
        slowest = max(seconds for _, seconds in ends)
        tell(f"T9: the slowest flooder was closed after {slowest:.2f} s")
        assert slowest < 5
