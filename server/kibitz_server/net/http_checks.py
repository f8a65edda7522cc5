"""Which pages refuse an HTTP request, by its target and its headers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import parse_qsl

from websockets.http11 import Request

from kibitz_server.net import http
from kibitz_server.net.access import AccessPolicy

WEBSOCKET_PATHS = frozenset({"/", "/ws"})
"""Where websockets are served."""
_SECRET_PARAMETERS = re.compile(r"token|secret|resume|instance|auth|password|key", re.IGNORECASE)


def malformed_page(access: AccessPolicy, request: Request) -> http.Page | None:
    """Return the page for a request that is not one to this server. Raises `BadHeader`."""
    headers = request.headers
    if http.split_target(request.path) is None or len(headers.get_all("Authorization")) > 1:
        return http.BAD_REQUEST
    return None if access.knows_host(headers) else http.wrong_host()


def forbidden_page(
    access: AccessPolicy, request: Request, servers: Sequence[str] = ()
) -> http.Page | None:
    """Return the page for a request that may not be made like this. Raises `BadHeader`.

    Pages of `servers`, named by their websocket addresses, may open websockets here.
    """
    headers = request.headers
    path, _, query = request.path.partition("?")
    if any(_SECRET_PARAMETERS.search(name) for name, _ in parse_qsl(query, True)):
        return http.TOKEN_IN_URL
    upgrade = "Upgrade" in headers
    allowed = access.allows_handshake(headers, servers) if upgrade else access.allows_page(headers)
    if not allowed:
        return http.FOREIGN_ORIGIN
    return http.NOT_FOUND if upgrade and path not in WEBSOCKET_PATHS else None
