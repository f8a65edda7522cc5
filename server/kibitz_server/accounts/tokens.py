"""The operator's side of accounts: tokens are made, listed and revoked.

A server looks tokens up at every hello, so one that is made beside the running server counts from
the next hello on; one that is revoked counts no more, and `net.token_watch` ends the connections
that came with it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from kibitz_protocol.wire.records import Player
from kibitz_server.accounts.identity import (
    INSERT_PLAYER,
    SELECT_PLAYER,
    TOKEN_PREFIX,
    Identity,
    digest_of,
    identity_of,
    new_key,
    new_secret,
    row_of,
)
from kibitz_server.accounts.names import claim, normalise, skeleton
from kibitz_server.storage.database import StoreError, connect_admin


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token that was just made: the only moment in which its text is known."""

    id: int
    token: str
    player: Player


@dataclass(frozen=True, slots=True)
class TokenLine:
    """A token in a list; times are seconds of the epoch."""

    id: int
    player: Player
    created: int
    expires: int | None
    revoked: int | None


class TokenAdmin:
    """Makes and revokes tokens, beside a running server or without one. Raises `StoreError`."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = connect_admin(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def issue(
        self, name: str, kind: Literal["bot", "human"], *, days: float | None = None
    ) -> IssuedToken:
        """Make a token for the account `name`, and the account where there is none.

        Raises `BadName`, or `StoreError` where the name belongs to somebody of another kind.
        """
        name = normalise(name)
        self._db.execute("BEGIN IMMEDIATE")
        try:
            player = self._account(name, kind)
            token = TOKEN_PREFIX + new_secret()
            now = int(time.time())
            expires = None if days is None else int(now + days * 86_400)
            cursor = self._db.execute(
                "INSERT INTO token (hash, player, created, expires) VALUES (?, ?, ?, ?)",
                (digest_of(token), player.player, now, expires),
            )
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return IssuedToken(cursor.lastrowid or 0, token, player)

    def tokens(self) -> list[TokenLine]:
        """Return all tokens, oldest first."""
        rows = self._db.execute(
            "SELECT token.id, key, name, kind, token.created, expires, revoked"
            " FROM token JOIN player ON player.key = token.player ORDER BY token.id"
        )
        return [
            TokenLine(id, Player(player=key, name=name, kind=kind), created, expires, revoked)
            for id, key, name, kind, created, expires, revoked in rows
        ]

    def revoke(self, id: int) -> bool:
        """Revoke a token; returns whether there was one to revoke."""
        cursor = self._db.execute(
            "UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL", (int(time.time()), id)
        )
        return cursor.rowcount > 0

    def _account(self, name: str, kind: Literal["bot", "human"]) -> Player:
        looks = skeleton(name)
        row = self._db.execute(f"{SELECT_PLAYER} WHERE skeleton = ?", (looks,)).fetchone()
        if row is not None and row[3]:
            owner = identity_of(row).player
            if owner.kind != kind:
                raise StoreError(f"the account {owner.name!r} is a {owner.kind}, not a {kind}")
            return owner
        claim(name)  # an account that has its name already keeps it
        if row is not None:  # a guest had the name; from now on it is the account's
            self._db.execute("UPDATE player SET skeleton = NULL WHERE key = ?", (row[0],))
        player = Player(player=new_key("a"), name=name, kind=kind)
        self._db.execute(INSERT_PLAYER, row_of(Identity(player, True, looks), None))
        return player
