"""Who a player is, as the database has it, and the secrets by which players are known."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from hashlib import sha256

from kibitz_protocol.wire.records import Player
from kibitz_protocol.wire.unchecked import construct
from kibitz_server.storage.interface import PlayerRow

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


def identity_of(row: PlayerRow) -> Identity:
    """Return who stands in a row of the database."""
    values = {"player": row.key, "name": row.name, "kind": row.kind}
    return Identity(construct(Player, values), row.account, row.skeleton)


def row_of(identity: Identity) -> PlayerRow:
    """Return what the database is to have of somebody who is here now."""
    player = identity.player
    return PlayerRow(
        key=player.player,
        name=player.name,
        kind=player.kind,
        account=identity.account,
        skeleton=identity.skeleton,
        created=int(time.time()),
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
