"""Network addresses: different spellings of one address, and addresses of one customer.

A household or a rented server has a whole /64 of IPv6 addresses, so all limits on an address apply
to its /64. An IPv4 address that came through an IPv6 socket is that IPv4 address
(``::ffff:192.0.2.1``).
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
CUSTOMER_PREFIX_BITS = 64
"""The length of the prefix of IPv6 addresses that one customer has."""


@lru_cache(maxsize=1024)  # a connection looks its address up several times
def parse_address(text: str) -> Address | None:
    """Parse an address, ignoring the zone of a socket's address; return None if it is none."""
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
    """Return the name under which an address is counted; other text is returned unchanged."""
    address = parse_address(text)
    if address is None:
        return text
    if address.version == 4:
        return str(address)
    prefix = int(address) >> (128 - CUSTOMER_PREFIX_BITS) << (128 - CUSTOMER_PREFIX_BITS)
    return f"{ipaddress.IPv6Address(prefix)}/{CUSTOMER_PREFIX_BITS}"
