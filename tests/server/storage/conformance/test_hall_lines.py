"""Nodes' lines about their objects: no node misses a line, and each writes only its own."""

from __future__ import annotations

from kibitz_server.storage.interface import HallExchange, Store
from tests.server.storage.conformance.engines import (
    NodeEngine,
    RecordingWaiter,
    nodes_of,
    written,
)
from tests.server.storage.conformance.test_nodes import closed, take


def own(node_engine: NodeEngine, name: str) -> Store:
    """Start a node with its own URL."""
    return node_engine.node(name, f"ws://{name}.example.org")


async def exchange(store: Store, **lines: bytes | None) -> HallExchange:
    return await nodes_of(store).exchange(lines)


def lines_of(found: HallExchange) -> dict[str, tuple[str, bytes | None]]:
    return {key: (name, line) for key, name, line in found.lines}


async def test_what_a_node_writes_the_others_read_once(node_engine: NodeEngine) -> None:
    first, second = own(node_engine, "a"), own(node_engine, "b")
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
    node_engine: NodeEngine,
) -> None:
    first, second = own(node_engine, "a"), own(node_engine, "b")
    written(first, "x", 0, RecordingWaiter())
    await first.flush()
    assert (await exchange(first)).missing == {"x"}
    assert not (await exchange(second)).settled
    assert not (await exchange(first, x=b"x")).missing
    assert (await exchange(second)).settled
    node_engine.expire("a")
    found = await exchange(second)
    assert not found.settled
    assert [each.alive for each in found.nodes] == [False]
    await take(second)
    assert (await exchange(second)).settled
    assert not (await exchange(first)).settled  # the current owner has no line about it
    await exchange(second, x=b"mine")
    assert lines_of(await exchange(first)) == {"x": ("b", b"mine")}
    await closed(first, second)


async def test_a_former_owner_writes_no_line_and_takes_none_back(node_engine: NodeEngine) -> None:
    first, second, third = own(node_engine, "a"), own(node_engine, "b"), own(node_engine, "c")
    written(first, "x", 0, RecordingWaiter())
    await first.flush()
    await exchange(first, x=b"a's")
    node_engine.expire("a")
    await take(second)
    await exchange(second, x=b"b's")
    await exchange(first, x=b"a's again")
    await exchange(first, x=None)
    assert lines_of(await exchange(third)) == {"x": ("b", b"b's")}
    await closed(first, second, third)


async def test_expired_lines_are_read_and_written_again(node_engine: NodeEngine) -> None:
    first, second = own(node_engine, "a"), own(node_engine, "b")
    written(first, "x", 0, RecordingWaiter())
    await first.flush()
    await exchange(first, x=b"a's")
    await exchange(second)
    assert lines_of(await exchange(second)) == {}
    nodes_of(second).expire_lines()
    assert nodes_of(second).needs_all
    assert lines_of(await exchange(second)) == {"x": ("a", b"a's")}
    await closed(first, second)


async def test_a_node_that_starts_again_leaves_nothing_of_before(node_engine: NodeEngine) -> None:
    first, second = own(node_engine, "a"), own(node_engine, "b")
    await nodes_of(first).exchange({"node a": b"before", "gone": None})
    await exchange(second)
    await first.close()
    first = own(node_engine, "a")
    assert nodes_of(first).needs_all
    await exchange(first)
    assert lines_of(await exchange(second)) == {"node a": ("a", None)}
    await closed(first, second)


async def test_nodes_have_one_ticket_key_and_each_start_a_name_of_its_own(
    node_engine: NodeEngine,
) -> None:
    first, second = own(node_engine, "a"), own(node_engine, "b")
    one, other = await exchange(first), await exchange(second)
    assert one.ticket_key == other.ticket_key
    assert len(one.ticket_key) == 32
    assert [each.life for each in other.nodes] == [one.life]
    await first.close()
    first = own(node_engine, "a")
    assert (await exchange(first)).life != one.life
    await closed(first, second)
