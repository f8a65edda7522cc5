"""Closes the connections of tokens that were revoked or have expired.

The operator revokes tokens in the database, and the running server is not notified. So the server
checks the database regularly while any connection uses a token.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Final

from kibitz_protocol.wire.messages import Farewell
from kibitz_protocol.wire.refusals import CloseCode, Code
from kibitz_server.accounts.sign_in import Accounts
from kibitz_server.net.peer import Peer

LOG = logging.getLogger("kibitz.net")
CHECK_INTERVAL_S: Final = 2.0
"""Seconds by which a connection may outlive its token."""
SHARED_INTERVAL_S: Final = 0.4
"""The same if servers share the tokens, and each has a copy in memory."""


async def watch_tokens(
    peers: Callable[[], Iterable[Peer]], accounts: Accounts, interval_s: float
) -> None:
    """Check all connections with a token every `interval_s`, until canceled."""
    while True:
        await asyncio.sleep(interval_s)
        try:
            close_void(peers(), accounts)
        except Exception:
            LOG.exception("cannot check the tokens")


def close_void(peers: Iterable[Peer], accounts: Accounts) -> None:
    """Close the connections whose token is no longer valid."""
    bearers: dict[bytes, list[Peer]] = {}
    for peer in peers:
        if peer.token is not None and not peer.leaving:
            bearers.setdefault(peer.token, []).append(peer)
    for token in accounts.void_tokens(bearers.keys()) if bearers else ():
        for peer in bearers[token]:
            message = "the token of this connection was revoked or has expired"
            peer.send(Farewell(code=Code.UNAUTHORIZED, message=message))
            peer.close(CloseCode.KICKED, message)
