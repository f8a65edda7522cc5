"""Walls: one request watches many matches, at the reader's speed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from kibitz_protocol.wire.messages import MAX_WALL, WALL_MATCH_COST, Capabilities, Wall
from kibitz_server.match.commands import Abort, Leave
from kibitz_server.net.rate_limit import RateLimits
from kibitz_server.net.send_queue import SendLimits
from tests.server.match.toy_games import Grid, Veil
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

GAMES = {game.info.name: game for game in (Grid(), Veil())}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        yield server


def matches(server: VirtualServer, count: int, **settings: Any) -> list[str]:
    """Start matches between two players and return their keys."""
    host, *players = (server.guest_client(name) for name in ("hal", "ada", "bob"))
    for player in players:
        player._peer.capabilities = Capabilities(at_once=1000)
    item = {"game": "toy-grid", "seats": 2, "games": count}
    fields = {"seats": [{"kind": "open"}] * 2, "programme": [item], "at_once": count, **settings}
    key = host.ask("host", settings=fields)["lobby"]
    for request in ("join", "ready"):
        for player in players:
            player.ask(request, lobby=key)
    for _ in range(count):  # only a few start at once
        if len(server.backend.registry.matches) < count:
            server.advance(0.02)
    assert len(server.backend.registry.matches) == count
    return [f"{key}-1-{number}" for number in range(1, count + 1)]


def of_type(client: ScriptedClient, kind: str) -> list[dict[str, Any]]:
    return [message for message in client.messages() if message["type"] == kind]


def test_a_wall_tells_each_match_once_and_then_its_events(server: VirtualServer) -> None:
    keys = matches(server, 3)
    eve = server.guest_client("eve", "drawn")
    told = eve.ask("wall", matches=[*keys, keys[0]])
    assert (told["watching"], told["refused"]) == (keys, [])
    kinds = [message["type"] for message in eve.messages()]
    assert kinds.index("walled") < kinds.index("snapshot")
    snapshots = of_type(eve, "snapshot")
    assert sorted(each["match"] for each in snapshots) == sorted(keys)
    assert {each["why"] for each in snapshots} == {"watching"}
    assert all("stage" in each for each in snapshots)
    runner = server.backend.registry.matches[keys[1]]
    runner.command(Leave(0, "left"))
    server.advance(0.1)
    assert [event["match"] for event in of_type(eve, "event")][:1] == [keys[1]]


def test_a_wall_sent_again_changes_the_set(server: VirtualServer) -> None:
    keys = matches(server, 4)
    eve = server.guest_client("eve")
    eve.ask("watch", match=keys[3])
    eve.ask("wall", matches=keys[:2])
    eve.ask("wall", matches=keys[1:3])
    snapshots = [each["match"] for each in of_type(eve, "snapshot")]
    assert sorted(snapshots) == sorted([keys[3], *keys[:3]]), "known ones are not told again"
    watched = {key for key in keys if server.backend.registry.matches[key].watchers}
    assert watched == set(keys[1:3])
    assert set(eve._peer.subscriptions) == watched
    assert eve.ask("wall", matches=[])["watching"] == []
    assert eve._peer.subscriptions == {}


def test_what_cannot_be_watched_is_named(server: VirtualServer) -> None:
    keys = matches(server, 2)
    runner = server.backend.registry.matches[keys[0]]
    runner.command(Abort("for the test"))
    server.advance(0.1)
    eve = server.guest_client("eve")
    told = eve.ask("wall", matches=[keys[0], "nothing", keys[1]])
    assert told["watching"] == [keys[1]]
    codes = {each["match"]: each["code"] for each in told["refused"]}
    assert codes == {keys[0]: "over", "nothing": "no_such_match"}


def test_hidden_matches_and_own_seats_are_not_for_a_wall(server: VirtualServer) -> None:
    [key] = matches(server, 1, spectating={"mode": "off"})
    eve = server.guest_client("eve")
    [refused] = eve.ask("wall", matches=[key])["refused"]
    assert refused["code"] == "not_watchable"
    assert server.backend.registry.matches[key].watchers == {}


def test_a_wall_leaves_the_own_seats_as_they_are(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada1"), server.guest_client("bob1")
    others = matches(server, 1)
    item = {"game": "toy-grid", "seats": 2, "games": 1}
    settings = {"seats": [{"kind": "open"}] * 2, "programme": [item]}
    lobby = ada.ask("host", settings=settings)["lobby"]
    for request in ("join", "ready"):
        for player in (ada, bob):
            player.ask(request, lobby=lobby)
    told = ada.ask("wall", matches=[others[0], f"{lobby}-1-1"])
    assert [each["code"] for each in told["refused"]] == ["not_watchable"]
    ada.ask("wall", matches=[])
    assert ada.ask("resign", match=f"{lobby}-1-1")["type"] == "done"


def test_200_boards_cost_no_more_than_one_connection_may_ask_at_once() -> None:
    assert Wall.cost + MAX_WALL * WALL_MATCH_COST <= RateLimits().socket.burst


def test_200_boards_come_in_pieces_that_the_transport_takes(server: VirtualServer) -> None:
    keys = matches(server, MAX_WALL)
    eve = server.guest_client("eve", "drawn")
    writes = measured_writes(eve)
    eve.ask("wall", matches=keys)
    server.advance(0.5)
    snapshots = of_type(eve, "snapshot")
    assert sorted(each["match"] for each in snapshots) == sorted(keys)
    biggest = max(len(text) for text in eve.received)
    assert max(writes) <= SendLimits().high_water + 2 * biggest
    assert sum(writes) > 3 * SendLimits().high_water, "it took several writes"


def test_a_reader_that_stops_is_told_the_rest_when_it_goes_on(server: VirtualServer) -> None:
    keys = matches(server, 50)
    eve = server.guest_client("eve")
    eve._connection.pause_writing()
    request = {"type": "wall", "matches": keys}
    with pytest.raises(AssertionError, match="asked wall"):  # its answer waits
        eve.ask(str(request.pop("type")), **request)
    server.advance(1)
    assert of_type(eve, "snapshot") == []
    assert eve._peer.send_queue._queued_bytes < 8 * 1024, "only names wait"
    eve._connection.resume_writing()
    server.advance(0.5)
    assert len(of_type(eve, "walled")) == 1
    assert sorted(each["match"] for each in of_type(eve, "snapshot")) == sorted(keys)
    assert {each["why"] for each in of_type(eve, "snapshot")} == {"watching"}


def measured_writes(client: ScriptedClient) -> list[int]:
    """Return a list that collects the sizes of writes to a client."""
    writes: list[int] = []
    write = client._transport.write

    def measured(data: bytes | bytearray | memoryview) -> None:
        writes.append(len(data))
        write(data)

    client._transport.write = measured  # type: ignore[method-assign]
    return writes


@pytest.mark.parametrize("views", ["turn", "drawn"])
def test_a_reader_that_stops_while_200_matches_end_is_told_each_end_when_it_goes_on(
    server: VirtualServer, views: Literal["turn", "drawn"]
) -> None:
    keys = matches(server, MAX_WALL)
    eve = server.guest_client("eve", views)
    eve.ask("wall", matches=keys)
    server.advance(0.5)
    before = len(eve.messages())
    # This game's events are small; with Tanks, 200 ends of matches exceed the real limit.
    limits = eve._peer.send_queue._limits = SendLimits(frames_bytes=32 * 1024)
    eve._connection.pause_writing()
    for key in keys:
        server.backend.registry.matches[key].command(Abort("for the test"))
        server.advance(0.01)
    assert not eve._peer.leaving
    assert eve._peer.send_queue._queued_bytes < 1024, "nothing of the ends waits here"
    writes = measured_writes(eve)
    eve._connection.resume_writing()
    server.advance(0.5)
    assert not eve._peer.leaving
    told = [each for each in eve.messages()[before:] if each["type"] in ("snapshot", "finished")]
    pairs = list(zip(told[::2], told[1::2], strict=True))
    assert sorted(first["match"] for first, _ in pairs) == sorted(keys)
    for snapshot, finished in pairs:
        assert (snapshot["type"], snapshot["why"]) == ("snapshot", "lagged")
        assert ("stage" in snapshot) is (views == "drawn")
        assert (finished["type"], finished["match"]) == ("finished", snapshot["match"])
        assert finished["result"] == snapshot["result"]
    ends = sum(len(text) for text in eve.received if b'"type":"finished"' in text)
    assert ends > limits.frames_bytes, "kept, they would have been too much"
    assert max(writes) <= limits.high_water + 4 * max(map(len, eve.received))
    assert eve._peer.send_queue._skipped is None


def test_a_match_that_ends_before_its_turn_on_the_wall_is_told_once(server: VirtualServer) -> None:
    keys = matches(server, 3)
    eve = server.guest_client("eve")
    eve._connection.pause_writing()
    with pytest.raises(AssertionError, match="asked wall"):
        eve.ask("wall", matches=keys)
    server.backend.registry.matches[keys[1]].command(Abort("for the test"))
    server.advance(0.1)
    eve._connection.resume_writing()
    server.advance(0.1)
    assert sorted(each["match"] for each in of_type(eve, "snapshot")) == sorted(keys)
    assert {each["why"] for each in of_type(eve, "snapshot")} == {"watching"}
    assert [each["match"] for each in of_type(eve, "finished")] == [keys[1]]


def test_who_leaves_in_the_middle_is_forgotten(server: VirtualServer) -> None:
    keys = matches(server, 30)
    eve = server.guest_client("eve")
    eve._connection.pause_writing()
    with pytest.raises(AssertionError, match="asked wall"):
        eve.ask("wall", matches=keys)
    eve._connection.connection_lost(None)
    server.advance(1)
    for key in keys:
        runner = server.backend.registry.matches[key]
        assert (runner.watchers, runner.spectators.queues) == ({}, {})
        assert runner.spectators._new is None
