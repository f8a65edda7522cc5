"""Account administration for the operator: creates, lists and revokes tokens.

A server looks up tokens at every hello, so a token created while the server is running is valid
from the next hello on. A revoked token is no longer valid, and `net.token_watch` closes the
connections that used it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, Self

from kibitz_protocol.wire.records import Player
from kibitz_server.accounts.identity import (
    TOKEN_PREFIX,
    Identity,
    digest_of,
    identity_of,
    new_key,
    new_secret,
    row_of,
)
from kibitz_server.accounts.names import claim, normalise, skeleton
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.interface import Registration
from kibitz_server.storage.location import Database
from kibitz_server.storage.opening import open_register


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token. Its text cannot be retrieved later."""

    id: int
    token: str
    player: Player


@dataclass(frozen=True, slots=True)
class TokenLine:
    """A token in a list; times are in seconds since the epoch."""

    id: int
    player: Player
    created: int
    expires: int | None
    revoked: int | None


class TokenAdmin:
    """Creates and revokes tokens, whether or not a server is running. Raises `StoreError`."""

    def __init__(self, db: Database) -> None:
        self._register = open_register(db)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._register.close()

    def issue(
        self, name: str, kind: Literal["bot", "human"], *, days: float | None = None
    ) -> IssuedToken:
        """Create a token for the account `name`; create the account if it does not exist.

        Raises `BadName`, or `StoreError` if a player of another kind has the name.
        """
        name = normalise(name)
        token = TOKEN_PREFIX + new_secret()
        now = int(time.time())
        expires = None if days is None else int(now + days * 86_400)
        accounts: list[Player] = []

        def change(open_registration: Registration) -> int:
            accounts.append(_account(open_registration, name, kind))
            key = accounts[-1].player
            return open_registration.add_token(digest_of(token), key, now, expires)

        number = self._register.transaction(change)
        return IssuedToken(number, token, accounts[-1])

    def tokens(self) -> list[TokenLine]:
        """Return all tokens, oldest first."""
        return [
            TokenLine(
                token.id,
                identity_of(token.player).player,
                token.created,
                token.expires,
                token.revoked,
            )
            for token in self._register.tokens()
        ]

    def revoke(self, id: int) -> bool:
        """Revoke a token; return False if it is unknown or already revoked."""
        return self._register.revoke(id, int(time.time()))


def _account(registration: Registration, name: str, kind: Literal["bot", "human"]) -> Player:
    """Return the account with a name; create it if it does not exist."""
    looks = skeleton(name)
    row = registration.by_skeleton(looks)
    if row is not None and row.account:
        owner = identity_of(row).player
        if owner.kind != kind:
            raise StoreError(f"the account {owner.name!r} is a {owner.kind}, not a {kind}")
        return owner
    claim(name)  # an existing account keeps its name
    if row is not None:  # take the name from the guest who had it
        registration.clear_skeleton(row.key)
    player = Player(player=new_key("a"), name=name, kind=kind)
    registration.add_account(row_of(Identity(player, True, looks)))
    return player
