"""The addresses that a session connects to: its own server, and other nodes of the cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kibitz_protocol.client.requests import PendingRequest
from kibitz_protocol.wire.messages import Redirect

MOST_TRIES: Final = 3
"""How often hello is sent to the target of a redirect, which may not know the player at first."""
MOST_HOPS: Final = 5
"""The most redirects that a request, or hello, follows without a pause. The caller gets the next
redirect as the answer. Losing the connection resets the count, because lobbies may have moved
between servers."""


class Addresses:
    """The servers that a session may connect to. None stands for the server it was created for."""

    def __init__(self) -> None:
        self.present: str | None = None
        """The server to connect to now."""
        self.ticket: str | None = None
        """The ticket of the redirect to that server, which admits the player there."""
        self._others: list[str] = []
        self._tries = 0
        """How often the target of the last redirect has refused hello."""
        self._hops: Counter[str | int] = Counter()
        """How many redirects were followed without a pause: by request id, for hello, and for all
        of the session's own requests together."""

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
        """Count a redirect of hello, and return whether to follow it."""
        return self._hop("hello", MOST_HOPS)

    def may_redirect(self, pending: PendingRequest) -> bool:
        """Count a redirect of a request, and return whether to follow it.

        The session's own requests together follow one redirect per lost connection: a server may
        have admitted the player before it knew which node has the lobby.
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
        """Count a refused hello.

        Without a ticket, or after `MOST_TRIES` attempts with one, go to the next server. The target
        may have lost its database: then it admits nobody, while other servers still redirect
        players to it.
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
