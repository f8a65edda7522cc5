"""Connections: the limits by origin, and the list of present players."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from kibitz_protocol.wire.records import Player
from kibitz_server.accounts.identity import Identity
from kibitz_server.net.access import AccessPolicy
from kibitz_server.net.addresses import network
from kibitz_server.net.connections import Connections, Quotas
from kibitz_server.net.proxies import TrustedProxies
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
    return line, at.admit(line.peer)


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
    connections = connections_of(rig)
    connections.draining = True
    assert not connections.admit(rig.connect().peer)


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
        assert at.admit(cast("Any", peer))
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
    rig = PeerRig(access=AccessPolicy(proxies=TrustedProxies((network("10.0.0.1"),))))
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
