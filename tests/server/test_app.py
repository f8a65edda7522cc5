"""A complete server: startup, draining, slow readers, crashes, house bots."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from kibitz_protocol.wire.messages import BotLevel, HouseBotLine
from kibitz_server.app import Config, running
from kibitz_server.net.connection import Connection
from kibitz_server.net.frames import FrameReader
from kibitz_server.net.peer import Peer
from kibitz_server.net.send_queue import SendLimits
from kibitz_server.net.timeouts import TimeoutConfig
from kibitz_server.storage.errors import DatabaseInUse, ForeignDatabase
from kibitz_server.storage.sqlite.store import SQLiteStore
from kibitz_server.storage.streams import Stored
from tests.server.fakes import JsonClient, client_frame, connected, house_bot, wait_until
from tests.server.match.toy_games import Grid, Race
from tests.tools.transcripts import transcript

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
GAMES = {game.info.name: game for game in (Grid(), Race())}
OPEN = {"kind": "open"}
WIDE = {"columns": 8, "rows": 8, "row": 8}


def settings(seats: int = 2, games: int = 1, **fields: Any) -> dict[str, Any]:
    item = {"game": "toy-grid", "seats": seats, "games": games, "options": WIDE}
    return {"seats": [OPEN] * seats, "programme": [item], **fields}


async def seated(url: str, players: Sequence[JsonClient], **fields: Any) -> str:
    """Host a lobby for the players and start it."""
    done = await players[0].ask("host", settings=settings(len(players), **fields))
    lobby: str = done["lobby"]
    for player in players:
        await player.ask("join", lobby=lobby)
    for player in players:
        await player.ask("ready", lobby=lobby)
    return lobby


# --- starting ---------------------------------------------------------------------------------


async def test_a_server_says_that_it_is_ready(tmp_path: Path) -> None:
    async with running(Config(db=tmp_path / "k.db"), GAMES) as server:
        assert await page(server.port, "/readyz") == (200, b"ok\n")
        assert server.url == f"ws://127.0.0.1:{server.port}"
        assert server.http_url == f"http://127.0.0.1:{server.port}"


async def page(port: int, path: str) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return int(head.split()[1]), body


async def test_a_port_that_is_taken_leaves_nothing_behind(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config = Config(db=tmp_path / "k.db", port=taken.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            async with running(config, GAMES):
                pass
    async with running(Config(db=tmp_path / "k.db"), GAMES):
        pass


async def test_a_database_serves_one_server(tmp_path: Path) -> None:
    config = Config(db=tmp_path / "k.db")
    async with running(config, GAMES):
        with pytest.raises(DatabaseInUse):
            async with running(config, GAMES):
                pass
    scribble(tmp_path / "other.db")
    with pytest.raises(ForeignDatabase):
        async with running(Config(db=tmp_path / "other.db"), GAMES):
            pass


def scribble(path: Path) -> None:
    path.write_text("something else entirely, and long enough to be read" * 20)


# --- draining ---------------------------------------------------------------------------------


async def test_joins_matches_and_refusals_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "kibitz")
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES) as server,
        connected(server.url) as ada,
        connected(server.url) as bob,
        connected(server.url) as eve,
    ):
        await eve.ask("hello", versions=[1], resume="nobody has this secret")
        for client, name in ((ada, "ada"), (bob, "bob")):
            await client.hello(name)
        lobby = await seated(server.url, [ada, bob])
        turn = await ada.next("your_turn")
        await ada.ask("resign", match=turn["match"])
        await bob.next("finished")
    logged = [record.getMessage() for record in caplog.records if record.levelname == "INFO"]
    assert [line for line in logged if line.endswith(" connected")][:2] == [
        "bot ada connected",
        "bot bob connected",
    ]
    assert any(line.startswith("refused a newcomer: unauthorized: ") for line in logged)
    assert f"match {lobby}-1-1 of {turn['game']} started: ada, bob" in logged
    assert f"match {lobby}-1-1 ended after 0 plies: resignation" in logged


async def test_a_drain_says_farewell_and_the_match_goes_on_after_it(tmp_path: Path) -> None:
    config = Config(db=tmp_path / "k.db")
    async with (
        running(config, GAMES) as server,
        connected(server.url) as ada,
        connected(server.url) as bob,
    ):
        secrets = [(await p.hello(n))["resume"] for p, n in ((ada, "ada"), (bob, "bob"))]
        lobby = await seated(server.url, [ada, bob])
        turn = await ada.next("your_turn")
        moved = await ada.move(turn)
        await bob.next("your_turn")
        draining = asyncio.create_task(server.drain())
        farewell = await bob.next("farewell")
        assert (farewell["code"], farewell["retry_after_ms"]) == ("unavailable", 1000)
        assert await bob.closed() == 1012
        await ada.closed()
        await draining
    async with running(config, GAMES) as server, connected(server.url) as bob:
        welcome = await bob.ask("hello", versions=[1], resume=secrets[1])
        assert (welcome["seats"], welcome["lobbies"]) == ([f"{lobby}-1-1"], [lobby])
        await bob.ask("rejoin", match=f"{lobby}-1-1")
        snapshot = await bob.next("snapshot")
        assert snapshot["ply"] == 1
        assert snapshot["seq"] > moved["seq"]
        again = await bob.next("your_turn")
        assert (await bob.move(again))["type"] == "done"


async def test_a_move_into_a_drain_is_not_refused_and_the_next_server_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, disk = Config(db=tmp_path / "k.db"), asyncio.Event()
    async with (
        running(config, GAMES) as server,
        connected(server.url) as ada,
        connected(server.url) as bob,
    ):
        secret = (await ada.hello("ada"))["resume"]
        await bob.hello("bob")
        lobby = await seated(server.url, [ada, bob])
        turn = await ada.next("your_turn")
        monkeypatch.setattr(server.backend.store, "flush", disk.wait)
        draining = asyncio.create_task(server.drain())
        await asyncio.sleep(0)
        move = {"match": turn["match"], "ply": turn["ply"], "action": turn["legal"][0]}
        for fields in ({"type": "move", **move}, {"type": "leave", "lobby": lobby}):
            await ada.socket.send(json.dumps({"id": 90, **fields}))
        ping = await ada.socket.ping()
        await asyncio.wait_for(ping, 5)
        disk.set()
        await draining
        said = [json.loads(frame) async for frame in frames(ada)]
        assert [each["type"] for each in said if "re" in each] == []
        assert said[-1]["type"] == "farewell"
    async with running(config, GAMES) as server, connected(server.url) as ada:
        await ada.ask("hello", versions=[1], resume=secret)
        await ada.ask("rejoin", match=turn["match"])
        assert (await ada.move(await ada.next("your_turn")))["type"] == "done"


async def frames(client: JsonClient) -> AsyncIterator[str | bytes]:
    """Yield the remaining messages to a client until its connection is closed."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            yield await client.socket.recv()


async def test_stuck_readers_do_not_hold_up_a_drain(tmp_path: Path) -> None:
    config = Config(db=tmp_path / "k.db", drain_s=1.0, patience=TimeoutConfig(close_s=0.3))
    async with running(config, GAMES) as server:
        socks = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(5)]
        for _, writer in socks:
            writer.write(HANDSHAKE)
        for reader, _ in socks:
            await reader.readuntil(b"\r\n\r\n")
        began = time.monotonic()
        await server.drain()
        assert time.monotonic() - began < 3
        for _, writer in socks:
            writer.transport.abort()


HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


# --- closed connections -----------------------------------------------------------------------


async def test_a_connection_that_is_gone_is_freed_without_the_garbage_collector(
    tmp_path: Path,
) -> None:
    async with running(Config(db=tmp_path / "k.db"), GAMES) as server:
        gc.collect()
        gc.disable()
        try:
            async with connected(server.url) as ada:
                await ada.hello("ada")
                await ada.ask("list_lobbies")
                assert living_parts() == {Connection: 1, FrameReader: 1, Peer: 1}
            await wait_until(lambda: not server.backend.gauges()["connections"])
            await wait_until(lambda: not living_parts())
        finally:
            gc.enable()


def living_parts() -> Counter[type]:
    """Count the objects of connections."""
    return Counter(
        type(each) for each in gc.get_objects() if type(each) in {Connection, FrameReader, Peer}
    )


# --- slow readers -----------------------------------------------------------------------------


@asynccontextmanager
async def deaf(port: int, name: str) -> AsyncIterator[socket.socket]:
    """Connect, send hello, and never read again."""
    loop = asyncio.get_running_loop()
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.setblocking(False)
        await loop.sock_connect(sock, ("127.0.0.1", port))
        await loop.sock_sendall(sock, HANDSHAKE)
        hello = {"type": "hello", "id": 1, "versions": [1], "name": name}
        await loop.sock_sendall(sock, client_frame(json.dumps(hello).encode()))
        heard = b""
        while b'"welcome"' not in heard:
            heard += await loop.sock_recv(sock, 4096)
        yield sock


async def test_a_reader_that_stops_is_gone_in_seconds_and_holds_nobody_up(tmp_path: Path) -> None:
    patience = TimeoutConfig(stuck_s=0.4, close_s=0.4, sweep_s=0.1)
    config = Config(
        db=tmp_path / "k.db",
        patience=patience,
        unlimited=True,
        allowance=SendLimits(high_water=4096, frames_bytes=4096),
    )
    async with (
        running(config, GAMES) as server,
        deaf(server.port, "eve") as sock,
        connected(server.url) as ada,
    ):
        await ada.hello("ada")
        asked = client_frame(b'{"type":"list_games","id":2}') * 200
        await asyncio.get_running_loop().sock_sendall(sock, asked)
        async with asyncio.timeout(10):
            while server.backend.gauges()["connections"] > 1:
                assert (await ada.ask("list_lobbies"))["type"] == "lobbies"
                await asyncio.sleep(0.02)
        _, figures = await page(server.port, "/metrics")
        assert b'kibitz_connections_dropped_total{reason="aborted"} 1.0' in figures


# --- crashes ----------------------------------------------------------------------------------

MAIN = """
import sys
from pathlib import Path
from kibitz_server.app import Config, run
from tests.server.match.toy_games import Grid
config = Config(db=Path(sys.argv[1]), port=int(sys.argv[2]), unlimited=True)
run(config, {"toy-grid": Grid()}, started=lambda server: print(server.port, flush=True))
"""


@asynccontextmanager
async def process(db: Path, port: int = 0) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """Run a server in a separate process; kill it at the end."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", MAIN, str(db), str(port)),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    try:
        yield child, int(await asyncio.wait_for(child.stdout.readline(), 30))
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


class Moves:
    """Players who move forever, with the messages they received."""

    def __init__(self) -> None:
        self.acknowledged: dict[str, dict[int, Any]] = {}

    @property
    def count(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    async def play(self, caller: JsonClient) -> None:
        while True:
            turn = await caller.next("your_turn")
            answer = await caller.move(turn)
            if answer["type"] == "done":
                match = self.acknowledged.setdefault(turn["match"], {})
                assert answer["seq"] not in match
                match[answer["seq"]] = turn["legal"][0]

    async def play_until_dead(self, callers: Sequence[JsonClient]) -> None:
        await asyncio.gather(*map(self.play, callers), return_exceptions=True)


@pytest.mark.e2e
async def test_kill_9_loses_no_acknowledged_move(tmp_path: Path) -> None:
    db, moves = tmp_path / "k.db", Moves()
    secrets: dict[str, str] = {}
    matches: list[str] = []
    for life in range(3):
        async with process(db) as (child, port):
            url = f"ws://127.0.0.1:{port}"
            callers: list[JsonClient] = []
            stack = [connected(url) for _ in range(8)]
            for number, context in enumerate(stack):
                caller = await context.__aenter__()
                callers.append(caller)
                name = f"p{number}"
                if life == 0:
                    secrets[name] = (await caller.hello(name))["resume"]
                else:
                    back = await caller.ask("hello", versions=[1], resume=secrets[name])
                    for match in back["seats"]:
                        await caller.ask("rejoin", match=match)
            if life == 0:
                for number in range(0, 8, 2):
                    lobby = await seated(url, callers[number : number + 2], games=200)
                    matches.append(lobby)
            playing = asyncio.create_task(moves.play_until_dead(callers))
            enough = moves.count + 60
            await wait_until(lambda enough=enough: moves.count >= enough)  # type: ignore[misc]
            child.kill()
            await child.wait()
            await playing
            for context in stack:
                await context.__aexit__(None, None, None)
    await audit(db, moves)


async def audit(db: Path, moves: Moves) -> None:
    """Compare acknowledged moves with the log."""
    store = SQLiteStore(db, asyncio.get_running_loop())
    opened = [found.stream.key for found in store.load("match")]
    logs = {
        key: found.lines
        for key, found in (await store.reload(opened)).items()
        if isinstance(found, Stored)
    }
    for match in moves.acknowledged:
        if match not in logs:
            finished = await transcript(store, match)
            assert finished is not None, match
            logs[match] = finished.lines
    await store.close()
    for match, told in moves.acknowledged.items():
        entries = [json.loads(line) for line in logs[match]]
        assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
        plies = [entry["ply"] for entry in entries if entry["kind"] == "move"]
        assert plies == list(range(len(plies)))
        for seq, action in told.items():
            assert entries[seq - 1]["action"] == action


@pytest.mark.e2e
async def test_sigterm_drains_and_exits_with_0(tmp_path: Path) -> None:
    async with process(tmp_path / "k.db") as (child, port):
        async with connected(f"ws://127.0.0.1:{port}") as ada:
            await ada.hello("ada")
            began = time.monotonic()
            child.send_signal(signal.SIGTERM)
            assert (await ada.next("farewell"))["retry_after_ms"] == 1000
            assert await ada.closed() == 1012
        assert await asyncio.wait_for(child.wait(), 15) == 0
        assert time.monotonic() - began < 5


# --- house bots -------------------------------------------------------------------------------

BOT = """
import asyncio, json, os, sys
from websockets.asyncio.client import connect
mode, url, lobby = sys.argv[1:4]
async def main():
    if mode == "broken":
        sys.exit("no engine")
    if mode == "sleepy":
        await asyncio.sleep(60)
    async with connect(url) as ws:
        ids = iter(range(1, 10**9))
        async def ask(type, **fields):
            await ws.send(json.dumps({"type": type, "id": next(ids), **fields}))
        await ask("hello", versions=[1], resume=open(int(os.environ["KIBITZ_RESUME_FD"])).read(),
                  capabilities={"at_once": 9})
        await ask("join", lobby=lobby)
        await ask("ready", lobby=lobby)
        async for text in ws:
            message = json.loads(text)
            if message["type"] == "your_turn":
                if mode == "crash" and message["ply"] > 2:
                    print("segmentation of faults", flush=True)
                    os._exit(7)
                await ask("move", match=message["match"], ply=message["ply"],
                          action=message["legal"][0])
            if message["type"] == "lobby_closed":
                return
asyncio.run(main())
"""


class Bots:
    """House bots: one plays, one crashes during a match, one never starts, one never connects."""

    def bots(self) -> Sequence[HouseBotLine]:
        rest = [house_bot(f"toy-grid/{name}") for name in ("crash", "broken", "sleepy")]
        return [house_bot("toy-grid/steady", seats=[2]), *rest]

    def flaw(self, personality: str) -> str | None:
        return "depth: no" if "depth=no" in personality else None

    def command(self, personality: str, url: str, lobby: str) -> Sequence[str]:
        return [sys.executable, "-c", BOT, personality.partition("/")[2], url, lobby]


def housed(personality: str, **fields: Any) -> dict[str, Any]:
    seats = [OPEN, {"kind": "house", "personality": f"toy-grid/{personality}"}]
    return {**settings(**fields), "seats": seats}


async def play_out(caller: JsonClient) -> dict[str, Any]:
    while True:
        message = caller.news.pop(0) if caller.news else json.loads(await caller.socket.recv())
        if message["type"] == "your_turn":
            await caller.move(message)
        elif message["type"] == "finished":
            return dict(message)


@pytest.mark.e2e
async def test_a_house_bot_plays_a_match_and_is_dismissed(tmp_path: Path) -> None:
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES, Bots()) as server,
        connected(server.url) as ada,
        asyncio.timeout(30),
    ):
        await ada.hello("ada")
        lobby = (await ada.ask("host", settings=housed("steady")))["lobby"]
        await ada.ask("join", lobby=lobby)
        await ada.ask("ready", lobby=lobby)
        end = await play_out(ada)
        assert end["result"]["cause"] == "rules"
        await ada.ask("close", lobby=lobby)
        await wait_until(lambda: not server.backend.gauges()["house_bots"])


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("arranged", "names"),
    [
        (False, ["Computer, level 4", "Computer 2, level 4", "house sleepy", "house sleepy 2"]),
        (True, ["house steady", "house steady 2", "house sleepy", "house sleepy 2"]),
    ],
)
async def test_house_bots_are_named_after_levels_except_in_tournaments(
    tmp_path: Path, arranged: bool, names: list[str]
) -> None:
    class Leveled(Bots):
        def bots(self) -> Sequence[HouseBotLine]:
            first, *rest = super().bots()
            level = BotLevel(level=4, seats=2)
            return [first.model_copy(update={"levels": [level]}), *rest]

    async with (
        running(Config(db=tmp_path / "k.db"), GAMES, Leveled()) as server,
        connected(server.url) as ada,
    ):
        await ada.hello("ada")
        personalities = [f"toy-grid/{name}" for name in ("steady", "steady", "sleepy", "sleepy")]
        seats = [{"kind": "house", "personality": each} for each in personalities]
        wanted = settings(arranged=arranged) | {"seats": seats}
        lobby = (await ada.ask("host", settings=wanted))["lobby"]
        bots = server.backend.registry.lobbies[lobby].bots
        await wait_until(lambda: len(bots._processes) == len(seats))
        assert [bot.name for _, bot in bots._processes.values()] == names
        await ada.ask("close", lobby=lobby)


@pytest.mark.e2e
async def test_a_house_bot_that_crashes_is_named_as_the_cause(tmp_path: Path) -> None:
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES, Bots()) as server,
        connected(server.url) as ada,
        asyncio.timeout(30),
    ):
        await ada.hello("ada")
        asked = housed("crash", conduct={"grace_ms": 0})
        lobby = (await ada.ask("host", settings=asked))["lobby"]
        await ada.ask("join", lobby=lobby)
        await ada.ask("ready", lobby=lobby)
        end = await play_out(ada)
        causes = [seat.get("cause") for seat in end["result"]["seats"]]
        assert "crash" in causes
        found = await transcript(server.backend.store, end["match"])
        assert found is not None
        notes = [json.loads(line).get("text", "") for line in found.lines]
        assert any("segmentation of faults" in note for note in notes)
        assert any("ended with status 7" in note for note in notes)


@pytest.mark.e2e
async def test_a_stand_in_plays_on_for_who_went_away(tmp_path: Path) -> None:
    conduct = {"grace_ms": 0, "on_leave": "replace", "stand_in": "toy-grid/steady"}
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES, Bots()) as server,
        connected(server.url) as ada,
        asyncio.timeout(30),
    ):
        await ada.hello("ada")
        async with connected(server.url) as bob:
            await bob.hello("bob")
            await seated(server.url, [ada, bob], conduct=conduct)
            await ada.move(await ada.next("your_turn"))
            await bob.next("your_turn")
        end = await play_out(ada)
        assert end["result"]["cause"] == "rules"
        found = await transcript(server.backend.store, end["match"])
        assert found is not None
        replaced = [entry for entry in map(json.loads, found.lines) if entry["kind"] == "replace"]
        assert [entry["player"]["name"] for entry in replaced] == ["house steady"]


@pytest.mark.e2e
async def test_a_stand_in_that_never_comes_costs_the_seat(tmp_path: Path) -> None:
    conduct = {"grace_ms": 0, "on_leave": "replace", "stand_in": "toy-grid/broken"}
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES, Bots()) as server,
        connected(server.url) as ada,
        asyncio.timeout(30),
    ):
        await ada.hello("ada")
        async with connected(server.url) as bob:
            await bob.hello("bob")
            await seated(server.url, [ada, bob], conduct=conduct)
            await ada.next("your_turn")
        end = await play_out(ada)
        [detail] = [s["detail"] for s in end["result"]["seats"] if s.get("cause")]
        assert "status 1" in detail


@pytest.mark.e2e
async def test_a_house_seat_whose_bot_never_starts_is_opened(tmp_path: Path) -> None:
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES, Bots()) as server,
        connected(server.url) as ada,
        connected(server.url) as bob,
        asyncio.timeout(30),
    ):
        await ada.hello("ada")
        await bob.hello("bob")
        lobby = (await ada.ask("host", settings=housed("broken")))["lobby"]
        await ada.ask("join", lobby=lobby)
        await wait_until(
            lambda: bool(server.backend.registry.lobbies[lobby].engine.state.seats.abandoned)
        )
        assert (await bob.ask("join", lobby=lobby))["type"] == "done"
        for player in (ada, bob):
            await player.ask("ready", lobby=lobby)
        await ada.next("your_turn")


async def test_a_house_bot_s_parameters_are_checked_when_the_lobby_is_opened(
    tmp_path: Path,
) -> None:
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES, Bots()) as server,
        connected(server.url) as ada,
    ):
        await ada.hello("ada")
        refused = await ada.ask("host", settings=housed("steady:depth=no"))
        assert (refused["code"], refused["message"]) == (
            "bad_option",
            "settings.seats.1: depth: no",
        )
        conduct = {"on_leave": "replace", "stand_in": "toy-grid/steady:depth=no"}
        refused = await ada.ask("host", settings=settings(conduct=conduct))
        assert refused["message"] == "settings.conduct.stand_in: depth: no"
        shoulder = {"mode": "shoulder", "seat": 7}
        refused = await ada.ask("host", settings=settings(spectating=shoulder))
        assert refused["code"] == "bad_option"
        assert "0 to 1" in refused["message"]
        assert server.backend.gauges()["house_bots"] == 0


@pytest.mark.e2e
async def test_a_house_bot_that_fails_is_news_in_the_lobby_and_to_its_host(
    tmp_path: Path,
) -> None:
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES, Bots()) as server,
        connected(server.url) as ada,
        connected(server.url) as bob,
        asyncio.timeout(30),
    ):
        await ada.hello("ada")
        await bob.hello("bob")
        lobby = (await ada.ask("host", settings=housed("broken")))["lobby"]
        await bob.ask("join", lobby=lobby)
        for caller in (ada, bob):
            while True:
                view = await caller.next_lobby()
                if any(each["given_up"] for each in view["house_trouble"]):
                    break
            [trouble] = view["house_trouble"]
            assert trouble == {
                "seat": 1,
                "personality": "toy-grid/broken",
                "failures": 3,
                "reason": "the process ended with status 1",
                "given_up": True,
            }


@pytest.mark.e2e
async def test_a_house_bot_that_does_not_come_is_news(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kibitz_server.lobby.seat_bots.BOT_START_TIMEOUT_S", 0.3)
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES, Bots()) as server,
        connected(server.url) as ada,
        asyncio.timeout(30),
    ):
        await ada.hello("ada")
        await ada.ask("host", settings=housed("sleepy"))
        while not (trouble := (await ada.next_lobby())["house_trouble"]):
            pass
        assert trouble[0]["failures"] == 1
        assert "did not join within" in trouble[0]["reason"]


@pytest.mark.e2e
async def test_house_bots_end_with_their_server(tmp_path: Path) -> None:
    async with (
        running(Config(db=tmp_path / "k.db"), GAMES, Bots()) as server,
        connected(server.url) as ada,
        asyncio.timeout(30),
    ):
        await ada.hello("ada")
        lobby = (await ada.ask("host", settings=housed("steady")))["lobby"]
        while True:
            view = await ada.next_lobby()
            if view["lobby"] == lobby and view["members"]:
                break
        assert server.backend.gauges()["house_bots"] == 1
    assert server.backend.gauges()["house_bots"] == 0
