"""The behavior specific to PostgreSQL: the fence, late commits, versions, outages."""

from __future__ import annotations

import asyncio
import threading

import psycopg
import pytest

from kibitz_server.storage.errors import ForeignDatabase, UnusableDatabase, WriteFailed
from kibitz_server.storage.group_commit import Batch
from kibitz_server.storage.location import NodeIdentity, PostgresURL
from kibitz_server.storage.opening import open_register
from kibitz_server.storage.postgres import schema
from kibitz_server.storage.postgres.connection import Connection, connect_async
from kibitz_server.storage.postgres.ownership import Ownership, Transaction
from kibitz_server.storage.postgres.store import PostgresStore
from kibitz_server.storage.streams import Stored
from tests.server.storage.conformance.engines import RecordingWaiter, appended, lines, written

pytestmark = pytest.mark.e2e


def execute(url: PostgresURL, sql: str) -> None:
    with psycopg.connect(url.url, autocommit=True, options="-c search_path=kibitz") as db:
        db.execute(sql)


def terminate(url: PostgresURL, db: Connection) -> None:
    """Terminate the backend of a connection and wait for its end."""
    execute(url, f"SELECT pg_terminate_backend({db.info.backend_pid}, 5000)")


async def test_the_fence_holds_where_the_lock_does_not(url: PostgresURL) -> None:
    """Of two stores that both believe that they own the database, only one can write."""
    loop = asyncio.get_running_loop()
    first = PostgresStore(url, loop)
    waiter = RecordingWaiter()
    stream = written(first, count=2)
    await first.flush()
    execute(url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    second = PostgresStore(url, loop)
    [stored] = second.load("match")
    appended(second, stored.stream, 3)
    appended(first, stream, 1, waiter)
    await first.flush()
    await second.flush()
    assert "taken over this database" in str(first.failure)
    assert len(waiter.errors) == 1
    assert second.failure is None
    await first.close()
    await second.close()
    third = PostgresStore(url, loop)
    assert third.load("match")[0].lines == lines(1, 5)
    await third.close()


async def test_a_commit_that_is_looked_up_does_not_happen_later(url: PostgresURL) -> None:
    """A transaction in transit that counts as lost must fail from then on."""
    loop = asyncio.get_running_loop()
    store = PostgresStore(url, loop)
    written(store)
    await store.flush()
    ownership = store._writer._ownership
    slow, fast = await connect_async(url), await connect_async(url)
    late = Transaction(Batch(entries=[(1, 1, "00" * 32, b"late")]))
    ownership._doubtful = late.name
    before = Ownership(ownership.owner, ownership._last)
    assert await ownership.settle(fast) is None
    with pytest.raises(WriteFailed):
        await before.write(slow, late)
    await slow.close()
    await fast.close()
    await store.close()
    store = PostgresStore(url, loop)
    assert store.load("match")[0].lines == []
    await store.close()


async def test_a_connection_that_is_cut_costs_nobody_anything(url: PostgresURL) -> None:
    store = PostgresStore(url, asyncio.get_running_loop())
    waiter = RecordingWaiter()
    stream = written(store, count=1, waiter=waiter)
    await store.flush()
    for _ in range(3):
        execute(
            url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'kibitz' AND pid <> pg_backend_pid()",
        )
        appended(store, stream, 2, waiter)
        await store.flush()
        found = (await store.reload(["m1"]))["m1"]
        assert isinstance(found, Stored)
        assert found.lines == lines(1, stream.tail)
    assert (waiter.told, waiter.errors) == ([0, 1, 2, 3, 4, 5, 6, 7], [])
    await store.close()


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("named", [False, True])
async def test_a_connection_that_ends_at_a_commit_leaves_each_entry_once(
    url: PostgresURL, moment: str, named: bool
) -> None:
    """The backend ends three times, before it receives the commit or before it answers."""
    node = NodeIdentity("a", "ws://games.example.org") if named else None
    store = PostgresStore(url, asyncio.get_running_loop(), node=node, retries=(0.01,) * 5)
    waiter = RecordingWaiter()
    stream = written(store, "lobby", count=1, waiter=waiter)
    await store.flush()
    ownership, left = store._writer._ownership, iter(range(3))

    async def cut(db: Connection) -> None:
        ends = next(left, None) is not None
        if ends and moment == "before":
            terminate(url, db)
        await Ownership._commit(ownership, db)
        if ends and moment == "after":
            terminate(url, db)
            await db.execute("SELECT")

    ownership._commit = cut  # type: ignore[method-assign]
    for _ in range(3):
        appended(store, stream, 2, waiter)
        await store.flush()
    assert next(left, None) is None, "each end was met"
    assert (waiter.told, waiter.errors) == ([0, 1, 2, 3, 4, 5, 6, 7], [])
    found = (await store.reload(["lobby"]))["lobby"]
    assert isinstance(found, Stored)
    assert found.lines == lines(1, 7)
    await store.close()


async def test_a_database_that_does_not_answer_lets_the_loop_go_on(url: PostgresURL) -> None:
    """A lock on the table simulates a hanging database: the event loop keeps running."""
    loop = asyncio.get_running_loop()
    store = PostgresStore(url, loop)
    stream = written(store, count=1)
    await store.flush()
    waiter = RecordingWaiter()
    with psycopg.connect(url.url, options="-c search_path=kibitz") as db:
        db.execute("LOCK TABLE entry")
        appended(store, stream, 1, waiter)
        turns = 0
        while turns < 20:
            await asyncio.sleep(0.01)
            turns += 1
        assert waiter.told == []
    await store.flush()
    assert waiter.told == [2]
    await store.close()


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (4, "schema version 4 from before kibitz 0.1, but this server needs 5"),
        (99, "schema version 99, but this server needs 5"),
    ],
)
def test_another_version_is_refused(url: PostgresURL, version: int, expected: str) -> None:
    open_register(url).close()
    execute(url, f"UPDATE version SET number = {version}")
    with pytest.raises(ForeignDatabase, match=expected):
        open_register(url)


def test_a_database_that_is_not_there_is_named(url: PostgresURL) -> None:
    missing = PostgresURL(url.url.replace("/kibitz_", "/nothing_"))
    with pytest.raises(UnusableDatabase, match="create it with `createdb`"):
        open_register(missing)


def test_programs_that_start_at_once_make_the_tables_once(url: PostgresURL) -> None:
    errors: list[BaseException] = []

    def start() -> None:
        try:
            open_register(url).close()
        except BaseException as error:  # noqa: BLE001  it is looked at below
            errors.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with psycopg.connect(url.url, options="-c search_path=kibitz") as db:
        assert db.execute("SELECT number FROM version").fetchall() == [(schema.SCHEMA_VERSION,)]


async def test_a_store_forgets_what_only_an_open_lobby_asks_about(url: PostgresURL) -> None:
    """Keys and results of a lobby's matches are kept only until it is closed."""
    store = PostgresStore(url, asyncio.get_running_loop())
    for number in range(20):
        key = f"lobby{number}"
        lobby = written(store, key, 1)
        matches = [written(store, f"{key}-1-{each}", 1, owner=key) for each in range(5)]
        for match in matches:
            store.finish(match, b"end", b"summary")
        await store.flush()
        assert store.exists(key)
        assert all(store.exists(match.key) for match in matches)
        await store.reload([key])
        assert store.ending(matches[0].key)[0] == b"summary"
        store.finish(lobby, None, b"closed")
        alone = written(store, f"alone{number}", 1)
        store.finish(alone, b"end", b"summary")
        await store.flush()
        assert not any(store.exists(each.key) for each in (lobby, alone, *matches))
    open_ = written(store, "open", 1)
    written(store, "open-1-1", 1, owner="open")
    await store.flush()
    lobbies = store._lobbies
    kept = (
        lobbies._streams,
        lobbies.endings,
        lobbies.by_number,
        lobbies.by_key,
        lobbies.owned,
    )
    assert [len(each) for each in kept] == [1, 0, 0, 0, 0]
    await store.close()
    store = PostgresStore(url, asyncio.get_running_loop())
    assert store._lobbies._streams == {"open": {"open", "open-1-1"}}
    assert store.exists(open_.key)
    await store.close()
