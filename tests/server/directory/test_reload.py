"""Reloading matches and lobbies after failed writes: no player waits forever or loses time."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from kibitz_server.app import Config, Server, running
from kibitz_server.directory import reload
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.sqlite.schema import connect_admin
from kibitz_server.storage.sqlite.store import SQLiteStore
from tests.server.fakes import JsonClient, connected, wait_until
from tests.server.storage.sqlite.test_store import take_over_database
from tests.server.test_app import GAMES, ROOT, seated

pytestmark = pytest.mark.e2e


class FullDiskConnection:
    """A database connection whose commits fail while `full` is set."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.full = False
        self.failed = 0

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    def close(self) -> None:
        self._db.close()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        if self.full and sql == "COMMIT":
            self.failed += 1
            raise sqlite3.OperationalError("database or disk is full")
        return self._db.execute(sql, values)


def disk_of(server: Server) -> FullDiskConnection:
    store = server.backend.store
    assert isinstance(store, SQLiteStore)
    store.commits._retries = ()
    store._writer.db = disk = FullDiskConnection(store._writer.db)  # type: ignore[assignment]
    return disk


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(Config(db=tmp_path / "k.db", unlimited=True), GAMES) as server:
        yield server


SECRETS: dict[str, str] = {}


async def playing(stack: AsyncExitStack, server: Server, number: int = 0) -> list[JsonClient]:
    """Start a match with three seconds per player."""
    players = [await stack.enter_async_context(connected(server.url)) for _ in range(2)]
    for seat, player in enumerate(players):
        SECRETS[f"p{number}.{seat}"] = (await player.hello(f"p{number}-{seat}"))["resume"]
    item = {"game": "toy-grid", "seats": 2, "options": {"columns": 8, "rows": 8, "row": 8}}
    item["time_control"] = {"main_ms": 3000}
    await seated(server.url, players, programme=[item])
    return players


async def test_a_move_whose_entry_was_lost_is_made_again_and_answered(server: Server) -> None:
    async with AsyncExitStack() as stack:
        ada, bob = await playing(stack, server)
        turn = await ada.next("your_turn")
        disk = disk_of(server)
        disk.full = True
        moving = asyncio.ensure_future(ada.move(turn))
        await wait_until(lambda: disk.failed > 0)
        disk.full = False
        answer = await asyncio.wait_for(moving, 10)
        assert (answer["type"], answer["seq"]) == ("done", 1)
        their = await bob.next("your_turn")
        assert (await bob.move(their))["type"] == "done"
        assert server.backend.ready()


async def test_a_match_that_went_to_another_node_meanwhile_is_not_loaded_again(
    server: Server,
) -> None:
    """A node that gave up a batch steps down from the lobby while it reads the log."""
    async with AsyncExitStack() as stack:
        ada, _ = await playing(stack, server)
        turn = await ada.next("your_turn")
        disk, store, registry = disk_of(server), server.backend.store, server.backend.registry
        go, read, reload = asyncio.Event(), asyncio.Event(), store.reload

        async def slow(keys: Sequence[str]) -> Any:
            found = await reload(keys)
            read.set()
            await go.wait()
            return found

        store.reload = slow  # type: ignore[method-assign]
        disk.full = True
        moving = asyncio.ensure_future(ada.move(turn))
        await wait_until(lambda: disk.failed > 0)
        disk.full = False
        await read.wait()
        registry.remove_match(registry.matches[turn["match"]])
        go.set()
        await asyncio.sleep(0.05)
        assert turn["match"] not in registry.matches
        moving.cancel()


async def test_what_is_asked_while_a_log_is_loaded_again_is_answered(server: Server) -> None:
    async with AsyncExitStack() as stack:
        ada, _ = await playing(stack, server)
        turn = await ada.next("your_turn")
        disk, store = disk_of(server), server.backend.store
        go, reload = asyncio.Event(), store.reload

        async def slow(keys: Sequence[str]) -> Any:
            await go.wait()
            return await reload(keys)

        store.reload = slow  # type: ignore[method-assign]
        disk.full = True
        moving = asyncio.ensure_future(ada.move(turn))
        await wait_until(lambda: disk.failed > 0)
        disk.full = False
        await asyncio.sleep(1)  # longer than each player's three seconds, but not charged
        again = await stack.enter_async_context(connected(server.url))
        back = await again.ask("hello", versions=[1], resume=SECRETS["p0.1"])
        assert back["seats"] == [turn["match"]]
        coming = asyncio.ensure_future(again.ask_until_carried_out("rejoin", match=turn["match"]))
        await asyncio.sleep(0.05)
        assert not moving.done()
        assert not coming.done()
        go.set()
        answers = await asyncio.wait_for(asyncio.gather(moving, coming), 10)
        assert [answer["type"] for answer in answers] == ["done"] * 2
        their = await again.next("your_turn")
        assert their["left_ms"] > 2900
        assert (await again.move(their))["type"] == "done"
        left = (await ada.next("your_turn"))["left_ms"]
        assert left > 2500


async def test_many_matches_are_loaded_again_without_a_standstill(server: Server) -> None:
    async with AsyncExitStack() as stack:
        pairs = [await playing(stack, server, number) for number in range(20)]
        turns = [await pair[0].next("your_turn") for pair in pairs]
        disk = disk_of(server)
        reloads: list[int] = []
        reload = server.backend.store.reload

        async def counted(keys: Sequence[str]) -> Any:
            reloads.append(len(keys))
            return await reload(keys)

        server.backend.store.reload = counted  # type: ignore[method-assign]
        disk.full = True
        moves = [
            asyncio.ensure_future(pair[0].move(turn))
            for pair, turn in zip(pairs, turns, strict=True)
        ]
        await wait_until(lambda: disk.failed > 0)
        disk.full = False
        answers = await asyncio.wait_for(asyncio.gather(*moves), 20)
        assert {answer["type"] for answer in answers} == {"done"}
        assert len(reloads) <= 3


async def test_a_lobby_that_could_not_be_written_is_not_opened_and_says_so(server: Server) -> None:
    async with connected(server.url) as ada:
        await ada.hello("ada")
        disk = disk_of(server)
        disk.full = True
        item = {"game": "toy-grid", "seats": 2}
        hosting = asyncio.ensure_future(
            ada.ask("host", settings={"seats": [{"kind": "open"}] * 2, "programme": [item]})
        )
        await wait_until(lambda: disk.failed > 0)
        disk.full = False
        answer = await asyncio.wait_for(hosting, 10)
        assert (answer["type"], answer["code"]) == ("refused", "unavailable")
        assert answer["retry_after_ms"] > 0
        await wait_until(lambda: server.backend.registry.lobbies == {})
        await asyncio.wait_for(server.backend.store.flush(), 5)


async def test_a_server_whose_database_was_taken_over_goes_down(tmp_path: Path) -> None:
    """The server is not ready, sends all clients a farewell with 1012, and exits soon."""
    async with running(Config(db=tmp_path / "k.db"), GAMES) as server, AsyncExitStack() as stack:
        ada, bob = await playing(stack, server)
        turn = await ada.next("your_turn")
        other = connect_admin(tmp_path / "k.db")
        take_over_database(other)
        other.close()
        begun = time.monotonic()
        moving = asyncio.ensure_future(ada.move(turn))
        await asyncio.wait_for(server.failed.wait(), 5)
        assert not server.backend.ready()
        assert (await bob.next("farewell"))["code"] == "unavailable"
        assert await bob.closed() == 1012
        await asyncio.gather(moving, return_exceptions=True)
        assert ada.socket.close_code == 1012
        await asyncio.wait_for(server.drain(), 15)
        assert time.monotonic() - begun < 15
        assert "taken over this database" in str(server.failure)


async def test_nothing_is_loaded_again_once_the_server_goes_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A queued reload must not read the closed database."""
    monkeypatch.setattr(reload, "RETRY_PAUSE_S", 0.5)
    asked: list[Sequence[str]] = []
    async with running(Config(db=tmp_path / "k.db"), GAMES) as server, AsyncExitStack() as stack:
        await playing(stack, server)
        [key] = server.backend.registry.matches
        backend, right = server.backend, server.backend.store.reload

        async def counted(keys: Sequence[str]) -> Any:
            asked.append(keys)
            return await right(keys)

        server.backend.store.reload = counted  # type: ignore[method-assign]
        former = backend.registry.matches[key]
        backend.reloader.lost(former, StoreError("planted"))
        await wait_until(lambda: backend.registry.matches[key] is not former)
        backend.reloader.lost(backend.registry.matches[key], StoreError("planted"))
        assert asked == [[key]]
    await asyncio.sleep(0.6)
    assert asked == [[key]]


MAIN = """
import sys, threading
from pathlib import Path
from kibitz_server import app
from kibitz_server.directory.recovery import Recovery
from kibitz_server.storage.sqlite.writer import SQLiteWriter
from tests.server.match.toy_games import Grid

if sys.argv[2] == "stuck":
    SQLiteWriter._commit = lambda writer: threading.Event().wait()
if sys.argv[2] == "full":
    import sqlite3
    def full(writer, batch):
        raise sqlite3.OperationalError("database or disk is full")
    SQLiteWriter._insert = full
if sys.argv[2] == "unread":
    def restore(recovery, streams, right=Recovery.restore):
        right(recovery, streams)
        recovery._store._readers.submit(lambda db: threading.Event().wait())
    Recovery.restore = restore
    app.main.EXIT_GRACE_S = 1
config = app.Config(db=Path(sys.argv[1]), drain_s=1)
app.run(config, {"toy-grid": Grid()}, started=lambda server: print(server.port, flush=True))
"""


@pytest.mark.slow
@pytest.mark.parametrize("state", ["well", "stuck", "full", "unread", "taken over"])
async def test_a_process_ends_in_every_state_of_its_disk(tmp_path: Path, state: str) -> None:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", MAIN, str(tmp_path / "k.db"), state),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    port = int(await asyncio.wait_for(child.stdout.readline(), 30))
    if state == "taken over":
        other = connect_admin(tmp_path / "k.db")
        take_over_database(other)
        other.close()
    async with connected(f"ws://127.0.0.1:{port}") as ada:
        greeting = asyncio.ensure_future(ada.hello("ada"))
        await asyncio.sleep(0.3)
        if state != "taken over":
            child.send_signal(signal.SIGTERM)
        _, errors = await asyncio.wait_for(child.communicate(), 30)
        await asyncio.gather(greeting, return_exceptions=True)
    assert child.returncode == (1 if state in {"taken over", "unread"} else 0)
    assert state != "taken over" or b"another server has taken over this database" in errors


# --- requests about a lobby during its reload ---------------------------------------------------

ADA, BOB, CYD = range(3)
REQUESTS: list[tuple[str, int, str, dict[str, Any]]] = [
    ("a member leaves", BOB, "leave", {}),
    ("the host leaves", ADA, "leave", {}),
    ("a stranger joins", CYD, "join", {}),
    ("a stranger enters as a spectator", CYD, "join", {"role": "spectator"}),
    ("a stranger leaves", CYD, "leave", {}),
    ("a member is kicked", ADA, "kick", {"player": BOB}),
    ("a stranger is kicked", ADA, "kick", {"player": CYD}),
    ("a member is ready", BOB, "ready", {}),
    ("a member is not ready any more", BOB, "ready", {"ready": False}),
    ("the host starts", ADA, "start", {}),
    ("the host asks for a rematch", ADA, "rematch", {}),
    ("the host closes", ADA, "close", {}),
    ("the host arranges", ADA, "arrange", {"matches": []}),
]


def memberships(server: Server) -> dict[str, set[str]]:
    """Return the lobbies of each player according to the lobbies."""
    found: dict[str, set[str]] = {}
    for lobby in server.backend.registry.lobbies.values():
        for player in lobby.engine.state.insiders():
            found.setdefault(player, set()).add(lobby.key)
    return found


def noted(server: Server) -> dict[str, set[str]]:
    return {player: set(keys) for player, keys in server.backend.registry._memberships.items()}


@pytest.mark.parametrize("lost", [False, True], ids=["comes meanwhile", "is lost itself"])
@pytest.mark.parametrize(("said", "who", "kind", "fields"), REQUESTS, ids=[r[0] for r in REQUESTS])
async def test_after_a_reload_everybody_is_where_the_lobbies_say(
    server: Server, said: str, who: int, kind: str, fields: dict[str, Any], lost: bool
) -> None:
    async with AsyncExitStack() as stack:
        people = [await stack.enter_async_context(connected(server.url)) for _ in range(3)]
        for name, each in zip(("ada", "bob", "cyd"), people, strict=True):
            each.player = (await each.hello(name))["player"]
        seats = [{"kind": "open"}] * 3
        programme = [{"game": "toy-grid", "seats": 2}]
        asked = {"seats": seats, "programme": programme, "auto_start": False}
        key = (await people[ADA].ask("host", settings=asked))["lobby"]
        for each in (people[ADA], people[BOB]):
            await each.ask("join", lobby=key)
        assert noted(server) == memberships(server)
        if "player" in fields:
            fields = {"player": people[fields["player"]].player}
        disk, store, registry = disk_of(server), server.backend.store, server.backend.registry
        former = registry.lobbies[key]
        go, reading, reload = asyncio.Event(), asyncio.Event(), store.reload

        async def slow(keys: Sequence[str]) -> Any:
            reading.set()
            await go.wait()
            return await reload(keys)

        store.reload = slow  # type: ignore[method-assign]
        disk.full = True
        asking = None
        if lost:
            asking = asyncio.ensure_future(
                people[who].ask_until_carried_out(kind, lobby=key, **fields)
            )
            await asyncio.sleep(0)
        other = asyncio.ensure_future(people[BOB if who != BOB else ADA].ask("ready", lobby=key))
        await reading.wait()
        disk.full = False
        if asking is None:
            asking = asyncio.ensure_future(
                people[who].ask_until_carried_out(kind, lobby=key, **fields)
            )
            await wait_until(lambda: people[who].resent > 0 or asking.done())
        go.set()
        answer = await asyncio.wait_for(asking, 10)
        await asyncio.wait_for(other, 10)
        assert answer["type"] in ("done", "arranged", "refused"), said
        await wait_until(lambda: registry.lobbies.get(key) is not former)
        assert noted(server) == memberships(server)
