"""A node's exchange with other nodes, on each poll and each notification."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

import pytest

from kibitz_server.accounts.tickets import Tickets
from kibitz_server.directory.hall_sharing import HallSharing
from kibitz_server.directory.other_nodes import LobbyLine, NodeLine, OtherNodes, node_key
from kibitz_server.directory.registry import Registry
from kibitz_server.storage.interface import HallExchange, Nodes, OtherNode

HERE, THERE = "ws://here.example.org", "ws://there.example.org"
OTHER = OtherNode("b", THERE, True, "life-b")


class ScriptedNodes:
    """A node's view of the others, scripted by the test."""

    name = "a"

    def __init__(self) -> None:
        self.needs_all = True
        self.written: list[dict[str, bytes | None]] = []
        self.lobbies: list[str] = []
        self.missing: frozenset[str] = frozenset()
        self.lines: tuple[tuple[str, str, bytes | None], ...] = ()
        self.on_exchange: Callable[[], None] = lambda: None

    def owned(self) -> Collection[str]:
        return self.lobbies

    def expire_lines(self) -> None:
        self.needs_all = True

    async def exchange(self, lines: Mapping[str, bytes | None]) -> HallExchange:
        self.on_exchange()
        self.written.append(dict(lines))
        whole, self.needs_all = self.needs_all, False
        found, self.lines = self.lines, ()
        return HallExchange((OTHER,), found, whole, True, self.missing, "life-a", b"key", 0)


class Scene:
    def __init__(self, registry: Registry | None = None) -> None:
        self.nodes = ScriptedNodes()
        self.others = OtherNodes(HERE, lambda: 0.0)
        self.players: set[str] = set()
        self.sharing = HallSharing(
            cast(Nodes, self.nodes),
            registry or Registry(),
            self.others,
            Tickets(lambda: 0.0),
            cast(Any, self),
            lambda: 0.0,
        )


@pytest.mark.parametrize("when", ["between", "during"])
async def test_a_node_that_loses_a_lobby_is_uncertain_until_it_has_read_all_lines(
    when: str,
) -> None:
    scene = Scene()
    await scene.sharing.exchange()
    assert scene.others.certain
    if when == "between":
        scene.sharing.lost_lobbies()
    else:
        scene.nodes.on_exchange = scene.sharing.lost_lobbies
        await scene.sharing.exchange()
        scene.nodes.on_exchange = lambda: None
    assert not scene.others.certain
    assert scene.nodes.needs_all
    await scene.sharing.exchange()
    assert scene.others.certain


async def test_what_has_changed_is_written_and_what_has_not_is_not() -> None:
    scene = Scene()
    await scene.sharing.exchange()
    scene.nodes.lobbies = ["x"]
    await scene.sharing.exchange()
    await scene.sharing.exchange()
    scene.nodes.lobbies = []
    await scene.sharing.exchange()
    x = LobbyLine(lobby="x").model_dump_json().encode()
    own = NodeLine().model_dump_json().encode()
    assert scene.nodes.written == [{node_key("a"): own}, {"x": x}, {}, {"x": None}]


async def test_a_line_that_is_found_missing_is_written_again() -> None:
    scene = Scene()
    scene.nodes.lobbies = ["x"]
    await scene.sharing.exchange()
    await scene.sharing.exchange()
    scene.nodes.missing = frozenset({"x"})
    await scene.sharing.exchange()
    scene.nodes.missing = frozenset()
    await scene.sharing.exchange()
    await scene.sharing.exchange()
    assert [sorted(each) for each in scene.nodes.written[1:]] == [["x"], [], ["x"], []]


async def test_nodes_tell_each_other_who_is_there() -> None:
    scene = Scene()
    scene.players = {"p1"}
    await scene.sharing.exchange()
    line = NodeLine(players=frozenset({"p2"}))
    scene.nodes.lines = ((node_key("b"), "b", line.model_dump_json().encode()),)
    await scene.sharing.exchange()
    assert scene.others.is_busy("p2")
    assert not scene.others.is_busy("p1")
    told = [NodeLine.model_validate_json(each[node_key("a")] or b"") for each in written_by(scene)]
    assert [each.players for each in told] == [set(), {"p1"}]  # at first it knows no other node


def written_by(scene: Scene) -> list[dict[str, bytes | None]]:
    """Return the exchanges in which a node has written the line about itself."""
    return [each for each in scene.nodes.written if node_key("a") in each]
