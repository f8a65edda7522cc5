"""The client with a scripted server on a real loopback socket."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from kibitz_protocol.client import Client, connection
from kibitz_protocol.client.credentials import ClientIdentity
from kibitz_protocol.client.errors import (
    BacklogError,
    ClosedError,
    GarbledError,
    HelloRefusedError,
    KickedError,
    OversizedError,
    RefusedError,
    ReplacedError,
    UnreachableError,
)
from kibitz_protocol.client.events import Disconnected, NewsReceived
from kibitz_protocol.client.hall import Hall
from kibitz_protocol.client.hosting import Hosting, split_arrangements
from kibitz_protocol.client.session import Session
from kibitz_protocol.wire.codec import decode_request, encode
from kibitz_protocol.wire.lobbies import Arrangement, MatchBrief, ProgrammeItem
from kibitz_protocol.wire.messages import (
    MAX_ARRANGEMENTS,
    Arrange,
    Arranged,
    ClientMessage,
    Done,
    Farewell,
    GameList,
    Hello,
    Host,
    Join,
    ListGames,
    LobbyClosed,
    Move,
    Refused,
    Rejoin,
    Watch,
    Welcome,
)
from kibitz_protocol.wire.records import Branch
from kibitz_protocol.wire.refusals import CloseCode, Code
from kibitz_server.storage.postgres.nodes import EXPIRES_S
from tests.tools.sample_messages import NEWS, SETTINGS
from tests.tools.scripted_server import LIMITS

pytestmark = pytest.mark.e2e

CLOSED = LobbyClosed(lobby="L1", reason="closed")


class Line:
    """A connection as seen by a test's script."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket

    async def hear(self, kind: type[ClientMessage]) -> ClientMessage:
        request = decode_request(await self.socket.recv())
        assert isinstance(request, kind), f"expected {kind}, got {request!r}"
        return request

    async def say(self, *messages: object) -> None:
        for message in messages:
            await self.socket.send(encode(message), text=True)  # type: ignore[arg-type]

    async def greet(self, **fields: object) -> Hello:
        hello = await self.hear(Hello)
        assert isinstance(hello, Hello)
        welcome = Welcome(
            re=hello.id,
            version=1,
            player="p1",
            name=hello.name or "ada",
            kind="bot",
            resume="a-secret-for-coming-back",
            server="script",
            limits=LIMITS,
            seats=[],
            lobbies=[],
        )
        await self.say(welcome.model_copy(update=fields))
        return hello


Script = Callable[[Line], Awaitable[None]]


@asynccontextmanager
async def _server(*scripts: Script) -> AsyncIterator[str]:
    """Run a server with one script per connection; a failing script fails the test.

    A task left over at the end fails it too.
    """
    waiting = list(scripts)
    failures: list[BaseException] = []
    before = asyncio.all_tasks()

    async def serve_script(socket: ServerConnection) -> None:
        if not waiting:
            await socket.close(1013)
            return
        try:
            with suppress(ConnectionClosed):
                await waiting.pop(0)(Line(socket))
        except BaseException as error:
            failures.append(error)
            raise

    async with (
        asyncio.timeout(20),
        serve(serve_script, "127.0.0.1", 0, compression=None) as server,
    ):
        port = server.sockets[0].getsockname()[1]
        yield f"ws://127.0.0.1:{port}"
    if failures:
        raise failures[0]
    assert not waiting, f"{len(waiting)} connections never came"
    assert asyncio.all_tasks() <= before


async def _stay(line: Line) -> None:
    """Wait until the client disconnects."""
    await line.socket.wait_closed()


async def _welcome_only(line: Line) -> None:
    await line.greet()
    await _stay(line)


async def test_it_enters_asks_hears_news_and_leaves_nothing_behind() -> None:
    async def script(line: Line) -> None:
        hello = await line.greet()
        assert (hello.name, hello.kind, hello.agent) == ("ada", "bot", "test")
        games = await line.hear(ListGames)
        await line.say(CLOSED, GameList(re=games.id, games=[], personalities=["line/random"]))
        await _stay(line)
        assert line.socket.close_code == 1000

    async with _server(script) as url:
        async with Client(url, name="ada", agent="test") as client:
            assert (client.player, client.name) == ("p1", "ada")
            assert client.resume == "a-secret-for-coming-back"
            assert (await client.hall.games()).personalities == ["line/random"]
            assert await anext(aiter(client.news())) == CLOSED
        assert isinstance(client.error, ClosedError)
        assert [news async for news in client.news()] == []
        with pytest.raises(ClosedError):
            await client.hall.games()


async def test_a_refusal_is_raised_with_all_that_it_says() -> None:
    async def script(line: Line) -> None:
        await line.greet()
        move = await line.hear(Move)
        await line.say(Refused(re=move.id, code=Code.STALE, message="ply 4 is past", ply=5))
        await _stay(line)

    async with _server(script) as url, Client(url) as client:
        with pytest.raises(RefusedError, match="stale: ply 4 is past") as caught:
            await client.move("m1", 4, {"to": 1})
        assert (caught.value.code, caught.value.ply) == (Code.STALE, 5)


async def test_more_matches_than_a_frame_holds_are_arranged_in_several() -> None:
    wanted = [
        Arrangement(tag=f"b{number}.1", item=ProgrammeItem(game="line"), players=["p1", "p2"])
        for number in range(600)
    ]
    frames: list[int] = []

    async def script(line: Line) -> None:
        await line.greet()
        told = 0
        while told < len(wanted):
            request = await line.hear(Arrange)
            assert isinstance(request, Arrange)
            frames.append(len(encode(request)))
            assert request.matches == wanted[told : told + len(request.matches)]
            told += len(request.matches)
            briefs = [
                MatchBrief(match="m1", game="line", seats=[], tag=each.tag)
                for each in request.matches
            ]
            await line.say(Arranged(re=request.id, matches=[*briefs[:-1], None]))
        await _stay(line)

    async with _server(script) as url, Client(url) as client:
        answer = await client.hosting.arrange("L1", wanted)
        assert (await client.hosting.arrange("L1", [])).matches == []
    assert all(size <= LIMITS.frame_bytes for size in frames)
    assert len(frames) > 3
    assert [brief and brief.tag for brief in answer.matches].count(None) == len(frames)
    assert [brief.tag for brief in answer.matches if brief] == [
        each.tag for each, brief in zip(wanted, answer.matches, strict=True) if brief
    ]


def test_a_request_holds_no_more_matches_than_the_server_reads() -> None:
    item = ProgrammeItem(game="line")
    wanted = [Arrangement(tag=f"b{n}", item=item, players=["p1"]) for n in range(300)]
    assert [len(part) for part in split_arrangements(wanted, 10**9)] == [
        MAX_ARRANGEMENTS,
        300 - MAX_ARRANGEMENTS,
    ]
    assert [len(part) for part in split_arrangements(wanted[:3], 10)] == [1, 1, 1]
    assert list(split_arrangements([], 10)) == []


async def test_an_answer_of_the_wrong_type_is_a_fault_of_the_server() -> None:
    async def script(line: Line) -> None:
        await line.greet()
        await line.say(Done(re=(await line.hear(ListGames)).id))
        await _stay(line)

    async with _server(script) as url, Client(url) as client:
        with pytest.raises(GarbledError, match="expected GameList as the answer, got Done"):
            await client.hall.games()


async def test_it_comes_back_resumes_and_sends_its_move_again() -> None:
    heard: list[ClientMessage] = []

    async def breaking(line: Line) -> None:
        await line.greet()
        await line.say(Done(re=(await line.hear(Join)).id))
        heard.append(await line.hear(Move))
        line.socket.transport.abort()

    async def healing(line: Line) -> None:
        hello = await line.greet(seats=["m1"], lobbies=["L1"])
        assert hello.resume == "a-secret-for-coming-back"
        rejoin = await line.hear(Rejoin)
        await line.hear(Join)
        heard.append(await line.hear(Move))
        await line.say(Done(re=rejoin.id), Done(re=heard[-1].id, seq=1))
        await _stay(line)

    async with _server(breaking, healing) as url, Client(url, name="ada") as client:
        await client.join("L1")
        assert (await client.move("m1", 0, {"to": 1})).seq == 1
    assert heard[0] == heard[1]


async def test_a_resent_request_comes_from_the_same_program() -> None:
    heard: list[ClientMessage] = []

    async def breaking(line: Line) -> None:
        heard.append(await line.greet())
        heard.append(await line.hear(Host))
        line.socket.transport.abort()

    async def working(line: Line) -> None:
        heard.append(await line.greet())
        heard.append(await line.hear(Host))
        await line.say(Done(re=heard[-1].id, lobby="x"))
        await _stay(line)

    async with _server(breaking, working) as url, Client(url) as client:
        assert (await client.hosting.host(SETTINGS)).lobby == "x"
    hello, host, again, resent = heard
    assert isinstance(hello, Hello)
    assert isinstance(again, Hello)
    assert hello.instance == again.instance
    assert host == resent


async def test_a_branch_is_part_of_the_settings() -> None:
    heard: list[ClientMessage] = []

    async def working(line: Line) -> None:
        await line.greet()
        heard.append(await line.hear(Host))
        await line.say(Done(re=heard[-1].id, lobby="x"))
        await _stay(line)

    branch = Branch(match="m1", ply=12)
    async with _server(working) as url, Client(url) as client:
        assert (await client.hosting.host(SETTINGS, branch=branch)).lobby == "x"
    [host] = heard
    assert isinstance(host, Host)
    assert host.settings == SETTINGS.model_copy(update={"branch": branch})


async def test_a_server_that_goes_away_says_farewell_and_is_found_again() -> None:
    async def leaving(line: Line) -> None:
        await line.greet()
        await line.say(Farewell(code=Code.UNAVAILABLE, message="restart", retry_after_ms=1))
        await line.socket.close(1012)

    async def back(line: Line) -> None:
        await line.greet()
        await line.say(CLOSED)
        await _stay(line)

    async with _server(leaving, back) as url, Client(url) as client:
        news = client.news()
        assert isinstance(await anext(news), Farewell)
        assert await anext(news) == CLOSED
        assert client.online
    assert not client.online


@pytest.mark.parametrize(
    ("code", "error"), [(CloseCode.REPLACED, ReplacedError), (CloseCode.KICKED, KickedError)]
)
async def test_some_close_codes_end_it(code: int, error: type[Exception]) -> None:
    async def script(line: Line) -> None:
        await line.greet()
        await line.hear(Move)
        await line.socket.close(code, "enough")

    async with _server(script) as url, Client(url) as client:
        with pytest.raises(error, match="enough"):
            await client.move("m1", 0, {"to": 1})
        with pytest.raises(error):
            await anext(client.news())


async def test_a_refused_hello_is_raised_on_entering() -> None:
    async def script(line: Line) -> None:
        hello = await line.hear(Hello)
        await line.say(
            Refused(re=hello.id, code=Code.UNAUTHORIZED, message="no such token", hint="make one")
        )
        await line.socket.close(CloseCode.NO_HELLO)

    async with _server(script) as url:
        with pytest.raises(HelloRefusedError, match=r"unauthorized: no such token \(make one\)"):
            await Client(url, token="a-wrong-token").__aenter__()


async def test_no_server_at_all_is_unreachable_after_the_time_for_opening() -> None:
    async with serve(_nobody, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
    with pytest.raises(UnreachableError, match=f"ws://127.0.0.1:{port}"):
        await Client(f"ws://127.0.0.1:{port}", opening=0.05).__aenter__()


async def _nobody(socket: ServerConnection) -> None:
    raise AssertionError("nobody connects here")


@pytest.mark.parametrize("url", ["ftp://127.0.0.1:1", "nonsense", "ws://"])
async def test_an_address_that_is_none_is_not_tried_again(url: str) -> None:
    with pytest.raises(UnreachableError, match=url):
        await Client(url, opening=None).__aenter__()


async def test_a_server_that_stays_away_ends_it() -> None:
    async def script(line: Line) -> None:
        await line.greet()
        await line.hear(Move)
        line.socket.transport.abort()

    async with _server(script) as url, Client(url, patience=0.05) as client:
        with pytest.raises(UnreachableError, match="was unreachable"):
            await client.move("m1", 0, {"to": 1})


async def test_a_cancelled_request_leaves_the_client_in_order() -> None:
    heard = asyncio.Event()

    async def script(line: Line) -> None:
        await line.greet()
        watch = await line.hear(Watch)
        heard.set()
        games = await line.hear(ListGames)
        await line.say(Done(re=watch.id), GameList(re=games.id, games=[], personalities=[]))
        await _stay(line)

    async with _server(script) as url, Client(url) as client:
        watching = asyncio.create_task(client.watch("m1"))
        await heard.wait()
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching
        assert (await client.hall.games()).games == []
        assert client._exchange._futures == {}


async def test_a_cancelled_request_is_not_sent_again() -> None:
    heard, cancelled = asyncio.Event(), asyncio.Event()

    async def breaking(line: Line) -> None:
        await line.greet()
        await line.hear(Watch)
        heard.set()
        await cancelled.wait()
        line.socket.transport.abort()

    async def healing(line: Line) -> None:
        await line.greet()
        games = await line.hear(ListGames)
        await line.say(GameList(re=games.id, games=[], personalities=[]))
        await _stay(line)

    async with _server(breaking, healing) as url, Client(url) as client:
        watching = asyncio.create_task(client.watch("m1"))
        await heard.wait()
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching
        cancelled.set()
        await client.hall.games()


async def test_cancelled_as_a_whole_it_leaves_nothing_behind() -> None:
    async with _server(_welcome_only) as url:
        inside = asyncio.Event()

        async def body() -> None:
            async with Client(url) as client:
                inside.set()
                async for _ in client.news():
                    raise AssertionError("there is no news")

        task = asyncio.create_task(body())
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_news_that_nobody_reads_ends_it_and_is_still_there() -> None:
    closed = asyncio.Event()

    async def script(line: Line) -> None:
        await line.greet()
        await line.say(CLOSED, CLOSED, CLOSED)
        await _stay(line)
        closed.set()

    async with _server(script) as url, Client(url, backlog=2) as client:
        await closed.wait()
        news = client.news()
        assert [await anext(news), await anext(news)] == [CLOSED, CLOSED]
        with pytest.raises(BacklogError, match="2 unread news messages"):
            await anext(news)


async def test_a_thought_in_a_thread_does_not_stop_the_pongs() -> None:
    enough = threading.Event()

    async def script(line: Line) -> None:
        await line.greet()
        for _ in range(3):
            async with asyncio.timeout(5):
                await (await line.socket.ping())
        enough.set()
        await _stay(line)

    def think() -> int:
        thoughts = 0
        while not enough.is_set():
            thoughts += sum(range(1_000))
        return thoughts

    async with _server(script) as url, Client(url):
        assert await asyncio.to_thread(think) > 0


async def test_a_server_that_is_silent_is_given_up_for_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kibitz_protocol.client.connection.PING_INTERVAL_S", 0.05)
    monkeypatch.setattr("kibitz_protocol.client.connection.CLOSE_TIMEOUT_S", 0.05)
    deaf = asyncio.Event()

    async def dead(line: Line) -> None:
        await line.greet()
        line.socket.transport.pause_reading()
        await deaf.wait()
        line.socket.transport.abort()

    async def alive(line: Line) -> None:
        await line.greet()
        deaf.set()
        await line.say(CLOSED)
        await _stay(line)

    async with _server(dead, alive) as url, Client(url) as client:
        assert await anext(client.news()) == CLOSED


def test_a_client_notices_a_frozen_node_by_the_time_another_has_taken_over() -> None:
    assert 2 * connection.PING_INTERVAL_S <= EXPIRES_S


async def test_a_server_that_only_answers_pings_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PING_INTERVAL_S", 0.05)
    pings = asyncio.Semaphore(0)

    async def quiet(line: Line) -> None:
        await line.greet()
        send_frame = line.socket.protocol.send_frame

        def counted(frame: Frame) -> None:
            if frame.opcode is Opcode.PONG:
                pings.release()
            send_frame(frame)

        monkeypatch.setattr(line.socket.protocol, "send_frame", counted)
        await _stay(line)

    async with _server(quiet) as url, Client(url) as client:
        for _ in range(5):
            async with asyncio.timeout(10):
                await pings.acquire()
        assert client.online


async def test_a_long_frame_that_comes_slowly_shows_that_the_server_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "PING_INTERVAL_S", 0.2)
    payload = encode(CLOSED)
    frame = bytes([0x81, len(payload)]) + payload

    async def slow(line: Line) -> None:
        await line.greet()
        for byte in frame:
            line.socket.transport.write(bytes([byte]))
            await asyncio.sleep(1 / len(frame))
        await _stay(line)

    async with _server(slow) as url, Client(url) as client:
        assert await anext(client.news()) == CLOSED


async def test_a_large_snapshot_is_read() -> None:
    snapshot = next(message for message in NEWS if message.type == "snapshot")
    large = snapshot.model_copy(update={"view": {"cells": list(range(200_000))}})

    async def script(line: Line) -> None:
        await line.greet()
        await line.say(large)
        await _stay(line)

    async with _server(script) as url, Client(url) as client:
        assert await anext(client.news()) == large


async def test_a_message_that_is_too_large_ends_it_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is not requested again, because it would be equally large on the next connection."""
    monkeypatch.setattr(connection, "MAX_SERVER_FRAME", 2**20)
    snapshot = next(message for message in NEWS if message.type == "snapshot")
    large = snapshot.model_copy(update={"view": {"text": "x" * 2**20}})

    async def script(line: Line) -> None:
        await line.greet()
        await line.hear(ListGames)
        await line.say(large)
        await _stay(line)

    async with _server(script) as url, Client(url, name="ada") as client:
        with pytest.raises(OversizedError, match="more than 1 MiB, the limit of this client"):
            await client.hall.games()
        with pytest.raises(OversizedError):
            await anext(client.news())


async def test_secrets_for_an_encrypted_server_go_to_no_other() -> None:
    """A server that names other nodes cannot make a client send secrets to them unencrypted."""
    tried: list[object] = []
    session = Session(ClientIdentity(token="the-token"), connection.now_ms(), chance=lambda: 0.0)
    session.addresses.present = "ws://127.0.0.1:9"
    loop = connection.ConnectionLoop("wss://127.0.0.1:9", session, tried.append)
    await loop._attempt()
    (lost,) = tried
    assert isinstance(lost, Disconnected)
    assert "expected a wss:// address" in lost.reason


async def test_a_fault_of_its_own_is_heard_by_all_who_wait(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)

    async def script(line: Line) -> None:
        await line.greet()
        await line.hear(Watch)
        await line.say(CLOSED)
        await _stay(line)

    def explode(self: Client, happening: object) -> None:
        if isinstance(happening, NewsReceived):
            raise ZeroDivisionError("planted")
        original(self, happening)  # type: ignore[arg-type]

    original = Client._handle_event
    monkeypatch.setattr(Client, "_handle_event", explode)
    async with _server(script) as url:
        client = Client(url)
        await client.__aenter__()
        with pytest.raises(Exception, match="the client failed"):
            await client.watch("m1")
        with pytest.raises(ExceptionGroup):
            await client.__aexit__(None, None, None)


@pytest.mark.parametrize("owner", [Client, Hall, Hosting])
def test_every_public_method_names_only_refusals_that_exist(owner: type) -> None:
    """Codes are names with an underscore in backquotes; few other names look like that."""
    other = {"frame_bytes"}
    for name, member in inspect.getmembers(owner):
        if not name.startswith("_"):
            doc = inspect.getdoc(member)
            assert doc, name
            named = set(re.findall(r"`([a-z]+_[a-z_]+)`", doc)) - other
            assert named <= {code.value for code in Code}, name


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("http://here:8765", "ws://here:8765"),
        ("HTTPS://here/path", "wss://here/path/"),
        ("ws://here", "ws://here"),
        ("wss://here", "wss://here"),
    ],
)
def test_the_address_of_its_pages_is_the_server_too(said: str, meant: str) -> None:
    assert Client(said, name="ada").url == meant
