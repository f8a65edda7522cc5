"""Networks that admit guests, such as a classroom where many people share one address.

All people of a school, a company or an event often share a single address, but the limits on an
address are meant for one household. Besides, a server may refuse guests. So an operator can list
such a network with its number of people: ``192.0.2.7=40``. The server then admits that many guests
from the network at a time, and multiplies the limits of each of its addresses. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from kibitz_server.net.addresses import Network, network, parse_address
from kibitz_server.net.rate_limit import Rate

MAX_PEOPLE: Final = 10_000


@dataclass(frozen=True, slots=True)
class GuestNetwork:
    """A network, and the number of guests that it admits at a time."""

    network: Network
    people: int


def guest_network(text: str) -> GuestNetwork:
    """Parse an address or network with a number (``10.0.0.0/8=40``), or raise `ValueError`."""
    where, _, number = text.rpartition("=")
    if not where or not number.isdecimal() or not 1 <= int(number) <= MAX_PEOPLE:
        form = "expected an address or network and a number of guests, such as 192.0.2.7=40"
        raise ValueError(f"{form}; got {text!r}")
    return GuestNetwork(network(where), int(number))


class GuestNetworks:
    """The guest networks of one server."""

    def __init__(self, networks: Iterable[GuestNetwork] = ()) -> None:
        # If networks are nested, the narrowest one applies.
        self._networks = sorted(networks, key=lambda each: each.network.prefixlen, reverse=True)

    def network_of(self, address: str) -> GuestNetwork | None:
        """Return the guest network of an address, or None."""
        if not self._networks:
            return None
        parsed = parse_address(address)
        if parsed is None:
            return None
        return next((network for network in self._networks if parsed in network.network), None)

    def people(self, address: str) -> int:
        """Return how many people an address counts as; 0 for an ordinary address."""
        network = self.network_of(address)
        return 0 if network is None else network.people


def rate_of_people(rate: Rate, person: Rate, people: int) -> Rate:
    """Return the rate limit of an address: at least `people` times the rate limit of a person."""
    return replace(
        rate,
        per_second=max(rate.per_second, person.per_second * people),
        burst=max(rate.burst, person.burst * people),
    )
