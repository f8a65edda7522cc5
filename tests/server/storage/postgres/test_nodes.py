"""Nodes on PostgreSQL: locks, clocks, servers without a name, cut connections."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from typing import Any

import psycopg
import pytest

from kibitz_server.storage.errors import DatabaseInUse, StoreError, TakenOver
from kibitz_server.storage.interface import PlayerRow, TakenLobby
from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.opening import open_register
from kibitz_server.storage.postgres.connection import (
    IDLE_TRANSACTION_MS,
    Connection,
    connect_async,
)
from kibitz_server.storage.postgres.nodes import PostgresNodes, read_nodes
from kibitz_server.storage.postgres.ownership import Ownership, Transaction
from kibitz_server.storage.postgres.store import PostgresStore
from tests.server.storage.conformance.engines import (
    SHARED_URL,
    PostgresEngine,
    RecordingWaiter,
    appended,
    lines,
    nodes_of,
    written,
)
from tests.server.storage.conformance.test_nodes import (
    entries_of,
    lobby_with_match,
    losses,
    take,
)

pytestmark = pytest.mark.e2e


def node(url: PostgresURL, name: str, url_of: str = SHARED_URL) -> PostgresStore:
    """Start a node that sends heartbeats only when the test says so."""
    return PostgresEngine(url).node(name, url_of)


def execute(url: PostgresURL, sql: str, *values: object) -> list[tuple[object, ...]]:
    with psycopg.connect(url.url, autocommit=True, options="-c search_path=kibitz") as db:
        cursor = db.execute(sql, values)
        return cursor.fetchall() if cursor.description else []


def expire(url: PostgresURL, name: str) -> None:
    PostgresEngine(url).expire(name)


def postgres_nodes(store: PostgresStore) -> PostgresNodes:
    assert store.nodes is not None
    return store.nodes


@asynccontextmanager
async def connected(url: PostgresURL) -> AsyncIterator[Connection]:
    db = await connect_async(url)
    try:
        yield db
    finally:
        await db.close()


async def test_a_batch_that_is_under_way_comes_before_the_take_over(url: PostgresURL) -> None:
    """A lobby in an open transaction cannot be taken over; afterwards all of its entries exist."""
    first, second = node(url, "a"), node(url, "b")
    waiter = RecordingWaiter()
    _, match = lobby_with_match(first, waiter)
    await first.flush()
    expire(url, "a")
    seen: list[list[TakenLobby]] = []
    ownership = first._writer._ownership

    async def slow(db: Connection) -> None:
        seen.append(await take(second))
        await Ownership._commit(ownership, db)

    ownership._commit = slow  # type: ignore[method-assign]
    postgres_nodes(second)._expires_s = 0.0  # nodes whose last heartbeat is in the past are dead
    appended(first, match, 1, waiter)
    await first.flush()
    assert seen == [[]]
    assert waiter.told[-1] == 4
    assert [each.key for each in await take(second)] == ["lobby"]
    assert await entries_of(second, "m1") == lines(1, 4)
    await first.close()
    await second.close()


async def test_a_node_starts_with_its_own_lobbies_and_numbers_that_nobody_else_has(
    url: PostgresURL,
) -> None:
    alone = PostgresStore(url, asyncio.get_running_loop())
    before = written(alone, "lobby-before", 1)
    await alone.close()
    first, second = node(url, "a"), node(url, "b")
    made = [written(store, key) for store, key in ((first, "la"), (second, "lb"), (first, "lc"))]
    await first.flush()
    await second.flush()
    numbers = [each.number for each in (before, *made)]
    assert len(set(numbers)) == 4
    assert min(numbers) == before.number
    await first.close()
    first = node(url, "a")
    assert [each.stream.key for each in first.load("lobby")] == ["la", "lc"]
    assert [each.key for each in await take(first)] == ["lobby-before"]
    await first.close()
    await second.close()


async def test_a_name_is_one_servers_and_so_is_a_database_without_names(url: PostgresURL) -> None:
    first = node(url, "a")
    with pytest.raises(DatabaseInUse, match="named 'a'"):
        node(url, "a")
    with pytest.raises(DatabaseInUse):
        PostgresStore(url, asyncio.get_running_loop(), lock_attempts=2)
    await first.close()
    alone = PostgresStore(url, asyncio.get_running_loop())
    with pytest.raises(DatabaseInUse, match="without a name"):
        node(url, "b")
    await alone.close()


async def test_a_server_without_a_name_shuts_out_nodes_whose_lock_is_gone(
    url: PostgresURL,
) -> None:
    first = node(url, "a")
    waiter = RecordingWaiter()
    _, match = lobby_with_match(first, waiter)
    await first.flush()
    execute(url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    alone = PostgresStore(url, asyncio.get_running_loop())
    assert [each.stream.key for each in alone.load("lobby")] == ["lobby"]
    appended(first, match, 1, waiter)
    await first.flush()
    assert "taken over this database" in str(first.failure)
    assert alone.failure is None
    await first.close()
    await alone.close()


async def test_a_node_whose_connections_are_cut_keeps_its_lobbies(url: PostgresURL) -> None:
    """The lock is lost with them, but the heartbeats that decide continue."""
    first, second = node(url, "a"), node(url, "b")
    waiter = RecordingWaiter()
    lobby, _ = lobby_with_match(first, waiter)
    await first.flush()
    for tail in (3, 4):
        execute(
            url,
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'kibitz' AND pid <> pg_backend_pid()",
        )
        await until_beating(first)
        await until_beating(second)
        assert await take(second) == []
        appended(first, lobby, 1, waiter)
        await first.flush()
        assert await entries_of(first, "lobby") == lines(1, tail)
    assert waiter.errors == []
    await first.close()
    await second.close()


async def until_beating(store: PostgresStore) -> None:
    """Write a heartbeat, reconnecting if the old connection is lost."""
    try:
        await nodes_of(store).beat()
    except StoreError:
        await nodes_of(store).beat()


async def test_the_operator_sees_which_nodes_serve_stand_by_leave_and_are_dead(
    url: PostgresURL,
) -> None:
    first, second = node(url, "b"), node(url, "a")

    def states() -> list[tuple[str, str]]:
        return [(each.name, each.state) for each in read_nodes(url)]

    assert states() == [("b", "serving"), ("a", "standby")]
    expire(url, "b")
    assert states() == [("b", "dead"), ("a", "serving")]
    await nodes_of(first).beat()
    assert states() == [("a", "serving"), ("b", "standby")]
    await nodes_of(second).leave()
    assert states() == [("a", "leaving"), ("b", "serving")]
    await first.close()
    await second.close()


async def test_a_node_says_in_its_log_which_lobby_it_steps_down_from(
    url: PostgresURL, caplog: pytest.LogCaptureFixture
) -> None:
    first = node(url, "a")
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    execute(url, "UPDATE stream SET node = 'gone' WHERE key = 'lobby'")
    await nodes_of(first).beat()
    assert "lobby lobby belongs to node 'gone': this node no longer owns it" in caplog.messages
    await first.close()


@pytest.mark.parametrize("wrong_s", [-60.0, 60.0])
async def test_a_clock_that_is_wrong_by_a_minute_changes_no_owner(
    url: PostgresURL, monkeypatch: pytest.MonkeyPatch, wrong_s: float
) -> None:
    right = time.time
    first = node(url, "a")
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    await nodes_of(first).beat()
    monkeypatch.setattr(time, "time", lambda: right() + wrong_s)
    second = node(url, "b")
    await nodes_of(second).beat()
    assert not nodes_of(second).first
    assert await take(second) == []
    expire(url, "a")
    await nodes_of(second).beat()
    assert nodes_of(second).first
    assert [each.key for each in await take(second)] == ["lobby"]
    monkeypatch.setattr(time, "time", right)
    await nodes_of(first).beat()
    assert not nodes_of(first).first
    assert await take(first) == []
    await first.close()
    await second.close()


async def test_a_late_heartbeat_waits_for_the_take_over_that_is_under_way(
    url: PostgresURL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own row shows it as alive again, and the lobby's row does not show the loss yet."""
    first, second = node(url, "a"), node(url, "b", "ws://b.example.org")
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    lost = losses(first)
    expire(url, "a")
    PostgresEngine(url).end_lease(first)
    beats: list[asyncio.Task[None]] = []
    told_before_the_take_over: list[Mapping[str, str | None]] = []

    async def slow(*given: Any) -> Any:
        taken = await right(*given)
        beats.append(asyncio.create_task(nodes_of(first).beat()))
        await asyncio.sleep(0.2)
        told_before_the_take_over.extend(lost)
        assert not beats[0].done()
        return taken

    right = postgres_nodes(second)._take
    monkeypatch.setattr(second.nodes, "_take", slow)
    assert [each.key for each in await take(second)] == ["lobby"]
    await beats[0]
    assert (told_before_the_take_over, lost) == ([], [{"lobby": "b"}])
    await first.close()
    await second.close()


async def test_a_token_is_revoked_at_every_node_at_once(url: PostgresURL) -> None:
    first, second = node(url, "a"), node(url, "b")
    with closing(open_register(url)) as register:
        with register.transaction():
            register.add_account(PlayerRow("p1", "Eve", "bot", True, "eve", 1))
            number = register.add_token(b"token", "p1", 1, None)
        async with connected(url) as db:
            for store in (first, second):
                await store.players.take_up(db)
                assert store.players.void_tokens([b"token"], 2) == set()
            register.revoke(number, 2)
            for store in (first, second):
                await store.players.take_up(db)
                assert store.players.void_tokens([b"token"], 2) == {b"token"}
    await first.close()
    await second.close()


async def test_the_ladders_lines_are_in_the_order_of_their_commits(url: PostgresURL) -> None:
    """Readers miss no line before their position: a batch waits for others that draw positions."""
    first, second = node(url, "a"), node(url, "b")
    ownership = first._writer._ownership
    waiting: list[asyncio.Task[None]] = []

    async def slow(db: Connection) -> None:
        second.rate("m2", b"later")
        waiting.append(asyncio.create_task(second.flush()))
        await asyncio.wait(waiting, timeout=0.2)
        assert await first.ledger(0, 10) == []
        await Ownership._commit(ownership, db)

    ownership._commit = slow  # type: ignore[method-assign]
    first.rate("m1", b"sooner")
    await first.flush()
    await asyncio.gather(*waiting)
    assert [line for _, line in await second.ledger(0, 10)] == [b"sooner", b"later"]
    await first.close()
    await second.close()


async def test_a_heartbeat_and_a_batch_that_find_the_fence_tell_of_it_once(
    url: PostgresURL,
) -> None:
    first = node(url, "a")
    failures: list[Exception] = []
    first.on_failure = failures.append
    stream = written(first, "lobby", 1)
    await first.flush()
    execute(url, "UPDATE node SET owner = 'another'")
    attempt = first._writer._attempt

    async def racing(db: Connection, transaction: Transaction) -> None:
        first.commits.fail(TakenOver())
        await attempt(db, transaction)

    first._writer._attempt = racing  # type: ignore[method-assign]
    appended(first, stream, 1)
    await first.flush()
    assert len(failures) == 1
    await first.close()


async def test_a_node_that_stands_still_in_the_middle_of_a_batch_keeps_no_lobby(
    url: PostgresURL,
) -> None:
    """The database has received part of a pipeline and would wait forever for the rest."""
    first, second = node(url, "a"), node(url, "b")
    waiter = RecordingWaiter()
    lobby, _ = lobby_with_match(first, waiter)
    await first.flush()
    db = first._writer._connection.db
    assert db is not None
    with contextlib.suppress(psycopg.OperationalError):
        async with db.pipeline():
            await db.execute("BEGIN")
            await db.execute("SELECT FROM stream WHERE key = 'lobby' FOR SHARE")
            held = "SELECT FROM stream WHERE key = 'lobby' FOR UPDATE SKIP LOCKED"
            while execute(url, held):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            assert await take(second) == []
            expire(url, "a")
            async with asyncio.timeout(IDLE_TRANSACTION_MS / 1000 + 4):
                while not (taken := await take(second)):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
    assert taken == [TakenLobby("lobby", "a", ("m1",), True)]
    appended(first, lobby, 1, waiter)
    await first.flush()
    assert [str(error) for error in waiter.errors] == ["lobby lobby belongs to node 'b'"]
    await first.close()
    await second.close()


# --- players shared between nodes ----------------------------------------------------------------


async def known_at(store: PostgresStore, url: PostgresURL) -> set[str]:
    """Return the players known to a node after reading all new rows."""
    async with connected(url) as db:
        await store.players.take_up(db)
    players = store.players
    keys = set(players._by_key)
    assert keys == set(players._secrets) == set(players._by_secret.values())
    assert keys == set(players._by_skeleton.values())
    return keys


async def test_a_guest_that_one_node_deletes_is_unknown_at_the_others(url: PostgresURL) -> None:
    """Guests sign in, take the names of absent guests, and are deleted, at both nodes."""
    first, second = node(url, "a"), node(url, "b")
    stores = (first, second)

    async def come(store: PostgresStore, key: str, name: str) -> None:
        row = PlayerRow(key, name, "bot", False, name, 1)
        store.players.add_guest(row, key.encode(), RecordingWaiter())
        await store.flush()

    async def delete(store: PostgresStore, *keys: str) -> None:
        store.expiry.delete_guests(keys, 10, RecordingWaiter())
        await store.flush()

    steps: list[tuple[Any, PostgresStore, tuple[str, ...], set[str]]] = [
        (come, first, ("g1", "ada"), {"g1"}),
        (come, second, ("g2", "bob"), {"g1", "g2"}),
        (come, second, ("g3", "ada"), {"g3", "g2"}),
        (delete, first, ("g3",), {"g2"}),
        (come, first, ("g4", "cyd"), {"g2", "g4"}),
        (delete, second, ("g2", "g4", "nobody"), set()),
        (come, first, ("g5", "bob"), {"g5"}),
    ]
    for step, store, values, known in steps:
        await step(store, *values)
        for each in stores:
            assert await known_at(each, url) == known, (values, each is first)
    third = node(url, "c")
    assert await known_at(third, url) == {"g5"}
    execute(url, "UPDATE deleted_guest SET deleted = now() - interval '8 days'")
    await delete(first, "g5")
    assert execute(url, "SELECT key FROM deleted_guest") == [("g5",)]
    for store in (*stores, third):
        await store.close()
