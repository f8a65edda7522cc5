"""Connections: the limits by origin, and the list of present players."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, cast

import pytest

from kibitz_protocol.wire.records import Player
from kibitz_server.accounts.identity import Identity
from kibitz_server.net.access import AccessPolicy, network
from kibitz_server.net.connections import Connections, Quotas
from kibitz_server.net.peer import Peer
from kibitz_server.net.rate_limit import Bucket, ChargeResult, Rate, RateLimits
from tests.server.fakes import PeerRig, ScriptedConnection

FAR = "192.0.2.1"


def connections_of(rig: PeerRig, limits: RateLimits | None = None) -> Connections:
    quotas = Quotas(connections=5, connections_an_address=2)
    return Connections(rig.loop.loop, limits or RateLimits(), quotas)


def identity(name: str) -> Identity:
    return Identity(Player(player=name, name=name, kind="bot"), account=False, skeleton=name)


def come(
    at: Connections, rig: PeerRig, address: str = "127.0.0.1"
) -> tuple[ScriptedConnection, bool]:
    line = rig.connect(address)
    return line, at.admit(line.peer, open_=True)


def test_an_address_has_its_share_and_loopback_all() -> None:
    rig = PeerRig()
    at = connections_of(rig)
    assert [come(at, rig, FAR)[1] for _ in range(3)] == [True, True, False]
    assert [come(at, rig)[1] for _ in range(3)] == [True, True, False]


def test_who_goes_makes_room() -> None:
    rig = PeerRig()
    at = connections_of(rig)
    lines = [come(at, rig, FAR)[0] for _ in range(3)]
    for line in lines[1:]:
        at.socket_closed(line.peer)
    assert come(at, rig, FAR)[1]


def test_a_closed_door_lets_nobody_in() -> None:
    rig = PeerRig()
    assert not connections_of(rig).admit(rig.connect().peer, open_=False)


def test_a_flooder_that_comes_back_is_as_poor_as_it_went() -> None:
    rig = PeerRig()
    at = connections_of(rig, RateLimits(address=Rate(1, 10)))
    line, _ = come(at, rig, FAR)
    assert line.peer.rate_limiter.charge(10, rig.loop.time()) is ChargeResult.GRANTED
    at.socket_closed(line.peer)
    line, _ = come(at, rig, FAR)
    assert line.peer.rate_limiter.charge(1, rig.loop.time()) is ChargeResult.REFUSED
    rig.loop.advance(20)
    at.socket_closed(line.peer)
    line, _ = come(at, rig, FAR)
    assert line.peer.rate_limiter.charge(10, rig.loop.time()) is ChargeResult.GRANTED


def test_a_player_is_here_while_one_connection_is() -> None:
    rig = PeerRig()
    at, ada = connections_of(rig), identity("ada")
    old, new = come(at, rig)[0].peer, come(at, rig)[0].peer
    at.greeted(old, ada)
    at.greeted(new, ada)
    assert at.peer_of("ada") is new
    assert not at.left(new, ada)
    assert at.peer_of("ada") is old
    assert at.left(old, ada)
    assert not at.left(old, ada)
    assert at.peer_of("ada") is None
    assert list(at.players) == []


def test_connections_of_a_player_share_a_purse() -> None:
    rig = PeerRig()
    at = connections_of(rig, RateLimits(account=Rate(1, 10)))
    old, new = come(at, rig)[0].peer, come(at, rig)[0].peer
    for peer in (old, new):
        at.greeted(peer, identity("ada"))
    old.rate_limiter.charge(10, rig.loop.time())
    assert new.rate_limiter.charge(1, rig.loop.time()) is ChargeResult.REFUSED


async def test_the_last_one_out_ends_the_wait() -> None:
    rig = PeerRig()
    at = Connections(asyncio.get_running_loop(), RateLimits(), Quotas())
    await at.wait_closed()
    lines = [come(at, rig)[0] for _ in range(2)]
    waiting = asyncio.create_task(at.wait_closed())
    await asyncio.sleep(0)
    for line in lines:
        assert not waiting.done()
        at.socket_closed(line.peer)
    await waiting


class FakePeer:
    """The part of a connection that `Connections` uses; it spends all credits of its address."""

    local = proxied = False

    def __init__(self, address: str, rig: PeerRig) -> None:
        self.address = address
        self.rate_limiter = self
        self._rig = rig

    def share(self, bucket: Bucket) -> None:
        bucket.charge(1000, self._rig.loop.now)


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_many_addresses_that_came_and_went_leave_nothing(count: int) -> None:
    rig = PeerRig()
    at = connections_of(rig, RateLimits(address=Rate(200, 1000)))
    for number in range(count):
        peer = FakePeer(f"2001:db8:{number >> 16:x}:{number & 0xFFFF:x}::1", rig)
        assert at.admit(cast("Any", peer), open_=True)
        at.socket_closed(cast("Any", peer))
        rig.loop.now += 0.001
    assert len(at._address_buckets) <= 5001
    rig.loop.now += 10
    at.socket_closed(come(at, rig, FAR)[0].peer)
    assert (len(at._address_buckets), len(at._counted)) == (0, 0)


def test_who_shares_a_prefix_shares_an_address() -> None:
    rig = PeerRig()
    at = connections_of(rig)
    addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"]
    assert [come(at, rig, address)[1] for address in addresses] == [True, True, False, True]
    at = connections_of(rig)
    mapped = ["::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1"]
    assert [come(at, rig, address)[1] for address in mapped] == [True, True, False]


def test_behind_a_proxy_each_client_has_its_own_share() -> None:
    rig = PeerRig(access=AccessPolicy(proxies=(network("10.0.0.1"),)))
    at = connections_of(rig)
    lines = [come(at, rig, "10.0.0.1")[0] for _ in range(4)]
    for line, client in zip(lines, [FAR, FAR, FAR, "192.0.2.2"], strict=True):
        line.peer.address = client
    assert [at.relocate(line.peer) for line in lines] == [True, True, False, True]
    for line in lines:
        at.socket_closed(line.peer)
    assert (len(at._address_buckets), len(at._counted)) == (0, 0)


def test_a_player_who_comes_back_is_as_poor_as_it_went() -> None:
    rig = PeerRig()
    at, ada = connections_of(rig, RateLimits(account=Rate(1, 10))), identity("ada")
    for charged, verdict in ((10, ChargeResult.GRANTED), (1, ChargeResult.REFUSED)):
        peer = come(at, rig)[0].peer
        at.greeted(peer, ada)
        assert peer.rate_limiter.charge(charged, rig.loop.time()) is verdict
        at.left(peer, ada)


# --- players on several nodes ---------------------------------------------------------------------


class Cluster:
    """Nodes that learn of each other's players when a test says so."""

    def __init__(self, nodes: int, limits: RateLimits) -> None:
        self.rig = PeerRig()
        self.nodes = [connections_of(self.rig, limits) for _ in range(nodes)]
        self.ada = identity("ada")

    def exchange(self) -> None:
        """Tell each node the players at all others."""
        there = [each.spenders() for each in self.nodes]
        for number, node in enumerate(self.nodes):
            others = (players for other, players in enumerate(there) if other != number)
            node.share_rates(Counter(player for players in others for player in players))

    def come(self, node: int) -> Peer:
        peer = come(self.nodes[node], self.rig)[0].peer
        self.nodes[node].greeted(peer, self.ada)
        return peer

    def spend(self, peer: Peer) -> int:
        """Spend all granted credits, with as many connections as necessary."""
        granted, now = 0, self.rig.loop.time()
        while peer.rate_limiter.charge_shared(1, now):
            granted += 1
        return granted


BOTH = RateLimits(account=Rate(60, 240), comments=Rate(0.5, 5))


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_a_player_who_asks_at_all_nodes_is_granted_what_it_would_be_at_one(nodes: int) -> None:
    cluster = Cluster(nodes, BOTH)
    peers = [cluster.come(node) for node in range(nodes)]
    at_once = sum(map(cluster.spend, peers))
    assert at_once == 240 * nodes  # no node knows of the others yet
    cluster.exchange()
    granted = 0
    for _ in range(1200):
        cluster.rig.loop.advance(0.05)
        granted += sum(map(cluster.spend, peers))
    # The excess granted at first is missing now.
    assert granted == pytest.approx(60 * 60 - 240 * (nodes - 1), abs=nodes)


def test_who_goes_from_node_to_node_takes_along_what_it_has_spent() -> None:
    """It gets the burst once, rather than a full burst at each node."""
    cluster = Cluster(3, BOTH)
    granted, seconds = 0, 0.0
    for node in [0, 1, 2] * 40:
        peer = cluster.come(node)
        granted += cluster.spend(peer)
        cluster.nodes[node].left(peer, cluster.ada)
        cluster.exchange()
        cluster.rig.loop.advance(0.5)
        seconds += 0.5
    assert granted <= 240 * (1 + 1 / 2 + 1 / 3) + 60 * seconds
    assert granted >= 30 * seconds


def test_who_comes_to_all_nodes_at_once_and_waits_gains_nothing_in_the_long_run() -> None:
    cluster = Cluster(3, BOTH)
    granted, seconds = 0, 0.0
    for _ in range(20):
        peers = [cluster.come(node) for node in range(3)]
        granted += sum(map(cluster.spend, peers))
        for node, peer in zip(cluster.nodes, peers, strict=True):
            node.left(peer, cluster.ada)
        while any(node.spenders() for node in cluster.nodes):
            cluster.exchange()
            cluster.rig.loop.advance(0.5)
            seconds += 0.5
        cluster.exchange()
    assert granted == 20 * 3 * 240
    assert granted <= 60 * seconds


def test_a_player_whose_other_node_is_gone_has_its_rate_again() -> None:
    cluster = Cluster(2, BOTH)
    peer = cluster.come(0)
    cluster.come(1)
    cluster.exchange()
    assert cluster.spend(peer) == 120
    cluster.nodes[0].share_rates({})
    assert cluster.spend(peer) == 120


def test_comments_are_divided_and_one_may_be_made_at_any_number_of_nodes() -> None:
    cluster = Cluster(2, BOTH)
    peers = [cluster.come(node) for node in range(2)]
    cluster.exchange()

    def comments() -> int:
        made = 0
        for node, peer in zip(cluster.nodes, peers, strict=True):
            while not node.charge_comment(peer, cluster.ada):
                made += 1
        return made

    assert comments() == 4  # two of two and a half, at each
    cluster.rig.loop.advance(20)
    assert comments() == 4
    cluster.nodes[0].share_rates({"ada": 99})
    cluster.rig.loop.advance(400)
    assert not cluster.nodes[0].charge_comment(peers[0], cluster.ada)


def test_other_players_are_not_touched() -> None:
    cluster = Cluster(2, BOTH)
    cluster.come(1)
    cluster.ada = identity("bob")
    peer = cluster.come(0)
    cluster.exchange()
    assert cluster.spend(peer) == 240
    assert cluster.nodes[0].spenders() == {"bob"}
