"""Networks that guests are let in from, such as that of a classroom: many people, one address.

A school, a firm or a hall often reaches the server from one address. What an address may have and
ask for is made for one household, and guests may be refused altogether. So an operator names such a
network, and how many people are in it: ``192.0.2.7=40``. From there so many guests are let in at a
time, and each of its addresses may have and ask for what so many players may. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from kibitz_server.net.access import Network, network
from kibitz_server.net.addresses import parse_address
from kibitz_server.net.rate_limit import Rate

MAX_PEOPLE: Final = 10_000


@dataclass(frozen=True, slots=True)
class GuestNetwork:
    """A network, and how many guests are let in from it at a time."""

    network: Network
    people: int


def guest_network(text: str) -> GuestNetwork:
    """Read an address or a network and a number (``10.0.0.0/8=40``), or raise `ValueError`."""
    where, _, number = text.rpartition("=")
    if not where or not number.isdecimal() or not 1 <= int(number) <= MAX_PEOPLE:
        form = "expected an address or a network and a number of guests, like 192.0.2.7=40"
        raise ValueError(f"{form}, not {text!r}")
    return GuestNetwork(network(where), int(number))


class GuestNetworks:
    """The guest networks of one server."""

    def __init__(self, networks: Iterable[GuestNetwork] = ()) -> None:
        # Of networks one in another the narrower one counts.
        self._networks = sorted(networks, key=_prefix_length, reverse=True)

    def network_of(self, address: str) -> GuestNetwork | None:
        """Return the network that guests from an address belong to, None for none."""
        if not self._networks:
            return None
        parsed = parse_address(address)
        if parsed is None:
            return None
        return next((network for network in self._networks if parsed in network.network), None)

    def people(self, address: str) -> int:
        """Return how many people an address is counted as, 0 where it is counted as itself."""
        network = self.network_of(address)
        return 0 if network is None else network.people


def _prefix_length(network: GuestNetwork) -> int:
    return network.network.prefixlen


def rate_of_people(rate: Rate, person: Rate, people: int) -> Rate:
    """Return the rate of an address of so many people: that of any, or `each` for all of them."""
    return replace(
        rate,
        per_second=max(rate.per_second, person.per_second * people),
        burst=max(rate.burst, person.burst * people),
    )
