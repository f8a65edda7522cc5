"""Addresses of a server's websocket and pages, derived from the address that people enter.

A server's address is that of its pages, which a proxy may serve under a path, such as
``https://example.org/kibitz/``. Its websocket is at the same address, and also at ``ws`` below it.
``ws://`` and ``http://``, an address with and without its final slash, and the websocket's address
all refer to the same server. The functions are pure and look up no names.
"""

from __future__ import annotations

from typing import Final

_SCHEMES: Final = {"http": "ws", "https": "wss"}
_PAGE_SCHEMES: Final = {"ws": "http", "wss": "https"}
_SOCKET: Final = "ws"
"""The last part of the websocket's path, which is not part of the pages' path."""


def websocket_url(url: str) -> str:
    """Return the address of the websocket of the server at `url`.

    A path without a final slash gets one, because proxies redirect such paths, and websocket
    clients do not follow redirects. Text that is not an address is returned unchanged.
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    start = f"{_SCHEMES.get(scheme.lower(), scheme)}://"
    authority, slash, path = rest.partition("/")
    if not path or path.endswith("/") or "?" in path or path.rpartition("/")[2] == _SOCKET:
        return f"{start}{authority}{slash}{path}"
    return f"{start}{authority}/{path}/"


def page_url(url: str, path: str = "") -> str:
    """Return the address of a page of the server at `url`, such as ``records/M2.jsonl``."""
    scheme, _, rest = websocket_url(url).partition("://")
    place = rest.partition("?")[0]
    if place.endswith(f"/{_SOCKET}"):
        place = place.removesuffix(_SOCKET)
    return f"{_PAGE_SCHEMES.get(scheme.lower(), scheme)}://{place.rstrip('/')}/{path}"
