"""Requests about other nodes' objects in a cluster, known from those nodes or the database."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from kibitz_server.directory.other_nodes import Elsewhere, OtherNodes
from kibitz_server.storage.errors import UnusableDatabase
from kibitz_server.storage.interface import HallExchange, OtherNode
from tests.server.match.toy_games import Grid
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

HERE, THERE = "ws://here.example.org", "ws://there.example.org"
B = OtherNode("b", THERE, True, "life-b")
REQUESTS: list[dict[str, Any]] = [
    {"type": "watch", "match": "x-1-1"},
    {"type": "rejoin", "match": "x-1-1"},
    {"type": "move", "match": "x-1-1", "ply": 1, "action": {}},
    {"type": "resign", "match": "x-1-1"},
    {"type": "history", "match": "x-1-1"},
    {"type": "report", "match": "x-1-1"},
    {"type": "join", "lobby": "x"},
    {"type": "list_matches", "lobby": "x"},
]


class Owners:
    """Fake `Nodes` with the database's answers about open lobbies."""

    def __init__(self) -> None:
        self.owner_of: dict[str, tuple[str, str | None]] = {}
        self.away = False

    async def owner(self, key: str) -> tuple[str, str | None] | None:
        if self.away:
            raise UnusableDatabase("it does not answer")
        return self.owner_of.get(key)


class Scene:
    """One of two nodes, which has not received the other one's lines yet."""

    def __init__(self, server: VirtualServer) -> None:
        self.owners = Owners()
        self.ada = server.guest_client("ada")
        backend = server.backend
        cast(Any, backend.directory).nodes = self.owners
        backend.directory.others = self.others = OtherNodes(HERE, time.monotonic)
        backend.tickets.synchronize(b"a key", "life-a", 0)
        self.hear(B)

    def hear(self, *nodes: OtherNode) -> None:
        found = HallExchange(nodes, (), False, True, frozenset(), "life-a", b"a key", 0)
        self.others.apply(found)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.ada.ask(**request)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server({Grid().info.name: Grid()}, tmp_path) as server:
        yield server


@pytest.fixture
def scene(server: VirtualServer) -> Scene:
    return Scene(server)


@pytest.fixture(params=REQUESTS, ids=[each["type"] for each in REQUESTS])
def request_(request: pytest.FixtureRequest) -> dict[str, Any]:
    return cast("dict[str, Any]", request.param)


def test_the_database_says_where_it_is_before_the_other_node_does(
    scene: Scene, request_: dict[str, Any]
) -> None:
    """A player reconnects during the second in which lobbies change nodes."""
    scene.owners.owner_of = {"x": ("x", "b"), "x-1-1": ("x", "b")}
    refused = scene.ask(request_)
    assert refused["code"] == "elsewhere"
    assert refused["redirect"]["url"] == THERE


@pytest.mark.parametrize("owner", [None, "c"], ids=["nobody's", "a dead node's"])
def test_what_no_living_node_has_may_be_asked_for_again(
    scene: Scene, request_: dict[str, Any], owner: str | None
) -> None:
    scene.hear(B, OtherNode("c", "ws://c.example.org", False, "life-c"))
    scene.owners.owner_of = {"x": ("x", owner), "x-1-1": ("x", owner)}
    refused = scene.ask(request_)
    assert (refused["code"], refused["message"]) == (
        "unavailable",
        "lobby x is moving to another node",
    )
    assert refused["retry_after_ms"] > 0


def test_what_is_not_open_anywhere_is_not_there(scene: Scene, request_: dict[str, Any]) -> None:
    assert scene.ask(request_)["code"] in {"no_such_match", "no_such_lobby"}


def test_nothing_is_said_of_it_while_the_database_is_away(
    scene: Scene, request_: dict[str, Any]
) -> None:
    scene.owners.away = True
    assert scene.ask(request_)["code"] == "unavailable"


def test_what_was_set_aside_stays_damaged(scene: Scene, server: VirtualServer) -> None:
    scene.owners.owner_of = {"x-1-1": ("x", None)}
    server.backend.directory.quarantine.add("match", "x-1-1", "its log does not fold")
    for request in ({"type": "watch", "match": "x-1-1"}, {"type": "history", "match": "x-1-1"}):
        assert scene.ask(request)["code"] == "damaged"


def test_a_ticket_to_a_lobby_that_has_changed_its_node_since_sends_its_player_on(
    server: VirtualServer, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets, ada = server.backend.tickets, scene.ada._peer.identity
    assert ada is not None
    scene.ada.disconnect()
    settings = {"programme": [{"game": Grid().info.name}], "seats": [{"kind": "open"}] * 2}
    lobby = server.guest_client("bob").ask("host", settings=settings)["lobby"]
    monkeypatch.setattr(scene.others, "player", lambda key: Elsewhere("x", B))
    welcomed, refused = (
        ScriptedClient(server, "ada").ask(
            "hello", versions=[1], ticket=tickets.issue(ada.key, "life-a", wanted)
        )
        for wanted in (lobby, "x")
    )
    assert welcomed["type"] == "welcome"
    assert refused["code"] == "elsewhere"
    assert refused["redirect"]["url"] == THERE
