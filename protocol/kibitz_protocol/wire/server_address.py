"""Addresses of a server: one address that people give, and what is found below it.

A server's address is where its pages are, which a proxy may serve under a path, such as
``https://example.org/kibitz/``. Its websocket is at that address itself, and at ``ws`` below it. So
``ws://`` and ``http://`` mean the same server, and so do an address with and without its last
slash, and that of the websocket. Pure functions of text; nothing here looks anything up.
"""

from __future__ import annotations

from typing import Final

_SCHEMES: Final = {"http": "ws", "https": "wss"}
_PAGE_SCHEMES: Final = {"ws": "http", "wss": "https"}
_SOCKET: Final = "ws"
"""The last part of a path that is the websocket's and not that of the pages."""


def websocket_url(url: str) -> str:
    """Return the address to open a websocket at, of a server at `url`.

    A path gets a slash at its end: proxies answer a path without it with a redirect, which
    clients of websockets do not follow. What is no address is returned as it is.
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
