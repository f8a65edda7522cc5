"""Closes the connections of tokens that were revoked or have expired.

The operator revokes tokens in the database, and the running server is not notified. So the server
checks the database regularly while any connection uses a token.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable, Iterable
from typing import Final

from kibitz_protocol.wire.messages import Farewell
from kibitz_protocol.wire.refusals import CloseCode, Code
from kibitz_server.accounts.accounts import Accounts
from kibitz_server.net.peer import Peer

LOG = logging.getLogger("kibitz.net")
CHECK_INTERVAL_S: Final = 2.0
"""Seconds by which a connection may outlive its token."""
SHARED_INTERVAL_S: Final = 0.4
"""The same if servers share the tokens, and each has a copy in memory."""


class TokenWatch:
    """Checks all connections with a token every `interval_s`."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        peers: Callable[[], Iterable[Peer]],
        accounts: Accounts,
        interval_s: float = CHECK_INTERVAL_S,
    ) -> None:
        self._loop = loop
        self._peers = peers
        self._accounts = accounts
        self._interval_s = interval_s
        self._timer: TimerHandle | None = None

    def start(self) -> None:
        self._timer = self._loop.call_later(self._interval_s, self._tick)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def check(self) -> None:
        """Close the connections whose token is no longer valid."""
        bearers: dict[bytes, list[Peer]] = {}
        for peer in self._peers():
            if peer.token is not None and not peer.leaving:
                bearers.setdefault(peer.token, []).append(peer)
        for token in self._accounts.void_tokens(bearers.keys()) if bearers else ():
            for peer in bearers[token]:
                message = "the token of this connection was revoked or has expired"
                peer.send(Farewell(code=Code.UNAUTHORIZED, message=message))
                peer.close(CloseCode.KICKED, message)

    def _tick(self) -> None:
        try:
            self.check()
        except Exception:
            LOG.exception("cannot check the tokens")
        self.start()
