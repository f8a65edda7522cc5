"""Answers to who asks for a websocket (RFC 6455, section 4.2), new ones and known ones.

What a program sends to open a websocket is the same every time, but for its random key. So a head
that was let in once is remembered without its key, and where it comes again it is neither parsed
nor judged again: only its key is answered. Remembered is what is let in whoever sends it, and
holds no secret: no head with an origin, with a token, or of somebody behind a proxy.
"""

from __future__ import annotations

import logging
import re
import time
from collections import OrderedDict
from email.utils import formatdate
from functools import lru_cache
from typing import Any, Final

from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.utils import accept_key

from kibitz_server.net.access import is_forwarded

LOG = logging.getLogger("kibitz.net")
MOST_KNOWN: Final = 64
"""Heads that are remembered; those of one program in one version are the same ..."""
KNOWN_BYTES: Final = 1024
"""... and rarely as long as this."""
_KEY: Final = re.compile(rb"\r\nSec-WebSocket-Key: ([A-Za-z0-9+/]{21}[AQgw]==)\r\n")
"""The header of a key that is well-formed: 16 bytes."""
_NEGOTIATOR: Any = ServerProtocol(logger=LOG)
"""Answers handshakes. It keeps nothing of one that the next would be answered by."""


def handshake_response(request: Request) -> Response:
    """Return the answer to who wants a websocket: 101, or why it cannot be."""
    response: Response = _NEGOTIATOR.accept(request)
    return response


def bearer_token(request: Request) -> str | None:
    """Return the token of the Authorization header."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token else None


class KnownHandshakes:
    """The heads that a server has opened websockets for, without their keys."""

    __slots__ = ("_paths",)

    def __init__(self) -> None:
        self._paths: OrderedDict[bytes, str] = OrderedDict()
        """The path of each head, the one that was used last at the end."""

    def __len__(self) -> int:
        return len(self._paths)

    def find(self, head: bytes) -> tuple[str, bytes] | None:
        """Return the path of a head that is known, and the response to it."""
        key = _KEY.search(head)
        if key is None:
            return None
        keyless = _without(head, key)
        path = self._paths.get(keyless)
        if path is None:
            return None
        self._paths.move_to_end(keyless)
        return path, _accepted(key[1])

    def remember(self, head: bytes, request: Request) -> None:
        """Remember a head, of `request`, that is let in, unless another one might not be."""
        headers = request.headers
        key = _KEY.search(head)
        if key is None or len(head) > KNOWN_BYTES:
            return
        if "Origin" in headers or "Authorization" in headers or is_forwarded(headers):
            return
        self._paths[_without(head, key)] = request.path.partition("?")[0]
        if len(self._paths) > MOST_KNOWN:
            self._paths.popitem(last=False)


def _without(head: bytes, key: re.Match[bytes]) -> bytes:
    return head[: key.start(1)] + head[key.end(1) :]


def _accepted(key: bytes) -> bytes:
    """Return what `handshake_response` answers where neither extension nor subprotocol is chosen.

    None ever is: the negotiator offers none.
    """
    return b"%b%b\r\n\r\n" % (_head_of_second(int(time.time())), accept_key(key.decode()).encode())


@lru_cache(maxsize=1)
def _head_of_second(now: int) -> bytes:
    date = formatdate(now, usegmt=True).encode()
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nDate: %b\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Accept: " % date
    )
