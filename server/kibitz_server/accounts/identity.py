"""Players' identities, their database rows, and their secrets."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from hashlib import sha256

from kibitz_protocol.wire.records import Player
from kibitz_protocol.wire.unchecked import construct
from kibitz_server.storage.interface import PlayerRow

TOKEN_PREFIX = "kb_"
VIEWER_PREFIX = "v"


@dataclass(frozen=True, slots=True)
class Identity:
    """A player known to the server."""

    player: Player
    account: bool
    skeleton: str | None
    viewer: bool = False
    """Whether it only watches. A viewer chooses no name and is never saved."""

    @property
    def key(self) -> str:
        return self.player.player


def new_viewer() -> Identity:
    """Return an identity for a connection that only watches."""
    player = Player(player=new_key(VIEWER_PREFIX), name="viewer", kind="human")
    return Identity(player, account=False, skeleton=None, viewer=True)


def identity_of(row: PlayerRow) -> Identity:
    """Return the identity in a database row."""
    values = {"player": row.key, "name": row.name, "kind": row.kind}
    return Identity(construct(Player, values), row.account, row.skeleton)


def row_of(identity: Identity) -> PlayerRow:
    """Return the database row for a player seen now."""
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
    """Return a new key.

    It begins with ``g`` for a guest, ``h`` for a house bot, ``a`` for an account or ``v`` for a
    viewer.
    """
    return prefix + secrets.token_hex(8)


def new_secret() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> bytes:
    """Return the digest of a secret, which the database stores instead of the secret."""
    return sha256(secret.encode()).digest()
