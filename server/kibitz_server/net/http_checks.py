"""Checks the target and headers of an HTTP request; returns a page if it must be refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import parse_qsl

from websockets.http11 import Request

from kibitz_server.net import http
from kibitz_server.net.access import AccessPolicy

_WEBSOCKET_PATHS = frozenset({"/", http.WEBSOCKET_PATH})
"""The paths that serve websockets."""
_SECRET_PARAMETERS = re.compile(r"token|secret|resume|instance|auth|password|key", re.IGNORECASE)


def asks_for_websocket(request: Request) -> bool:
    """Return whether a request asks to upgrade to a websocket.

    Other upgrades are ignored, because `curl --http2` and the JDK's HTTP client offer HTTP/2 with
    every request. So are all upgrades in HTTP/1.0 (RFC 9110, section 7.8).
    """
    offered = ",".join(request.headers.get_all("Upgrade")).lower().split(",")
    return request.protocol == "HTTP/1.1" and "websocket" in map(str.strip, offered)


def malformed_page(access: AccessPolicy, request: Request) -> http.Page | None:
    """Return the refusal of a request that is malformed or for another server; otherwise None.

    Raises `BadHeader`.
    """
    headers = request.headers
    if http.split_target(request.path) is None or len(headers.get_all("Authorization")) > 1:
        return http.BAD_REQUEST
    if request.protocol == "HTTP/1.0" and "Host" not in headers:
        # Health checks may omit `Host`. Browsers always send it, and it must be checked because
        # other sites' names may point here (DNS rebinding).
        return None
    return None if access.knows_host(headers) else http.wrong_host()


def forbidden_page(
    access: AccessPolicy, request: Request, servers: Sequence[str] = ()
) -> http.Page | None:
    """Return the refusal of a request that is not allowed; otherwise None.

    Raises `BadHeader`. Pages of `servers`, which are websocket URLs, may open websockets here.
    """
    headers = request.headers
    path, _, query = request.path.partition("?")
    if any(_SECRET_PARAMETERS.search(name) for name, _ in parse_qsl(query, True)):
        return http.TOKEN_IN_URL
    upgrade = asks_for_websocket(request)
    allowed = access.allows_handshake(headers, servers) if upgrade else access.allows_page(headers)
    if not allowed:
        return http.FOREIGN_ORIGIN
    return http.NOT_FOUND if upgrade and path not in _WEBSOCKET_PATHS else None
