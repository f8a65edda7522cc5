"""Several nodes on one database: only the owner of a lobby writes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from kibitz_server.storage.errors import NotStored, OwnedElsewhere, WriteFailed
from kibitz_server.storage.interface import PlayerRow, Store, TakenLobby
from kibitz_server.storage.streams import Stored, Stream
from tests.server.storage.conformance.engines import (
    NodeEngine,
    RecordingWaiter,
    appended,
    lines,
    nodes_of,
    written,
)

WAIT_S = 10.0


async def take(store: Store, most: int = 10) -> list[TakenLobby]:
    return await nodes_of(store).take(lambda seq, former: f"{former} {seq}".encode(), most)


def lobby_with_match(store: Store, waiter: RecordingWaiter) -> tuple[Stream, Stream]:
    lobby = written(store, "lobby", 2, waiter)
    return lobby, written(store, "m1", 3, waiter, owner="lobby")


def losses(store: Store) -> list[Mapping[str, str | None]]:
    """Return a list that collects the lobbies reported as lost to a node from now on."""
    lost: list[Mapping[str, str | None]] = []
    nodes_of(store).on_lost = lost.append
    return lost


async def entries_of(store: Store, key: str) -> list[bytes]:
    found = (await store.reload([key]))[key]
    assert isinstance(found, Stored)
    return found.lines


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110  the database notifies no test
            await asyncio.sleep(0.01)


async def closed(*stores: Store) -> None:
    for store in stores:
        await store.close()


# --- take-overs ---------------------------------------------------------------------------------


async def test_a_dead_nodes_lobby_is_taken_once_and_the_take_over_is_an_entry(
    node_engine: NodeEngine,
) -> None:
    first, second, third = (node_engine.node(name) for name in ("a", "b", "c"))
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    assert await take(second) == []
    await first.close()
    node_engine.expire("a")
    taken = await asyncio.gather(take(second), take(third))
    assert sorted(taken, key=len) == [[], [TakenLobby("lobby", "a", ("m1",), True)]]
    owner = second if taken[0] else third
    assert await entries_of(owner, "lobby") == [*lines(1, 2), b"a 3"]
    assert await entries_of(owner, "m1") == lines(1, 3)
    await closed(second, third)


async def test_lobbies_are_taken_the_oldest_first_and_no_more_than_asked_for(
    node_engine: NodeEngine,
) -> None:
    first, second = node_engine.node("a"), node_engine.node("b")
    for key in ("x", "y", "z"):
        written(first, key, 1)
    await first.flush()
    await nodes_of(first).leave()
    assert [each.key for each in await take(second, most=2)] == ["x", "y"]
    assert [each.key for each in await take(second, most=2)] == ["z"]
    await closed(first, second)


async def test_of_a_closed_lobby_only_its_open_matches_are_taken(node_engine: NodeEngine) -> None:
    first, second = node_engine.node("a"), node_engine.node("b")
    lobby, _ = lobby_with_match(first, RecordingWaiter())
    first.finish(lobby, None, b"closed")
    await first.flush()
    await nodes_of(first).leave()
    assert await take(second) == [TakenLobby("lobby", "a", ("m1",), False)]
    assert await entries_of(second, "lobby") == lines(1, 2), "nothing is added to what is closed"
    assert await take(second) == []
    await closed(first, second)


async def test_a_node_knows_whether_another_one_still_has_a_lobby(node_engine: NodeEngine) -> None:
    """A node that was restarted immediately has not released its lobbies yet and is alive."""
    first, second = node_engine.node("a"), node_engine.node("b")
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    assert await nodes_of(first).has_all()
    assert await take(second) == []
    assert not await nodes_of(second).has_all()
    await first.close()
    node_engine.expire("a")
    await take(second)
    assert await nodes_of(second).has_all()
    await second.close()


async def test_a_take_over_whose_answer_was_lost_is_heard_of(node_engine: NodeEngine) -> None:
    first, second = node_engine.node("a"), node_engine.node("b")
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    node_engine.give("lobby", "b")
    assert await take(second) == [TakenLobby("lobby", None, ("m1",), True)]
    assert await take(second) == []
    await closed(first, second)


async def test_lobbies_of_a_dead_node_are_left_to_those_that_stand_by_for_it(
    node_engine: NodeEngine,
) -> None:
    pair = "ws://pair.example.org"
    first, mate = node_engine.node("a", pair), node_engine.node("b", pair)
    other = node_engine.node("c", "ws://c.example.org")
    written(first, "x", 0, RecordingWaiter())
    await first.flush()
    for each in (first, mate, other):
        await nodes_of(each).beat()
    assert [nodes_of(each).first for each in (first, mate, other)] == [True, False, True]
    assert await nodes_of(other).has_all()  # the lobby is owned by a live, serving node
    assert not await nodes_of(mate).has_all()
    node_engine.expire("a")
    assert await take(other) == []
    assert not await nodes_of(other).has_all()
    await nodes_of(mate).beat()
    assert nodes_of(mate).first
    assert [each.key for each in await take(mate)] == ["x"]
    assert await nodes_of(other).has_all()
    await mate.close()
    node_engine.expire("b")
    assert [each.key for each in await take(other)] == ["x"]  # there is no standby node left
    await closed(first, other)


# --- fences -------------------------------------------------------------------------------------


async def test_a_former_owner_writes_nothing_more_of_a_lobby(node_engine: NodeEngine) -> None:
    """Of two nodes that both believe they own a lobby, only one writes; the other learns why."""
    first, second = node_engine.node("a"), node_engine.node("b")
    waiter, other = RecordingWaiter(), RecordingWaiter()
    lobby, match = lobby_with_match(first, waiter)
    kept = written(first, "kept", 1, other)
    await first.flush()
    lost = losses(first)
    node_engine.give("lobby", "gone")
    await take(second)
    appended(first, match, 1, waiter)
    first.finish(match, b"footer", b"summary", waiter)
    first.rate("m1", b"a result that never was")
    appended(first, lobby, 1, waiter)
    appended(first, kept, 2, other)
    await first.flush()
    assert lost == [{"lobby": "b"}]
    assert [str(error) for error in waiter.errors] == ["lobby lobby belongs to node 'b'"]
    assert (other.told, other.errors) == ([0, 1, 2, 3], [])
    assert first.failure is None
    with pytest.raises(OwnedElsewhere):
        written(first, "m2", owner="lobby")
    assert await entries_of(second, "m1") == lines(1, 3)
    assert await entries_of(second, "lobby") == [*lines(1, 2), b"gone 3"]
    assert await second.ledger(0, 10) == []
    assert await first.closed("m1") is None
    await closed(first, second)


async def test_a_match_cannot_be_made_in_a_lobby_that_was_taken(node_engine: NodeEngine) -> None:
    """A new stream has no head to conflict with; the lobby's row fences it."""
    first, second = node_engine.node("a"), node_engine.node("b")
    waiter = RecordingWaiter()
    written(first, "lobby", 1)
    await first.flush()
    node_engine.give("lobby", "gone")
    await take(second)
    written(first, "m7", 0, waiter, owner="lobby")
    await first.flush()
    assert (waiter.told, len(waiter.errors)) == ([], 1)
    assert isinstance((await second.reload(["m7"]))["m7"], NotStored)
    await closed(first, second)


async def test_a_node_that_is_replaced_hears_of_it_by_its_heartbeat(
    node_engine: NodeEngine,
) -> None:
    first = node_engine.node("a")
    node_engine.take_over()
    with pytest.raises(WriteFailed):
        await nodes_of(first).beat()
    await first.close()


async def test_a_node_that_is_replaced_takes_nothing(node_engine: NodeEngine) -> None:
    first, second = node_engine.node("a"), node_engine.node("b")
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    node_engine.expire("a")
    node_engine.take_over()
    assert await take(second) == []
    await closed(first, second)


# --- lobbies that are lost ------------------------------------------------------------------------


async def test_an_idle_node_hears_of_a_take_over_by_its_heartbeat(node_engine: NodeEngine) -> None:
    first, second = node_engine.node("a"), node_engine.node("b")
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    lost = losses(first)
    node_engine.give("lobby", "gone")
    await take(second)
    await nodes_of(first).beat()
    assert lost == [{"lobby": "b"}]
    assert nodes_of(first).owned() == set()
    await closed(first, second)


async def test_a_heartbeat_takes_nothing_away_that_is_being_written(
    node_engine: NodeEngine,
) -> None:
    first = node_engine.node("a")
    lost, waiter = losses(first), RecordingWaiter()
    written(first, "lobby", 2, waiter)
    await nodes_of(first).beat()
    await first.flush()
    assert (lost, waiter.told) == ([], [0, 1, 2])
    await first.close()


async def test_a_lobby_that_was_lost_can_be_taken_back(node_engine: NodeEngine) -> None:
    first, second = node_engine.node("a"), node_engine.node("b")
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    node_engine.give("lobby", "gone")
    await take(second)
    await nodes_of(first).beat()
    await nodes_of(second).leave()
    assert [(each.key, each.former) for each in await take(first)] == [("lobby", "b")]
    found = (await first.reload(["m1"]))["m1"]
    assert isinstance(found, Stored)
    waiter = RecordingWaiter()
    appended(first, found.stream, 2, waiter)
    await first.flush()
    assert waiter.told == [4, 5]
    await closed(second, first)


async def test_who_takes_back_what_it_did_not_know_that_it_had_lost_steps_down_first(
    node_engine: NodeEngine,
) -> None:
    """The node was suspended while another node, now dead, owned the lobby."""
    first, second = node_engine.node("a"), node_engine.node("b")
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    lost = losses(first)
    node_engine.give("lobby", "gone")
    await take(second)
    await nodes_of(second).leave()
    assert [(each.key, each.former) for each in await take(first)] == [("lobby", "b")]
    assert lost == [{"lobby": "b"}]
    assert await take(first) == []
    assert lost == [{"lobby": "b"}]
    found = (await first.reload(["m1"]))["m1"]
    assert isinstance(found, Stored)
    waiter = RecordingWaiter()
    appended(first, found.stream, 1, waiter)
    await first.flush()
    assert waiter.told == [4]
    await closed(second, first)


# --- whose turn it is -----------------------------------------------------------------------------


async def test_the_node_that_is_alive_for_longest_is_the_one_to_serve(
    node_engine: NodeEngine,
) -> None:
    first, second = node_engine.node("b"), node_engine.node("a")
    for store in (second, first):
        await nodes_of(store).beat()
    assert (nodes_of(first).first, nodes_of(second).first) == (True, False)
    node_engine.expire("b")
    await nodes_of(second).beat()
    await nodes_of(first).beat()
    assert (nodes_of(first).first, nodes_of(second).first) == (False, True)
    await nodes_of(second).leave()
    await nodes_of(first).beat()
    assert nodes_of(first).first
    await closed(first, second)


async def test_a_node_that_was_taken_for_dead_lets_its_lobbies_go(node_engine: NodeEngine) -> None:
    first, second = node_engine.node("a"), node_engine.node("b")
    lobby_with_match(first, RecordingWaiter())
    await first.flush()
    lost = losses(first)
    node_engine.expire("a")
    await nodes_of(second).beat()
    await nodes_of(first).beat()
    assert lost == [{"lobby": None}]
    assert [(each.key, each.former) for each in await take(second)] == [("lobby", None)]
    await closed(first, second)


async def test_a_heartbeat_counts_for_so_long_as_the_database_thinks(
    node_engine: NodeEngine,
) -> None:
    """A suspended node knows from its own clock that its turn is over."""
    first = node_engine.node("a")
    await nodes_of(first).beat()
    assert nodes_of(first).first
    node_engine.end_lease(first)
    assert not nodes_of(first).first
    await nodes_of(first).beat()
    assert nodes_of(first).first
    await first.close()


# --- shared knowledge -----------------------------------------------------------------------------


async def test_a_node_starts_with_its_own_lobbies_and_numbers_that_nobody_else_has(
    node_engine: NodeEngine,
) -> None:
    first, second = node_engine.node("a"), node_engine.node("b")
    made = [written(store, key) for store, key in ((first, "la"), (second, "lb"), (first, "lc"))]
    await first.flush()
    await second.flush()
    assert len({each.number for each in made}) == 3
    await first.close()
    first = node_engine.node("a")
    assert [each.stream.key for each in first.load("lobby")] == ["la", "lc"]
    assert set(nodes_of(first).owned()) == {"la", "lc"}
    assert written(first, "ld").number not in {each.number for each in made}
    await closed(first, second)


async def test_what_one_node_writes_of_players_the_others_know(node_engine: NodeEngine) -> None:
    first, second = node_engine.node("a"), node_engine.node("b")
    guest = PlayerRow("g1", "Ada", "bot", False, "ada", 1)
    house = PlayerRow("h1", "Deep", "house", False, None, 1)
    first.players.add_guest(guest, b"secret", RecordingWaiter())
    first.players.put_house_bot(house, b"other", RecordingWaiter())
    await first.flush()
    await until(lambda: second.players.by_secret(b"other"))
    assert second.players.by_secret(b"secret") == guest
    assert second.players.by_secret(b"other") == house
    successor = PlayerRow("g2", "Ada", "bot", False, "ada", 1)
    second.players.add_guest(successor, b"hers", RecordingWaiter())
    await second.flush()
    await until(lambda: first.players.by_skeleton("ada") == successor)
    assert first.players.by_secret(b"secret") is None
    await closed(first, second)


async def test_the_owner_of_what_is_open_is_found(node_engine: NodeEngine) -> None:
    first, second = node_engine.node("a"), node_engine.node("b")
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
    node_engine.give("x", None)
    assert await nodes_of(second).owner("x") == ("x", None)
    await closed(first, second)


async def test_a_node_that_leaves_has_no_turn_and_takes_nothing(node_engine: NodeEngine) -> None:
    first = node_engine.node("a")
    await nodes_of(first).leave()
    await nodes_of(first).beat()
    assert not nodes_of(first).first
    assert await take(first) == []
    await first.close()
