"""Networks that guests are admitted from: parsing, matching and limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kibitz_protocol.wire.records import Player
from kibitz_server.accounts.identity import Identity
from kibitz_server.net.connections import Connections, Quotas
from kibitz_server.net.guest_networks import GuestNetworks, guest_network, rate_of_people
from kibitz_server.net.peer import Peer
from kibitz_server.net.rate_limit import Rate, RateLimits
from tests.server.fakes import FakeTransport, PeerRig

CLASS = GuestNetworks([guest_network("192.0.2.0/24=40"), guest_network("192.0.2.7=2")])


@pytest.mark.parametrize(
    ("address", "people"),
    [
        ("192.0.2.1", 40),
        ("::ffff:192.0.2.1", 40),
        ("192.0.2.7", 2),
        ("192.0.3.1", 0),
        ("2001:db8::1", 0),
        ("?", 0),
    ],
)
def test_the_narrowest_network_of_an_address_counts(address: str, people: int) -> None:
    assert CLASS.people(address) == people


@pytest.mark.parametrize(
    "text", ["", "40", "192.0.2.7", "192.0.2.7=", "192.0.2.7=0", "192.0.2.7=x", "school=3", "=3"]
)
def test_what_is_no_network_with_a_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected an address or network"):
        guest_network(text)


def test_an_address_of_many_may_ask_for_what_each_of_them_may() -> None:
    assert rate_of_people(Rate(200, 1000), Rate(20, 40), 40) == Rate(800, 1600)
    assert rate_of_people(Rate(200, 1000), Rate(20, 40), 5) == Rate(200, 1000)
    assert rate_of_people(Rate(200, 1000), Rate(20, 40), 0) == Rate(200, 1000)


class Scenario:
    """The connections of one server, and new arrivals."""

    def __init__(self, **limits: Any) -> None:
        self.rig = PeerRig()
        self.connections = Connections(
            self.rig.loop.loop, RateLimits(**limits), Quotas(connections_an_address=3), CLASS
        )

    def come(self, address: str) -> tuple[Peer, bool]:
        peer = Peer(self.rig.context, FakeTransport(address))
        return peer, self.connections.admit(peer)

    def greet(self, address: str, key: str, *, account: bool = False) -> Callable[[], object]:
        """Admit a guest and return the function that makes it leave."""
        peer, _ = self.come(address)
        identity = Identity(Player(player=key, name=key, kind="bot"), account, None)
        self.connections.greeted(peer, identity)
        return lambda: self.connections.left(peer, identity)


def test_an_address_there_may_have_more_connections_and_lobbies() -> None:
    scenario = Scenario()
    assert all(scenario.come("192.0.2.1")[1] for _ in range(8 * 40))
    assert not scenario.come("192.0.2.1")[1]
    assert [scenario.come("192.0.3.1")[1] for _ in range(4)] == [True] * 3 + [False]
    peer, _ = scenario.come("192.0.2.2")
    quotas = scenario.connections.address_quotas(peer)
    assert (quotas.lobbies_an_address, quotas.lobbies) == (320, 8)


def test_its_requests_are_paid_for_by_all_of_them() -> None:
    scenario = Scenario(address=Rate(1, 1), socket=Rate(20, 40))
    peer, _ = scenario.come("192.0.2.1")
    other, _ = scenario.come("192.0.3.1")
    assert all(peer.charge(10, 0) for _ in range(4))
    assert not other.charge(10, 0)


def test_guests_are_counted_once_each_and_accounts_are_not() -> None:
    scenario = Scenario()
    connections = scenario.connections
    peer, _ = scenario.come("192.0.2.7")
    elsewhere, _ = scenario.come("198.51.100.1")
    leave = scenario.greet("192.0.2.7", "g1")
    leave_again = scenario.greet("192.0.2.7", "g1")
    scenario.greet("192.0.2.7", "a1", account=True)
    assert connections.room_for_guests(peer) == 1
    scenario.greet("192.0.2.7", "g2")
    assert connections.room_for_guests(peer) == 0
    leave()
    assert connections.room_for_guests(peer) == 0
    leave_again()
    assert connections.room_for_guests(peer) == 1
    assert connections.room_for_guests(elsewhere) is None
    assert (connections.invites_guests(peer), connections.invites_guests(elsewhere)) == (
        True,
        False,
    )
