"""The door: how many may come from where, and who is here."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from kibitz_protocol.records import Player
from kibitz_server.access import Access, network
from kibitz_server.accounts import Identity
from kibitz_server.credits import Bucket, Rate, Tariff, Verdict
from kibitz_server.door import Door, Quotas
from tests.server.wires import Line, Rig

FAR = "192.0.2.1"


def door(rig: Rig, tariff: Tariff | None = None) -> Door:
    quotas = Quotas(connections=5, connections_an_address=2)
    return Door(rig.loop.loop, tariff or Tariff(), quotas)


def identity(name: str) -> Identity:
    return Identity(Player(player=name, name=name, kind="bot"), account=False, skeleton=name)


def come(at: Door, rig: Rig, address: str = "127.0.0.1") -> tuple[Line, bool]:
    line = rig.connect(address)
    return line, at.admit(line.peer, open_=True)


def test_an_address_has_its_share_and_loopback_all() -> None:
    rig = Rig()
    at = door(rig)
    assert [come(at, rig, FAR)[1] for _ in range(3)] == [True, True, False]
    assert [come(at, rig)[1] for _ in range(3)] == [True, True, False]


def test_who_goes_makes_room() -> None:
    rig = Rig()
    at = door(rig)
    lines = [come(at, rig, FAR)[0] for _ in range(3)]
    for line in lines[1:]:
        at.lost(line.peer)
    assert come(at, rig, FAR)[1]


def test_a_closed_door_lets_nobody_in() -> None:
    rig = Rig()
    assert not door(rig).admit(rig.connect().peer, open_=False)


def test_a_flooder_that_comes_back_is_as_poor_as_it_went() -> None:
    rig = Rig()
    at = door(rig, Tariff(address=Rate(1, 10)))
    line, _ = come(at, rig, FAR)
    assert line.peer.purse.charge(10, rig.loop.time()) is Verdict.GRANTED
    at.lost(line.peer)
    line, _ = come(at, rig, FAR)
    assert line.peer.purse.charge(1, rig.loop.time()) is Verdict.REFUSED
    rig.loop.advance(20)
    at.lost(line.peer)
    line, _ = come(at, rig, FAR)
    assert line.peer.purse.charge(10, rig.loop.time()) is Verdict.GRANTED


def test_a_player_is_here_while_one_connection_is() -> None:
    rig = Rig()
    at, ada = door(rig), identity("ada")
    old, new = come(at, rig)[0].peer, come(at, rig)[0].peer
    at.arrive(old, ada)
    at.arrive(new, ada)
    assert at.peer_of("ada") is new
    assert not at.depart(new, ada)
    assert at.peer_of("ada") is old
    assert at.depart(old, ada)
    assert not at.depart(old, ada)
    assert at.peer_of("ada") is None
    assert list(at.players) == []


def test_connections_of_a_player_share_a_purse() -> None:
    rig = Rig()
    at = door(rig, Tariff(account=Rate(1, 10)))
    old, new = come(at, rig)[0].peer, come(at, rig)[0].peer
    for peer in (old, new):
        at.arrive(peer, identity("ada"))
    old.purse.charge(10, rig.loop.time())
    assert new.purse.charge(1, rig.loop.time()) is Verdict.REFUSED


async def test_the_last_one_out_ends_the_wait() -> None:
    rig = Rig()
    at = Door(asyncio.get_running_loop(), Tariff(), Quotas())
    await at.empty()
    lines = [come(at, rig)[0] for _ in range(2)]
    waiting = asyncio.create_task(at.empty())
    await asyncio.sleep(0)
    for line in lines:
        assert not waiting.done()
        at.lost(line.peer)
    await waiting


class Passer:
    """As much of a connection as the door looks at; it spends all that its address has."""

    local = proxied = False

    def __init__(self, address: str, rig: Rig) -> None:
        self.address = address
        self._rig = rig

    def share(self, bucket: Bucket) -> None:
        bucket.charge(1000, self._rig.loop.now)


def test_a_hundred_thousand_addresses_that_came_and_went_leave_nothing() -> None:
    rig = Rig()
    at = door(rig, Tariff(address=Rate(200, 1000)))
    for number in range(100_000):
        peer = Passer(f"2001:db8:{number >> 16:x}:{number & 0xFFFF:x}::1", rig)
        assert at.admit(cast("Any", peer), open_=True)
        at.lost(cast("Any", peer))
        rig.loop.now += 0.001
    assert len(at._addresses) <= 5001
    rig.loop.now += 10
    at.lost(come(at, rig, FAR)[0].peer)
    assert (len(at._addresses), len(at._counted)) == (0, 0)


def test_who_shares_a_prefix_shares_an_address() -> None:
    rig = Rig()
    at = door(rig)
    addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"]
    assert [come(at, rig, address)[1] for address in addresses] == [True, True, False, True]
    at = door(rig)
    mapped = ["::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1"]
    assert [come(at, rig, address)[1] for address in mapped] == [True, True, False]


def test_behind_a_proxy_each_client_has_its_own_share() -> None:
    rig = Rig(access=Access(proxies=(network("10.0.0.1"),)))
    at = door(rig)
    lines = [come(at, rig, "10.0.0.1")[0] for _ in range(4)]
    for line, client in zip(lines, [FAR, FAR, FAR, "192.0.2.2"], strict=True):
        line.peer.address = client
    assert [at.relocate(line.peer) for line in lines] == [True, True, False, True]
    for line in lines:
        at.lost(line.peer)
    assert (len(at._addresses), len(at._counted)) == (0, 0)


def test_a_player_who_comes_back_is_as_poor_as_it_went() -> None:
    rig = Rig()
    at, ada = door(rig, Tariff(account=Rate(1, 10))), identity("ada")
    for charged, verdict in ((10, Verdict.GRANTED), (1, Verdict.REFUSED)):
        peer = come(at, rig)[0].peer
        at.arrive(peer, ada)
        assert peer.purse.charge(charged, rig.loop.time()) is verdict
        at.depart(peer, ada)
