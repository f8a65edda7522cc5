"""Returns the pages that refuse an HTTP request, by its target and its headers."""

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
    """Return whether a request offers to upgrade to a websocket.

    Any other offer is ignored, and so are those of HTTP/1.0 (RFC 9110, section 7.8): `curl --http2`
    and the HTTP client of the JDK offer HTTP/2 with every request.
    """
    offered = ",".join(request.headers.get_all("Upgrade")).lower().split(",")
    return request.protocol == "HTTP/1.1" and "websocket" in map(str.strip, offered)


def malformed_page(access: AccessPolicy, request: Request) -> http.Page | None:
    """Return the page for a request that is malformed or for another server; else None.

    Raises `BadHeader`.
    """
    headers = request.headers
    if http.split_target(request.path) is None or len(headers.get_all("Authorization")) > 1:
        return http.BAD_REQUEST
    if request.protocol == "HTTP/1.0" and "Host" not in headers:
        # Health checks send none, and need none. Browsers always send one, and in them the names of
        # other sites may lead here (DNS rebinding).
        return None
    return None if access.knows_host(headers) else http.wrong_host()


def forbidden_page(
    access: AccessPolicy, request: Request, servers: Sequence[str] = ()
) -> http.Page | None:
    """Return the page for a request that is not allowed; else None. Raises `BadHeader`.

    Pages of `servers`, named by their websocket addresses, may open websockets here.
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
