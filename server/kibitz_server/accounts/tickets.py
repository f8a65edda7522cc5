"""Tickets let a player continue on another node without sending its secret there.

A ticket contains the player, the lobby to which it was redirected, the expiry time, and an
identifier of the receiving node's current run. It is authenticated by HMAC-SHA256 (RFC 2104) with a
key that all nodes share. A ticket is valid for `VALID_MS` by the database's clock, and only once.
The node remembers used tickets until they expire. After a restart it has another identifier, and so
accepts no earlier tickets.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Final

VALID_MS: Final = 30_000
"""Milliseconds that a client has to use a ticket."""


class BadTicket(Exception):
    """An invalid ticket; the message says why."""


class Tickets:
    """Issues and checks tickets on one node, once it has the shared key."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        """`seconds` is a monotonic clock."""
        self._seconds = seconds
        self._key: bytes | None = None
        self._life = ""
        self._ahead_ms = 0.0
        """The offset of the database's clock from this machine's."""
        self._used: dict[str, int] = {}
        """The used tickets, each with its expiry time."""

    def synchronize(self, key: bytes, life: str, now_ms: int) -> None:
        """Set the shared key, the identifier of this run, and the database's time."""
        self._key, self._life = key, life
        self._ahead_ms = now_ms - self._seconds() * 1000

    def issue(self, player: str, life: str, lobby: str) -> str | None:
        """Return a ticket to a lobby on the node whose current run has the identifier `life`.

        Returns None while the key is unknown.
        """
        if self._key is None:
            return None
        text = f"{player}.{life}.{self._now_ms() + VALID_MS}.{lobby}.{secrets.token_hex(8)}"
        return f"{text}.{_seal(self._key, text)}"

    def player(self, ticket: str) -> str:
        """Return the player's key from a ticket; raise `BadTicket` if it is not valid here now."""
        text, _, seal = ticket.rpartition(".")
        fields = text.split(".")
        if self._key is None or len(fields) != 5 or not ticket.isascii():
            raise BadTicket("the ticket was not issued by this cluster")
        if not hmac.compare_digest(seal, _seal(self._key, text)):
            raise BadTicket("the ticket was not issued by this cluster")
        player, life, ends = fields[0], fields[1], int(fields[2])
        now = self._now_ms()
        if life != self._life:
            raise BadTicket("the ticket is for another node")
        if ends <= now or ticket in self._used:
            raise BadTicket("the ticket was already used or has expired")
        return player

    def use_up(self, ticket: str) -> None:
        """Invalidate a ticket that was used."""
        now = self._now_ms()
        self._used = {used: ends for used, ends in self._used.items() if ends > now}
        self._used[ticket] = now + VALID_MS

    def _now_ms(self) -> int:
        return int(self._seconds() * 1000 + self._ahead_ms)


def lobby_of(ticket: str) -> str:
    """Return the lobby of a valid ticket."""
    return ticket.split(".")[3]


def _seal(key: bytes, text: str) -> str:
    digest = hmac.new(key, text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
