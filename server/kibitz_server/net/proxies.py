"""Trusted reverse proxies, and the addresses of the clients behind them. Pure.

Behind a proxy every connection comes from the proxy's address. If the operator trusts the proxy,
the client's address is the rightmost one in `X-Forwarded-For` that is not a trusted proxy's own.
The client may have forged everything to the left of it. If the sender is not a trusted proxy,
headers of proxies have one use: they show that a connection from this machine comes from a proxy,
not from a local program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from websockets.datastructures import Headers

from kibitz_server.net.addresses import Address, Network, is_loopback, parse_address


@dataclass(frozen=True, slots=True)
class ClientAddress:
    """The address that a request comes from."""

    address: str
    local: bool
    """Whether the request was made on this machine."""


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The proxies whose forwarding headers are trusted."""

    networks: tuple[Network, ...] = ()
    """Their addresses."""

    def include(self, address: str) -> bool:
        """Return whether this is the address of a trusted proxy."""
        return self._trusts(parse_address(address))

    def client_address(self, headers: Headers, address: str) -> ClientAddress:
        """Return the address of the client whose request arrived from `address`."""
        local = is_loopback(address)
        hops = _x_forwarded_for(headers) if self.include(address) else []
        if not hops:
            return ClientAddress(address, local and not _is_forwarded(headers))
        client = self._client(hops, address)
        return ClientAddress(client, local and client != address and is_loopback(client))

    def _client(self, hops: Sequence[str], address: str) -> str:
        """Return the rightmost untrusted hop, or the last trusted one if all are trusted."""
        nearest = address
        for hop in reversed(hops):
            parsed = parse_address(hop)
            if parsed is None:
                return nearest
            nearest = str(parsed)
            if not self._trusts(parsed):
                break
        return nearest

    def _trusts(self, address: Address | None) -> bool:
        return address is not None and any(address in network for network in self.networks)


def _is_forwarded(headers: Headers) -> bool:
    """Return whether a request has the headers of a proxy."""
    names = {name.lower() for name, _ in headers.raw_items()}
    return bool(names & {"forwarded", "via", "x-real-ip"}) or any(
        name.startswith("x-forwarded") for name in names
    )


def _x_forwarded_for(headers: Headers) -> list[str]:
    whole = ",".join(headers.get_all("X-Forwarded-For"))
    return [_without_port(hop) for hop in whole.split(",") if hop.strip()]


def _without_port(hop: str) -> str:
    """Return a hop's address without its port, which some proxies add."""
    hop = hop.strip()
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
