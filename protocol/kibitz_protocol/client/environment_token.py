"""The account's token from the environment, which is sent to only one server.

Every command can read the environment, so a token in it must not be sent to just any server: a
server that receives a token can play as the account. `KIBITZ_TOKEN` is sent only to the server that
`KIBITZ_SERVER` names (by default the one on this machine), and to other machines only over an
encrypted connection.
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
    """The environment's token must not be sent to this server; the message tells the user why."""


def environment_token(server: str, environment: Mapping[str, str]) -> str | None:
    """Return the environment's token for a connection to `server`, or None if there is none.

    Raises `TokenError` if it must not be sent to that server.
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
            f"KIBITZ_TOKEN is not sent to {server}, where others could read it in transit: use a"
            " wss:// address, or pass --token-file"
        )
    return token


def _place(url: str) -> tuple[str, str | None, int | None, str]:
    """Return a key that identifies a server, regardless of how its address is written."""
    parts = urlsplit(websocket_url(url))
    port = parts.port or _PORTS.get(parts.scheme)
    return parts.scheme, parts.hostname, port, parts.path.rstrip("/")


def _is_private(url: str) -> bool:
    """Return whether traffic to a server cannot be read in transit."""
    parts = urlsplit(websocket_url(url))
    return parts.scheme == "wss" or _is_loopback(parts.hostname or "")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
