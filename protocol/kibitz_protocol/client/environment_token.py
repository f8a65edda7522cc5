"""The account's token in the environment, and the one server that it belongs to.

A variable of the environment is set once and seen by every command, so it must not go wherever a
command happens to connect: whoever is sent a token can play as the account. `KIBITZ_TOKEN` belongs
to the server that `KIBITZ_SERVER` names, the one of this machine where it names none, and is sent
there only; beyond this machine, only over an encrypted connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from kibitz_protocol.wire.server_address import websocket_url

DEFAULT_SERVER: Final = "ws://127.0.0.1:8765"
_PORTS: Final = {"ws": 80, "wss": 443}


class TokenError(ValueError):
    """The token of the environment is not for this server; a sentence."""


def environment_token(server: str, environment: Mapping[str, str]) -> str | None:
    """Return the token of the environment for a connection to `server`, None where there is none.

    Raises `TokenError` where it must not be sent there.
    """
    token = environment.get("KIBITZ_TOKEN")
    if not token:
        return None
    own = environment.get("KIBITZ_SERVER") or DEFAULT_SERVER
    if _place(server) != _place(own):
        raise TokenError(
            f"KIBITZ_TOKEN belongs to {own} and is not sent to {server}: set KIBITZ_SERVER to the"
            " server of the token, or pass --token-file"
        )
    if not _is_private(server):
        raise TokenError(
            f"KIBITZ_TOKEN is not sent to {server}, where others on the way could read it: use a"
            " wss:// address, or pass --token-file"
        )
    return token


def _place(url: str) -> tuple[str, str | None, int | None, str]:
    """Return what tells one server from another, however its address is written."""
    parts = urlsplit(websocket_url(url))
    port = parts.port or _PORTS.get(parts.scheme)
    return parts.scheme, parts.hostname, port, parts.path.rstrip("/")


def _is_private(url: str) -> bool:
    """Return whether nobody on the way to a server can read what is sent."""
    parts = urlsplit(websocket_url(url))
    return parts.scheme == "wss" or _is_loopback(parts.hostname or "")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
