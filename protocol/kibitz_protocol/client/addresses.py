"""The address that a session connects to: its own server, or another one of the cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kibitz_protocol.client.requests import PendingRequest
from kibitz_protocol.wire.messages import Redirect

MOST_TRIES: Final = 3
"""Attempts to be admitted by a redirect's target, which may not recognize the player at first."""
MOST_HOPS: Final = 5
"""The most redirects that a request, or hello, follows without a pause; the next one becomes its
answer. Losing the connection resets the count, since lobbies may have moved between servers."""


class Addresses:
    """The servers that a session may connect to; None stands for the one it was created with."""

    def __init__(self) -> None:
        self.present: str | None = None
        """The server to connect to now."""
        self.ticket: str | None = None
        """The ticket of the redirect to that server, which admits the player there."""
        self._others: list[str] = []
        self._tries = 0
        """Failed attempts to be admitted by the target of the last redirect."""
        self._hops: Counter[str | int] = Counter()
        """Redirects followed without a pause: by request id, for hello, and for the session's own
        requests together."""

    @property
    def has_others(self) -> bool:
        """Whether other servers of the cluster are known."""
        return bool(self._others)

    def admitted(self, others: Sequence[str]) -> None:
        """Record the welcome of the current server; `others` are the rest of its cluster."""
        self.ticket, self._others = None, [*others]
        del self._hops["hello"]

    def restart_hops(self) -> None:
        """Reset the counts of redirects, because the connection was lost."""
        self._hops.clear()

    def may_redirect_hello(self) -> bool:
        """Return whether hello may follow one more redirect, and count it."""
        return self._hop("hello", MOST_HOPS)

    def may_redirect(self, pending: PendingRequest) -> bool:
        """Return whether a request may follow one more redirect, and count it.

        The session's own requests share one redirect per lost connection, because the server that
        admitted hello may not know yet where a lobby is.
        """
        if pending.requester == "session":
            return self._hop("session", 1)
        return pending.requester == "caller" and self._hop(pending.request.id, MOST_HOPS)

    def _hop(self, asked: str | int, most: int) -> bool:
        self._hops[asked] += 1
        return self._hops[asked] <= most

    def follow(self, redirect: Redirect) -> None:
        """Follow a redirect to another server."""
        self.present, self.ticket = redirect.url, redirect.ticket
        self._tries = 0

    def not_let_in(self) -> None:
        """Count a failed admission.

        Without a ticket, or after `MOST_TRIES` with it, go to the next server. A server that has
        lost its database admits nobody, while others still redirect players to it.
        """
        self._tries += 1
        if self.ticket is None or self._tries >= MOST_TRIES:
            self.try_next()

    def try_next(self) -> None:
        """Go to the next server, because this one is unreachable or admits nobody."""
        self.ticket = None
        known: list[str | None] = [None, *self._others]
        place = known.index(self.present) + 1 if self.present in known else 0
        self.present = known[place % len(known)]
