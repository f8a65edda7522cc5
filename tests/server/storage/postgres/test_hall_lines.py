"""The lines of nodes about what they have: nobody misses one, and nobody writes for another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.port import HallExchange
from kibitz_server.storage.postgres import hall_lines
from kibitz_server.storage.postgres.store import PostgresStore
from tests.server.storage.conformance.engines import RecordingWaiter, written
from tests.server.storage.postgres.test_nodes import execute, expire, node, nodes_of, take
from tests.tools import postgres_server

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if not postgres_server.ADDRESS and postgres_server.programs() is None:
        pytest.skip(postgres_server.SKIPPED)
    with postgres_server.server_url() as url:
        yield url


@pytest.fixture
def url(server: str) -> Iterator[PostgresURL]:
    with postgres_server.database(server) as made:
        yield made


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
