"""A node's exchange with other nodes, on each poll and each notification."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

import pytest

from kibitz_protocol.wire.records import Player
from kibitz_server.accounts.identity import Identity
from kibitz_server.accounts.tickets import Tickets
from kibitz_server.directory.failover import Failover
from kibitz_server.directory.hall_sharing import HallSharing
from kibitz_server.directory.other_nodes import LobbyLine, NodeLine, OtherNodes, node_key
from kibitz_server.directory.recovery import Recovery
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.net.connections import Connections, Quotas
from kibitz_server.net.rate_limit import Rate, RateLimits
from kibitz_server.storage.interface import HallExchange, Nodes, OtherNode
from tests.server.fakes import PeerRig
from tests.server.storage.conformance.engines import (
    FakeEngine,
    nodes_of,
)

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
        self.spending: set[str] = set()
        self.shared: list[Mapping[str, int]] = []
        self.sharing = HallSharing(
            cast(Nodes, self.nodes),
            registry or Registry(),
            self.others,
            Tickets(lambda: 0.0),
            cast(Any, self),
            lambda: 0.0,
        )

    def spenders(self) -> set[str]:
        return self.spending

    def share_rates(self, elsewhere: Mapping[str, int]) -> None:
        self.shared.append(dict(elsewhere))


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


async def test_nodes_tell_each_other_who_is_there_and_rates_are_divided() -> None:
    scene = Scene()
    scene.spending = {"p1"}
    await scene.sharing.exchange()
    line = NodeLine(players=["p1", "p2"])
    scene.nodes.lines = ((node_key("b"), "b", line.model_dump_json().encode()),)
    await scene.sharing.exchange()
    assert scene.shared == [{}, {"p1": 1, "p2": 1}]
    await scene.sharing.exchange()
    told = [NodeLine.model_validate_json(each[node_key("a")] or b"") for each in written_by(scene)]
    assert [each.players for each in told] == [[], ["p1"]]  # no recipients


def written_by(scene: Scene) -> list[dict[str, bytes | None]]:
    """Return the exchanges in which a node has written the line about itself."""
    return [each for each in scene.nodes.written if node_key("a") in each]


# --- nodes that share a database -----------------------------------------------------------------


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


class HearingNodes(OtherNodes):
    """Notifies a test of reads."""

    def __init__(self, url: str) -> None:
        super().__init__(url, asyncio.get_running_loop().time)
        self.heard = asyncio.Event()

    def apply(self, found: HallExchange) -> Any:
        ended = super().apply(found)
        self.heard.set()
        return ended


class SharingNode:
    """A node that only publishes its lines."""

    draining = False
    peers: Collection[Any] = ()

    def __init__(self, engine: FakeEngine, name: str) -> None:
        address = f"ws://{name}.example.org"
        self.store = engine.node(name, address)
        self.others = HearingNodes(address)
        registry, loop = Registry(), asyncio.get_running_loop()
        self.rig = PeerRig()
        limits = RateLimits(account=Rate(1e-6, 240))  # no tokens are refilled during a test
        self.connections = Connections(loop, limits, Quotas())
        self.sharing = HallSharing(
            nodes_of(self.store),
            registry,
            self.others,
            Tickets(loop.time),
            self.connections,
            loop.time,
        )
        self.failover = Failover(
            nodes_of(self.store),
            self.store,
            cast(Recovery, self),
            registry,
            cast(Substitutes, self),
            cast(Connections, self),
            self.sharing,
        )

    def granted(self, player: str) -> int:
        """Let a player connect and spend all granted credits."""
        peer = self.rig.connect().peer
        identity = Identity(Player(player=player, name=player, kind="bot"), True, player)
        self.connections.greeted(peer, identity)
        return next(n for n in range(1000) if not peer.rate_limiter.charge_shared(1, 0.0))

    async def until_known(self, lobby: str) -> None:
        while self.others.lobby(lobby) is None:
            self.others.heard.clear()
            await self.others.heard.wait()


async def test_a_player_is_granted_at_two_nodes_what_it_would_be_at_one(
    engine: FakeEngine,
) -> None:
    first, second, third = (SharingNode(engine, name) for name in "abc")
    nodes = (first, second, third)
    for each in nodes * 2:
        await each.sharing.exchange()
    assert first.granted("p1") == 240
    await first.sharing.exchange()
    await second.sharing.exchange()
    assert second.granted("p1") == 120
    await second.sharing.exchange()
    await third.sharing.exchange()
    assert third.granted("p1") == 80
    assert third.granted("p2") == 240
    engine.expire("a")
    await third.sharing.exchange()
    assert third.granted("p1") == 40  # as one of two nodes: a dead node's grants are forgotten
    for each in nodes:
        await each.store.close()
