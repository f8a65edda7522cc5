"""Who a player is, as the database has it, and the secrets by which players are known."""

from __future__ import annotations

import secrets
import sqlite3
import time
from dataclasses import dataclass
from hashlib import sha256

from kibitz_protocol.wire.records import Player
from kibitz_server.storage.database import Value

INSERT_PLAYER = (
    "INSERT INTO player (key, name, skeleton, kind, account, secret, created)"
    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
"""A name that was taken beside the running server in the same moment does not fail a batch."""
SELECT_PLAYER = "SELECT key, name, kind, account, skeleton FROM player"
TOKEN_PREFIX = "kb_"


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody whom the server knows."""

    player: Player
    account: bool
    skeleton: str | None

    @property
    def key(self) -> str:
        return self.player.player


def identity_of(row: tuple[Value, ...] | sqlite3.Row) -> Identity:
    """Return who stands in a row that `SELECT_PLAYER` reads."""
    key, name, kind, account, looks = row
    player = Player.model_validate({"player": key, "name": name, "kind": kind})
    return Identity(player, bool(account), None if looks is None else str(looks))


def row_of(identity: Identity, secret: bytes | None) -> tuple[Value, ...]:
    """Return what `INSERT_PLAYER` writes; `secret` is the digest of a resume secret."""
    player = identity.player
    return (
        player.player,
        player.name,
        identity.skeleton,
        player.kind,
        int(identity.account),
        secret,
        int(time.time()),
    )


def new_key(prefix: str) -> str:
    """Return a player's key: ``g`` for a guest, ``h`` for a house bot, ``a`` for an account."""
    return prefix + secrets.token_hex(8)


def new_secret() -> str:
    """Return 256 random bits."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> bytes:
    """Return all that the database has of a secret."""
    return sha256(secret.encode()).digest()


def as_bytes(value: Value) -> bytes:
    """Return a value of the database that is a digest."""
    return value if isinstance(value, bytes) else b""
