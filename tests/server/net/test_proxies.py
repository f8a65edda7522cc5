"""The addresses of clients behind proxies."""

from __future__ import annotations

import pytest
from websockets.datastructures import Headers

from kibitz_server.net.addresses import network
from kibitz_server.net.proxies import ClientAddress, TrustedProxies

HERE, PROXY, CLIENT = "127.0.0.1", "10.0.0.1", "192.0.2.9"


@pytest.mark.parametrize(
    ("address", "headers", "place"),
    [
        (HERE, [], ClientAddress(HERE, True)),
        (HERE, [("X-Forwarded-For", CLIENT)], ClientAddress(CLIENT, False)),
        (HERE, [("X-Forwarded-For", HERE)], ClientAddress(HERE, False)),
        (HERE, [("X-Real-IP", CLIENT)], ClientAddress(HERE, False)),
        (PROXY, [("X-Forwarded-For", CLIENT)], ClientAddress(CLIENT, False)),
        (PROXY, [("X-Forwarded-For", f"127.0.0.1, {CLIENT}")], ClientAddress(CLIENT, False)),
        (PROXY, [("X-Forwarded-For", f"{CLIENT}, 10.0.0.2")], ClientAddress(CLIENT, False)),
        (
            PROXY,
            [("X-Forwarded-For", "spoof"), ("X-Forwarded-For", CLIENT)],
            ClientAddress(CLIENT, False),
        ),
        (PROXY, [("X-Forwarded-For", f"{CLIENT}:4711")], ClientAddress(CLIENT, False)),
        (PROXY, [("X-Forwarded-For", "[2001:db8::1]:4711")], ClientAddress("2001:db8::1", False)),
        (PROXY, [("X-Forwarded-For", "unknown")], ClientAddress(PROXY, False)),
        (PROXY, [("Forwarded", f"for={CLIENT}")], ClientAddress(PROXY, False)),
        (HERE, [("Forwarded", f"for={HERE}")], ClientAddress(HERE, False)),
        (
            PROXY,
            [("Forwarded", "for=1.2.3.4"), ("X-Forwarded-For", CLIENT)],
            ClientAddress(CLIENT, False),
        ),
        (PROXY, [], ClientAddress(PROXY, False)),
        (CLIENT, [("X-Forwarded-For", "127.0.0.1")], ClientAddress(CLIENT, False)),
        ("::ffff:10.0.0.1", [("X-Forwarded-For", CLIENT)], ClientAddress(CLIENT, False)),
    ],
)
def test_a_trusted_proxy_is_believed_and_nobody_else(
    address: str, headers: list[tuple[str, str]], place: ClientAddress
) -> None:
    trusting = TrustedProxies((network("127.0.0.1"), network("10.0.0.0/8")))
    assert trusting.client_address(Headers(headers), address) == place


def test_what_came_through_a_proxy_is_not_local_though_nobody_trusts_it() -> None:
    nobody = TrustedProxies()
    for name, text in (("X-Forwarded-For", HERE), ("Via", "1.1 x")):
        assert nobody.client_address(Headers({name: text}), HERE) == ClientAddress(HERE, False)
    assert nobody.client_address(Headers(), HERE) == ClientAddress(HERE, True)
