"""Answers to who asks for a websocket (RFC 6455, section 4.2)."""

from __future__ import annotations

import logging
from typing import Any

from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

LOG = logging.getLogger("kibitz.net")
_NEGOTIATOR: Any = ServerProtocol(logger=LOG)
"""It keeps no state between handshakes."""


def handshake_response(request: Request) -> Response:
    """Return the answer to who wants a websocket: 101, or why it cannot be."""
    response: Response = _NEGOTIATOR.accept(request)
    return response


def bearer_token(request: Request) -> str | None:
    """Return the token of the Authorization header."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token else None
