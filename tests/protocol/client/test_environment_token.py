"""The environment's token is sent only to its own server, and never unencrypted to others."""

from __future__ import annotations

import pytest

from kibitz_protocol.client.environment_token import (
    DEFAULT_SERVER,
    TokenError,
    environment_token,
)

TOKEN = "the-token-of-ada"


def token_for(server: str, own: str | None = None) -> str | None:
    environment = {"KIBITZ_TOKEN": TOKEN} | ({} if own is None else {"KIBITZ_SERVER": own})
    return environment_token(server, environment)


@pytest.mark.parametrize(
    ("own", "server"),
    [
        (None, DEFAULT_SERVER),
        ("", DEFAULT_SERVER + "/"),
        ("ws://localhost:9000", "ws://localhost:9000"),
        ("ws://[::1]:9000", "ws://[::1]:9000"),
        ("ws://127.1.2.3", "http://127.1.2.3:80/"),
        ("wss://example.org", "https://EXAMPLE.org:443/"),
        ("wss://example.org/kibitz", "wss://example.org/kibitz/"),
    ],
)
def test_it_is_sent_to_its_own_server(own: str | None, server: str) -> None:
    assert token_for(server, own) == TOKEN


@pytest.mark.parametrize(
    ("own", "server"),
    [
        (None, "ws://127.0.0.1:9000"),
        (None, "wss://example.org"),
        ("wss://example.org", DEFAULT_SERVER),
        ("wss://example.org", "wss://example.org.evil.net"),
        ("wss://example.org", "wss://example.org:8443"),
        ("wss://example.org", "wss://example.org@evil.net"),
        ("wss://example.org", "ws://example.org"),
        ("wss://example.org/a", "wss://example.org/b"),
    ],
)
def test_it_is_sent_to_no_other(own: str | None, server: str) -> None:
    with pytest.raises(TokenError, match=r"belongs to .* and is not sent to .*: set KIBITZ_SERVER"):
        token_for(server, own)


@pytest.mark.parametrize(
    "server", ["ws://192.168.0.2:8765", "http://example.org", "ws://127.0.0.1.example.org"]
)
def test_beyond_this_machine_it_is_sent_encrypted_only(server: str) -> None:
    with pytest.raises(TokenError, match="others could read it in transit: use a wss:// address"):
        token_for(server, server)


def test_without_one_any_server_may_be_meant() -> None:
    assert environment_token("ws://example.org", {}) is None
    assert environment_token("ws://example.org", {"KIBITZ_TOKEN": ""}) is None
