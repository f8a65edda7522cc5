"""Answers to websocket handshakes (RFC 6455, section 4.2)."""

from __future__ import annotations

import logging
from typing import Any

from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

LOG = logging.getLogger("kibitz.net")
_NEGOTIATOR: Any = ServerProtocol(logger=LOG)
"""The library's negotiator, which is stateless between handshakes."""


def handshake_response(request: Request) -> Response:
    """Return the response to a handshake: 101, or a refusal with its reason."""
    response: Response = _NEGOTIATOR.accept(request)
    return response


def bearer_token(request: Request) -> str | None:
    """Return the token of the Authorization header."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token else None
