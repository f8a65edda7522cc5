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
from kibitz_server.storage.location import Database
from kibitz_server.storage.opening import open_register
from kibitz_server.storage.token_register import TokenEntry, TokenRegister


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token. Its text cannot be retrieved later."""

    id: int
    token: str
    player: Player


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
        with self._register.transaction():
            account = _account(self._register, name, kind)
            number = self._register.add_token(digest_of(token), account.player, now, expires)
        return IssuedToken(number, token, account)

    def tokens(self) -> list[TokenEntry]:
        """Return all tokens, oldest first."""
        return self._register.tokens()

    def revoke(self, id: int) -> bool:
        """Revoke a token; return False if it is unknown or already revoked."""
        return self._register.revoke(id, int(time.time()))


def _account(register: TokenRegister, name: str, kind: Literal["bot", "human"]) -> Player:
    """Return the account with a name; create it if it does not exist."""
    looks = skeleton(name)
    row = register.by_skeleton(looks)
    if row is not None and row.account:
        owner = identity_of(row).player
        if owner.kind != kind:
            raise StoreError(f"the account {owner.name!r} is a {owner.kind}, not a {kind}")
        return owner
    claim(name)  # an existing account keeps its name
    if row is not None:  # take the name from the guest who had it
        register.clear_skeleton(row.key)
    player = Player(player=new_key("a"), name=name, kind=kind)
    register.add_account(row_of(Identity(player, True, looks)))
    return player
