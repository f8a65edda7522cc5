"""Network addresses: parses and normalizes them, and groups those of one customer.

A household or a rented server has a whole /64 of IPv6 addresses, so all limits on an address apply
to its /64. An IPv4-mapped address from an IPv6 socket (``::ffff:192.0.2.1``) counts as the IPv4
address.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
CUSTOMER_PREFIX_BITS = 64
"""The prefix length of the IPv6 network of one customer."""


@lru_cache(maxsize=1024)  # cached, because each connection looks up its address several times
def parse_address(text: str) -> Address | None:
    """Parse an address without its zone; return None if it is invalid."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


@lru_cache(maxsize=1024)
def is_loopback(text: str) -> bool:
    address = parse_address(text)
    return address is not None and address.is_loopback


def address_group(text: str) -> str:
    """Return the network that an address counts toward; return other text unchanged."""
    address = parse_address(text)
    if address is None:
        return text
    if address.version == 4:
        return str(address)
    prefix = int(address) >> (128 - CUSTOMER_PREFIX_BITS) << (128 - CUSTOMER_PREFIX_BITS)
    return f"{ipaddress.IPv6Address(prefix)}/{CUSTOMER_PREFIX_BITS}"


def network(text: str) -> Network:
    """Parse an address or a network such as ``10.0.0.0/8``, or raise `ValueError`."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(
            f"expected an address or network such as 10.0.0.0/8, got {text!r}"
        ) from None
