"""The lines of nodes about what they have: nobody misses one, and nobody writes for another."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from kibitz_server.storage.errors import UnusableDatabase
from kibitz_server.storage.interface import HallExchange
from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres import hall_lines
from kibitz_server.storage.postgres.store import PostgresStore
from tests.server.storage.conformance.engines import RecordingWaiter, written
from tests.server.storage.postgres.test_nodes import execute, expire, node, nodes_of, take

pytestmark = pytest.mark.e2e


def own(url: PostgresURL, name: str) -> PostgresStore:
    """Start a node with a URL of its own."""
    return node(url, name, f"ws://{name}.example.org")


async def exchange(store: PostgresStore, **lines: bytes | None) -> HallExchange:
    return await nodes_of(store).exchange(lines)


def lines_of(found: HallExchange) -> dict[str, tuple[str, bytes | None]]:
    return {key: (name, line) for key, name, line in found.lines}


async def closed(*stores: PostgresStore) -> None:
    for each in stores:
        await each.close()


async def test_what_a_node_writes_the_others_read_once(url: PostgresURL) -> None:
    first, second = own(url, "a"), own(url, "b")
    for key in ("x", "y"):
        written(first, key, 0, RecordingWaiter())
    await first.flush()
    await exchange(first, x=b"x 1", y=b"y 1")
    found = await exchange(second)
    assert found.whole
    assert lines_of(found) == {"x": ("a", b"x 1"), "y": ("a", b"y 1")}
    assert [(each.name, each.url, each.alive) for each in found.nodes] == [
        ("a", "ws://a.example.org", True)
    ]
    assert lines_of(await exchange(second)) == {}
    await exchange(first, x=b"x 2", y=None)
    again = await exchange(second)
    assert not again.whole
    assert lines_of(again) == {"x": ("a", b"x 2"), "y": ("a", None)}
    await closed(first, second)


async def test_it_is_settled_when_every_open_lobby_has_a_line_of_its_living_owner(
    url: PostgresURL,
) -> None:
    first, second = own(url, "a"), own(url, "b")
    written(first, "x", 0, RecordingWaiter())
    await first.flush()
    assert (await exchange(first)).missing == {"x"}
    assert not (await exchange(second)).settled
    assert not (await exchange(first, x=b"x")).missing
    assert (await exchange(second)).settled
    expire(url, "a")
    found = await exchange(second)
    assert not found.settled
    assert [each.alive for each in found.nodes] == [False]
    await take(second)
    assert (await exchange(second)).settled
    assert not (await exchange(first)).settled  # nothing is said of it where it is now
    await exchange(second, x=b"mine")
    assert lines_of(await exchange(first)) == {"x": ("b", b"mine")}
    await closed(first, second)


async def test_a_former_owner_writes_no_line_and_takes_none_back(url: PostgresURL) -> None:
    first, second, third = own(url, "a"), own(url, "b"), own(url, "c")
    written(first, "x", 0, RecordingWaiter())
    await first.flush()
    await exchange(first, x=b"a's")
    expire(url, "a")
    await take(second)
    await exchange(second, x=b"b's")
    await exchange(first, x=b"a's again")
    await exchange(first, x=None)
    assert lines_of(await exchange(third)) == {"x": ("b", b"b's")}
    await closed(first, second, third)


async def test_a_line_that_was_lost_is_missing(url: PostgresURL) -> None:
    """Whatever became of it: the owner hears of it with its next exchange, and writes it again."""
    first, second = own(url, "a"), own(url, "b")
    written(first, "x", 0, RecordingWaiter())
    await first.flush()
    await exchange(first, x=b"x")
    execute(url, "UPDATE hall_line SET node = 'b', line = 'stale' WHERE key = 'x'")
    assert (await exchange(first)).missing == {"x"}
    assert not (await exchange(first, x=b"x")).missing
    await closed(first, second)


async def test_a_node_that_starts_again_leaves_nothing_of_before(url: PostgresURL) -> None:
    first, second = own(url, "a"), own(url, "b")
    await nodes_of(first).exchange({"node a": b"before", "gone": None})
    await exchange(second)
    await first.close()
    first = own(url, "a")
    assert nodes_of(first).needs_all
    await exchange(first)
    assert lines_of(await exchange(second)) == {"node a": ("a", None)}
    await closed(first, second)


async def test_lines_that_are_gone_are_kept_for_a_while(
    url: PostgresURL, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = own(url, "a")
    await nodes_of(first).exchange({"node a": b"here"})
    await nodes_of(first).exchange({"node a": None})
    assert execute(url, "SELECT count(*) FROM hall_line") == [(1,)]
    monkeypatch.setattr(hall_lines, "KEPT_S", 0)
    await asyncio.sleep(0.01)
    await nodes_of(first).exchange({"node a b": None})
    assert execute(url, "SELECT key FROM hall_line") == [("node a b",)]
    await first.close()


async def test_after_an_error_everything_is_written_and_read_again(url: PostgresURL) -> None:
    first, second = own(url, "a"), own(url, "b")
    await nodes_of(second).exchange({"node b": b"here"})
    await exchange(first)
    assert not nodes_of(first).needs_all
    execute(url, "ALTER TABLE hall_line RENAME TO away")
    with pytest.raises(Exception, match="hall_line"):
        await exchange(first)
    execute(url, "ALTER TABLE away RENAME TO hall_line")
    assert nodes_of(first).needs_all
    assert lines_of(await exchange(first)) == {"node b": ("b", b"here")}
    await closed(first, second)


async def test_nodes_have_one_ticket_key_and_each_start_a_name_of_its_own(
    url: PostgresURL,
) -> None:
    first, second = own(url, "a"), own(url, "b")
    one, other = await exchange(first), await exchange(second)
    assert one.ticket_key == other.ticket_key
    assert len(one.ticket_key) == 32
    assert [each.life for each in other.nodes] == [one.life]
    await first.close()
    first = own(url, "a")
    assert (await exchange(first)).life != one.life
    await closed(first, second)


async def test_the_owner_of_what_is_open_is_found(url: PostgresURL) -> None:
    first, second = own(url, "a"), own(url, "b")
    waiter = RecordingWaiter()
    written(first, "x", 1, waiter)
    match = written(first, "xm1", 1, waiter, owner="x")
    await first.flush()
    assert await nodes_of(second).owner("x") == ("x", "a")
    assert await nodes_of(second).owner("xm1") == ("x", "a")
    first.finish(match, b"footer", b"summary", waiter)
    await first.flush()
    assert await nodes_of(second).owner("xm1") is None
    assert await nodes_of(second).owner("y") is None
    execute(url, "UPDATE stream SET node = NULL WHERE key = 'x'")
    assert await nodes_of(second).owner("x") == ("x", None)
    await closed(first, second)


async def test_lobbies_of_a_dead_node_are_left_to_those_that_stand_by_for_it(
    url: PostgresURL,
) -> None:
    pair = "ws://pair.example.org"
    first, mate, other = node(url, "a", pair), node(url, "b", pair), own(url, "c")
    written(first, "x", 0, RecordingWaiter())
    await first.flush()
    for each in (first, mate, other):
        await nodes_of(each).beat()
    assert [nodes_of(each).first for each in (first, mate, other)] == [True, False, True]
    assert await nodes_of(other).has_all()  # the lobby is at a living node that serves
    assert not await nodes_of(mate).has_all()
    expire(url, "a")
    assert await take(other) == []
    assert not await nodes_of(other).has_all()
    await nodes_of(mate).beat()
    assert nodes_of(mate).first
    assert [each.key for each in await take(mate)] == ["x"]
    assert await nodes_of(other).has_all()
    await mate.close()
    expire(url, "b")
    assert [each.key for each in await take(other)] == ["x"]  # nobody stands by any more
    await closed(first, other)


# --- notifications --------------------------------------------------------------------------------


class Heard(asyncio.Queue[str]):
    """Who was told that others have written lines, in that order."""

    def __init__(self, *stores: PostgresStore) -> None:
        super().__init__()
        for each in stores:
            nodes = nodes_of(each)
            nodes.on_lines_written = lambda name=nodes.name: self.put_nowait(name)

    async def next(self, count: int) -> list[str]:
        """Return the next ones, sorted, as many as have to come."""
        async with asyncio.timeout(20):
            return sorted([await self.get() for _ in range(count)])


async def listening(url: PostgresURL, *stores: PostgresStore) -> None:
    """Return when every node has heard something on its connection for notifications."""
    heard = Heard(*stores)
    left = {nodes_of(each).name for each in stores}
    while left:
        execute(url, "SELECT pg_notify('kibitz_hall', 'another')")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                while left:
                    left.discard(await heard.get())


async def test_the_others_are_told_once_of_all_lines_that_were_written(url: PostgresURL) -> None:
    first, second, third = own(url, "a"), own(url, "b"), own(url, "c")
    await listening(url, first, second, third)
    heard = Heard(first, second, third)
    await nodes_of(first).exchange({"node a": b"here", "node a more": b"more"})
    assert await heard.next(2) == ["b", "c"]
    await exchange(second)  # the first one writes, be it nothing
    assert await heard.next(2) == ["a", "c"]
    for _ in range(3):
        assert not lines_of(await exchange(second))  # who only reads tells nobody
    await nodes_of(third).exchange({"node c": b"here"})
    assert await heard.next(2) == ["a", "b"]
    assert heard.empty()
    await closed(first, second, third)


async def test_lines_that_could_not_be_written_are_not_told_of(url: PostgresURL) -> None:
    first, second = own(url, "a"), own(url, "b")
    await exchange(first)
    await listening(url, second)
    heard = Heard(second)
    execute(url, "ALTER TABLE hall_line ADD CHECK (line <> 'bad')")
    with pytest.raises(UnusableDatabase):
        await nodes_of(first).exchange({"node a": b"bad"})
    await nodes_of(first).exchange({"node a": b"good"})
    assert await heard.next(1) == ["b"]
    assert lines_of(await exchange(second)) == {"node a": ("a", b"good")}
    assert heard.empty()
    await closed(first, second)


async def test_a_node_listens_again_when_its_connection_was_lost(url: PostgresURL) -> None:
    """What it was not told of meanwhile it reads with its next look."""
    first, second = own(url, "a"), own(url, "b")
    await listening(url, second)
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%%'"
    await exchange(second)
    execute(url, query)
    await nodes_of(first).exchange({"node a": b"here"})
    assert lines_of(await exchange(second)) == {"node a": ("a", b"here")}
    await listening(url, second)
    await closed(first, second)
