"""Tickets: a node lets a player go on at another one, without the secret that it came with.

A ticket names a player, the start of the node that it is for, when it ends and the lobby that the
player was sent for, with an HMAC-SHA256 (RFC 2104) of a key that all nodes have in common. It is
good for `VALID_MS` by the clock of the database, and once: its node remembers those that were used
until they have ended, and a node that is started again takes none from before.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Final

VALID_MS: Final = 30_000
"""Milliseconds that a client has to come with a ticket."""


class BadTicket(Exception):
    """A ticket that lets nobody in; the message says why."""


class Tickets:
    """Issues and checks tickets at one node, once it knows the common key."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        """`seconds` is a clock that never runs backwards."""
        self._seconds = seconds
        self._key: bytes | None = None
        self._life = ""
        self._ahead_ms = 0.0
        """The clock of the database less this machine's."""
        self._used: dict[str, int] = {}
        """Tickets that were used, and when each ends."""

    def synchronize(self, key: bytes, life: str, now_ms: int) -> None:
        """Note the common key, what names this start, and the time by the database's clock."""
        self._key, self._life = key, life
        self._ahead_ms = now_ms - self._seconds() * 1000

    def issue(self, player: str, life: str, lobby: str) -> str | None:
        """Return a ticket to a lobby at the node whose start `life` names.

        None while the key is unknown.
        """
        if self._key is None:
            return None
        text = f"{player}.{life}.{self._now_ms() + VALID_MS}.{lobby}.{secrets.token_hex(8)}"
        return f"{text}.{_seal(self._key, text)}"

    def player(self, ticket: str) -> str:
        """Return the key of the player whom a ticket lets in here now. Raises `BadTicket`."""
        text, _, seal = ticket.rpartition(".")
        fields = text.split(".")
        if self._key is None or len(fields) != 5 or not ticket.isascii():
            raise BadTicket("no ticket of this cluster")
        if not hmac.compare_digest(seal, _seal(self._key, text)):
            raise BadTicket("no ticket of this cluster")
        player, life, ends = fields[0], fields[1], int(fields[2])
        now = self._now_ms()
        if life != self._life:
            raise BadTicket("a ticket to another node")
        if ends <= now or ticket in self._used:
            raise BadTicket("the ticket was used, or is too old")
        return player

    def use_up(self, ticket: str) -> None:
        """Let nobody in with a ticket any more that has let somebody in."""
        now = self._now_ms()
        self._used = {used: ends for used, ends in self._used.items() if ends > now}
        self._used[ticket] = now + VALID_MS

    def _now_ms(self) -> int:
        return int(self._seconds() * 1000 + self._ahead_ms)


def lobby_of(ticket: str) -> str:
    """Return the lobby for which a good ticket was issued."""
    return ticket.split(".")[3]


def _seal(key: bytes, text: str) -> str:
    digest = hmac.new(key, text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
