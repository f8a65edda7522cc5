"""The client's side: a session without I/O, and the asyncio client on top of it.

Programs use `Client`. It is imported on first access, so programs that only need the errors or the
session do not load the websocket library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kibitz_protocol.client.client import Client as Client

__all__ = ["Client"]


def __getattr__(name: str) -> Any:
    if name != "Client":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kibitz_protocol.client.client import Client

    return Client
